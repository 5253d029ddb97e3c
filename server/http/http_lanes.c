/*
 * Threads of libmicrohttpd, each with a daemon and connections of its own; docs/internals.md says
 * why. A lane starts with its first connection. Up to http_options.threads lanes share the
 * connections; further lanes start only when these are full.
 */
#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <unistd.h>

#define THREAD_STACK (2 * 1024 * 1024)
#define LANE_CONNECTIONS 120 /* libmicrohttpd 0.9.75 waits where epoll gives exactly 128 events */
#define SLICE_LEAST_NS 200000u /* of CPU time; many times what GetItem takes */
#define LANE_SLACK 4 /* that libmicrohttpd still counts when it has said that they are closed */

struct lanes {
	struct http *http;
	unsigned most, count; /* `count`: of those that have started; of the door's thread */
	struct lane vital;
	struct lane v[];
};

static unsigned count_of(const struct lane *lane)
{
	return atomic_load_explicit(&lane->count, memory_order_relaxed);
}

/* It is closed, or about to be. */
static void drop(struct lane *lane, struct connection *connection)
{
	atomic_fetch_sub(&lane->count, 1);
	connections_remove(connection);
}

/* libmicrohttpd calls it when it takes a connection in, and before it closes one. */
static void on_connection(void *context, struct MHD_Connection *mhd, void **state,
			  enum MHD_ConnectionNotificationCode code)
{
	struct lane *lane = context;
	int fd = MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		*state = connections_find(lane->http->connections, fd);
	} else {
		linger_keep(&lane->http->lingers, fd);
		drop(lane, *state);
	}
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *mhd, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **state)
{
	(void)context, (void)url;
	if (!*state)
		return MHD_NO;
	return http_serve_request(*state, mhd, method, version, data, data_size) ? MHD_YES : MHD_NO;
}

/* A request waits for one request of each other connection of its lane. So these share a slice. */
uint64_t http_lane_slice(const struct lane *lane)
{
	unsigned count = count_of(lane);
	uint64_t all = lane->http->options.slice_ns, share = all / (count > 0 ? count : 1);

	return share > SLICE_LEAST_NS || all == 0 ? share : SLICE_LEAST_NS;
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *mhd)
{
	return http_serve_begin(
		context,
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context,
		uri);
}

static void on_completed(void *context, struct MHD_Connection *mhd, void **state,
			 enum MHD_RequestTerminationCode code)
{
	(void)context, (void)mhd, (void)code;
	if (*state)
		http_serve_end(*state);
	*state = NULL;
}

static bool start_daemon_lane(struct lanes *lanes, struct lane *lane)
{
	const unsigned flags =
		MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET;

	lane->http = lanes->http;
	lane->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, lane, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		lane, MHD_OPTION_URI_LOG_CALLBACK, on_uri, lane, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, lane, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(LANE_CONNECTIONS + LANE_SLACK), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_CONNECTION_MEMORY, MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK,
		MHD_OPTION_END);
	return lane->daemon != NULL;
}

struct lanes *http_lanes_new(struct http *http)
{
	const struct connections_room *room = &http->options.connections.room;
	unsigned most = http->options.threads +
			(room->within + room->beyond) / LANE_CONNECTIONS + 1;
	struct lanes *lanes = arena_checked(calloc(1, sizeof(*lanes) + most * sizeof(lanes->v[0])));

	lanes->http = http;
	lanes->most = most;
	if (start_daemon_lane(lanes, &lanes->vital))
		return lanes;
	free(lanes);
	return NULL;
}

/* The lane with the fewest connections, or a new one; NULL where no lane has room. */
static struct lane *choose(struct lanes *lanes)
{
	unsigned n = lanes->count;
	struct lane *best = NULL;

	for (unsigned i = 0; i < n; i++) {
		if (!best || count_of(&lanes->v[i]) < count_of(best))
			best = &lanes->v[i];
	}
	bool is_full = !best || count_of(best) >= LANE_CONNECTIONS;
	bool is_wanted = is_full || (n < lanes->http->options.threads && count_of(best) > 0);
	if (!is_wanted || n == lanes->most || !start_daemon_lane(lanes, &lanes->v[n]))
		return is_full ? NULL : best;
	lanes->count++;
	atomic_store(&lanes->http->options.stats->lanes, lanes->count);
	return &lanes->v[n];
}

void http_lanes_enter(struct lanes *lanes, struct connection *connection, enum connection_kind kind)
{
	bool is_vital = kind == CONNECTION_VITAL && count_of(&lanes->vital) < LANE_CONNECTIONS;
	struct lane *lane = is_vital ? &lanes->vital : choose(lanes);
	const struct sockaddr_storage *peer = &connection->peer;
	int fd = connection->fd;

	if (!lane) { /* no thread can be had */
		connections_remove(connection);
		close(fd);
		return;
	}
	atomic_fetch_add(&lane->count, 1);
	if (MHD_add_connection(lane->daemon, fd, (const struct sockaddr *)peer, sizeof(*peer)) !=
	    MHD_YES) /* it has closed the socket */
		drop(lane, connection);
}

static void end_lane(struct lane *lane)
{
	MHD_stop_daemon(lane->daemon);
	http_exchange_free(lane->idle);
}

void http_lanes_free(struct lanes *lanes)
{
	for (unsigned i = 0; i < lanes->count; i++)
		end_lane(&lanes->v[i]);
	end_lane(&lanes->vital);
	free(lanes);
}
