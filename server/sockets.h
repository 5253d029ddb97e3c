/*
 * sockets - replaces calls of the C library, to correct libmicrohttpd's answers beneath it, to read usual heads in its place and to send answers together.
 *
 * libmicrohttpd 0.9.75 answers heads that its memory does not hold by pages of its own (414, 431, 500), or closes without any answer where the
 * answer's head does not fit beside the request's. Here all of these are one answer of status 400. Its pages about framing (400, 413, 505), of
 * which it sends some twice, become one answer too, in AWS's form.
 *
 * It also closes a socket behind an answer while the client still sends. Then the kernel resets the connection, often before the client has
 * read the answer. So behind an answer to a request that was not read whole, this module reads and discards bytes until the client closes.
 *
 * It copies and checks each header line of an answer, in four allocations. So the lines that every answer has go into its head here.
 *
 * Small answers of one turn of a thread are sent one right behind the other (outbox.h).
 *
 * A connection may go from one of libmicrohttpd's threads to another between two requests.
 *
 * A usual head (head.h) that comes whole, with nothing before it, becomes a short one here, and its lines are handed on by sockets_take_head().
 *
 * Nothing is known of sockets that were not entered: calls on these are the C library's.
 */
#ifndef DYNALITH_SERVER_SOCKETS_H
#define DYNALITH_SERVER_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"
#include "server/head.h"

/*
 * Sets the callback that moves connections to other threads; call it before there are any. The connection's thread calls it before it reads a request of which
 * libmicrohttpd has no bytes. It returns true once another thread serves the connection by another descriptor of the socket. libmicrohttpd then gets an end of
 * file from the old descriptor and closes it; the socket stays open.
 */
void sockets_move_by(bool (*move)(int fd));

/* A connection begins. */
void sockets_begin(int fd);

/* The usual head that this thread has just read from the socket, in place of which libmicrohttpd has a short one. */
struct taken_head {
	struct usual_head head;
	char text[HEAD_TEXT];
};

/* NULL where libmicrohttpd has the head as it was sent. Stays until this thread receives again. */
const struct taken_head *sockets_take_head(int fd);

/* The request under way has `n` bytes, head and body, by a head that libmicrohttpd has read; UINT64_MAX: its end is not known yet. */
void sockets_expect(int fd, uint64_t n);

/* The connection waits for a request: what libmicrohttpd sends before sockets_answer() is its own. */
void sockets_await(int fd);

/*
 * The server handles the request: until sockets_answer() a read finds neither bytes nor an end of file. When libmicrohttpd resumes a connection, it
 * reads before it asks for the answer. At an end of file it would give the request up, and more requests could leave no room in its memory for the
 * answer's head. It removed the socket from epoll when it suspended the connection, and adds it again after a read that finds nothing, so that no bytes
 * are missed.
 */
void sockets_hold(int fd);

/*
 * Our answer is about to be queued; `is_early`: some of the request may be unread, and the connection ends behind it. `group`: as outbox_put() has it.
 * `lines` are header lines, each with its end, that go into the answer's head; they must stay until the answer is sent. libmicrohttpd would copy and
 * check each.
 */
void sockets_answer(int fd, bool is_early, uint64_t group, struct str lines);

/* libmicrohttpd gave the request up: refuses it, unless some of an answer was sent. */
void sockets_refuse(int fd);

/* The connection is about to be closed. */
void sockets_forget(int fd);

#endif
