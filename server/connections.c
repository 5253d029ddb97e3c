#include "server/connections.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>

#include "core/arena.h"

#define FILES_OTHER 384 /* the data file by each reader, epoll sets, pipes, posts of triggers */
#define CONNECTIONS_MIN 16
#define NEVER INT64_MAX

struct connection {
	struct connections *all;
	struct connection *previous, *next;
	int fd;
	bool is_over;
	atomic_bool is_waiting;
	_Atomic int64_t until_ms; /* when the phase ends */
};

struct connections {
	struct connections_options options;
	pthread_t thread;
	pthread_mutex_t mutex; /* of all below; a socket is open as long as its connection is in the list */
	pthread_cond_t wake;
	bool is_ending;
	unsigned count;
	struct connection *first;
};

/* A coarse clock is right for seconds, and costs a request nearly nothing. */
static int64_t now_ms(void)
{
	struct timespec now;

#ifdef CLOCK_MONOTONIC_COARSE
	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
#else
	clock_gettime(CLOCK_MONOTONIC, &now);
#endif
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A request that came and was not read yet is late by our fault. */
static bool is_our_fault(const struct connection *connection)
{
	int unread = 0;

	return atomic_load_explicit(&connection->is_waiting, memory_order_relaxed) && !connection->is_over &&
	       ioctl(connection->fd, FIONREAD, &unread) == 0 && unread > 0;
}

static void shut_late(struct connections *connections)
{
	int64_t now = now_ms();

	for (struct connection *at = connections->first; at; at = at->next) {
		if (atomic_load_explicit(&at->until_ms, memory_order_relaxed) <= now && !is_our_fault(at)) {
			shutdown(at->fd, SHUT_RDWR);
			atomic_store_explicit(&at->until_ms, NEVER, memory_order_relaxed);
		}
	}
}

static void *sweep(void *context)
{
	struct connections *connections = context;
	struct timespec until;

	pthread_mutex_lock(&connections->mutex);
	while (!connections->is_ending) {
		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec++;
		pthread_cond_timedwait(&connections->wake, &connections->mutex, &until);
		shut_late(connections);
	}
	pthread_mutex_unlock(&connections->mutex);
	return NULL;
}

struct connections *connections_new(const struct connections_options *options)
{
	struct connections *connections = calloc(1, sizeof(*connections));
	pthread_condattr_t attributes;

	if (!connections)
		return NULL;
	connections->options = *options;
	pthread_mutex_init(&connections->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&connections->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&connections->thread, NULL, sweep, connections) == 0)
		return connections;
	free(connections);
	return NULL;
}

void connections_free(struct connections *connections)
{
	pthread_mutex_lock(&connections->mutex);
	connections->is_ending = true;
	pthread_cond_signal(&connections->wake);
	pthread_mutex_unlock(&connections->mutex);
	pthread_join(connections->thread, NULL);
	pthread_cond_destroy(&connections->wake);
	pthread_mutex_destroy(&connections->mutex);
	free(connections);
}

struct connection *connections_add(struct connections *connections, int fd)
{
	struct connection *connection = arena_checked(calloc(1, sizeof(*connection)));

	connection->all = connections;
	connection->fd = fd;
	pthread_mutex_lock(&connections->mutex);
	connection->is_over = connections->count >= connections->options.limit;
	connections->count += !connection->is_over; /* those beyond the limit do not keep others out */
	atomic_init(&connection->is_waiting, true);
	atomic_init(&connection->until_ms, now_ms() + 1000LL * (connection->is_over ? CONNECTIONS_OVER_S : connections->options.idle_s));
	connection->next = connections->first;
	if (connection->next)
		connection->next->previous = connection;
	connections->first = connection;
	pthread_mutex_unlock(&connections->mutex);
	return connection;
}

void connections_remove(struct connection *connection)
{
	struct connections *connections = connection->all;

	pthread_mutex_lock(&connections->mutex);
	connections->count -= !connection->is_over;
	if (connection->previous)
		connection->previous->next = connection->next;
	else
		connections->first = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	pthread_mutex_unlock(&connections->mutex);
	free(connection);
}

bool connection_is_over(const struct connection *connection)
{
	return connection->is_over;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
	const struct connections_options *options = &connection->all->options;
	int64_t until = NEVER;

	if (connection->is_over)
		return;
	if (phase != CONNECTION_WORKING)
		until = now_ms() + 1000LL * (phase == CONNECTION_WAITING ? options->idle_s : options->request_s);
	atomic_store_explicit(&connection->is_waiting, phase == CONNECTION_WAITING, memory_order_relaxed);
	atomic_store_explicit(&connection->until_ms, until, memory_order_relaxed);
}

unsigned connections_make_room(unsigned wanted)
{
	rlim_t needed = (rlim_t)wanted + CONNECTIONS_OVER + FILES_OTHER;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= needed)
		return wanted;
	files.rlim_cur = files.rlim_max < needed ? files.rlim_max : needed;
	if (setrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur >= needed)
		return wanted;
	if (files.rlim_cur < CONNECTIONS_OVER + FILES_OTHER + CONNECTIONS_MIN)
		return CONNECTIONS_MIN;
	return (unsigned)(files.rlim_cur - CONNECTIONS_OVER - FILES_OTHER);
}
