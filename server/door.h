/*
 * door - takes connections in, in a thread of its own, and hands each on as soon as its first bytes say what it wants.
 *
 * A request waits for the thread that its connection belongs to. Connections that begin by asking for health or metrics are VITAL: they get a thread
 * that serves nothing else, whatever the others do. A connection that has sent nothing waits here, where it costs a socket.
 *
 * Beyond the limit of connections the newest still get in, so that health can be asked for: of those that have sent nothing the oldest makes room.
 */
#ifndef DYNALITH_SERVER_DOOR_H
#define DYNALITH_SERVER_DOOR_H

#include "server/connections.h"

struct door_options {
	int listen_fd; /* the door's from now on; -1: connections come by door_take() alone */
	struct connections *connections;
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

/* Stops listening, and closes what was not handed on. */
void door_close(struct door *door);

#endif
