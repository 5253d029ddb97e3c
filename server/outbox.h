/*
 * outbox - answers of one thread that are sent one right behind the other.
 *
 * A thread of libmicrohttpd that wakes for several sockets serves them in turn. To send each answer at once goes back and forth between this program's code
 * and the kernel's, which takes more instructions than a core's cache holds, so that each request fetches all of both again. So answers of up to
 * OUTBOX_ANSWER bytes wait while others of the same turn are made, and are sent together: when the thread is about to wait for events, when OUTBOX_ANSWERS
 * or OUTBOX_BYTES are there, and once requests have worked for OUTBOX_PATIENCE_NS since (outbox_works()). A turn with one event sends at once.
 *
 * An answer may depend on a group of writes that are not committed yet (write_turn.h). They are committed before it is sent. Where they are lost, an error
 * takes its place, with the request's id and what lets a page of another origin see it.
 *
 * All of it belongs to the calling thread. The descriptors must be those of sockets that only this thread closes, and whose poller, of this thread, reports
 * when they take bytes again.
 */
#ifndef DYNALITH_SERVER_OUTBOX_H
#define DYNALITH_SERVER_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#define OUTBOX_ANSWERS 64
#define OUTBOX_ANSWER 8192        /* bytes */
#define OUTBOX_BYTES (32 * 1024)
#define OUTBOX_PATIENCE_NS 100000

/* Sets what commits a group, given by its number above 0, and gives false where its writes are lost. Called before there are turns. */
void outbox_commit_by(bool (*commit)(uint64_t group));

/* Answers whose place an error took, since the start. Metrics and recordings have them as they were made: done. */
uint64_t outbox_losses(void);

/* A turn begins, with so many events. */
void outbox_turn(int events);

/* Whether an answer of so many bytes would be kept now. */
bool outbox_takes(int fd, size_t n);

/*
 * Keeps a copy of the parts, to be sent as one. `group` is what the answer depends on, 0: nothing. False: this turn keeps none, or not as many bytes, or the
 * socket is full; send it by yourself. Where the group is lost then, the error is sent at once, and the result is true.
 */
bool outbox_put(int fd, const struct iovec *parts, size_t count, uint64_t group);

/* Sends what there is. What a socket does not take stays until it has room, or is closed. */
void outbox_send(void);

/*
 * A request that has worked for a while calls it now and then, by monotonic_ns(): it may be long, and answers that are made do not wait for its end. Those
 * that depend on a group do.
 */
void outbox_works(uint64_t now_ns);

/* The thread is about to wait for events: sends what there is, and what sockets did not take before. */
void outbox_end_turn(void);

/*
 * Called before anything else is sent by the socket: sends what there is. `group` is what the other bytes depend on, 0: nothing. False where the socket has no
 * room for all: it takes nothing else now. False too where the group is lost: then the connection is closed.
 */
bool outbox_clear(int fd, uint64_t group);

/* The socket is about to be closed: what it takes goes, the rest is dropped. */
void outbox_forget(int fd);

#endif
