/*
 * Accepts connections in a thread of its own, and hands each one on when its first bytes show its
 * kind. A connection that has sent nothing waits here and costs only a socket.
 *
 * Connections whose first request is for health or metrics are VITAL: a thread of their own serves
 * them, however busy the others are. Beyond the limit of connections the server still accepts new
 * ones, so that health checks work, and the oldest one that has sent nothing makes room.
 */
#include "server/http/http_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/http/tls.h"
#include "server/messages.h"
#include "server/platform/platform.h"
#include "server/platform/poller.h"

#define LISTEN_BACKLOG 511
#define ACCEPTS_AT_ONCE 16  /* before those that wait are looked at */
#define PAUSE_NS 10000000   /* where there are no files left */
#define TLS_LOOK_MS 1000

struct door {
	struct http *http;
	pthread_t thread;
	int listen_fd, poller, stop_fds[2];
};

/* A socket that listens there, or -1 with errno set. */
static int listen_at(const struct addrinfo *address)
{
	int fd = platform_socket(address->ai_family, SOCK_STREAM, 0), on = 1, off = 0;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

static int listen_on(const char *host, unsigned short number, const char **problem)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	char port[8];

	snprintf(port, sizeof(port), "%u", number);
	int result = getaddrinfo(host, port, &hints, &found);
	if (result != 0) {
		*problem = gai_strerror(result);
		return -1;
	}
	int fd = -1;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = listen_at(at);
	if (fd < 0)
		*problem = strerror(errno);
	freeaddrinfo(found);
	return fd;
}

int http_door_listen(const char *host, unsigned short port, const char **problem)
{
	int fd = listen_on(host, port, problem);

	if (fd < 0 && strcmp(host, "::") == 0) /* a machine without IPv6 */
		fd = listen_on("0.0.0.0", port, problem);
	return fd;
}

unsigned http_door_port(int listen_fd)
{
	struct sockaddr_in6 address = {0}; /* an IPv4 address has its port in the same place */
	socklen_t n = sizeof(address);

	getsockname(listen_fd, (struct sockaddr *)&address, &n);
	return ntohs(address.sin6_port);
}

static void turn_away(struct door *door, struct connection *connection)
{
	int fd = connection->fd;

	poller_watch(door->poller, fd, POLLER_READ, 0, NULL);
	connections_remove(connection);
	close(fd);
}

/* The kind of a connection by its first bytes. Too few bytes to decide make it VITAL: that thread
 * can wait for more. */
static enum connection_kind door_kind_of(struct str bytes)
{
	static const struct str vital[] = {
		STR_INIT("GET /_dynalith/health"),
		STR_INIT("GET /_dynalith/metrics"),
		STR_INIT("HEAD /_dynalith/health"),
		STR_INIT("HEAD /_dynalith/metrics"),
	};

	for (size_t i = 0; i < sizeof(vital) / sizeof(vital[0]); i++) {
		if (str_starts_with(bytes, vital[i]) || str_starts_with(vital[i], bytes))
			return CONNECTION_VITAL;
	}
	return CONNECTION_ORDINARY;
}

/* Serves, refuses or closes the connection, by its first bytes or its end. False where neither has
 * come. */
static bool door_look(struct door *door, struct connection *connection)
{
	int fd = connection->fd;
	char bytes[32];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return false;
	enum connection_kind kind =
		n > 0 ? door_kind_of((struct str){bytes, (size_t)n}) : CONNECTION_ORDINARY;
	if (n > 0 && connection_admit(connection, kind)) {
		poller_watch(door->poller, fd, POLLER_READ, 0, NULL);
		http_lanes_enter(door->http->lanes, connection, kind);
		return true;
	}
	if (n > 0)
		linger_refuse(&door->http->lingers, fd, "503 Service Unavailable",
			      STR(FULL_REFUSAL));
	turn_away(door, connection);
	return true;
}

/* Not while events are left that may name a connection. One that has asked meanwhile gets an
 * answer. */
static void make_door_room(struct door *door)
{
	struct connection *oldest;

	while ((oldest = connections_crowded_out(door->http->connections))) {
		if (!door_look(door, oldest))
			turn_away(door, oldest);
	}
}

static void door_take(struct door *door, int fd, const struct sockaddr_storage *peer)
{
	struct connection *connection = connections_add(door->http->connections, fd, peer);

	if (!poller_watch(door->poller, fd, 0, POLLER_READ, connection))
		turn_away(door, connection);
}

static void door_accept_some(struct door *door)
{
	const struct timespec pause = {0, PAUSE_NS};
	struct tls *tls = door->http->tls;

	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t n = sizeof(peer);
		int fd = platform_accept(door->listen_fd, (struct sockaddr *)&peer, &n),
		    on = 1;

		if (fd >= 0) {
			setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			if (tls)
				fd = tls_take(tls, fd);
			if (fd >= 0)
				door_take(door, fd, &peer);
			make_door_room(door);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
			   errno == ENOMEM) {
			nanosleep(&pause, NULL);
			return;
		} else if (errno != ECONNABORTED && errno != EINTR) {
			return;
		}
	}
}

static void *door_keep(void *context)
{
	struct door *door = context;
	struct poller_event events[POLLER_EVENTS];
	struct tls *tls = door->http->tls;

	for (;;) {
		int n = poller_wait(door->poller, events, tls ? TLS_LOOK_MS : -1);
		bool is_called = false;

		for (int i = 0; i < n; i++) {
			if (events[i].context == &door->stop_fds)
				return NULL;
			if (events[i].context == &door->listen_fd)
				is_called = true;
			else if (events[i].context != tls)
				(void)door_look(door, events[i].context);
		}
		if (is_called)
			door_accept_some(door);
		if (tls)
			tls_work(tls);
		make_door_room(door);
	}
}

static void door_free(struct door *door)
{
	const int fds[] = {door->listen_fd, door->poller, door->stop_fds[0], door->stop_fds[1]};

	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	free(door);
}

static bool is_watched(struct door *door, int fd, void *context)
{
	return poller_watch(door->poller, fd, 0, POLLER_READ, context);
}

struct door *http_door_open(struct http *http, int listen_fd)
{
	struct door *door = arena_checked(malloc(sizeof(*door)));

	*door = (struct door){.http = http,
			      .listen_fd = listen_fd,
			      .poller = poller_open(),
			      .stop_fds = {-1, -1}};
	if (door->poller >= 0 && platform_pipe(door->stop_fds) &&
	    is_watched(door, door->stop_fds[0], &door->stop_fds) &&
	    is_watched(door, listen_fd, &door->listen_fd) &&
	    (!http->tls || is_watched(door, tls_poller(http->tls), http->tls)) &&
	    pthread_create(&door->thread, NULL, door_keep, door) == 0)
		return door;
	door_free(door);
	return NULL;
}

void http_door_close(struct door *door)
{
	(void)!write(door->stop_fds[1], "", 1);
	pthread_join(door->thread, NULL);
	door_free(door);
}
