#include "server/door.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/str.h"
#include "server/messages.h"
#include "server/platform/platform.h"
#include "server/platform/poller.h"
#include "server/refusal.h"

#define LISTEN_BACKLOG 511
#define WATCH (POLLER_READ | POLLER_EDGE) /* of a connection */
#define ACCEPTS_AT_ONCE 64  /* before those that wait are looked at */
#define CROWD (CONNECTIONS_OVER / 2)
#define PAUSE_NS 10000000   /* where there are no files left */

struct door {
	struct door_options options;
	pthread_t thread;
	int poller, stop_fds[2];
	int spare; /* a file that makes room for a connection where no other is left */
	pthread_mutex_t mutex; /* of all below */
	int crowd[CROWD]; /* sockets beyond the limit, in a ring; -1: none */
	size_t crowd_at;
	unsigned char is_waiting[CONNECTIONS_FILES_MAX / 8]; /* a bit per socket that is here */
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

int door_listen(const char *host, unsigned short port, const char **problem)
{
	int fd = listen_on(host, port, problem);

	if (fd < 0 && strcmp(host, "::") == 0) /* a machine without IPv6 */
		fd = listen_on("0.0.0.0", port, problem);
	return fd;
}

unsigned door_port(int listen_fd)
{
	struct sockaddr_storage address;
	socklen_t n = sizeof(address);
	char port[8] = "0";

	if (getsockname(listen_fd, (struct sockaddr *)&address, &n) == 0)
		getnameinfo((struct sockaddr *)&address, n, NULL, 0, port, sizeof(port), NI_NUMERICSERV);
	return (unsigned)strtoul(port, NULL, 10);
}

static bool is_here(const struct door *door, int fd)
{
	return door->is_waiting[fd / 8] >> (fd % 8) & 1;
}

static void come(struct door *door, int fd)
{
	door->is_waiting[fd / 8] |= (unsigned char)(1 << (fd % 8));
}

static void go(struct door *door, int fd)
{
	door->is_waiting[fd / 8] &= (unsigned char)~(1 << (fd % 8));
	for (size_t i = 0; i < CROWD; i++) {
		if (door->crowd[i] == fd)
			door->crowd[i] = -1;
	}
}

/* Answers a client that the server has no room for, and does not hear it. */
static void refuse(int fd)
{
	char text[REFUSAL_MOST], waste[4096];
	struct str answer = refusal_write(text, "503 Service Unavailable", STR("Connection: close"), STR(FULL_REFUSAL));

	platform_send(fd, answer.p, answer.n);
	shutdown(fd, SHUT_WR);
	for (int i = 0; i < 64 && recv(fd, waste, sizeof(waste), MSG_DONTWAIT) > 0; i++) /* bytes that nobody read would reset the connection */
		;
}

static void turn_away(struct door *door, int fd)
{
	go(door, fd);
	connections_remove(connections_find(door->options.connections, fd));
	close(fd);
}

/* The kind of a connection by its first bytes. Too few bytes to decide make it VITAL: that thread can wait for more. */
static enum connection_kind kind_of(struct str bytes)
{
	static const struct str vital[] = {
		STR_INIT("GET /_dynalith/health"), STR_INIT("GET /_dynalith/metrics"), STR_INIT("HEAD /_dynalith/health"), STR_INIT("HEAD /_dynalith/metrics"),
	};

	for (size_t i = 0; i < sizeof(vital) / sizeof(vital[0]); i++) {
		if (str_starts_with(bytes, vital[i]) || str_starts_with(vital[i], bytes))
			return CONNECTION_VITAL;
	}
	return CONNECTION_ORDINARY;
}

/* Peeks at the socket's bytes. Returns the connection's kind where it can go on, else -1. */
static int look_at(struct door *door, int fd)
{
	char bytes[32];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return -1;
	enum connection_kind kind = n > 0 ? kind_of((struct str){bytes, (size_t)n}) : CONNECTION_ORDINARY;
	bool is_admitted = n > 0 && connection_admit(connections_find(door->options.connections, fd), kind);
	if (!is_admitted) {
		if (n > 0)
			refuse(fd);
		turn_away(door, fd);
		return -1;
	}
	poller_watch(door->poller, fd, WATCH, 0, NULL);
	go(door, fd);
	return (int)kind;
}

static void look(struct door *door, int fd)
{
	pthread_mutex_lock(&door->mutex);
	int kind = is_here(door, fd) ? look_at(door, fd) : -1; /* it may have made room for another */
	pthread_mutex_unlock(&door->mutex);
	if (kind >= 0)
		door->options.enter(door->options.context, fd, (enum connection_kind)kind);
}

/* One beyond the limit takes the place of the one that has waited longest. */
static void join_crowd(struct door *door, int fd)
{
	int *place = &door->crowd[door->crowd_at++ % door->options.crowd];

	if (*place >= 0)
		turn_away(door, *place);
	*place = fd;
}

void door_take(struct door *door, int fd, const struct sockaddr *peer)
{
	int on = 1;

	if (fd >= CONNECTIONS_FILES_MAX) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pthread_mutex_lock(&door->mutex);
	if (connection_is_over(connections_add(door->options.connections, fd, peer)))
		join_crowd(door, fd);
	come(door, fd);
	if (!poller_watch(door->poller, fd, 0, WATCH, (void *)(intptr_t)fd))
		turn_away(door, fd);
	pthread_mutex_unlock(&door->mutex);
}

static void keep_spare(struct door *door)
{
	door->spare = fcntl(door->stop_fds[0], F_DUPFD_CLOEXEC, 0);
}

/* The process can open no more files: answers a client by the spare one. */
static void refuse_one(struct door *door)
{
	const struct timespec pause = {0, PAUSE_NS};

	if (door->spare >= 0)
		close(door->spare);
	int fd = platform_accept(door->options.listen_fd, NULL, NULL);
	if (fd >= 0) {
		refuse(fd);
		close(fd);
	} else {
		nanosleep(&pause, NULL);
	}
	keep_spare(door);
}

static void accept_some(struct door *door)
{
	for (int i = 0; i < ACCEPTS_AT_ONCE; i++) {
		struct sockaddr_storage peer = {0};
		socklen_t n = sizeof(peer);
		int fd = platform_accept(door->options.listen_fd, (struct sockaddr *)&peer, &n);

		if (fd >= 0)
			door_take(door, fd, (struct sockaddr *)&peer);
		else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			refuse_one(door);
		else if (errno != ECONNABORTED && errno != EINTR)
			return;
	}
}

static void *keep(void *context)
{
	struct door *door = context;
	struct poller_event events[POLLER_EVENTS];

	for (;;) {
		int n = poller_wait(door->poller, events, -1);

		for (int i = 0; i < n; i++) {
			int fd = (int)(intptr_t)events[i].context;

			if (fd == door->stop_fds[0])
				return NULL;
			if (fd == door->options.listen_fd)
				accept_some(door);
			else
				look(door, fd);
		}
	}
}

static void door_free(struct door *door)
{
	for (int byte = 0; byte < CONNECTIONS_FILES_MAX / 8; byte++) {
		for (int fd = byte * 8; door->is_waiting[byte] && fd < byte * 8 + 8; fd++) {
			if (is_here(door, fd))
				turn_away(door, fd);
		}
	}
	const int fds[] = {door->options.listen_fd, door->poller, door->stop_fds[0], door->stop_fds[1], door->spare};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	pthread_mutex_destroy(&door->mutex);
	free(door);
}

static bool is_watched(struct door *door, int fd)
{
	return poller_watch(door->poller, fd, 0, POLLER_READ, (void *)(intptr_t)fd);
}

struct door *door_open(const struct door_options *options)
{
	struct door *door = calloc(1, sizeof(*door));

	if (!door) {
		close(options->listen_fd);
		return NULL;
	}
	pthread_mutex_init(&door->mutex, NULL);
	door->options = *options;
	door->stop_fds[0] = door->stop_fds[1] = door->spare = -1;
	for (size_t i = 0; i < CROWD; i++)
		door->crowd[i] = -1;
	door->poller = poller_open();
	if (door->poller >= 0 && platform_pipe(door->stop_fds) && is_watched(door, door->stop_fds[0]) &&
	    (options->listen_fd < 0 || is_watched(door, options->listen_fd)) && (keep_spare(door), true) && pthread_create(&door->thread, NULL, keep, door) == 0)
		return door;
	door_free(door);
	return NULL;
}

void door_close(struct door *door)
{
	(void)!write(door->stop_fds[1], "", 1);
	pthread_join(door->thread, NULL);
	door_free(door);
}
