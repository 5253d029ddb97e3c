#include "storage/job/job_run.h"

#include <pthread.h>
#include <stdlib.h>

#include "storage/pace.h"
#include "storage/upkeep/lease.h"

#define KINDS_MAX 16
#define LOOKS 64             /* open jobs that are looked at in one read */
#define OTHERS_MS 500        /* between two looks at a job that another process does */
#define RETRY_MS 1000        /* after an error that passes */

struct busy {
	struct busy *next;
	struct str lease;    /* the job, by the name of its lease */
};

struct job_run {
	struct catalog *catalog;
	struct leases *leases;
	size_t n;
	struct job_kind kinds[KINDS_MAX];
	pthread_mutex_t lock;  /* of what follows */
	pthread_cond_t free;   /* a job is not busy any more */
	struct busy *busy;     /* jobs that threads of this process are at */
	struct str last;       /* the key of the job that was worked on last; malloced */
};

struct job_run *job_run_new(struct catalog *catalog, struct leases *leases)
{
	struct job_run *run = arena_checked(calloc(1, sizeof(*run)));

	run->catalog = catalog;
	run->leases = leases;
	run->last = STR_ABSENT;
	pthread_mutex_init(&run->lock, NULL);
	pthread_cond_init(&run->free, NULL);
	return run;
}

void job_run_free(struct job_run *run)
{
	if (!run)
		return;
	free((void *)(uintptr_t)run->last.p);
	pthread_cond_destroy(&run->free);
	pthread_mutex_destroy(&run->lock);
	free(run);
}

void job_run_register(struct job_run *run, const struct job_kind *kind)
{
	if (run->n < KINDS_MAX)
		run->kinds[run->n++] = *kind;
}

static const struct job_kind *kind_of(const struct job_run *run, struct str name)
{
	for (size_t i = 0; i < run->n; i++) {
		if (str_eq(str_of(run->kinds[i].name), name))
			return &run->kinds[i];
	}
	return NULL;
}

/* ERR_CONFLICT unless the job is stored as the step knows it. */
static enum code arm_unchanged(const struct job_step *step, struct job_txn *txn, struct err *err)
{
	struct job known;
	enum code code = catalog_arm(step->catalog, txn->txn, txn->ns, err);

	if (code != OK)
		return code;
	code = job_get(txn, step->job->kind, step->job->id, &known, err);
	if (code == ERR_RESOURCE_NOT_FOUND || (code == OK && known.revision != step->job->revision))
		return err_default(err, ERR_CONFLICT);
	return code;
}

enum code job_run_begin(struct job_step *step, struct job_txn *txn, struct err *err)
{
	*txn = (struct job_txn){
		.catalog = step->catalog, .ns = step->job->ns, .arena = step->arena};
	enum code code = store_begin(catalog_store(step->catalog), STORE_WRITE, &txn->txn, err);
	if (code != OK)
		return code;
	code = arm_unchanged(step, txn, err);
	if (code != OK)
		store_abort(txn->txn);
	return code;
}

enum code job_run_commit(struct job_step *step, struct job_txn *txn, struct err *err)
{
	enum code code = job_put(txn, step->job, step->now_ms, err);

	if (code != OK) {
		store_abort(txn->txn);
		return code;
	}
	code = store_commit_for_good(txn->txn, err);
	step->is_put = code == OK;
	return code;
}

bool job_run_passes(enum code code)
{
	return code == ERR_CONFLICT || code == ERR_TABLE_MOVED || code == ERR_STORE_UNAVAILABLE ||
	       code == ERR_STORE_UNKNOWN || code == ERR_STORE_FULL || code == ERR_DATA_LIMIT ||
	       code == ERR_SERVICE_UNAVAILABLE;
}

struct failing {
	struct job *job;
	const struct job_kind *kind;
	int64_t now_ms;
};

static enum code apply_failure(struct job_txn *txn, void *context, struct err *err)
{
	struct failing *failing = context;
	struct job job = *failing->job;
	enum code code = failing->kind->give_up
				 ? failing->kind->give_up(txn, &job, failing->kind->context, err)
				 : OK;

	return code == OK ? job_put(txn, &job, failing->now_ms, err) : code;
}

/* The job ends with the error. */
static enum code fail(struct job_step *step, const struct job_kind *kind, enum code code,
		      const struct err *why, struct err *err)
{
	struct failing failing = {step->job, kind, step->now_ms};

	step->job->state = JOB_FAILED;
	step->job->failure = str_of(err_info(code)->name);
	step->job->message = why->message;
	return job_write(step->catalog, step->job->ns, apply_failure, &failing, err);
}

static enum code save(struct job_step *step, struct err *err)
{
	struct job_txn txn;
	enum code code = job_run_begin(step, &txn, err);

	return code == OK ? job_run_commit(step, &txn, err) : code;
}

static enum code load(struct job_run *run, const struct job_open *open, struct arena *arena,
		      struct job *job, struct err *err)
{
	struct job_txn txn = {.catalog = run->catalog, .ns = open->ns, .arena = arena};
	enum code code = store_begin(catalog_store(run->catalog), STORE_READ, &txn.txn, err);

	if (code != OK)
		return code;
	code = job_get(&txn, open->kind, open->id, job, err);
	store_abort(txn.txn);
	return code;
}

static enum code run_step(const struct job_kind *kind, struct job_step *step, struct err *err)
{
	enum code code = kind->step(step, err);

	if (code == OK)
		return step->is_put ? OK : save(step, err);
	return job_run_passes(code) ? code : fail(step, kind, code, err, err);
}

static enum code load_and_step(struct job_run *run, const struct job_open *open,
			       const struct job_kind *kind, struct job_step *step, bool *is_over,
			       struct err *err)
{
	const struct job *job = step->job;
	enum code code = load(run, open, step->arena, step->job, err);

	*is_over = code == OK && (job->state != JOB_RUNNING || job->due_ms > step->now_ms);
	if (code != OK || *is_over)
		return code;
	code = run_step(kind, step, err);
	*is_over = code == OK && (job->state != JOB_RUNNING || job->due_ms > step->now_ms);
	return code;
}

/* One piece of a job that nobody else is at; ERR_RESOURCE_NOT_FOUND where it is gone. */
static enum code step_job(struct job_run *run, const struct job_open *open,
			  const struct job_kind *kind, int64_t now_ms, bool *is_over,
			  struct err *err)
{
	struct arena *arena = arena_new(0);
	struct err own = err_in(arena);
	struct job job;
	struct job_step step = {.catalog = run->catalog,
				.job = &job,
				.arena = arena,
				.now_ms = now_ms,
				.context = kind->context};
	enum code code = load_and_step(run, open, kind, &step, is_over, &own);

	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(arena);
	return code;
}

static bool is_busy(const struct job_run *run, struct str lease)
{
	for (const struct busy *busy = run->busy; busy; busy = busy->next) {
		if (str_eq(busy->lease, lease))
			return true;
	}
	return false;
}

/* Makes the job this thread's, if need be after another thread's piece. */
static bool seize(struct job_run *run, struct busy *own, bool waits)
{
	pthread_mutex_lock(&run->lock);
	while (waits && is_busy(run, own->lease))
		pthread_cond_wait(&run->free, &run->lock);
	bool is_ours = !is_busy(run, own->lease);
	if (is_ours) {
		own->next = run->busy;
		run->busy = own;
	}
	pthread_mutex_unlock(&run->lock);
	return is_ours;
}

static void let_go(struct job_run *run, struct busy *own)
{
	pthread_mutex_lock(&run->lock);
	struct busy **at = &run->busy;
	while (*at != own)
		at = &(*at)->next;
	*at = own->next;
	pthread_cond_broadcast(&run->free);
	pthread_mutex_unlock(&run->lock);
}

static struct str lease_of(struct arena *arena, const struct job_open *open)
{
	return str_printf(arena, "job/" STR_FMT "/" STR_FMT, STR_ARG(open->kind),
			  STR_ARG(open->id));
}

static enum code step_under_lease(struct job_run *run, const struct job_open *open,
				  const struct job_kind *kind, struct leases *leases,
				  struct str lease, int64_t now_ms, bool *is_ours, bool *is_over,
				  struct err *err)
{
	enum code code = lease_take(leases, lease, is_ours, NULL, err);

	if (code != OK || !*is_ours)
		return code;
	code = step_job(run, open, kind, now_ms, is_over, err);
	if (leases && code == OK && *is_over)
		lease_release(leases, lease);
	return code;
}

/* One piece under the lease and alone in this process. *is_ours false: someone else is at it. */
static enum code step_leased(struct job_run *run, const struct job_open *open,
			     const struct job_kind *kind, struct leases *leases, bool waits,
			     int64_t now_ms, bool *is_ours, bool *is_over, struct err *err)
{
	struct busy own = {.lease = lease_of(err->arena, open)};

	*is_over = false;
	*is_ours = seize(run, &own, waits);
	if (!*is_ours)
		return OK;
	enum code code =
		step_under_lease(run, open, kind, leases, own.lease, now_ms, is_ours, is_over, err);
	let_go(run, &own);
	return code;
}

enum code job_run_now(struct job_run *run, struct ns ns, struct str kind_name, struct str id,
		      unsigned steps, int64_t now_ms, struct err *err)
{
	const struct job_kind *kind = run ? kind_of(run, kind_name) : NULL;
	struct job_open open = {.ns = ns, .kind = kind_name, .id = id};
	bool is_ours = true, is_over = false;
	uint64_t left = (uint64_t)steps * PACE_CROWDED_PART;
	enum code code = OK;

	while (kind && is_ours && !is_over && code == OK &&
	       pace_next(catalog_pace(run->catalog), &left))
		code = step_leased(run, &open, kind, run->leases, true, now_ms, &is_ours, &is_over,
				   err);
	/* what did not go well now is tried again by the upkeep, or says so in its row */
	return code == ERR_RESOURCE_NOT_FOUND || job_run_passes(code) ? OK : code;
}

static struct str last_of(struct job_run *run, struct arena *arena)
{
	pthread_mutex_lock(&run->lock);
	struct str last = str_is_set(run->last) ? str_copy(arena, run->last) : STR_ABSENT;
	pthread_mutex_unlock(&run->lock);
	return last;
}

static void set_last(struct job_run *run, struct str key)
{
	pthread_mutex_lock(&run->lock);
	free((void *)(uintptr_t)run->last.p);
	run->last = str_is_set(key) ? str_duplicate(key) : STR_ABSENT;
	pthread_mutex_unlock(&run->lock);
}

/* A job that is due by its clock: its next piece, if nobody else is at it. */
static enum code try_open(struct job_run *run, const struct job_open *open,
			  const struct times *times, int64_t *wait_ms, bool *is_done,
			  struct err *err)
{
	const struct job_kind *kind = kind_of(run, open->kind);
	bool is_ours, is_over;
	int64_t now_ms;

	if (!kind || !times->tell(times->context, open->ns, &now_ms))
		return OK;
	if (open->due_ms > now_ms) {
		if (open->due_ms - now_ms < *wait_ms)
			*wait_ms = open->due_ms - now_ms;
		return OK;
	}
	enum code code =
		step_leased(run, open, kind, times->leases, false, now_ms, &is_ours, &is_over, err);
	*is_done = code == OK && is_ours;
	if (code == OK && !is_ours && *wait_ms > OTHERS_MS)
		*wait_ms = OTHERS_MS;
	if (code == ERR_RESOURCE_NOT_FOUND || job_run_passes(code)) {
		if (*wait_ms > RETRY_MS)
			*wait_ms = RETRY_MS;
		code = OK;
	}
	return code;
}

static enum code find_open(struct job_run *run, struct arena *arena, struct str after,
			   struct job_open **open, size_t *n, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog_store(run->catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = job_find_open(txn, arena, after, LOOKS, open, n, err);
	store_abort(txn);
	return code;
}

/* Goes once around the open jobs, from the one behind the last, and stops at the first of which a
 * piece could be done. */
enum code job_run_step(struct job_run *run, const struct times *times, int64_t *wait_ms,
		       struct err *err)
{
	struct arena *arena = arena_new(0);
	struct err own = err_in(arena);
	struct str after = last_of(run, arena);
	bool is_done = false, has_wrapped = !str_is_set(after);
	struct job_open *open;
	enum code code = OK;
	size_t n = 0;

	*wait_ms = INT64_MAX;
	do {
		code = find_open(run, arena, after, &open, &n, &own);
		for (size_t i = 0; i < n && code == OK && !is_done; i++) {
			after = open[i].key;
			code = try_open(run, &open[i], times, wait_ms, &is_done, &own);
		}
		if (n < LOOKS && !has_wrapped && !is_done) {
			has_wrapped = true;
			after = STR_ABSENT;
			n = LOOKS;
		}
	} while (code == OK && !is_done && n == LOOKS);
	set_last(run, is_done || code != OK ? after : STR_ABSENT);
	if (is_done)
		*wait_ms = 0;
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(arena);
	return code;
}
