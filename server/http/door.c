#include "server/http/door.h"

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

#include "core/arena.h"
#include "core/str.h"
#include "server/messages.h"
#include "server/platform/platform.h"
#include "server/platform/poller.h"
#include "server/http/refusal.h"
#include "storage/monotonic.h"

#define LISTEN_BACKLOG 511
#define WATCH (POLLER_READ | POLLER_EDGE) /* of a connection */
#define ACCEPTS_AT_ONCE 64  /* before those that wait are looked at */
#define PAUSE_NS 10000000   /* where there are no files left */
#define LINGERS 32          /* sockets that linger at once; the oldest makes room */
#define LINGER_TICK_MS 1000
#define WASTE_MAX                                                                                  \
	(64 * 1024 *                                                                               \
	 1024) /* bytes discarded behind an answer; a client that sends more does not listen */

/* A socket that is here: of a connection that has sent nothing, or one that lingers. */
struct guest {
	struct guest *previous, *next; /* the newest first; of those that are gone, `next` alone */
	int fd;                        /* -1: it is gone */
	struct connection *connection; /* NULL: it lingers */
	bool is_over;                  /* beyond the limit of connections */
	int64_t until_ms;              /* of one that lingers */
	size_t wasted;
};

struct door {
	struct door_options options;
	pthread_t thread;
	int poller, stop_fds[2];
	int spare; /* a file that makes room for a connection where no other is left */
	pthread_mutex_t mutex; /* of all below */
	struct guest *first;
	struct guest *gone;    /* freed when the events are handled: some may name them */
	unsigned crowd, lingering;
	bool is_closed;
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
		getnameinfo((struct sockaddr *)&address, n, NULL, 0, port, sizeof(port),
			    NI_NUMERICSERV);
	return (unsigned)strtoul(port, NULL, 10);
}

/* --- guests; the mutex is held --- */

static struct guest *come(struct door *door, int fd, struct connection *connection)
{
	struct guest *guest = arena_checked(calloc(1, sizeof(*guest)));

	guest->fd = fd;
	guest->connection = connection;
	guest->is_over = connection && connection_is_over(connection);
	guest->next = door->first;
	if (guest->next)
		guest->next->previous = guest;
	door->first = guest;
	door->crowd += guest->is_over;
	door->lingering += !connection;
	return guest;
}

static void go(struct door *door, struct guest *guest)
{
	if (guest->previous)
		guest->previous->next = guest->next;
	else
		door->first = guest->next;
	if (guest->next)
		guest->next->previous = guest->previous;
	door->crowd -= guest->is_over;
	door->lingering -= !guest->connection;
	guest->fd = -1;
	guest->next = door->gone;
	door->gone = guest;
}

static void turn_away(struct door *door, struct guest *guest)
{
	int fd = guest->fd;

	poller_watch(door->poller, fd, WATCH, 0,
		     NULL); /* close() leaves it to epoll while a duplicate is open */
	go(door, guest);
	if (guest->connection)
		connections_remove(guest->connection);
	close(fd);
}

static struct guest *oldest(const struct door *door, bool is_lingering)
{
	struct guest *oldest = NULL;

	for (struct guest *at = door->first; at; at = at->next) {
		if (is_lingering ? !at->connection : at->is_over)
			oldest = at;
	}
	return oldest;
}

static void bury(struct door *door)
{
	pthread_mutex_lock(&door->mutex);
	while (door->gone) {
		struct guest *guest = door->gone;

		door->gone = guest->next;
		free(guest);
	}
	pthread_mutex_unlock(&door->mutex);
}

/* --- connections --- */

/* Answers a client that the server has no room for, and does not hear it. */
static void door_refuse(int fd)
{
	char text[REFUSAL_MOST], waste[4096];
	struct str answer = refusal_write(text, "503 Service Unavailable", STR("Connection: close"),
					  STR(FULL_REFUSAL));

	platform_send(fd, answer.p, answer.n);
	shutdown(fd, SHUT_WR);
	for (int i = 0; i < 64 && recv(fd, waste, sizeof(waste), MSG_DONTWAIT) > 0;
	     i++) /* bytes that nobody read would reset the connection */
		;
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

/* Peeks at the socket's bytes. The connection where it can go on, and its kind; else NULL. */
static struct connection *look_at(struct door *door, struct guest *guest,
				  enum connection_kind *kind)
{
	char bytes[32];
	ssize_t n = recv(guest->fd, bytes, sizeof(bytes), MSG_PEEK | MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
		return NULL;
	*kind = n > 0 ? door_kind_of((struct str){bytes, (size_t)n}) : CONNECTION_ORDINARY;
	if (n > 0 && connection_admit(guest->connection, *kind)) {
		poller_watch(door->poller, guest->fd, WATCH, 0, NULL);
		go(door, guest);
		return guest->connection;
	}
	if (n > 0)
		door_refuse(guest->fd);
	turn_away(door, guest);
	return NULL;
}

/* Throws away what came of one that lingers. */
static void waste(struct door *door, struct guest *guest)
{
	char bytes[16384];
	ssize_t n;

	do {
		n = recv(guest->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		guest->wasted += n > 0 ? (size_t)n : 0;
	} while (n > 0 && guest->wasted < WASTE_MAX);
	if (n >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR))
		turn_away(door, guest);
}

static void door_look(struct door *door, struct guest *guest)
{
	enum connection_kind kind = CONNECTION_ORDINARY;
	struct connection *connection = NULL;

	pthread_mutex_lock(&door->mutex);
	if (guest->fd >= 0 && guest->connection) /* it may have made room for another */
		connection = look_at(door, guest, &kind);
	else if (guest->fd >= 0)
		waste(door, guest);
	pthread_mutex_unlock(&door->mutex);
	if (connection)
		door->options.enter(door->options.context, connection, kind);
}

void door_take(struct door *door, int fd, const struct sockaddr *peer)
{
	int on = 1;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	pthread_mutex_lock(&door->mutex);
	if (door->is_closed) {
		close(fd);
	} else {
		struct guest *guest =
			come(door, fd, connections_add(door->options.connections, fd, peer));

		if (door->crowd > door->options.crowd)
			turn_away(door, oldest(door, false));
		if (!poller_watch(door->poller, fd, 0, WATCH, guest))
			turn_away(door, guest);
	}
	pthread_mutex_unlock(&door->mutex);
}

void door_linger(struct door *door, int fd)
{
	pthread_mutex_lock(&door->mutex);
	int own = door->is_closed ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (own >= 0) {
		struct guest *guest = come(door, own, NULL);

		guest->until_ms = monotonic_ms() + DOOR_LINGER_MS;
		if (door->lingering > LINGERS || door->lingering > door->options.crowd)
			turn_away(door, oldest(door, true));
		if (guest->fd >= 0 && !poller_watch(door->poller, own, 0, WATCH, guest))
			turn_away(door, guest);
	}
	pthread_mutex_unlock(&door->mutex);
}

static void end_lingering(struct door *door)
{
	int64_t now = monotonic_ms();

	pthread_mutex_lock(&door->mutex);
	for (struct guest *at = door->first, *next; at; at = next) {
		next = at->next;
		if (!at->connection && at->until_ms <= now)
			turn_away(door, at);
	}
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
		door_refuse(fd);
		close(fd);
	} else {
		nanosleep(&pause, NULL);
	}
	keep_spare(door);
}

static void door_accept_some(struct door *door)
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

static void *door_keep(void *context)
{
	struct door *door = context;
	struct poller_event events[POLLER_EVENTS];

	for (;;) {
		int n = poller_wait(door->poller, events, LINGER_TICK_MS);
		bool is_called = false;

		for (int i = 0; i < n; i++) {
			if (events[i].context == &door->stop_fds)
				return NULL;
			if (events[i].context == &door->options.listen_fd)
				is_called = true;
			else
				door_look(door, events[i].context);
		}
		if (is_called)
			door_accept_some(door);
		end_lingering(door);
		bury(door);
	}
}

void door_free(struct door *door)
{
	bury(door);
	pthread_mutex_destroy(&door->mutex);
	free(door);
}

static void close_all(struct door *door)
{
	pthread_mutex_lock(&door->mutex);
	door->is_closed = true;
	while (door->first)
		turn_away(door, door->first);
	const int fds[] = {door->options.listen_fd, door->poller, door->stop_fds[0],
			   door->stop_fds[1], door->spare};
	for (size_t i = 0; i < sizeof(fds) / sizeof(fds[0]); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
	pthread_mutex_unlock(&door->mutex);
}

static bool is_watched(struct door *door, int fd, void *context)
{
	return poller_watch(door->poller, fd, 0, POLLER_READ, context);
}

struct door *door_open(const struct door_options *options)
{
	struct door *door = arena_checked(calloc(1, sizeof(*door)));

	pthread_mutex_init(&door->mutex, NULL);
	door->options = *options;
	door->stop_fds[0] = door->stop_fds[1] = door->spare = -1;
	door->poller = poller_open();
	if (door->poller >= 0 && platform_pipe(door->stop_fds) &&
	    is_watched(door, door->stop_fds[0], &door->stop_fds) &&
	    (options->listen_fd < 0 ||
	     is_watched(door, options->listen_fd, &door->options.listen_fd))) {
		keep_spare(door);
		if (pthread_create(&door->thread, NULL, door_keep, door) == 0)
			return door;
	}
	close_all(door);
	door_free(door);
	return NULL;
}

void door_close(struct door *door)
{
	(void)!write(door->stop_fds[1], "", 1);
	pthread_join(door->thread, NULL);
	close_all(door);
}
