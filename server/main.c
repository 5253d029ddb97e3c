/*
 * main - puts the parts together: configuration, store, catalog, HTTP; waits for a signal; takes them apart again.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "protocol/conflicts/conflicts.h"
#include "protocol/faults/faults.h"
#include "protocol/iam/iam.h"
#include "protocol/insight/contributors.h"
#include "protocol/insight/insight.h"
#include "protocol/throughput/throughput.h"
#include "protocol/tables/settings.h"
#include "protocol/timing/timing.h"
#include "server/aside.h"
#include "server/backend.h"
#include "server/clock.h"
#include "server/config.h"
#include "server/connections.h"
#include "server/console/events.h"
#include "server/copy.h"
#include "server/crash.h"
#include "server/dropin.h"
#include "server/health.h"
#include "server/http.h"
#include "server/kinesis/kinesis.h"
#include "server/log.h"
#include "server/maintain.h"
#include "server/messages.h"
#include "server/online.h"
#include "server/parent.h"
#include "server/recording/recorder.h"
#include "server/recording/replay.h"
#include "server/report/document.h"
#include "server/report/report.h"
#include "server/routes.h"
#include "server/seed/apply.h"
#include "server/sigv4.h"
#include "server/tls.h"
#include "server/transfer/transfers.h"
#include "server/trigger.h"
#include "server/upkeep.h"
#include "server/version.h"
#include "storage/state/lag_settings.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/store/timed/timed_store.h"
#include "storage/backup/restore.h"
#include "storage/store/transfer.h"
#include "storage/upkeep/lease.h"

#define DRAIN_MS 5000             /* how long requests under way may take when the server ends */
#define THREADS_MAX_DEFAULT 4
#define THREADS_DURABLE 16
#define SLOW_NS 10000000u
#define SLOW_ELSEWHERE_NS 250000000u /* a request waits for the network in every worker */
#define MB ((size_t)1024 * 1024)
#define NO_LIMIT (UINT64_MAX / 2)

/* Parts that are made before the server and outlive it. */
struct parts {
	struct arena *arena;
	const struct config *config;
	const sigset_t *signals;
	struct tls *tls; /* NULL: clients speak plain HTTP */
	struct metrics *metrics;
	struct catalog *catalog;
	struct clocks *clock;
	struct upkeep *upkeep;
	struct leases *leases;
	struct job_run *jobs;
	struct online *online;
	struct transfers *transfers;
};

/* There may be work in the background. */
static void wake(void *context)
{
	struct parts *parts = context;

	upkeep_wake(parts->upkeep);
	transfers_wake(parts->transfers);
}

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

/* Workers that wait for a disk or a database need no core. More of them means more commits per sync. */
static unsigned worker_count(const struct config *config)
{
	bool waits = backend_is_shared(config->store) || (!config->in_memory && durability_of(config->durability) == DURABILITY_FULL);

	return waits && config->threads == 0 ? THREADS_DURABLE : thread_count(config);
}

static int fail(const struct err *err)
{
	fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(err->message));
	return EXIT_FAILURE;
}

/* As many connections as there can be open files. */
static unsigned connection_limit(const struct config *config, bool has_tls)
{
	unsigned wanted = (unsigned)config->connection_limit, room = connections_make_room(wanted, has_tls ? TLS_FILES : 1);

	if (room < wanted)
		log_line(LOG_WARN, "the limit of open files leaves room for %u connections, not %u", room, wanted);
	return room;
}

/* The limits of an address. -1, the default: a share of all connections, and no limit for loopback addresses. */
static struct connections_share share_of(const struct config *config, bool is_loopback)
{
	unsigned all = (unsigned)config->connection_limit;
	long connections = config->address_connection_limit, requests = config->address_request_limit;

	return (struct connections_share){
		.connections = connections >= 0 ? (unsigned)connections : is_loopback ? 0 : all / 2 + 1,
		.requests = requests >= 0 ? (unsigned)requests : is_loopback ? 0 : all / 4 + 1,
	};
}

static struct http_options http_options_of(const struct config *config, struct tls *tls, struct http_stats *stats, struct routes *routes)
{
	return (struct http_options){
		.host = config->host, .port = (unsigned short)config->port, .threads = worker_count(config),
		.connection_limit = connection_limit(config, tls), .idle_timeout_s = (unsigned)config->idle_timeout,
		.remote = share_of(config, false), .loopback = share_of(config, true),
		.request_timeout_s = (unsigned)config->request_timeout, .body_limit = (size_t)config->body_limit_mb * MB,
		.memory_limit = (size_t)config->memory_limit_mb * MB, .tls = tls, .stats = stats, .slice_ns = (uint64_t)config->request_slice_ms * 1000000,
		.slow_ns = backend_is_shared(config->store) ? SLOW_ELSEWHERE_NS : SLOW_NS,
		.admit = routes->auth == AUTH_VERIFY ? routes_admit : NULL, .handler = routes_handle, .is_held = routes_is_held, .context = routes,
	};
}

static struct triggers *start_triggers(const struct config *config, struct service *service, struct leases *leases)
{
	const struct trigger_options options = {
		.service = service, .leases = leases, .specs = config->trigger, .batch = (unsigned)config->trigger_batch, .window_ms = (int)config->trigger_window,
		.retries = (unsigned)config->trigger_retries, .from_horizon = strcmp(config->trigger_position, "TRIM_HORIZON") == 0,
		.filter = config->trigger_filter, .failures = config->trigger_failures,
	};

	return trigger_start(&options);
}

/* NULL where no endpoint is named, or no thread can be had. */
static struct kinesis *start_kinesis(const struct config *config, struct service *service, struct leases *leases)
{
	const struct kinesis_options options = {
		.service = service, .leases = leases, .where = config->kinesis, .credentials = config->kinesis_credentials,
		.authorities = config_names(config->tls_ca) ? config->tls_ca : NULL,
	};

	return config_names(config->kinesis) ? kinesis_start(&options) : NULL;
}

static bool is_every_address(const char *host)
{
	return strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
}

static struct str url_of(const struct parts *parts, unsigned port)
{
	const char *host = is_every_address(parts->config->host) ? "localhost" : parts->config->host;

	return str_printf(parts->arena, strchr(host, ':') ? "http%s://[%s]:%u" : "http%s://%s:%u", parts->tls ? "s" : "", host, port);
}

/* The first lines for a new user: the address, the keys to sign with, the place of the data, how to end it. */
static void say_ready(const struct parts *parts, struct str url)
{
	static const char *const welcomes[] = {
		[AUTH_OPEN] = "any access key and secret will do", [AUTH_VERIFY] = "signatures are checked", [AUTH_OFF] = "requests need no signature",
	};
	const struct config *config = parts->config;
	struct str message = str_printf(parts->arena, "dynalith " DYNALITH_VERSION " is ready: %s; Ctrl-C or SIGTERM ends it", welcomes[auth_of(config->auth)]);
	const struct log_field fields[] = {
		{"url", url, false},
		{"host", is_every_address(config->host) ? str_of(config->host) : STR_ABSENT, false},
		{"auth", str_of(config->auth), false},
		{"data", config_data(parts->arena, config), false},
	};

	log_event(LOG_INFO, message.p, fields, sizeof(fields) / sizeof(fields[0]));
	if (backend_file(config->store) && sqlite_store_library_note())
		log_line(LOG_INFO, "SQLite %s %s", sqlite_store_library_version(), sqlite_store_library_note());
}

/* SIGHUP, which is among the signals with TLS only. */
static void reload(const struct parts *parts)
{
	struct arena *arena = arena_new(0);
	struct str problem;

	if (tls_reload(parts->tls, arena, &problem))
		log_line(LOG_INFO, "new connections get the certificate of %s as it is now", parts->config->tls_cert);
	else
		log_line(LOG_ERROR, STR_FMT "; the certificate read before stays", STR_ARG(problem));
	arena_free(arena);
}

/* Serves until SIGTERM or SIGINT; both are blocked already. */
static int listen_and_wait(const struct parts *parts, const struct http_options *options)
{
	const struct config *config = parts->config;
	const char *problem = "";
	int received = 0;
	struct http *http = http_start(options, &problem);

	if (!http) {
		fprintf(stderr, "dynalith: cannot listen on %s:%ld: %s\n", config->host, config->port, problem);
		return EXIT_FAILURE;
	}
	if (config->is_dropin) {
		dropin_banner(stdout, &(struct dropin_banner){
			.port = http_port(http), .db_path = backend_file(config->store), .shared_db = config->shared_db,
			.delay_transient_statuses = config->delay_transient_statuses, .cors = config->cors,
		});
	}
	struct str url = url_of(parts, http_port(http));
	say_ready(parts, url);
	if (config->exit_with_parent && !parent_watch(url))
		log_line(LOG_ERROR, "there is no thread that watches standard input; the server does not end with its parent");
	while (sigwait(parts->signals, &received) == 0 && received == SIGHUP)
		reload(parts);
	log_line(LOG_INFO, "ends on signal %d", received);
	http_stop(http, DRAIN_MS);
	return EXIT_SUCCESS;
}

static uint64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_timed(const struct config *config)
{
	return strcmp(config->timing, "aws") == 0;
}

/* --init. False: a line says why. */
static bool fill(const struct parts *parts, struct service *service)
{
	struct err err = err_in(parts->arena);

	if (!config_names(parts->config->init) || apply_init(service, parts->config->init, &err) == OK) {
		if (strcmp(parts->config->throughput, "enforce") == 0) /* what is loaded before costs nothing */
			throughput_enforce(service->throughput);
		return true;
	}
	fprintf(stderr, "dynalith: --init: " STR_FMT "\n", STR_ARG(err.message));
	return false;
}

static struct insight *insight_of(const struct config *config)
{
	bool is_on = strcmp(config->insight, "off") != 0 || config_names(config->report);

	return !is_on ? NULL : insight_new(INSIGHT_PATTERNS_MAX, strcmp(config->insight, "examples") == 0);
}

/* --iam with --policies. False: a line says why. */
static bool open_iam(const struct parts *parts, struct service *service)
{
	const struct config *config = parts->config;
	struct err err = err_in(parts->arena);
	struct str document;

	if (strcmp(config->iam, "off") == 0)
		return true;
	service->iam = iam_new(strcmp(config->iam, "enforce") == 0);
	if (!config_names(config->policies) ||
	    (document_read(parts->arena, config->policies, &document, &err) == OK && iam_use(service->iam, document, &err) == OK))
		return true;
	fprintf(stderr, "dynalith: --policies: " STR_FMT "\n", STR_ARG(err.message));
	return false;
}

/* --iam-report, when all requests are answered. */
static void report_iam(const struct parts *parts, const struct service *service)
{
	const char *path = parts->config->iam_report;
	struct err err = err_in(parts->arena);
	struct str text;

	if (!config_names(path) || !service->iam)
		return;
	if (iam_describe(service->iam, service->catalog, parts->arena, &text, &err) != OK || document_write(path, text, &err) != OK)
		fprintf(stderr, "dynalith: --iam-report: " STR_FMT "\n", STR_ARG(err.message));
}

/* --report, when all requests are answered. */
static void report(const struct parts *parts, const struct service *service)
{
	const char *path = parts->config->report;
	struct err err = err_in(parts->arena);

	report_iam(parts, service);

	if (config_names(path) && service->insight && report_write(parts->arena, insight_describe(service->insight, parts->arena), path, &err) != OK)
		fprintf(stderr, "dynalith: --report: " STR_FMT "\n", STR_ARG(err.message));
}

/* --record. False: a line says why. */
static bool record(const struct parts *parts, struct events *events, struct recorder **out)
{
	const struct config *config = parts->config;
	struct err err = err_in(parts->arena);

	*out = NULL;
	if (!config_names(config->record))
		return true;
	if (recorder_start(config->record, strcmp(config->record_values, "masked") == 0, out, &err) == OK) {
		events_observe(events, recorder_note, *out);
		return true;
	}
	fprintf(stderr, "dynalith: --record: " STR_FMT "\n", STR_ARG(err.message));
	return false;
}

static int serve(struct parts *parts)
{
	const struct config *config = parts->config;
	struct service service = {.catalog = parts->catalog, .now_ms = clock_now_ms, .clock_context = parts->clock, .note = note,
				  .upkeep = {wake, parts}, .jobs = parts->jobs, .statements = partiql_cache_new(),
				  .is_timed = is_timed(config),
				  .faults = faults_new(config->shared_db), .insight = insight_of(config), .contributors = contributors_new(),
				  .throughput = throughput_new(config->shared_db),
				  .conflicts = conflicts_new(strcmp(config->conflicts, "real") == 0, config->shared_db),
				  .cpu_ns = cpu_ns,
				  .cpu_limit_ns = config->request_cpu_ms ? (uint64_t)config->request_cpu_ms * 1000000 : NO_LIMIT};
	struct http_stats stats = {0};
	struct routes routes = {
		.service = &service,
		.sigv4 = sigv4_new(auth_of(config->auth), config->credentials, config->credential_count),
		.metrics = parts->metrics,
		.store = config->in_memory ? STR("memory") : backend_is_shared(config->store) ? STR("database") : STR("file"),
		.slow_ns = (uint64_t)config->log_slow_ms * 1000000,
		.auth = auth_of(config->auth),
		.clock = parts->clock,
		.control = {&service, parts->clock, parts->upkeep},
		.upkeep = parts->upkeep,
		.online = parts->online,
		.cors = config->cors,
		.console = {.is_on = strcmp(config->console, "on") == 0, .auth = config->auth, .events = events_new()},
		.root_status = strcmp(config->root_status, "200") == 0 ? 200 : 400,
	};
	const struct http_options options = http_options_of(config, parts->tls, &stats, &routes);
	struct recorder *recorder = NULL;
	struct triggers *triggers = start_triggers(config, &service, parts->leases);
	struct kinesis *kinesis = triggers ? start_kinesis(config, &service, parts->leases) : NULL;
	int status = EXIT_FAILURE;

	routes.http = &options;
	routes.console.has_insight = service.insight != NULL;
	routes.console.store = routes.store;
	if (strcmp(config->namespaces, "key") == 0)
		sigv4_separate_keys(routes.sigv4);
	service.sends = kinesis ? kinesis_sends : kinesis_sends_nowhere;
	if (triggers && (kinesis || !config_names(config->kinesis))) {
		bool is_ready = open_iam(parts, &service) && record(parts, routes.console.events, &recorder) && fill(parts, &service);

		status = is_ready ? listen_and_wait(parts, &options) : EXIT_FAILURE;
	} else {
		fprintf(stderr, "dynalith: cannot start a thread\n");
	}
	kinesis_stop(kinesis);
	if (triggers)
		trigger_stop(triggers);
	report(parts, &service);
	sigv4_free(routes.sigv4);
	recorder_stop(recorder);
	events_free(routes.console.events);
	partiql_cache_free(service.statements);
	faults_free(service.faults);
	iam_free(service.iam);
	insight_free(service.insight);
	contributors_free(service.contributors);
	throughput_free(service.throughput);
	conflicts_free(service.conflicts);
	return status;
}

static struct transfers *start_transfers(const struct parts *parts)
{
	const struct config *config = parts->config;
	const struct transfers_options options = {
		.catalog = parts->catalog, .clock = parts->clock, .leases = parts->leases,
		.s3 = {.where = config->s3, .credentials = config->s3_credentials, .region = config->s3_region,
		       .authorities = config_names(config->tls_ca) ? config->tls_ca : NULL},
	};

	return transfers_start(&options);
}

static int keep_and_serve(struct parts *parts)
{
	struct upkeep_options options = {
		.catalog = parts->catalog, .clock = parts->clock, .leases = parts->leases, .jobs = parts->jobs, .ttl_delay_ms = (int64_t)parts->config->ttl_delay * 1000,
		.period_ms = parts->config->ttl_period,
		.tick = online_tick, .tick_context = parts->online,
	};

	parts->upkeep = upkeep_start(&options);
	parts->transfers = parts->upkeep ? start_transfers(parts) : NULL;
	int status = EXIT_FAILURE;
	if (parts->transfers)
		status = serve(parts);
	else
		fprintf(stderr, "dynalith: cannot start a thread\n");
	transfers_stop(parts->transfers);
	upkeep_stop(parts->upkeep);
	return status;
}

/* ERR_INTERNAL where `dynalith copy` has not filled it to its end. */
static enum code check_whole(const struct config *config, struct store *store, struct err *err)
{
	bool is_unfinished;
	enum code code = transfer_is_unfinished(store, &is_unfinished, err);

	if (code == OK && is_unfinished)
		code = err_set(err, MSG_COPY_UNFINISHED, STR_ARG(backend_shown(err->arena, config->store)));
	if (code != OK)
		store_close(store);
	return code;
}

/* The store, whose waiting times go to the metrics. */
static enum code open_store(const struct config *config, struct parts *parts, struct store **store, struct err *err)
{
	const struct backend_options options = {
		.url = config->store, .durability = durability_of(config->durability), .readers = worker_count(config) + ASIDE_THREADS,
		.cache_bytes = (size_t)config->cache_mb * MB,
		.limit_bytes = (uint64_t)config->data_limit_mb * MB,
		.follower_lag_ms = (unsigned)config->follower_lag,
	};
	struct store *inner;
	enum code code = backend_open(&options, &inner, err);

	if (code == OK)
		code = check_whole(config, inner, err);
	if (code == OK)
		*store = timed_store_new(inner, metrics_observe_store, parts->metrics);
	if (code == OK)
		parts->online = online_new(inner, !backend_is_shared(config->store));
	return code;
}

static int open_and_serve(struct parts *parts, struct store *store, struct err *err)
{
	const struct config *config = parts->config;
	struct catalog_options options = {
		.settings = &settings_records,
		.is_shared = config->shared_db,
		.has_peers = backend_is_shared(config->store),
		.transient_status_ms = is_timed(config) ? timing_deletion_ms() : config->delay_transient_statuses ? config->transient_status_ms : 0,
		.replication_lag_ms = config->replication_lag_ms,
		.collection_max = (uint64_t)config->collection_limit_mb * MB,
		.rotation = {(uint64_t)config->stream_rotate_records, config->stream_rotate_seconds * 1000LL},
		.vector_memory_bytes = (size_t)config->vector_cache_mb * MB,
		.search_threads = thread_count(config),
		.lag = {(uint32_t)config->lag, (uint32_t)(config->index_lag < 0 ? config->lag : config->index_lag), (uint32_t)config->lag_jitter,
			(uint64_t)config->lag_seed},
	};

	bool is_shared = backend_is_shared(config->store);

	options.clocks = parts->clock = clocks_new(is_shared ? store : NULL, config->shared_db);
	if (catalog_open(store, &options, &parts->catalog, err) != OK) {
		clocks_free(parts->clock);
		return fail(err);
	}
	if (lag_is_on(&options.lag) && lag_settings_begin(parts->catalog, err) != OK) {
		catalog_close(parts->catalog);
		clocks_free(parts->clock);
		return fail(err);
	}
	parts->leases = lease_open(&(struct lease_options){.store = store, .is_alone = !is_shared});
	parts->jobs = job_run_new(parts->catalog, parts->leases);
	job_run_register(parts->jobs, &backup_kind);
	job_run_register(parts->jobs, &restore_kind);
	int status = keep_and_serve(parts);
	job_run_free(parts->jobs);
	lease_close(parts->leases);
	catalog_close(parts->catalog);
	clocks_free(parts->clock);
	return status;
}

/* The certificate, before the data is opened. SIGHUP is waited for with TLS only; else it ends the process as ever. */
static bool prepare_tls(struct arena *arena, const struct config *config, sigset_t *signals, struct tls **tls)
{
	struct str problem;

	*tls = NULL;
	if (!config_names(config->tls_cert))
		return true;
	sigaddset(signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, signals, NULL);
	*tls = tls_new(arena, config->tls_cert, config->tls_key, &problem);
	if (!*tls)
		fprintf(stderr, "dynalith: " STR_FMT "\n", STR_ARG(problem));
	return *tls != NULL;
}

static int run(struct arena *arena, const struct config *config, sigset_t *signals)
{
	struct tls *tls;
	if (!prepare_tls(arena, config, signals, &tls))
		return EXIT_FAILURE;
	struct parts parts = {.arena = arena, .config = config, .signals = signals, .tls = tls, .metrics = metrics_new()};
	struct err err = err_in(arena);
	struct store *store = NULL;
	int status = open_store(config, &parts, &store, &err) == OK ? open_and_serve(&parts, store, &err) : fail(&err);

	if (parts.online)
		online_free(parts.online);
	store_close(store);
	metrics_free(parts.metrics);
	tls_dispose(tls);
	return status;
}

/* Uses TLS where these options make a server speak it, or where they name authorities. */
static int ask_for_health(struct arena *arena, const struct config *config)
{
	const char *authorities = config_names(config->tls_ca) ? config->tls_ca : NULL;
	const struct health_options options = {
		.host = config->host, .port = (unsigned)config->port, .is_tls = authorities || config_names(config->tls_cert), .authorities = authorities,
	};

	return health_ask(arena, &options) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* Commands of the first word; the rest of the line is theirs. */
static const struct {
	bool (*is_asked)(int argc, char **argv);
	int (*run)(struct arena *arena, int argc, char **argv);
} commands[] = {{maintain_is_asked, maintain_run}, {apply_is_asked, apply_run}, {copy_is_asked, copy_run}, {report_is_asked, report_run},
	      {replay_is_asked, replay_run}};

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
	signal(SIGXFSZ, SIG_IGN); /* a limit of the file size is a full disk, no end */
	crash_install();
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (commands[i].is_asked(argc, argv)) {
			status = commands[i].run(arena, argc, argv);
			arena_free(arena);
			return status;
		}
	}
	switch (config_read(arena, argc, argv, &config)) {
	case CONFIG_DONE:
		status = EXIT_SUCCESS;
		break;
	case CONFIG_FAILED:
		break;
	case CONFIG_RUN:
		if (config.is_health) {
			status = ask_for_health(arena, &config);
			break;
		}
		log_configure(log_level_of(config.log_level), strcmp(config.log_format, "json") == 0);
		config_warn_of_environment(environ);
		if (config.is_dropin && backend_file(config.store))
			dropin_warn_of_its_data(arena, config.db_path);
		status = run(arena, &config, &signals);
		break;
	}
	arena_free(arena);
	return status;
}
