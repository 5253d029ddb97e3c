/*
 * tls - decrypts TLS connections before HTTP sees them. Only the files server/http/tls* know
 * OpenSSL's TLS.
 *
 * Threads of its own accept, do the handshakes and carry bytes between each client and a pair of
 * sockets, whose other end is served like any plain connection. So no worker sees a client that
 * stalls in its handshake. Neither direction reads on before its bytes are written: at most 16 KB
 * wait for each, beside the kernel's socket buffers. The end of one direction is passed on, so
 * answers arrive whole.
 *
 * Time is limited here for the handshake, and behind the end of the plain side; in between, the
 * limits of connections.h hold, which the pair passes on. Where the limit of connections is
 * reached, the oldest handshake under way is closed, so that stalled ones do not block new clients.
 *
 * A client that speaks no TLS is refused in plain HTTP.
 */
#ifndef DYNALITH_SERVER_HTTP_TLS_H
#define DYNALITH_SERVER_HTTP_TLS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "core/arena.h"
#include "core/str.h"

#define TLS_FILES 3 /* open files for each connection */

struct tls;

/* Takes over a socket that is not blocking, and closes it, also where it cannot serve it. From
 * several threads, one at a time. */
typedef void tls_deliver(void *context, int fd, const struct sockaddr *peer);

struct tls_options {
	int listener;       /* a listening socket that is not blocking; ours from now on */
	unsigned threads;
	unsigned limit;     /* connections, with handshakes */
	unsigned request_s; /* how long a client may take for an answer whose connection has ended
			       on our side; at most as long for its handshake */
	tls_deliver *deliver;
	void *context;
};

/* Reads the files, whose names must stay. NULL, with *problem set to one line in the arena, where
 * they are no certificate with its key. */
struct tls *tls_new(struct arena *arena, const char *certificate, const char *key,
		    struct str *problem);

/* Reads the files again: new connections get the new pair. False, with *problem set, where the old
 * pair stays. */
bool tls_reload(struct tls *tls, struct arena *arena, struct str *problem);

/* Accepts connections and delivers their plain ends. False where no thread can be had; the
 * listening socket is closed then. */
bool tls_start(struct tls *tls, const struct tls_options *options);

/* From here on nothing is accepted, and nothing delivered. */
void tls_quiesce(struct tls *tls);

/* When all delivered sockets are closed: sends the rest of their answers, for up to `wait_ms`, and
 * ends the threads. */
void tls_stop(struct tls *tls, unsigned wait_ms);

/* Not while it runs. NULL is nothing. */
void tls_dispose(struct tls *tls);

#endif
