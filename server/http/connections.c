#include "server/http/connections.h"

#include <poll.h>
#include <pthread.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/arena.h"
#include "server/platform/platform.h"
#include "storage/monotonic.h"

#define FILES_OTHER 384 /* the data file by each reader, epoll sets, pipes, posts of triggers */
#define LATE_MS 1000    /* a thread that is not busy serves a socket much sooner */
#define NEVER INT64_MAX

#define ADDRESS_SIZE 16 /* bytes, of IPv6 or of IPv4 in it */

/* The connections from it. */
struct address {
	struct address *next;
	unsigned char bytes[ADDRESS_SIZE];
	struct connections_share share;
	unsigned count;  /* connections that are not over */
	unsigned users;  /* all connections */
	atomic_uint requests;
};

struct connections {
	struct connections_options options;
	struct connections_stats *stats;
	pthread_mutex_t
		mutex; /* of all below; a socket is open as long as its connection is in the list */
	unsigned count;                  /* within the limit */
	unsigned over[CONNECTION_KINDS]; /* beyond it */
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
	int phase = atomic_load(&connection->phase);
	struct pollfd room = {connection->fd, POLLOUT, 0};
	int unread = 0;

	if (connection->is_over)
		return false;
	if (phase == CONNECTION_SENDING)
		return poll(&room, 1, 0) == 1 && room.revents == POLLOUT;
	if (phase == CONNECTION_RECEIVING && now - atomic_load(&connection->touched_ms) < LATE_MS)
		return false;
	return ioctl(connection->fd, FIONREAD, &unread) == 0 && unread > 0;
}

/* libmicrohttpd waits for an edge of epoll, and misses an end of the client that came with its last
 * bytes. So this makes it an event of its own. */
static void report_end(const struct connection *connection)
{
	int phase = atomic_load(&connection->phase);

	if ((phase == CONNECTION_WAITING || phase == CONNECTION_RECEIVING) &&
	    platform_has_ended(connection->fd))
		shutdown(connection->fd, SHUT_RD);
}

void connections_sweep(struct connections *connections)
{
	int64_t now = monotonic_ms(), anew = now + 1000LL * connections->options.request_s;

	pthread_mutex_lock(&connections->mutex);
	for (struct connection *at = connections->first; at; at = at->next) {
		int64_t until = atomic_load(&at->until_ms);

		if (until > now) {
			report_end(at);
			continue;
		}
		int64_t next = is_our_fault(at, now) ? anew : NEVER;
		/* not where it began another phase meanwhile */
		if (atomic_compare_exchange_strong(&at->until_ms, &until, next) && next == NEVER)
			shutdown(at->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&connections->mutex);
}

struct connections *connections_new(const struct connections_options *options,
				    struct connections_stats *stats)
{
	struct connections *connections = arena_checked(calloc(1, sizeof(*connections)));

	connections->options = *options;
	connections->stats = stats;
	pthread_mutex_init(&connections->mutex, NULL);
	return connections;
}

void connections_free(struct connections *connections)
{
	while (connections->first) {
		int fd = connections->first->fd;

		connections_remove(connections->first);
		close(fd);
	}
	pthread_mutex_destroy(&connections->mutex);
	free(connections);
}

/* The client's address as it is counted, IPv4 in IPv6, and its limits. */
static struct connections_share address_of(const struct connection *connection,
					   unsigned char *bytes)
{
	static const unsigned char mapped[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
	const struct connections_options *options = &connection->all->options;
	const void *peer = &connection->peer;
	struct in6_addr v6 = ((const struct sockaddr_in6 *)peer)->sin6_addr;

	if (connection->peer.ss_family != AF_INET6) {
		memcpy(&v6, mapped, sizeof(mapped));
		memcpy((char *)&v6 + sizeof(mapped),
		       &((const struct sockaddr_in *)peer)->sin_addr, 4);
	}
	bool is_v4 = IN6_IS_ADDR_V4MAPPED(&v6);
	memset(bytes, 0, ADDRESS_SIZE);
	memcpy(bytes, &v6, is_v4 ? ADDRESS_SIZE : ADDRESS_SIZE / 2);
	bool is_loopback = is_v4 ? bytes[sizeof(mapped)] == 127 : IN6_IS_ADDR_LOOPBACK(&v6);
	return is_loopback ? options->loopback : options->remote;
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
	struct address *address = connection->address;

	if (!address)
		return true;
	bool is_one_more = atomic_fetch_add(&address->requests, 1) >= address->share.requests &&
			   address->share.requests > 0;
	if (is_one_more)
		atomic_fetch_add(&connection->all->stats->address_requests_over, 1);
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
	const struct connections_options *options = &connections->options;
	struct connection *connection = arena_checked(calloc(1, sizeof(*connection)));
	unsigned most_s;

	connection->peer = *peer;
	connection->all = connections;
	connection->fd = fd;
	pthread_mutex_lock(&connections->mutex);
	join_address(connection);
	bool is_address_over = is_address_full(connection);
	connection->is_over = connections->count >= options->room.within || is_address_over;
	if (connection->address)
		connection->address->count += !connection->is_over;
	/* connections beyond the limit do not keep others out */
	connections->count += !connection->is_over;
	connections->over[CONNECTION_SILENT] += connection->is_over;
	most_s = connection->is_over ? CONNECTIONS_OVER_S : options->idle_s;
	atomic_init(&connection->until_ms, monotonic_ms() + 1000LL * most_s);
	connection->next = connections->first;
	if (connection->next)
		connection->next->previous = connection;
	connections->first = connection;
	pthread_mutex_unlock(&connections->mutex);
	atomic_fetch_add(&connections->stats->open, 1);
	atomic_fetch_add(&connections->stats->over, connection->is_over);
	atomic_fetch_add(&connections->stats->address_over, is_address_over);
	return connection;
}

bool connection_admit(struct connection *connection, enum connection_kind kind)
{
	struct connections *connections = connection->all;
	unsigned *over = connections->over;

	pthread_mutex_lock(&connections->mutex);
	bool is_admitted =
		!connection->is_over || over[kind] < connections->options.room.beyond / 4;
	if (is_admitted) {
		over[connection->kind] -= connection->is_over;
		over[kind] += connection->is_over;
		connection->kind = kind;
	}
	pthread_mutex_unlock(&connections->mutex);
	return is_admitted;
}

void connections_remove(struct connection *connection)
{
	struct connections *connections = connection->all;

	pthread_mutex_lock(&connections->mutex);
	leave_address(connection);
	connections->count -= !connection->is_over;
	connections->over[connection->kind] -= connection->is_over;
	if (connection->previous)
		connection->previous->next = connection->next;
	else
		connections->first = connection->next;
	if (connection->next)
		connection->next->previous = connection->previous;
	pthread_mutex_unlock(&connections->mutex);
	atomic_fetch_sub(&connections->stats->open, 1);
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
	if (connections->over[CONNECTION_SILENT] > connections->options.room.beyond / 2) {
		for (struct connection *at = connections->first; at; at = at->next)
			oldest = at->is_over && at->kind == CONNECTION_SILENT ? at : oldest;
	}
	pthread_mutex_unlock(&connections->mutex);
	return oldest;
}

void connection_enter(struct connection *connection, enum connection_phase phase)
{
	const struct connections_options *options = &connection->all->options;
	unsigned most_s = phase == CONNECTION_WAITING ? options->idle_s : options->request_s;

	if (connection->is_over)
		return;
	int64_t until = phase == CONNECTION_WORKING ? NEVER : monotonic_ms() + 1000LL * most_s;
	atomic_store(&connection->phase, phase);
	atomic_store(&connection->until_ms, until);
}

void connection_touch(struct connection *connection)
{
	atomic_store(&connection->touched_ms, monotonic_ms());
}

struct connections_room connections_make_room(unsigned wanted, unsigned files_each)
{
	unsigned beyond = CONNECTIONS_OVER;
	rlim_t needed = ((rlim_t)wanted + beyond) * files_each + FILES_OTHER;
	struct rlimit files = {needed, needed};

	getrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < needed) {
		files.rlim_cur = files.rlim_max < needed ? files.rlim_max : needed;
		if (setrlimit(RLIMIT_NOFILE, &files) != 0)
			getrlimit(RLIMIT_NOFILE, &files);
	}
	if (files.rlim_cur >= needed)
		return (struct connections_room){wanted, beyond, needed};
	uint64_t others = files.rlim_cur / 2 < FILES_OTHER ? files.rlim_cur / 2 : FILES_OTHER;
	unsigned all = (unsigned)((files.rlim_cur - others) / files_each);
	beyond = all / 4 < beyond ? all / 4 : beyond;
	beyond = beyond > CONNECTIONS_OVER_MIN ? beyond : CONNECTIONS_OVER_MIN;
	unsigned room = all > 2 * beyond ? all - beyond : beyond;
	return (struct connections_room){room < wanted ? room : wanted, beyond, files.rlim_cur};
}
