/*
 * door - accepts connections in a thread of its own, and hands each one on when its first bytes
 * show its kind.
 *
 * Connections whose first request is for health or metrics are VITAL: a thread of their own serves
 * them, however busy the others are. A connection that has sent nothing waits here and costs only a
 * socket.
 *
 * Beyond the limit of connections the server still accepts new ones, so that health checks work.
 * The oldest connection that has sent nothing makes room.
 */
#ifndef DYNALITH_SERVER_HTTP_DOOR_H
#define DYNALITH_SERVER_HTTP_DOOR_H

#include "server/http/connections.h"

struct tls;

struct door_options {
	int listen_fd;   /* the door's from now on */
	struct tls *tls; /* by which clients speak, or NULL; used by the door's thread alone */
	struct connections *connections;
	/* Takes the connection and its socket over. */
	void (*enter)(void *context, struct connection *connection, enum connection_kind kind);
	void *context;
};

struct door;

/* A listening socket, or -1 with *problem set to one line. `port` 0: any free one. "::" stands for
 * every address, of IPv4 too. */
int door_listen(const char *host, unsigned short port, const char **problem);

/* The port of a listening socket. */
unsigned door_port(int listen_fd);

/* NULL where there are no threads or files left; the listening socket is closed then. */
struct door *door_open(const struct door_options *options);

/* Stops listening. Connections that wait here stay for connections_free(). */
void door_close(struct door *door);

#endif
