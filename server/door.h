/*
 * door - accepts connections in a thread of its own, and hands each one on when its first bytes show its kind.
 *
 * A request waits for the thread of its connection. Connections whose first request is for health or metrics are VITAL: a thread of their
 * own serves them, however busy the others are. A connection that has sent nothing waits here and costs only a socket.
 *
 * Beyond the limit of connections the server still accepts new ones, so that health checks work. The oldest connection that has sent
 * nothing makes room.
 */
#ifndef DYNALITH_SERVER_DOOR_H
#define DYNALITH_SERVER_DOOR_H

#include "server/connections.h"

struct door_options {
	int listen_fd; /* the door's from now on; -1: connections come by door_take() alone */
	struct connections *connections;
	unsigned crowd; /* connections beyond the limit that may wait here, 1 to CONNECTIONS_OVER / 2 */
	/* Takes the socket over: it is in `connections`, and leaves them before it is closed. */
	void (*enter)(void *context, int fd, enum connection_kind kind);
	void *context;
};

struct door;

/* A listening socket, or -1 with *problem set to one line. `port` 0: any free one. "::" stands for every address, of IPv4 too. */
int door_listen(const char *host, unsigned short port, const char **problem);

/* The port of a listening socket. */
unsigned door_port(int listen_fd);

/* NULL where there are no threads or files left; the listening socket is closed then. */
struct door *door_open(const struct door_options *options);

/* Takes in a socket that was accepted elsewhere, or closes it. It must not block. From any thread. */
void door_take(struct door *door, int fd, const struct sockaddr *peer);

/* Stops listening, and closes the connections that still wait here. */
void door_close(struct door *door);

#endif
