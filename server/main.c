/*
 * main - puts the parts together: configuration, store, catalog, HTTP; waits for a signal; takes them apart again.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/clock.h"
#include "server/config.h"
#include "server/dropin.h"
#include "server/health.h"
#include "server/http.h"
#include "server/log.h"
#include "server/routes.h"
#include "server/sigv4.h"
#include "server/trigger.h"
#include "server/upkeep.h"
#include "server/version.h"
#include "storage/sqlite/sqlite_store.h"

#define DRAIN_MS 5000             /* how long requests under way may take when the server is told to end */
#define THREADS_MAX_DEFAULT 4
#define THREADS_DURABLE 16

static void note(void *context, struct str line)
{
	(void)context;
	log_line(LOG_INFO, STR_FMT, STR_ARG(line));
}

static enum durability durability_of(const char *name)
{
	return strcmp(name, "full") == 0 ? DURABILITY_FULL : strcmp(name, "off") == 0 ? DURABILITY_OFF : DURABILITY_NORMAL;
}

static enum auth_mode auth_of(const char *name)
{
	return strcmp(name, "verify") == 0 ? AUTH_VERIFY : strcmp(name, "off") == 0 ? AUTH_OFF : AUTH_OPEN;
}

static unsigned thread_count(const struct config *config)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (config->threads > 0)
		return (unsigned)config->threads;
	return cores < 1 ? 1 : cores > THREADS_MAX_DEFAULT ? THREADS_MAX_DEFAULT : (unsigned)cores;
}

/* Who waits for the disk needs no core: the more wait together, the more commits share a sync. */
static unsigned worker_count(const struct config *config)
{
	bool waits = !config->in_memory && durability_of(config->durability) == DURABILITY_FULL;

	return waits && config->threads == 0 ? THREADS_DURABLE : thread_count(config);
}

static int fail(struct err *err)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err->message));
	return EXIT_FAILURE;
}

/* Serves until SIGTERM or SIGINT; both are blocked already. */
static int serve(const struct config *config, struct catalog *catalog, struct clock *clock, struct upkeep *upkeep, const sigset_t *signals)
{
	struct service service = {.catalog = catalog, .now_ms = clock_now_ms, .clock_context = clock, .note = note,
				  .wake = upkeep_wake, .wake_context = upkeep, .statements = partiql_cache_new()};
	struct routes routes = {
		.service = &service,
		.sigv4 = sigv4_new(auth_of(config->auth), config->credentials, config->credential_count),
		.metrics = metrics_new(),
		.auth = auth_of(config->auth),
		.clock = clock,
		.upkeep = upkeep,
		.cors = config->cors,
		.root_status = strcmp(config->root_status, "200") == 0 ? 200 : 400,
	};
	struct http_options options = {
		.host = config->host, .port = (unsigned short)config->port, .threads = worker_count(config),
		.connection_limit = (unsigned)config->connection_limit, .idle_timeout_s = (unsigned)config->idle_timeout,
		.handler = routes_handle, .context = &routes,
	};
	const char *problem = "";
	int received = 0, status = EXIT_SUCCESS;
	struct trigger_options trigger_options = {
		.service = &service, .specs = config->trigger, .batch = (unsigned)config->trigger_batch, .window_ms = (int)config->trigger_window,
		.retries = (unsigned)config->trigger_retries, .from_horizon = strcmp(config->trigger_position, "TRIM_HORIZON") == 0,
		.failures = config->trigger_failures,
	};
	struct triggers *triggers = trigger_start(&trigger_options);
	struct http *http = triggers ? http_start(&options, &problem) : NULL;

	if (http && config->is_dropin)
		dropin_banner(stdout, config, http_port(http));
	if (http) {
		log_line(LOG_INFO, "dynalith " DYNALITH_VERSION " listens on %s:%u, data %s %s", config->host, http_port(http),
			 config->in_memory ? "in memory" : "in", config->in_memory ? "" : config->db_path);
		sigwait(signals, &received);
		log_line(LOG_INFO, "ends on signal %d", received);
		http_stop(http, DRAIN_MS);
	} else {
		fprintf(stderr, "dynalith: cannot listen on %s:%ld: %s\n", config->host, config->port, problem);
		status = EXIT_FAILURE;
	}
	if (triggers)
		trigger_stop(triggers);
	metrics_free(routes.metrics);
	sigv4_free(routes.sigv4);
	partiql_cache_free(service.statements);
	return status;
}

static int keep_and_serve(const struct config *config, struct catalog *catalog, const sigset_t *signals)
{
	struct clock clock = {0};
	struct upkeep_options options = {
		.catalog = catalog, .clock = &clock, .ttl_delay_ms = (int64_t)config->ttl_delay * 1000, .period_ms = config->ttl_period,
	};
	struct upkeep *upkeep = upkeep_start(&options);

	if (!upkeep) {
		fprintf(stderr, "dynalith: cannot start a thread\n");
		return EXIT_FAILURE;
	}
	int status = serve(config, catalog, &clock, upkeep, signals);
	upkeep_stop(upkeep);
	return status;
}

static int run(struct arena *arena, const struct config *config, const sigset_t *signals)
{
	struct sqlite_store_options store_options = {
		.path = config->in_memory ? NULL : config->db_path,
		.durability = durability_of(config->durability),
		.readers = worker_count(config),
		.cache_bytes = (size_t)config->cache_mb * 1024 * 1024,
	};
	struct catalog_options catalog_options = {
		.is_shared = config->shared_db,
		.transient_status_ms = config->delay_transient_statuses ? config->transient_status_ms : 0,
		.collection_max = (uint64_t)config->collection_limit_mb * 1024 * 1024,
		.rotation = {(uint64_t)config->stream_rotate_records, config->stream_rotate_seconds * 1000LL},
		.vector_memory_bytes = (size_t)config->vector_cache_mb * 1024 * 1024,
		.search_threads = thread_count(config),
	};
	struct err err = err_in(arena);
	struct store *store;
	struct catalog *catalog;

	if (sqlite_store_open(&store_options, &store, &err) != OK)
		return fail(&err);
	if (catalog_open(store, &catalog_options, &catalog, &err) != OK) {
		store_close(store);
		return fail(&err);
	}
	int status = keep_and_serve(config, catalog, signals);
	catalog_close(catalog);
	store_close(store);
	return status;
}

int main(int argc, char **argv)
{
	struct arena *arena = arena_new(0);
	struct config config;
	sigset_t signals;
	int status = EXIT_FAILURE;

	/* blocked before any thread is there, so that only sigwait gets them */
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	switch (config_read(arena, argc, argv, &config)) {
	case CONFIG_DONE:
		status = EXIT_SUCCESS;
		break;
	case CONFIG_FAILED:
		break;
	case CONFIG_RUN:
		if (config.is_health) {
			status = health_ask(config.host, (unsigned)config.port) ? EXIT_SUCCESS : EXIT_FAILURE;
			break;
		}
		log_set_level(log_level_of(config.log_level));
		if (config.is_dropin)
			dropin_warn_of_its_data(arena, &config);
		status = run(arena, &config, &signals);
		break;
	}
	arena_free(arena);
	return status;
}
