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
 *
 * Behind an answer to a request that was not read whole, the door reads and discards bytes until
 * the client closes its side. The kernel would reset a connection that is closed with unread bytes,
 * often before the client has read the answer.
 */
#ifndef DYNALITH_SERVER_HTTP_DOOR_H
#define DYNALITH_SERVER_HTTP_DOOR_H

#include "server/http/connections.h"

struct door_options {
	int listen_fd; /* the door's from now on; -1: connections come by door_take() alone */
	struct connections *connections;
	unsigned crowd; /* connections beyond the limit that may wait here, 1 to CONNECTIONS_OVER /
			   2 */
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

/* Takes in a socket that was accepted elsewhere, or closes it. It must not block. From any thread.
 */
void door_take(struct door *door, int fd, const struct sockaddr *peer);

/* The caller is about to close the socket, on which nothing more is sent: keeps a duplicate until
 * the client closes its side, for DOOR_LINGER_MS at most. */
#define DOOR_LINGER_MS 5000
void door_linger(struct door *door, int fd);

/* Stops listening, and closes all sockets that are here. From here on the functions above do
 * nothing but close. */
void door_close(struct door *door);
void door_free(struct door *door);

#endif
