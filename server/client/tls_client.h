/*
 * tls_client - the client's side of TLS on a connected socket that does not block, for client.h.
 */
#ifndef DYNALITH_SERVER_TLS_CLIENT_H
#define DYNALITH_SERVER_TLS_CLIENT_H

#include <stdbool.h>
#include <sys/types.h>

#include "core/arena.h"
#include "core/str.h"

struct tls_client;

/*
 * `authorities`: a PEM file of trusted authorities. The server must then have a certificate of one
 * of them for `host`, a name or an address. NULL: any certificate will do. NULL, with *problem set
 * to one line (in the arena), where that cannot be.
 */
struct tls_client *tls_client_new(struct arena *arena, int fd, struct str host,
				  const char *authorities, struct str *problem);
void tls_client_free(struct tls_client *client);

/*
 * 1: the handshake is done; 0: it waits for the socket, for *events of poll(); -1: it failed,
 * *problem says why. */
int tls_client_shake(struct tls_client *client, struct arena *arena, short *events,
		     struct str *problem);

/* As recv() and send() on a socket: -1 with errno EAGAIN where it waits for the socket, for
 * *events. */
ssize_t tls_client_recv(struct tls_client *client, void *bytes, size_t n, short *events);
ssize_t tls_client_send(struct tls_client *client, const void *bytes, size_t n, short *events);

#endif
