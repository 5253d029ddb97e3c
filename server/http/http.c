#include "server/http/http_internal.h"

#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "server/ending.h"
#include "server/http/tls.h"
#include "storage/monotonic.h"

#define SWEEP_MS 1000
#define TLS_DRAIN_MS 2000 /* for clients to take answers at the server's end */

static void sweep(struct crew_job *job, bool is_late)
{
	struct http *http = (struct http *)((char *)job - offsetof(struct http, sweep));

	if (is_late)
		return;
	connections_sweep(http->connections);
	crew_take_in(http->delays, job, SWEEP_MS);
}

/* The parts, in the order in which they need each other. False where one does not start; `fd` is
 * closed then. */
static bool start_http_parts(struct http *http, int fd)
{
	const struct http_options *options = &http->options;
	const struct connections_options *limits = &options->connections;
	const struct connections_room *room = &limits->room;

	http->connections = connections_new(limits, &options->stats->connections);
	http->lanes = http_lanes_new(http);
	http->sweep.run = sweep;
	http->lingers.crew = http->delays;
	http->lingers.most = room->beyond / 4;
	if (options->certificate)
		http->tls = tls_new(options->certificate, &http->lingers,
				    room->within + room->beyond, limits->request_s);
	if (!http->lanes || (options->certificate && !http->tls)) {
		close(fd);
		return false;
	}
	http->door = http_door_open(http, fd);
	return http->door && crew_take_in(http->delays, &http->sweep, SWEEP_MS);
}

/* Ends what has started. */
static void http_free(struct http *http)
{
	crew_stop(http->delays);
	if (http->door)
		http_door_close(http->door);
	crew_stop(http->aside); /* libmicrohttpd must have no suspended connection */
	if (http->lanes)
		http_lanes_free(http->lanes);
	connections_free(http->connections);
	if (http->tls)
		tls_end(http->tls, TLS_DRAIN_MS);
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
	int fd = http_door_listen(options->host, options->port, problem);

	if (fd < 0)
		return NULL;
	struct http *http = arena_checked(calloc(1, sizeof(*http)));
	http->options = *options;
	options->stats->memory.limit = options->memory_limit;
	options->stats->unproven.limit = unproven_limit(options);
	request_id_seed();
	http->port = http_door_port(fd);
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
	int64_t end_ms =
		monotonic_ms() + wait_ms; /* by the clock: on a busy machine a moment can be many */

	atomic_store(&http->is_stopping, true);
	ending_part("requests under way");
	crew_stop(http->delays); /* answers that wait go at once */
	while (atomic_load(&http->options.stats->requests) > 0 && monotonic_ms() < end_ms)
		nanosleep(&moment, NULL);
	atomic_store(&http->is_drained, true);
	ending_part("connections and the threads of requests");
	http_free(http);
}
