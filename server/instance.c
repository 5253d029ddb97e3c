#include "server/instance.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "protocol/conflicts/conflicts.h"
#include "protocol/faults/faults.h"
#include "protocol/iam/iam.h"
#include "protocol/insight/contributors.h"
#include "protocol/insight/insight.h"
#include "protocol/rollouts.h"
#include "protocol/tables/settings.h"
#include "protocol/throughput/throughput.h"
#include "protocol/timing/timing.h"
#include "server/control/absent.h"
#include "server/http/crew.h"
#include "server/start/backend.h"
#include "server/clock.h"
#include "server/platform/cpu_clock.h"
#include "server/console/events.h"
#include "server/ending.h"
#include "server/kinesis/kinesis.h"
#include "server/log.h"
#include "server/messages.h"
#include "server/tools/online.h"
#include "server/platform/platform.h"
#include "server/recording/recorder.h"
#include "server/report/document.h"
#include "server/report/report.h"
#include "server/importers/apply.h"
#include "server/sigv4.h"
#include "server/transfer/transfers.h"
#include "server/push/trigger.h"
#include "server/upkeep.h"
#include "storage/backup/restore.h"
#include "storage/monotonic.h"
#include "storage/state/lag_settings.h"
#include "storage/store/timed/timed_store.h"
#include "storage/store/transfer.h"
#include "storage/upkeep/lease.h"

#define SHARDS_OF_DATABASE 4
#define THREADS_MAX_DEFAULT 16
#define THREADS_DURABLE 16
#define WAIT_ELSEWHERE_NS 250000000u /* for a database */
#define MB ((size_t)1024 * 1024)
#define NO_LIMIT (UINT64_MAX / 2)

struct instance {
	struct arena *arena;
	const struct config *config;
	struct metrics *metrics;
	struct store *store;
	struct online *online;
	struct clocks *clock;
	struct leases *leases;
	struct job_run *jobs;
	struct upkeep *upkeep;
	struct transfers *transfers;
	bool has_background; /* its threads run */
	struct triggers *triggers;
	struct kinesis *kinesis;
	struct recorder *recorder;
	struct service service;
	struct routes routes;
	struct http_stats stats;
	struct http_options http;
	struct str policies; /* the document of --policies; absent: none */
};

/* There may be work in the background. */
static void wake(void *context)
{
	struct instance *instance = context;

	upkeep_wake(instance->upkeep);
	transfers_wake(instance->transfers);
}

static void note(void *context, struct str line)
{
	(void)context;
	log_line(LOG_INFO, STR_FMT, STR_ARG(line));
}

static enum durability durability_of(const char *name)
{
	return strcmp(name, "full") == 0  ? DURABILITY_FULL
	       : strcmp(name, "off") == 0 ? DURABILITY_OFF
					  : DURABILITY_NORMAL;
}

static enum auth_mode auth_of(const char *name)
{
	return strcmp(name, "verify") == 0 ? AUTH_VERIFY
	       : strcmp(name, "off") == 0  ? AUTH_OFF
					   : AUTH_OPEN;
}

static unsigned thread_count(const struct config *config)
{
	if (config->threads > 0)
		return (unsigned)config->threads;
	unsigned cores = platform_cores();
	return cores > THREADS_MAX_DEFAULT ? THREADS_MAX_DEFAULT : cores;
}

/* Whether requests wait for a sync of the disk or for a database elsewhere. */
static bool instance_waits(const struct config *config)
{
	return backend_is_shared(config->store) ||
	       (!config->in_memory && durability_of(config->durability) == DURABILITY_FULL);
}

/* Workers that wait for a disk or a database need no core. More of them means more commits per
 * sync. */
unsigned instance_workers(const struct config *config)
{
	return instance_waits(config) && config->threads == 0 ? THREADS_DURABLE
							      : thread_count(config);
}

/* Each open shard is a row at whose end writers of many servers wait for each other; in one process
 * they wait for the file in any case. */
static uint32_t stream_shards(const struct config *config)
{
	if (config->stream_shards > 0)
		return (uint32_t)config->stream_shards;
	return backend_is_shared(config->store) ? SHARDS_OF_DATABASE : 1;
}

static struct triggers *start_triggers(const struct config *config, struct service *service,
				       struct leases *leases)
{
	const struct trigger_options options = {
		.service = service,
		.leases = leases,
		.specs = config->trigger,
		.batch = (unsigned)config->trigger_batch,
		.window_ms = (int)config->trigger_window,
		.retries = (unsigned)config->trigger_retries,
		.from_horizon = strcmp(config->trigger_position, "TRIM_HORIZON") == 0,
		.filter = config->trigger_filter,
		.failures = config->trigger_failures,
	};

	return trigger_start(&options);
}

/* NULL where no endpoint is named, or no thread can be had. */
static struct kinesis *start_kinesis(const struct config *config, struct service *service,
				     struct leases *leases)
{
	const struct kinesis_options options = {
		.service = service,
		.leases = leases,
		.where = config->kinesis,
		.credentials = config->kinesis_credentials,
		.authorities = config_names(config->tls_ca) ? config->tls_ca : NULL,
	};

	return config_names(config->kinesis) ? kinesis_start(&options) : NULL;
}

/* Requests that have worked for a while look at it now and then. */
static uint64_t cpu_ns(void)
{
	return cpu_clock_ns(monotonic_ns());
}

static bool is_timed(const struct config *config)
{
	return strcmp(config->timing, "aws") == 0;
}

int64_t instance_tick(struct instance *instance)
{
	int64_t upkeep_ms = upkeep_tick(instance->upkeep),
		transfers_ms = transfers_tick(instance->transfers);

	return upkeep_ms < transfers_ms ? upkeep_ms : transfers_ms;
}

enum code instance_start(struct instance *instance, struct err *err)
{
	bool is_done = instance->has_background || !platform_has_threads() ||
		       (upkeep_start(instance->upkeep) && transfers_start(instance->transfers));

	instance->has_background = true;
	return is_done ? OK : err_set(err, MSG_NO_THREAD);
}

/* What --policies names that is not there, when the tables of --init are. */
static void warn_of_policies(struct instance *instance)
{
	struct arena *arena = arena_new(0);
	struct control_call call = {.control = &instance->routes.control,
				    .arena = arena,
				    .body = instance->policies};
	const struct str *warnings;
	size_t n = str_is_set(call.body) ? absent_find(&call, &warnings) : 0;

	for (size_t i = 0; i < n; i++)
		log_line(LOG_WARN, "%s: " STR_FMT, instance->config->policies,
			 STR_ARG(warnings[i]));
	arena_free(arena);
}

/* --init, which may wait for the background. */
static enum code fill_instance(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;
	enum code code = config_names(config->init) ? instance_start(instance, err) : OK;

	if (code == OK && config_names(config->init) &&
	    apply_init(&instance->service, config->init, err) != OK)
		return err_set(err, MSG_OPTION_FAILED, "--init", STR_ARG(err->message));
	if (strcmp(config->throughput, "enforce") == 0) /* what is loaded before costs nothing */
		throughput_enforce(instance->service.throughput);
	return code;
}

static struct insight *insight_of(const struct config *config)
{
	bool has_examples = config->show_values || strcmp(config->insight, "examples") == 0;
	bool is_on = has_examples || strcmp(config->insight, "off") != 0 ||
		     config_names(config->report);

	return is_on ? insight_new(INSIGHT_PATTERNS_MAX, has_examples) : NULL;
}

/* --iam with --policies. */
static enum code open_iam(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;
	struct service *service = &instance->service;

	if (strcmp(config->iam, "off") == 0)
		return OK;
	service->iam = iam_new(strcmp(config->iam, "enforce") == 0);
	if (!config_names(config->policies) ||
	    (document_read(instance->arena, config->policies, &instance->policies, err) == OK &&
	     iam_use(service->iam, instance->policies, err) == OK))
		return OK;
	return err_set(err, MSG_OPTION_FAILED, "--policies", STR_ARG(err->message));
}

/* --record. */
static enum code record(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;

	if (!config_names(config->record))
		return OK;
	if (recorder_start(config->record, strcmp(config->record_values, "masked") == 0,
			   &instance->recorder, err) != OK)
		return err_set(err, MSG_OPTION_FAILED, "--record", STR_ARG(err->message));
	events_observe(instance->routes.console.events, recorder_note, instance->recorder);
	return OK;
}

/* --iam-report, when all requests are answered. */
static void report_iam(struct instance *instance)
{
	const char *path = instance->config->iam_report;
	const struct service *service = &instance->service;
	struct err err = err_in(instance->arena);
	struct str text;

	if (!config_names(path) || !service->iam)
		return;
	if (iam_describe(service->iam, service->catalog, instance->arena, &text, &err) != OK ||
	    document_write(path, text, &err) != OK)
		log_line(LOG_ERROR, "--iam-report: " STR_FMT, STR_ARG(err.message));
}

/* --report, when all requests are answered. */
static void report(struct instance *instance)
{
	const char *path = instance->config->report;
	struct insight *insight = instance->service.insight;
	struct err err = err_in(instance->arena);

	report_iam(instance);
	if (config_names(path) && insight &&
	    report_write(instance->arena, insight_describe(insight, instance->arena), path, &err) !=
		    OK)
		log_line(LOG_ERROR, "--report: " STR_FMT, STR_ARG(err.message));
}

/* ERR_INTERNAL where `dynalith copy` has not filled it to its end. */
static enum code check_whole(const struct config *config, struct store *store, struct err *err)
{
	bool is_unfinished;
	enum code code = transfer_is_unfinished(store, &is_unfinished, err);

	return code == OK && is_unfinished
		       ? err_set(err, MSG_COPY_UNFINISHED,
				 STR_ARG(backend_shown(err->arena, config->store)))
		       : code;
}

/* The store, whose waiting times go to the metrics. */
static enum code open_store(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;
	const struct backend_options options = {
		.url = config->store,
		.durability = durability_of(config->durability),
		.readers = instance_workers(config) + CREW_ASIDE,
		.cache_bytes = (size_t)config->cache_mb * MB,
		.limit_bytes = (uint64_t)config->data_limit_mb * MB,
		.follower_lag_ms = (unsigned)config->follower_lag,
	};
	struct store *inner;
	enum code code = backend_open(&options, &inner, err);

	if (code != OK)
		return code;
	code = check_whole(config, inner, err);
	if (code != OK) {
		store_close(inner);
		return code;
	}
	instance->store = timed_store_new(inner, metrics_observe_store, instance->metrics);
	instance->online = online_new(inner);
	return OK;
}

static enum code open_catalog(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;
	bool is_shared = backend_is_shared(config->store);
	struct catalog_options options = {
		.settings = &settings_records,
		.is_shared = config->shared_db,
		.has_peers = is_shared,
		.transient_status_ms = is_timed(config) ? timing_deletion_ms()
				       : config->delay_transient_statuses
					       ? config->transient_status_ms
					       : 0,
		.replication_lag_ms = config->replication_lag_ms,
		.collection_max = (uint64_t)config->collection_limit_mb * MB,
		.rotation = {(uint64_t)config->stream_rotate_records,
			     config->stream_rotate_seconds * 1000LL},
		.stream_shards = stream_shards(config),
		.vector_memory_bytes = (size_t)config->vector_cache_mb * MB,
		.search_threads = thread_count(config),
		.lag = {(uint32_t)config->lag,
			(uint32_t)(config->index_lag < 0 ? config->lag : config->index_lag),
			(uint32_t)config->lag_jitter, (uint64_t)config->lag_seed},
	};

	options.clocks = instance->clock =
		clocks_new(is_shared ? instance->store : NULL, config->shared_db);
	enum code code = catalog_open(instance->store, &options, &instance->service.catalog, err);
	if (code != OK || !lag_is_on(&options.lag))
		return code;
	return lag_settings_begin(instance->service.catalog, err);
}

static struct transfers *make_transfers(struct instance *instance)
{
	const struct config *config = instance->config;
	instance->service.faults = faults_new(config->shared_db);
	const struct transfers_options options = {
		.faults = instance->service.faults,
		.catalog = instance->service.catalog,
		.clock = instance->clock,
		.leases = instance->leases,
		.s3 = {.where = config->s3,
		       .credentials = config->s3_credentials,
		       .region = config->s3_region,
		       .authorities = config_names(config->tls_ca) ? config->tls_ca : NULL},
	};

	return transfers_new(&options);
}

/* What the background works on; instance_start() starts its threads. */
static enum code make_upkeep(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;
	struct catalog *catalog = instance->service.catalog;

	instance->leases = lease_open(&(struct lease_options){
		.store = instance->store, .is_alone = !backend_is_shared(config->store)});
	instance->jobs = job_run_new(catalog, instance->leases);
	job_run_register(instance->jobs, &backup_kind);
	job_run_register(instance->jobs, &restore_kind);
	instance->upkeep = upkeep_new(&(struct upkeep_options){
		.catalog = catalog,
		.clock = instance->clock,
		.leases = instance->leases,
		.jobs = instance->jobs,
		.ttl_delay_ms = (int64_t)config->ttl_delay * 1000,
		.metrics = instance->metrics,
		.period_ms = config->ttl_period,
		.is_ticked = !platform_has_threads(),
		.tick = online_tick,
		.tick_context = instance->online,
	});
	instance->transfers = instance->upkeep ? make_transfers(instance) : NULL;
	return instance->transfers ? OK : err_set(err, MSG_NO_THREAD);
}

static void make_service(struct instance *instance)
{
	const struct config *config = instance->config;

	instance->service = (struct service){
		.catalog = instance->service.catalog,
		.now_ms = clock_now_ms,
		.clock_context = instance->clock,
		.note = note,
		.upkeep = {wake, instance},
		.jobs = instance->jobs,
		.statements = partiql_cache_new(),
		.is_timed = is_timed(config),
		.is_dropin = config->is_dropin,
		.faults = instance->service.faults,
		.insight = insight_of(config),
		.contributors = contributors_new(),
		.throughput = throughput_new(config->shared_db),
		.conflicts =
			conflicts_new(strcmp(config->conflicts, "real") == 0, config->shared_db),
		.rollouts = rollouts_new(config->as, config->shared_db),
		.cpu_ns = cpu_ns,
		.cpu_limit_ns = config->request_cpu_ms ? (uint64_t)config->request_cpu_ms * 1000000
						       : NO_LIMIT,
	};
}

static void make_routes(struct instance *instance)
{
	const struct config *config = instance->config;
	struct service *service = &instance->service;
	struct str store = config->in_memory                  ? STR("memory")
			   : backend_is_shared(config->store) ? STR("database")
							      : STR("file");

	instance->routes = (struct routes){
		.service = service,
		.http = &instance->http,
		.sigv4 = sigv4_new(auth_of(config->auth), config->credentials,
				   config->credential_count),
		.metrics = instance->metrics,
		.store = store,
		.slow_ns = (uint64_t)config->log_slow_ms * 1000000,
		.auth = auth_of(config->auth),
		.clock = instance->clock,
		.control = {service, instance->clock, instance->upkeep},
		.upkeep = instance->upkeep,
		.online = instance->online,
		.cors = config->cors,
		.console = {.is_on = strcmp(config->console, "on") == 0,
			    .auth = config->auth,
			    .events =
				    events_new(strcmp(config->console, "on") != 0 ? EVENTS_PAST_NONE
					       : service->insight                 ? EVENTS_PAST_ALL
								  : EVENTS_PAST_REFUSED),
			    .has_insight = service->insight != NULL,
			    .has_iam = strcmp(config->iam, "off") != 0,
			    .store = store},
		.root_status = strcmp(config->root_status, "200") == 0 ? 200 : 400,
	};
	if (strcmp(config->namespaces, "key") == 0)
		sigv4_separate_keys(instance->routes.sigv4);
	instance->http = (struct http_options){
		.body_limit = (size_t)config->body_limit_mb * MB,
		.memory_limit = (size_t)config->memory_limit_mb * MB,
		.stats = &instance->stats,
		.wait_ns = backend_is_shared(config->store) ? WAIT_ELSEWHERE_NS : 0,
		.admit = instance->routes.auth == AUTH_VERIFY ? routes_admit : NULL,
		.handler = routes_handle,
		.is_held = routes_is_held,
		.context = &instance->routes,
	};
}

/* Those who send changes to other servers. */
static enum code start_senders(struct instance *instance, struct err *err)
{
	const struct config *config = instance->config;
	struct service *service = &instance->service;

	instance->triggers = start_triggers(config, service, instance->leases);
	instance->kinesis =
		instance->triggers ? start_kinesis(config, service, instance->leases) : NULL;
	service->sends = instance->kinesis ? kinesis_sends : kinesis_sends_nowhere;
	return instance->triggers && (instance->kinesis || !config_names(config->kinesis))
		       ? OK
		       : err_set(err, MSG_NO_THREAD);
}

static enum code begin_instance(struct instance *instance, struct err *err)
{
	enum code code = open_store(instance, err);

	if (code != OK)
		return code;
	code = open_catalog(instance, err);
	if (code != OK)
		return code;
	code = make_upkeep(instance, err);
	if (code != OK)
		return code;
	make_service(instance);
	make_routes(instance);
	code = start_senders(instance, err);
	if (code != OK)
		return code;
	code = open_iam(instance, err);
	if (code != OK)
		return code;
	code = record(instance, err);
	if (code != OK)
		return code;
	code = fill_instance(instance, err);
	if (code != OK)
		return code;
	warn_of_policies(instance);
	return OK;
}

enum code instance_open(struct arena *arena, const struct config *config, struct instance **out,
			struct err *err)
{
	struct instance *instance = arena_checked(calloc(1, sizeof(*instance)));

	instance->arena = arena;
	instance->config = config;
	instance->metrics = metrics_new();
	enum code code = begin_instance(instance, err);
	if (code != OK)
		instance_close(instance);
	return RESULT(code, out, instance);
}

static void free_service(struct service *service)
{
	partiql_cache_free(service->statements);
	faults_free(service->faults);
	iam_free(service->iam);
	insight_free(service->insight);
	contributors_free(service->contributors);
	throughput_free(service->throughput);
	conflicts_free(service->conflicts);
	rollouts_free(service->rollouts);
}

void instance_close(struct instance *instance)
{
	if (!instance)
		return;
	ending_part("the sender to Kinesis");
	kinesis_stop(instance->kinesis);
	ending_part("triggers");
	if (instance->triggers)
		trigger_stop(instance->triggers);
	ending_part("reports");
	report(instance);
	ending_part("the recording");
	sigv4_free(instance->routes.sigv4);
	recorder_stop(instance->recorder);
	events_free(instance->routes.console.events);
	free_service(&instance->service);
	ending_part("imports and exports");
	transfers_stop(instance->transfers);
	ending_part("the upkeep");
	upkeep_stop(instance->upkeep);
	job_run_free(instance->jobs);
	ending_part("the data");
	lease_close(instance->leases);
	catalog_close(instance->service.catalog);
	clocks_free(instance->clock);
	if (instance->online)
		online_free(instance->online);
	store_close(instance->store);
	metrics_free(instance->metrics);
	free(instance);
}

struct routes *instance_routes(struct instance *instance)
{
	return &instance->routes;
}

struct http_options *instance_limits(struct instance *instance)
{
	return &instance->http;
}
