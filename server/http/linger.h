/*
 * linger - closes connections so that the client can read the last answer.
 *
 * The kernel would reset a connection that is closed with unread bytes, often before the client has
 * read the answer (RFC 9112, 9.6). So a duplicate of the socket stays open: what the client still
 * sends is read and discarded, until it closes its side, for some seconds at most.
 */
#ifndef DYNALITH_SERVER_HTTP_LINGER_H
#define DYNALITH_SERVER_HTTP_LINGER_H

#include <stdatomic.h>

#include "core/str.h"
#include "server/http/crew.h"

struct lingers {
	struct crew *crew;  /* timed; when it is stopped, nothing lingers any more */
	unsigned most;      /* sockets at once; the next ones are not kept */
	atomic_uint count;
};

/* The caller is about to close the socket. */
void linger_keep(struct lingers *lingers, int fd);

/* Sends a whole answer, beneath libmicrohttpd, and the end of our side; then the same. `status` is
 * as in "400 Bad Request", `body` one of server/messages.h. */
void linger_refuse(struct lingers *lingers, int fd, const char *status, struct str body);

#endif
