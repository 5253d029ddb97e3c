#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/ending.h"
#include "server/http/door.h"
#include "server/http/tls.h"
#include "server/messages.h"
#include "storage/monotonic.h"

#define SWEEP_MS 1000
#define TLS_DRAIN_MS 2000 /* for clients to take answers at the server's end */

static void enter(void *context, struct connection *connection, enum connection_kind kind)
{
	const struct http *http = context;

	http_lanes_enter(http->lanes, connection, kind);
}

/* The plain end of a connection by TLS. */
static void take_plain(void *context, int fd, const struct sockaddr *peer)
{
	const struct http *http = context;

	door_take(http->door, fd, peer);
}

void http_linger(const struct http *http, const struct connection *connection)
{
	int fd = connection_fd(connection);
	char byte;

	struct door *door = atomic_load(&http->door); /* NULL for a moment behind the start */

	if (door &&
	    (connection_lingers(connection) || recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0))
		door_linger(door, fd);
}

/* What is answered where there is no memory to make another answer. */
static struct MHD_Response *make_exhausted(void)
{
	struct str body = STR(FULL_REFUSAL);
	struct MHD_Response *response = MHD_create_response_from_buffer(
		body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_PERSISTENT);

	if (response)
		MHD_add_response_header(response, "Content-Type", "application/x-amz-json-1.0");
	return response;
}

static void sweep(struct crew_job *job, bool is_late)
{
	struct http *http = (struct http *)((char *)job - offsetof(struct http, sweep));

	(void)is_late;
	connections_sweep(http->connections);
	(void)!crew_take_in(http->delays, job, SWEEP_MS); /* false at the end */
}

static bool start_tls(struct http *http, int fd)
{
	const struct http_options *options = &http->options;
	const struct tls_options tls = {
		.listener = fd,
		.threads = options->threads,
		.limit = options->room.within + options->room.beyond,
		.request_s = options->request_timeout_s,
		.deliver = take_plain,
		.context = http,
	};

	return tls_start(options->tls, &tls);
}

/* The parts, in the order in which they need each other. False where one does not start; `fd` is
 * closed then. */
static bool start_http_parts(struct http *http, int fd)
{
	const struct http_options *options = &http->options;
	const struct connections_options limits = {
		.limit = options->room.within,
		.over = options->room.beyond,
		.idle_s = options->idle_timeout_s,
		.request_s = options->request_timeout_s,
		.remote = options->remote,
		.loopback = options->loopback,
		.stats = &options->stats->connections,
	};

	http->exhausted = make_exhausted();
	http->connections = connections_new(&limits);
	http->lanes = http->exhausted && http->connections ? http_lanes_new(http) : NULL;
	if (!http->lanes) {
		close(fd);
		return false;
	}
	const struct door_options door = {options->tls ? -1 : fd, http->connections,
					  options->room.beyond / 2, enter, http};
	http->door = door_open(&door);
	if (!http->door) {
		if (options->tls)
			close(fd);
		return false;
	}
	http->sweep.run = sweep;
	if (crew_take_in(http->delays, &http->sweep, SWEEP_MS) &&
	    (!options->tls || start_tls(http, fd)))
		return true;
	crew_stop(http->delays);
	door_close(http->door);
	return false;
}

/* When the door is closed, or was never open. */
static void http_free(struct http *http)
{
	if (http->lanes)
		http_lanes_free(http->lanes);
	if (http->door)
		door_free(http->door);
	http_exchange_free_idle(http);
	if (http->connections)
		connections_free(http->connections);
	if (http->exhausted)
		MHD_destroy_response(http->exhausted);
	crew_free(http->aside);
	crew_free(http->delays);
	free(http);
}

/* An eighth of the memory; but two of the largest bodies fit. */
static size_t unproven_limit(const struct http_options *options)
{
	size_t share = options->memory_limit / 8, least = 2 * options->body_limit;

	return share > least ? share : least;
}

struct http *http_start(const struct http_options *options, const char **problem)
{
	int fd = door_listen(options->host, options->port, problem);

	if (fd < 0)
		return NULL;
	struct http *http = arena_checked(calloc(1, sizeof(*http)));
	http->options = *options;
	options->stats->memory.limit = options->memory_limit;
	options->stats->unproven.limit = unproven_limit(options);
	request_id_seed();
	http->port = door_port(fd);
	http->aside = crew_new(CREW_ASIDE, false);
	http->delays = crew_new(1, true);
	if (start_http_parts(http, fd))
		return http;
	*problem = "no threads or files are left";
	http_free(http);
	return NULL;
}

unsigned http_port(const struct http *http)
{
	return http->port;
}

void http_stop(struct http *http, unsigned wait_ms)
{
	const struct timespec moment = {0, 1000000};
	struct tls *tls = http->options.tls;
	int64_t end_ms =
		monotonic_ms() + wait_ms; /* by the clock: on a busy machine a moment can be many */

	atomic_store(&http->is_stopping, true);
	ending_part("requests under way");
	crew_stop(http->delays); /* answers that wait go at once */
	while (atomic_load(&http->options.stats->requests) > 0 && monotonic_ms() < end_ms)
		nanosleep(&moment, NULL);
	atomic_store(&http->is_drained, true);
	if (tls)
		tls_quiesce(tls);
	ending_part("connections and the threads of requests");
	door_close(http->door);
	crew_stop(http->aside); /* libmicrohttpd must have no suspended connection */
	http_free(http);
	if (tls)
		tls_stop(tls, TLS_DRAIN_MS);
}
