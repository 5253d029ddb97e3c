#include "server/http/connections.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/arena.h"
#include "server/platform/platform.h"
#include "storage/monotonic.h"

#define FILES_OTHER 384 /* the data file by each reader, epoll sets, pipes, posts of triggers */
#define FILES_UNKNOWN 32  /* open, where the system does not say */
#define FILES_LATER 12    /* of the front end, a backup, a post of a trigger */
#define FILES_OF_THREAD 4 /* its epoll set, its pipe, its reader of the data file */
#define QUIET_MS 1000     /* since the last bytes or answer */
#define QUIET_END_MS                                                                               \
	2500 /* the thread looks each second, so that at least one look falls between the two */
#define LATE_MS 1000      /* a thread that is not busy serves a socket much sooner */
#define NEVER INT64_MAX

#define ADDRESS_SIZE 16  /* bytes, of IPv6 or of IPv4 in it */

/* The connections from it. */
struct address {
	struct address *next;
	unsigned char bytes[ADDRESS_SIZE];
	struct connections_share share;
	unsigned count;  /* connections that are not over */
	unsigned users;  /* all connections */
	atomic_uint requests;
};

struct connection {
	struct connections *all;
	struct connection *previous, *next;
	struct address *address; /* NULL where it has no limits */
	int fd;
	bool is_over, is_admitted;
	bool is_silent; /* its first bytes have not come */
	struct sockaddr_storage peer;
	unsigned char slow; /* requests that are expected to be long */
	uint64_t cost_ns;   /* of the latest long one */
	enum connection_kind kind;
	atomic_int phase;
	_Atomic int64_t until_ms;   /* when the phase ends */
	_Atomic int64_t touched_ms; /* when its thread last came to it */
};

struct connections {
	struct connections_options options;
	pthread_mutex_t
		mutex; /* of all below; a socket is open as long as its connection is in the list */
	unsigned count;
	unsigned over[CONNECTION_KINDS]; /* admitted beyond the limit */
	unsigned crowd;                  /* beyond the limit, and silent */
	struct connection *first;
	struct address *addresses;
};

/*
 * Whether we are late: bytes came that nobody has read, or the socket takes bytes that nobody has
 * sent, because the connection's thread is busy. A client that sends without end is read all the
 * time, so this does not excuse it.
 */
static bool is_our_fault(const struct connection *connection, int64_t now)
{
	enum connection_phase phase = (enum connection_phase)atomic_load_explicit(
		&connection->phase, memory_order_relaxed);
	struct pollfd room = {connection->fd, POLLOUT, 0};
	int unread = 0;

	if (connection->is_over)
		return false;
	if (phase == CONNECTION_SENDING)
		return poll(&room, 1, 0) == 1 && room.revents == POLLOUT;
	if (phase == CONNECTION_RECEIVING &&
	    now - atomic_load_explicit(&connection->touched_ms, memory_order_relaxed) < LATE_MS)
		return false;
	return ioctl(connection->fd, FIONREAD, &unread) == 0 && unread > 0;
}

/*
 * libmicrohttpd waits for an edge of epoll, and misses an end of the client that came with its last
 * bytes. So this looks for it, once or twice after the last bytes or answer, and makes it an event
 * of its own. A later end is one.
 */
static void report_end(const struct connection *connection, int64_t now)
{
	enum connection_phase phase = (enum connection_phase)atomic_load_explicit(
		&connection->phase, memory_order_relaxed);
	int64_t quiet_ms =
		now - atomic_load_explicit(&connection->touched_ms, memory_order_relaxed);
	bool is_looked_at = (phase == CONNECTION_WAITING || phase == CONNECTION_RECEIVING) &&
			    quiet_ms >= QUIET_MS && quiet_ms < QUIET_END_MS;

	if (is_looked_at && platform_has_ended(connection->fd))
		shutdown(connection->fd, SHUT_RD);
}

void connections_sweep(struct connections *connections)
{
	int64_t now = monotonic_ms(), anew = now + 1000LL * connections->options.request_s;

	pthread_mutex_lock(&connections->mutex);
	for (struct connection *at = connections->first; at; at = at->next) {
		int64_t until = atomic_load_explicit(&at->until_ms, memory_order_relaxed);

		if (until > now) {
			report_end(at, now);
			continue;
		}
		bool is_excused = is_our_fault(at, now);
		/* not where it began another phase meanwhile */
		if (is_excused)
			atomic_compare_exchange_strong_explicit(&at->until_ms, &until, anew,
								memory_order_relaxed,
								memory_order_relaxed);
		else if (atomic_compare_exchange_strong_explicit(&at->until_ms, &until, NEVER,
								 memory_order_relaxed,
								 memory_order_relaxed))
			shutdown(at->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&connections->mutex);
}

struct connections *connections_new(const struct connections_options *options)
{
	struct connections *connections = arena_checked(calloc(1, sizeof(*connections)));

	connections->options = *options;
	pthread_mutex_init(&connections->mutex, NULL);
	return connections;
}

void connections_free(struct connections *connections)
{
	while (connections->first) {
		int fd = connections->first->is_silent ? connections->first->fd : -1;

		connections_remove(connections->first);
		if (fd >= 0)
			close(fd);
	}
	pthread_mutex_destroy(&connections->mutex);
	free(connections);
}

/* The client's address as it is counted, and its limits. */
static struct connections_share address_of(const struct connection *connection,
					   unsigned char *bytes)
{
	static const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
	const struct connections_options *options = &connection->all->options;
	const void *peer = &connection->peer;
	const struct in6_addr *v6 = &((const struct sockaddr_in6 *)peer)->sin6_addr;
	bool is_v4 = connection->peer.ss_family != AF_INET6;

	memset(bytes, 0, ADDRESS_SIZE);
	if (!is_v4 && !IN6_IS_ADDR_V4MAPPED(v6)) {
		memcpy(bytes, v6, ADDRESS_SIZE / 2);
		return IN6_IS_ADDR_LOOPBACK(v6) ? options->loopback : options->remote;
	}
	memcpy(bytes, mapped, sizeof(mapped));
	if (is_v4)
		memcpy(bytes + sizeof(mapped), &((const struct sockaddr_in *)peer)->sin_addr, 4);
	else
		memcpy(bytes, v6, ADDRESS_SIZE);
	return bytes[sizeof(mapped)] == 127 ? options->loopback : options->remote;
}

/* Under the mutex. */
static void join_address(struct connection *connection)
{
	unsigned char bytes[ADDRESS_SIZE];
	struct connections_share share = address_of(connection, bytes);

	if (share.connections == 0 && share.requests == 0)
		return;
	struct address **list = &connection->all->addresses, *at = *list;
	while (at && memcmp(at->bytes, bytes, ADDRESS_SIZE) != 0)
		at = at->next;
	if (!at) {
		at = arena_checked(calloc(1, sizeof(*at)));
		memcpy(at->bytes, bytes, ADDRESS_SIZE);
		at->share = share;
		at->next = *list;
		*list = at;
	}
	at->users++;
	connection->address = at;
}

static bool is_address_full(const struct connection *connection)
{
	const struct address *address = connection->address;

	return address && address->share.connections > 0 &&
	       address->count >= address->share.connections;
}

static void leave_address(struct connection *connection)
{
	struct address *address = connection->address;

	if (!address)
		return;
	address->count -= !connection->is_over;
	if (--address->users > 0)
		return;
	struct address **link = &connection->all->addresses;
	while (*link != address)
		link = &(*link)->next;
	*link = address->next;
	free(address);
}

bool connection_begin_request(struct connection *connection)
{
	struct connections_stats *stats = connection->all->options.stats;
	struct address *address = connection->address;

	if (!address)
		return true;
	bool is_one_more = atomic_fetch_add(&address->requests, 1) >= address->share.requests &&
			   address->share.requests > 0;
	if (is_one_more && stats)
		atomic_fetch_add(&stats->address_requests_over, 1);
	return !is_one_more;
}

void connection_end_request(struct connection *connection)
{
	if (connection->address)
		atomic_fetch_sub(&connection->address->requests, 1);
}

struct connection *connections_add(struct connections *connections, int fd,
				   const struct sockaddr_storage *peer)
{
	struct connection *connection = arena_checked(calloc(1, sizeof(*connection)));
	int64_t now = monotonic_ms();

	connection->peer = *peer;
	connection->all = connections;
	connection->fd = fd;
	connection->is_silent = true;
	pthread_mutex_lock(&connections->mutex);
	join_address(connection);
	bool is_address_over = is_address_full(connection);
	connection->is_over = connections->count >= connections->options.limit || is_address_over;
	if (connection->address)
		connection->address->count += !connection->is_over;
	connections->count +=
		!connection->is_over; /* connections beyond the limit do not keep others out */
	connections->crowd += connection->is_over;
	atomic_init(&connection->phase, CONNECTION_WAITING);
	atomic_init(&connection->touched_ms, now);
	atomic_init(&connection->until_ms,
		    now + 1000LL * (connection->is_over ? CONNECTIONS_OVER_S
							: connections->options.idle_s));
	connection->next = connections->first;
	if (connection->next)
		connection->next->previous = connection;
	connections->first = connection;
	pthread_mutex_unlock(&connections->mutex);
	if (connections->options.stats) {
		atomic_fetch_add(&connections->options.stats->open, 1);
		atomic_fetch_add(&connections->options.stats->over, connection->is_over);
		atomic_fetch_add(&connections->options.stats->address_over, is_address_over);
	}
	return connection;
}

bool connection_admit(struct connection *connection, enum connection_kind kind)
{
	struct connections *connections = connection->all;

	connection->kind = kind;
	if (!connection->is_over) {
		connection->is_silent = false;
		return true;
	}
	pthread_mutex_lock(&connections->mutex);
	connection->is_admitted = connections->over[kind] < connections->options.over / 4;
	connections->over[kind] += connection->is_admitted;
	connections->crowd -= connection->is_admitted;
	connection->is_silent = !connection->is_admitted;
	pthread_mutex_unlock(&connections->mutex);
	return connection->is_admitted;
}

void connections_remove(struct connection *connection)
{
	struct connections *connections = connection->all;

	pthread_mutex_lock(&connections->mutex);
	leave_address(connection);
	connections->count -= !connection->is_over;
	connections->over[connection->kind] -= connection->is_admitted;
	connections->crowd -= connection->is_over && connection->is_silent;
	if (connection->previous)
		connection->previous->next = connection->next;
	else
		connections->first = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	pthread_mutex_unlock(&connections->mutex);
	if (connections->options.stats)
		atomic_fetch_sub(&connections->options.stats->open, 1);
	free(connection);
}

struct connection *connections_find(struct connections *connections, int fd)
{
	pthread_mutex_lock(&connections->mutex);
	struct connection *at = connections->first;
	while (at && at->fd != fd)
		at = at->next;
	pthread_mutex_unlock(&connections->mutex);
	return at;
}

struct connection *connections_crowded_out(struct connections *connections)
{
	struct connection *oldest = NULL;

	pthread_mutex_lock(&connections->mutex);
	if (connections->crowd > connections->options.over / 2) {
		for (struct connection *at = connections->first; at; at = at->next)
			oldest = at->is_over && at->is_silent ? at : oldest;
	}
	pthread_mutex_unlock(&connections->mutex);
	return oldest;
}

bool connection_is_over(const struct connection *connection)
{
	return connection->is_over;
}

int connection_fd(const struct connection *connection)
{
	return connection->fd;
}

const struct sockaddr_storage *connection_peer(const struct connection *connection)
{
	return &connection->peer;
}

enum connection_kind connection_kind(const struct connection *connection)
{
	return connection->kind;
}

void connection_learn(struct connection *connection, uint64_t cost_ns)
{
	if (cost_ns > 0)
		connection->slow = CONNECTION_FORGETS;
	else if (connection->slow > 0)
		connection->slow--;
	connection->cost_ns = cost_ns > 0 ? cost_ns : connection->cost_ns;
}

uint64_t connection_cost(const struct connection *connection)
{
	return connection->slow > 0 ? connection->cost_ns : 0;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
	const struct connections_options *options = &connection->all->options;
	int64_t now, until = NEVER;

	if (connection->is_over)
		return;
	if (phase != CONNECTION_WORKING) {
		now = monotonic_ms();
		until = now + 1000LL * (phase == CONNECTION_WAITING ? options->idle_s
								    : options->request_s);
		atomic_store_explicit(&connection->touched_ms, now, memory_order_relaxed);
	}
	atomic_store_explicit(&connection->phase, phase, memory_order_relaxed);
	atomic_store_explicit(&connection->until_ms, until, memory_order_relaxed);
}

void connection_touch(struct connection *connection)
{
	atomic_store_explicit(&connection->touched_ms, monotonic_ms(), memory_order_relaxed);
}

/* Files beside those of connections, where the process may open `files` in all. */
static uint64_t other_files(uint64_t files, unsigned threads)
{
	struct platform_figures figures = {.files = FILES_UNKNOWN};
	uint64_t most = files / 4 < FILES_OTHER ? files / 4 : FILES_OTHER;

	if (files >= 2 * FILES_OTHER)
		return FILES_OTHER;
	platform_measure(&figures);
	uint64_t needed = figures.files + FILES_LATER + (uint64_t)threads * FILES_OF_THREAD;
	return needed > most ? needed : most;
}

struct connections_room connections_make_room(unsigned wanted, unsigned files_each,
					      unsigned threads)
{
	unsigned most = (CONNECTIONS_MAX - FILES_OTHER) / files_each - CONNECTIONS_OVER,
		 within = wanted < most ? wanted : most;
	rlim_t needed = ((rlim_t)within + CONNECTIONS_OVER) * files_each + FILES_OTHER;
	struct rlimit files;

	if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= needed)
		return (struct connections_room){within, CONNECTIONS_OVER, needed};
	files.rlim_cur = files.rlim_max < needed ? files.rlim_max : needed;
	if (setrlimit(RLIMIT_NOFILE, &files) != 0)
		getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur >= needed)
		return (struct connections_room){within, CONNECTIONS_OVER, needed};
	uint64_t others = other_files(files.rlim_cur, threads),
		 all = files.rlim_cur > others ? (files.rlim_cur - others) / files_each : 0;
	if (all < 2 * CONNECTIONS_OVER_MIN)
		all = 2 * CONNECTIONS_OVER_MIN;
	unsigned beyond = all / 4 < CONNECTIONS_OVER_MIN ? CONNECTIONS_OVER_MIN
			  : all / 4 < CONNECTIONS_OVER   ? (unsigned)all / 4
							 : CONNECTIONS_OVER;
	unsigned room = (unsigned)all - beyond;
	return (struct connections_room){room < within ? room : within, beyond, files.rlim_cur};
}
