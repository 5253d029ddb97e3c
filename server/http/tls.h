/*
 * tls - decrypts TLS connections before HTTP sees them. Only the files server/http/tls* know
 * OpenSSL's TLS.
 *
 * The door's thread does the handshakes here, and carries bytes between each client and a pair of
 * sockets, whose other end is served like any plain connection. So no worker sees a client that
 * stalls in its handshake. Neither direction reads on before its bytes are written: at most 16 KB
 * wait for each, beside the kernel's socket buffers. The end of one direction is passed on, so
 * answers arrive whole.
 *
 * Time is limited here for the handshake, and for the rest of the answer behind the end of the
 * plain side; in between, the limits of connections.h hold, which the pair passes on. Where the
 * limit of connections is reached, the oldest handshake under way is closed, so that stalled ones
 * do not block new clients.
 *
 * A client that speaks no TLS is refused in plain HTTP.
 */
#ifndef DYNALITH_SERVER_HTTP_TLS_H
#define DYNALITH_SERVER_HTTP_TLS_H

#include <sys/socket.h>

#define TLS_FILES 3 /* open files for each connection */

struct lingers;
struct tls;
struct tls_context;

/*
 * `lingers` gets sockets whose last bytes are sent. `limit`: connections, with handshakes.
 * `request_s`: how long a client may take for an answer whose connection has ended on our side; at
 * most as long for its handshake. NULL where no file can be opened.
 */
struct tls *tls_new(struct tls_context *certificate, struct lingers *lingers, unsigned limit,
		    unsigned request_s);

/* A descriptor that can be read when there is work. */
int tls_poller(const struct tls *tls);

/* Takes over a client's socket, or closes it. */
void tls_take(struct tls *tls, int fd, const struct sockaddr_storage *peer);

/* Takes over the plain end of a connection, and closes it in the end. */
typedef void tls_deliver(void *context, int fd, const struct sockaddr_storage *peer);

/* Does the work that is due. Call it at least each second. */
void tls_work(struct tls *tls, tls_deliver *deliver, void *context);

/* When all plain ends are closed: sends the rest of their answers, for up to `wait_ms`, and frees
 * `tls`. */
void tls_end(struct tls *tls, unsigned wait_ms);

#endif
