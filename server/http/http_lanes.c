/*
 * Threads of libmicrohttpd, each with a daemon and connections of its own.
 *
 * libmicrohttpd's thread pool needs its own listening socket, and closes connections beyond its
 * limit without an answer. The door accepts here, so each lane is a daemon with one internal thread
 * that gets its connections by MHD_add_connection().
 *
 * A lane has LANE_CONNECTIONS at most: libmicrohttpd 0.9.75 asks epoll for 128 events, and where it
 * gets exactly as many it waits for more before it answers any. A lane starts with its first
 * connection. Up to http_options.threads lanes share the connections; further lanes start only when
 * these are full.
 */
#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/monotonic.h"

#define THREAD_STACK (2 * 1024 * 1024)
#define LANE_CONNECTIONS 120
#define SLICE_LEAST_NS 200000u /* of CPU time; many times what GetItem takes */
#define PACED_FROM 4096 /* bytes of a body that come at once */
#define PACE_BYTES (2 * 1024 * 1024) /* of bodies that a lane with several connections reads ... */
#define PACE_MS 10                    /* ... in this time */
#define LANE_SLACK                                                                                 \
	4 /* connections that libmicrohttpd still counts when it has said that they are closed */

/* A connection that was handed to a lane whose thread has not taken it in. */
struct arrival {
	struct arrival *next;
	struct connection *connection;
};

struct lane {
	struct http *http;
	struct MHD_Daemon *daemon; /* NULL: it has not started */
	atomic_uint count;         /* of connections */
	pthread_mutex_t mutex;     /* of all below */
	struct arrival *arriving;
	size_t paced;              /* bytes of bodies since then */
	int64_t paced_since_ms;
	struct exchange *paused;   /* their connections are suspended, until `pause` is over */
	struct crew_job pause;
};

struct lanes {
	struct http *http;
	unsigned most;
	atomic_uint count;
	struct lane vital;
	struct lane v[];
};

/* Takes the arrival with this socket, or NULL. */
static struct connection *take_arrival(struct lane *lane, int fd)
{
	struct connection *connection = NULL;

	pthread_mutex_lock(&lane->mutex);
	struct arrival **at = &lane->arriving;
	while (*at && connection_fd((*at)->connection) != fd)
		at = &(*at)->next;
	struct arrival *found = *at;
	if (found) {
		*at = found->next;
		connection = found->connection;
	}
	pthread_mutex_unlock(&lane->mutex);
	free(found);
	return connection;
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
		*state = take_arrival(lane, fd);
	} else {
		http_linger(lane->http, *state);
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
	unsigned count = atomic_load_explicit(&lane->count, memory_order_relaxed);
	uint64_t all = lane->http->options.slice_ns, share = all / (count > 0 ? count : 1);

	return share > SLICE_LEAST_NS || all == 0 ? share : SLICE_LEAST_NS;
}

/* The moment is over: those that were suspended go on. */
static void end_lane_pause(struct crew_job *job, bool is_late)
{
	struct lane *lane = (struct lane *)((char *)job - offsetof(struct lane, pause));

	(void)is_late;
	pthread_mutex_lock(&lane->mutex);
	struct exchange *paused = lane->paused, *next;
	lane->paused = NULL;
	lane->paced = 0;
	pthread_mutex_unlock(&lane->mutex);
	for (; paused; paused = next) {
		next = paused->next; /* resumed, it is its lane's */
		MHD_resume_connection(paused->mhd);
	}
}

/* Bodies that come as fast as they are read would take all of the lane's time. */
void http_lane_pace(struct exchange *exchange, size_t n)
{
	struct lane *lane = exchange->lane;
	int64_t now_ms;

	if (n < PACED_FROM)
		return;
	now_ms = monotonic_ms();
	pthread_mutex_lock(&lane->mutex);
	if (now_ms - lane->paced_since_ms >= PACE_MS) {
		lane->paced_since_ms = now_ms;
		lane->paced = 0;
	}
	lane->paced += n;
	bool is_paused = lane->paced > PACE_BYTES &&
			 atomic_load_explicit(&lane->count, memory_order_relaxed) > 1;
	if (is_paused &&
	    (lane->paused || crew_take_in(lane->http->delays, &lane->pause, PACE_MS))) {
		MHD_suspend_connection(exchange->mhd);
		exchange->next = lane->paused;
		lane->paused = exchange;
	}
	pthread_mutex_unlock(&lane->mutex);
}

static void *on_uri(void *context, const char *uri, struct MHD_Connection *mhd)
{
	struct lane *lane = context;

	return http_serve_begin(
		lane->http,
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context,
		lane, uri);
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
	pthread_mutex_init(&lane->mutex, NULL);
	lane->pause.run = end_lane_pause;
	lane->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, on_request, lane, MHD_OPTION_NOTIFY_CONNECTION, on_connection,
		lane, MHD_OPTION_URI_LOG_CALLBACK, on_uri, lane, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, lane, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(LANE_CONNECTIONS + LANE_SLACK), MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)HTTP_CONNECTION_MEMORY, MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK,
		MHD_OPTION_END);
	if (!lane->daemon)
		pthread_mutex_destroy(&lane->mutex);
	return lane->daemon != NULL;
}

struct lanes *http_lanes_new(struct http *http)
{
	const struct http_options *options = &http->options;
	unsigned most = options->threads +
			(options->room.within + options->room.beyond) / LANE_CONNECTIONS + 1;
	struct lanes *lanes = arena_checked(calloc(1, sizeof(*lanes) + most * sizeof(lanes->v[0])));

	lanes->http = http;
	lanes->most = most;
	if (start_daemon_lane(lanes, &lanes->vital))
		return lanes;
	free(lanes);
	return NULL;
}

/* The lane with the fewest connections; NULL where there is none that has room. */
static struct lane *emptiest(struct lanes *lanes)
{
	struct lane *best = NULL;

	for (unsigned i = 0; i < atomic_load(&lanes->count); i++) {
		struct lane *lane = &lanes->v[i];

		if (!best || atomic_load_explicit(&lane->count, memory_order_relaxed) <
				     atomic_load_explicit(&best->count, memory_order_relaxed))
			best = lane;
	}
	return best && atomic_load_explicit(&best->count, memory_order_relaxed) < LANE_CONNECTIONS
		       ? best
		       : NULL;
}

static struct lane *choose(struct lanes *lanes)
{
	struct lane *best = emptiest(lanes);
	unsigned count = atomic_load(&lanes->count);
	bool is_free = best && atomic_load_explicit(&best->count, memory_order_relaxed) == 0;

	if (is_free || (best && count >= lanes->http->options.threads) || count == lanes->most ||
	    !start_daemon_lane(lanes, &lanes->v[count]))
		return best;
	atomic_store(&lanes->count, count + 1);
	atomic_store(&lanes->http->options.stats->lanes, count + 1);
	return &lanes->v[count];
}

static bool has_room(const struct lane *lane)
{
	return atomic_load_explicit(&lane->count, memory_order_relaxed) < LANE_CONNECTIONS;
}

void http_lanes_enter(struct lanes *lanes, struct connection *connection, enum connection_kind kind)
{
	struct lane *lane =
		kind == CONNECTION_VITAL && has_room(&lanes->vital) ? &lanes->vital : choose(lanes);
	int fd = connection_fd(connection);
	socklen_t n;
	const struct sockaddr *peer = connection_peer(connection, &n);

	if (!lane) { /* no thread can be had */
		connections_remove(connection);
		close(fd);
		return;
	}
	struct connection *lost = take_arrival(
		lane, fd); /* libmicrohttpd had no memory for it, and closed its socket */
	if (lost)
		drop(lane, lost);
	struct arrival *arrival = arena_checked(malloc(sizeof(*arrival)));
	atomic_fetch_add(&lane->count, 1);
	pthread_mutex_lock(&lane->mutex);
	*arrival = (struct arrival){lane->arriving, connection};
	lane->arriving = arrival;
	pthread_mutex_unlock(&lane->mutex);
	if (MHD_add_connection(lane->daemon, fd, peer, n) != MHD_YES &&
	    take_arrival(lane, fd)) /* it has closed the socket */
		drop(lane, connection);
}

static void end(struct lane *lane)
{
	MHD_stop_daemon(lane->daemon);
	while (lane->arriving) /* libmicrohttpd has closed their sockets, and told nobody */
		drop(lane, take_arrival(lane, connection_fd(lane->arriving->connection)));
	pthread_mutex_destroy(&lane->mutex);
}

void http_lanes_free(struct lanes *lanes)
{
	for (unsigned i = 0; i < atomic_load(&lanes->count); i++)
		end(&lanes->v[i]);
	end(&lanes->vital);
	free(lanes);
}
