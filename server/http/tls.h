/*
 * tls - decrypts TLS connections before HTTP sees them. Only the files server/http/tls* know
 * OpenSSL's TLS.
 *
 * The door's thread carries bytes between each client and a pair of sockets, whose other end is
 * served like any plain connection. OpenSSL does the handshake as it reads the first bytes. So no
 * worker sees a client that stalls in its handshake: its plain end is a connection that has sent
 * nothing. Neither direction reads on before its bytes are written: at most 16 KB wait for each,
 * beside the kernel's socket buffers. The end of one direction is passed on, so answers arrive
 * whole.
 *
 * Time is limited here for the handshake, and for the rest of the answer behind the end of the
 * plain side. All other limits are those of connections.h.
 *
 * A client that speaks no TLS is refused in plain HTTP.
 */
#ifndef DYNALITH_SERVER_HTTP_TLS_H
#define DYNALITH_SERVER_HTTP_TLS_H

#define TLS_FILES 3 /* open files for each connection */

struct lingers;
struct tls;
struct tls_context;

/*
 * `lingers` gets sockets whose last bytes are sent. `limit`: connections, also those that have
 * ended on our side. `request_s`: how long a client may take for the rest of their answers; at most
 * as long for its handshake. NULL where no file can be opened.
 */
struct tls *tls_new(struct tls_context *certificate, struct lingers *lingers, unsigned limit,
		    unsigned request_s);

/* A descriptor that can be read when there is work. */
int tls_poller(const struct tls *tls);

/* Takes over a client's socket. The plain end, which the caller closes; -1 where there is no room.
 */
int tls_take(struct tls *tls, int fd);

/* Does the work that is due. Call it at least each second. */
void tls_work(struct tls *tls);

/* When all plain ends are closed: sends the rest of their answers, for up to `wait_ms`, and frees
 * `tls`. */
void tls_end(struct tls *tls, unsigned wait_ms);

#endif
