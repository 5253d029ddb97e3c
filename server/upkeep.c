#include "server/upkeep.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "server/crash.h"
#include "server/ending.h"
#include "server/push/feed.h"
#include "server/log.h"
#include "server/platform/platform.h"
#include "storage/catalog/catalog_size.h"
#include "storage/upkeep/backfill.h"
#include "storage/monotonic.h"
#include "storage/pace.h"
#include "storage/upkeep/history_sweep.h"
#include "storage/upkeep/lease.h"
#include "storage/upkeep/replica.h"
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/token_sweep.h"
#include "storage/upkeep/ttl.h"

#define INDEX_RETRY_MS 1000
#define INDEX_FULL_MS 10000 /* where the data is at its limit: until something is deleted */
#define TURNED_MS 500 /* how soon a turned clock is noticed while something waits for its time */
#define FAR_MS 3600000
#define REPLICAS_MS 500   /* between two looks at the queues of replicas */
#define WAITING_MS 50     /* the same while something waits for its time in one */
#define STAMPS_MS                                                                                  \
	60000 /* stamps of items that were deleted in global tables, by the clocks of the regions  \
	       */
#define TRIM_MS 60000     /* between two looks for what is not used any more: memory, rows */
#define SIZES_MS 10000    /* between two flushes of the numbers of tables */
#define STORE_MS 500      /* between two looks whether the data file is still in its place */

struct upkeep {
	struct upkeep_options options;
	pthread_t thread;
	bool has_thread;
	atomic_bool is_ending;
	pthread_mutex_t round;  /* held by the one who does a round */
	pthread_mutex_t mutex;  /* of the thread's sleep */
	pthread_cond_t wake;
	bool is_woken;          /* there is new work on indexes */
	atomic_llong store_due; /* when the store is looked at next, in monotonic ms */
	atomic_bool is_told; /* that the store may not be written to any more, or a database cannot
				be used */
	atomic_bool is_away;    /* the latter */
	bool is_full;           /* the disk of the data file is */
	int64_t counted_ms;     /* when the thread last counted requests, in monotonic ms */
	uint64_t counted;       /* how many there were since the start */
	struct arena *arena;    /* of the work without a request */
	struct {
		int64_t index, replicas, sizes, expiry, trim; /* in monotonic ms */
	} due;
};

#define PAUSE_NS                                                                                   \
	200000 /* between two steps: a thread that takes the store's lock again at once would      \
		  starve those that wait for it */

#define CROWDED_MS 50         /* between two counts of requests, at least */
#define CROWDED_REQUESTS 5    /* so many in that time, on the mean, make the catalog crowded */
#define CROWDED_REST 3        /* the pause is then so many times as long as the step */
#define REST_MAX_NS 100000000 /* the end of the process waits for a pause */

/* Once when it is full, once when it is not any more. */
static void look_at_disk(struct upkeep *upkeep)
{
	struct store_usage usage;

	store_usage(catalog_store(upkeep->options.catalog), &usage);
	bool was_full = upkeep->is_full;
	upkeep->is_full = usage.reason == STORE_REASON_FULL;
	if (upkeep->is_full && !was_full)
		log_line(LOG_WARN, "upkeep: the disk of the data file is full: reads and deletes "
				   "go on, other writes when it has room");
	else if (was_full && !upkeep->is_full)
		log_line(LOG_INFO, "upkeep: the disk of the data file has room again");
}

/* The log has one line about a store that lost its file, which refuses writes from then on, and one
 * each time that a database goes or comes back. */
static void look_at_store(struct upkeep *upkeep)
{
	if (monotonic_ms() < atomic_load(&upkeep->store_due))
		return;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	atomic_store(&upkeep->store_due, monotonic_ms() + STORE_MS);
	enum code code = store_check(catalog_store(upkeep->options.catalog), &err);
	bool was_told = atomic_exchange(&upkeep->is_told, code != OK);
	if (code != OK && !was_told)
		log_line(LOG_ERROR, "upkeep: " STR_FMT, STR_ARG(err.message));
	if (code == OK && was_told)
		log_line(LOG_INFO, "upkeep: the database can be used again");
	atomic_store(&upkeep->is_away, code == ERR_STORE_UNAVAILABLE);
	if (code == OK)
		look_at_disk(upkeep);
	arena_free(arena);
}

/* Tells the catalog whether requests come. The next pieces of work and pauses depend on it. */
static void count_requests(struct upkeep *upkeep)
{
	int64_t now_ms = monotonic_ms(), passed_ms = now_ms - upkeep->counted_ms;

	if (!upkeep->options.metrics || passed_ms < CROWDED_MS)
		return;
	uint64_t requests = metrics_requests(upkeep->options.metrics),
		 came = requests - upkeep->counted;
	pace_crowd(catalog_pace(upkeep->options.catalog),
		      came * CROWDED_MS >= CROWDED_REQUESTS * (uint64_t)passed_ms);
	upkeep->counted_ms = now_ms;
	upkeep->counted = requests;
}

/* Pauses after a step that began at `began_ns`. */
static void rest(const struct upkeep *upkeep, uint64_t began_ns)
{
	if (upkeep->options.is_ticked)
		return;
	uint64_t pause = pace_is_crowded(catalog_pace(upkeep->options.catalog))
				 ? CROWDED_REST * (monotonic_ns() - began_ns)
				 : 0;

	pause = pause < PAUSE_NS ? PAUSE_NS : pause > REST_MAX_NS ? REST_MAX_NS : pause;
	nanosleep(&(struct timespec){0, (long)pause}, NULL);
}

/* When the next step is due, in monotonic ms: `wait_ms` after this one, which began at `began_ns`.
 * Where that is at once, pauses first. */
static int64_t due_after(const struct upkeep *upkeep, uint64_t began_ns, int64_t wait_ms)
{
	if (wait_ms == 0)
		rest(upkeep, began_ns);
	return monotonic_ms() + wait_ms;
}

/* A database that is away has its own line. */
static enum log_level level_of_failure(struct upkeep *upkeep)
{
	return atomic_load(&upkeep->is_away) ? LOG_DEBUG : LOG_ERROR;
}

bool upkeep_misses_store(struct upkeep *upkeep)
{
	return atomic_load(&upkeep->is_told);
}

/* Steps are short, so that neither requests nor the end wait for a long backlog. */
static enum code expire_items(struct upkeep *upkeep, const struct times *times, uint64_t *expired,
			      struct err *err)
{
	bool more = true;
	enum code code = OK;

	while (more && code == OK && !atomic_load(&upkeep->is_ending)) {
		uint64_t began_ns = monotonic_ns();

		code = ttl_sweep(upkeep->options.catalog, times, upkeep->options.ttl_delay_ms,
				 expired, &more, err);
		look_at_store(upkeep);
		if (more && code == OK)
			rest(upkeep, began_ns);
	}
	return code;
}

/* The next piece of work on indexes; *wait_ms is how long it takes until there is more. */
static enum code step_indexes(struct upkeep *upkeep, const struct times *times, int64_t *wait_ms,
			      struct err *err)
{
	pthread_mutex_lock(&upkeep->round);
	enum code code = backfill_step(upkeep->options.catalog, times, wait_ms, err);
	pthread_mutex_unlock(&upkeep->round);
	return code;
}

/* The next piece of a long job, such as a backup; the same of the wait. */
static enum code step_jobs(struct upkeep *upkeep, const struct times *times, int64_t *wait_ms,
			   struct err *err)
{
	*wait_ms = INT64_MAX;
	return upkeep->options.jobs ? job_run_step(upkeep->options.jobs, times, wait_ms, err) : OK;
}

/* What reads that lag do not need any more. */
static enum code trim_history(struct upkeep *upkeep, const struct times *times, bool is_turned,
			      struct err *err)
{
	bool more = true;
	enum code code = OK;

	while (more && code == OK && !atomic_load(&upkeep->is_ending)) {
		uint64_t began_ns = monotonic_ns();

		code = history_sweep(upkeep->options.catalog, times, is_turned, &more, err);
		if (more && code == OK)
			rest(upkeep, began_ns);
	}
	return code;
}

/* What no replica of a global table needs any more. */
static enum code forget_deleted(struct upkeep *upkeep, const struct times *times, struct err *err)
{
	bool more = true;
	enum code code = OK;

	while (more && code == OK && !atomic_load(&upkeep->is_ending)) {
		uint64_t began_ns = monotonic_ns();

		code = replica_forget(upkeep->options.catalog, times, STAMPS_MS, &more, err);
		if (more && code == OK)
			rest(upkeep, began_ns);
	}
	return code;
}

/* What goes by the clock: items, then records, those of the items among them. `round` is held. */
static enum code expire_by_clock(struct upkeep *upkeep, const struct times *times, bool is_turned,
				 uint64_t *expired, struct err *err)
{
	*expired = 0;
	enum code code = expire_items(upkeep, times, expired, err);
	if (code != OK)
		return code;
	if (!atomic_load(&upkeep->is_ending))
		code = stream_sweep(upkeep->options.catalog, times, err);
	if (code != OK)
		return code;
	code = trim_history(upkeep, times, is_turned, err);
	if (code != OK)
		return code;
	return forget_deleted(upkeep, times, err);
}

static enum code replicate(struct upkeep *upkeep, const struct ns *ns, uint64_t *repeated,
			   struct err *err)
{
	const struct times times = {.tell = clock_tell, .context = upkeep->options.clock};
	struct replica_work work = {.is_more = true};
	enum code code = OK;

	*repeated = 0;
	while (code == OK && work.is_more && !atomic_load(&upkeep->is_ending)) {
		code = replica_step(upkeep->options.catalog, &times, ns, &work, err);
		*repeated += work.repeated;
	}
	return code;
}

enum code upkeep_replicate(struct upkeep *upkeep, const struct ns *ns, uint64_t *repeated,
			   struct err *err)
{
	pthread_mutex_lock(&upkeep->round);
	enum code code = replicate(upkeep, ns, repeated, err);
	pthread_mutex_unlock(&upkeep->round);
	return code;
}

static enum code run_locked(struct upkeep *upkeep, const struct ns *ns, upkeep_turn *turn,
			    void *context, uint64_t *expired, struct err *err)
{
	struct clock_scope scope = {upkeep->options.clock, ns};
	const struct times times = {.tell = clock_tell_scope,
				    .context = &scope}; /* without leases: it is done when this
							   returns, by this process or another */
	uint64_t repeated;
	int64_t wait_ms = 0;
	enum code code = turn ? turn(context, err) : OK;

	ending_doing("a turn of the clock");
	while (code == OK && wait_ms == 0 && !atomic_load(&upkeep->is_ending))
		code = backfill_step(upkeep->options.catalog, &times, &wait_ms, err);
	for (wait_ms = 0; code == OK && wait_ms == 0 && !atomic_load(&upkeep->is_ending);)
		code = step_jobs(upkeep, &times, &wait_ms, err);
	if (code != OK)
		return code;
	code = expire_by_clock(upkeep, &times, true, expired, err);
	if (code != OK)
		return code;
	return replicate(upkeep, ns, &repeated, err);
}

enum code upkeep_run(struct upkeep *upkeep, const struct ns *ns, upkeep_turn *turn, void *context,
		     uint64_t *expired, struct err *err)
{
	pthread_mutex_lock(&upkeep->round);
	enum code code = run_locked(upkeep, ns, turn, context, expired, err);
	ending_doing(NULL);
	pthread_mutex_unlock(&upkeep->round);
	return code;
}

/* Sleeps until then, or until there is work on indexes. False when it is time to end. */
static bool sleep_until(struct upkeep *upkeep, int64_t until_ms)
{
	struct timespec until = {until_ms / 1000, until_ms % 1000 * 1000000};

	pthread_mutex_lock(&upkeep->mutex);
	ending_doing(NULL);
	while (!atomic_load(&upkeep->is_ending) && !upkeep->is_woken) {
		if (platform_wait(&upkeep->wake, &upkeep->mutex, &until) != 0)
			break;
	}
	upkeep->is_woken = false;
	pthread_mutex_unlock(&upkeep->mutex);
	return !atomic_load(&upkeep->is_ending);
}

/* A piece of what the store has to do by itself, such as giving back the rows of deleted tables;
 * whether there is more. */
static bool tidy_store(struct upkeep *upkeep, struct arena *arena)
{
	struct err err = err_in(arena);
	bool is_more;

	if (store_tidy(catalog_store(upkeep->options.catalog), &is_more, &err) == OK)
		return is_more;
	if (!atomic_load(
		    &upkeep->is_told)) /* else the log has said that nothing is written any more */
		log_line(LOG_ERROR,
			 "upkeep: rows of deleted tables wait for the next try: " STR_FMT,
			 STR_ARG(err.message));
	return false;
}

/* Works on indexes; how long to wait before the next piece. */
static int64_t keep_indexes(struct upkeep *upkeep, struct arena *arena)
{
	struct err err = err_in(arena);
	const struct times times = {clock_tell, upkeep->options.clock, upkeep->options.leases};
	int64_t wait_ms;
	ending_doing("indexes");
	bool has_more = tidy_store(upkeep, arena);
	enum code code = step_indexes(upkeep, &times, &wait_ms, &err);

	if (code != OK) {
		log_line(level_of_failure(upkeep),
			 "upkeep: an index waits for its next try: " STR_FMT, STR_ARG(err.message));
		return code == ERR_DATA_LIMIT ? INDEX_FULL_MS : INDEX_RETRY_MS;
	}
	if (wait_ms == 0 || has_more)
		return 0;
	return wait_ms == INT64_MAX ? FAR_MS : wait_ms < TURNED_MS ? wait_ms : TURNED_MS;
}

static int64_t keep_jobs(struct upkeep *upkeep, struct arena *arena)
{
	struct err err = err_in(arena);
	const struct times times = {clock_tell, upkeep->options.clock, upkeep->options.leases};
	int64_t wait_ms;

	ending_doing("jobs");
	if (step_jobs(upkeep, &times, &wait_ms, &err) != OK) {
		log_line(level_of_failure(upkeep), "upkeep: a job waits for its next try: " STR_FMT,
			 STR_ARG(err.message));
		return INDEX_RETRY_MS;
	}
	if (wait_ms == 0)
		return 0;
	return wait_ms == INT64_MAX ? FAR_MS : wait_ms < TURNED_MS ? wait_ms : TURNED_MS;
}

/* Flushes the numbers of tables when it is time, and counts tables; whether there is more to count.
 */
static enum code step_sizes(struct upkeep *upkeep, bool is_due, bool *more, struct err *err)
{
	if (is_due) {
		enum code code = catalog_size_keep(upkeep->options.catalog, monotonic_ms(), err);
		if (code != OK)
			return code;
	}
	return catalog_size_step(upkeep->options.catalog, more, err);
}

static bool keep_sizes(struct upkeep *upkeep, struct arena *arena, int64_t *due_ms)
{
	struct err err = err_in(arena);
	bool is_due = monotonic_ms() >= *due_ms, more = false;
	ending_doing("the numbers of tables");
	enum code code = step_sizes(upkeep, is_due, &more, &err);

	if (is_due)
		*due_ms = monotonic_ms() + SIZES_MS;
	if (code != OK)
		log_line(LOG_ERROR,
			 "upkeep: the numbers of tables wait for their next try: " STR_FMT,
			 STR_ARG(err.message));
	return more && code == OK;
}

/* A step of what waits for replicas; how long to wait before the next. */
static int64_t keep_replicas(struct upkeep *upkeep, struct arena *arena)
{
	struct err err = err_in(arena);
	const struct times times = {clock_tell, upkeep->options.clock, upkeep->options.leases};
	struct replica_work work;

	ending_doing("replicas");
	pthread_mutex_lock(&upkeep->round);
	enum code code = replica_step(upkeep->options.catalog, &times, NULL, &work, &err);
	pthread_mutex_unlock(&upkeep->round);
	if (code != OK) {
		log_line(level_of_failure(upkeep),
			 "upkeep: replicas wait for their next try: " STR_FMT,
			 STR_ARG(err.message));
		return INDEX_RETRY_MS;
	}
	return work.is_more ? 0 : work.is_waiting ? WAITING_MS : REPLICAS_MS;
}

static void keep_times(struct upkeep *upkeep, struct arena *arena)
{
	struct err err = err_in(arena);
	const struct times times = {clock_tell, upkeep->options.clock, upkeep->options.leases};
	uint64_t expired;

	ending_doing("time to live, streams and history");
	pthread_mutex_lock(&upkeep->round);
	enum code code = expire_by_clock(upkeep, &times, false, &expired, &err);
	pthread_mutex_unlock(&upkeep->round);
	if (code != OK)
		log_line(level_of_failure(upkeep), "upkeep: " STR_FMT, STR_ARG(err.message));
	if (expired > 0)
		log_line(LOG_DEBUG, "upkeep: %llu items expired", (unsigned long long)expired);
}

/* After a burst of large requests most of the heap is free, but between pages that are in use: the
 * library would keep it for good. */
static void trim_heap(void)
{
	platform_trim_heap();
}

/* By the clocks of namespaces; a step is short. */
static void sweep_tokens(struct upkeep *upkeep, struct arena *arena)
{
	const struct times times = {clock_tell, upkeep->options.clock, upkeep->options.leases};
	struct err err = err_in(arena);
	enum code code = OK;
	bool more = true;

	ending_doing("tokens");
	while (more && code == OK && !atomic_load(&upkeep->is_ending)) {
		uint64_t began_ns = monotonic_ns();

		code = token_sweep(upkeep->options.catalog, &times, &more, &err);
		if (more && code == OK)
			rest(upkeep, began_ns);
	}
	if (code != OK)
		log_line(level_of_failure(upkeep),
			 "upkeep: tokens wait for their next try: " STR_FMT, STR_ARG(err.message));
}

/* Rows of readers and of processes that are no more: by real time. */
static enum code sweep_positions_and_leases(struct upkeep *upkeep, struct arena *arena,
					    struct err *err)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	enum code code = stream_position_sweep(catalog_store(upkeep->options.catalog), arena,
					       (int64_t)now.tv_sec * 1000 - FEED_KEPT_MS, err);
	if (code != OK)
		return code;
	return lease_sweep(upkeep->options.leases, err);
}

static void sweep_rows(struct upkeep *upkeep, struct arena *arena)
{
	struct err err = err_in(arena);

	if (sweep_positions_and_leases(upkeep, arena, &err) != OK)
		log_line(LOG_ERROR, "upkeep: " STR_FMT, STR_ARG(err.message));
}

static int64_t first_of(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t upkeep_period_ms(const struct upkeep *upkeep)
{
	return upkeep->options.period_ms > 0 ? upkeep->options.period_ms : INT64_MAX / 2;
}

static void begin_upkeep_rounds(struct upkeep *upkeep)
{
	int64_t now_ms = monotonic_ms();

	upkeep->due.index = upkeep->due.replicas = now_ms + JOB_FIRST_MS;
	upkeep->due.sizes = now_ms + SIZES_MS;
	upkeep->due.expiry = now_ms + upkeep_period_ms(upkeep);
	upkeep->due.trim = now_ms + TRIM_MS;
	atomic_store(&upkeep->store_due, now_ms + STORE_MS);
}

/* In monotonic ms. */
static int64_t next_upkeep_ms(struct upkeep *upkeep)
{
	int64_t soonest = first_of(upkeep->due.trim, atomic_load(&upkeep->store_due));

	return first_of(upkeep->due.replicas,
			first_of(soonest, first_of(upkeep->due.index, upkeep->due.expiry)));
}

/* A piece of all that is due. */
static void do_upkeep_piece(struct upkeep *upkeep)
{
	struct arena *arena = upkeep->arena;

	look_at_store(upkeep);
	if (upkeep->options.tick)
		upkeep->options.tick(upkeep->options.tick_context);
	count_requests(upkeep);
	uint64_t began_ns = monotonic_ns();
	int64_t wait_ms = first_of(keep_indexes(upkeep, arena), keep_jobs(upkeep, arena));
	wait_ms = keep_sizes(upkeep, arena, &upkeep->due.sizes) ? 0 : wait_ms;
	upkeep->due.index = due_after(upkeep, began_ns, wait_ms);
	began_ns = monotonic_ns();
	if (monotonic_ms() >= upkeep->due.replicas)
		upkeep->due.replicas = due_after(upkeep, began_ns, keep_replicas(upkeep, arena));
	if (monotonic_ms() >= upkeep->due.expiry) {
		keep_times(upkeep, arena);
		upkeep->due.expiry = monotonic_ms() + upkeep_period_ms(upkeep);
	}
	if (monotonic_ms() >= upkeep->due.trim) {
		sweep_tokens(upkeep, arena);
		sweep_rows(upkeep, arena);
		trim_heap();
		upkeep->due.trim = monotonic_ms() + TRIM_MS;
	}
	arena_reset(arena);
}

static void *work_on_upkeep(void *context)
{
	struct upkeep *upkeep = context;

	crash_request(NULL);
	begin_upkeep_rounds(upkeep);
	/* what an earlier process left undone comes first; the thread is woken for a new index */
	while (sleep_until(upkeep, next_upkeep_ms(upkeep)))
		do_upkeep_piece(upkeep);
	return NULL;
}

int64_t upkeep_tick(struct upkeep *upkeep)
{
	if (upkeep->due.trim == 0)
		begin_upkeep_rounds(upkeep);
	if (upkeep->is_woken || monotonic_ms() >= next_upkeep_ms(upkeep)) {
		upkeep->is_woken = false;
		do_upkeep_piece(upkeep);
	}
	int64_t wait_ms = next_upkeep_ms(upkeep) - monotonic_ms();
	return upkeep->is_woken || wait_ms < 0 ? 0 : wait_ms;
}

struct upkeep *upkeep_new(const struct upkeep_options *options)
{
	struct upkeep *upkeep = calloc(1, sizeof(*upkeep));

	if (!upkeep)
		return NULL;
	upkeep->options = *options;
	upkeep->arena = arena_new(64 * 1024);
	pthread_mutex_init(&upkeep->round, NULL);
	pthread_mutex_init(&upkeep->mutex, NULL);
	platform_condition(&upkeep->wake);
	return upkeep;
}

bool upkeep_start(struct upkeep *upkeep)
{
	upkeep->has_thread = log_thread(&upkeep->thread, work_on_upkeep, upkeep) == 0;
	return upkeep->has_thread;
}

void upkeep_wake(void *context)
{
	struct upkeep *upkeep = context;

	pthread_mutex_lock(&upkeep->mutex);
	upkeep->is_woken = true;
	pthread_cond_signal(&upkeep->wake);
	pthread_mutex_unlock(&upkeep->mutex);
}

void upkeep_stop(struct upkeep *upkeep)
{
	if (!upkeep)
		return;
	pthread_mutex_lock(&upkeep->mutex);
	atomic_store(&upkeep->is_ending, true);
	pthread_cond_signal(&upkeep->wake);
	pthread_mutex_unlock(&upkeep->mutex);
	if (upkeep->has_thread)
		pthread_join(upkeep->thread, NULL);
	pthread_cond_destroy(&upkeep->wake);
	pthread_mutex_destroy(&upkeep->mutex);
	pthread_mutex_destroy(&upkeep->round);
	arena_free(upkeep->arena);
	free(upkeep);
}
