/*
 * job_run - carries out jobs, one bounded piece after the other.
 *
 * A kind of job is a step function. A step does the next piece of one job in at most 5 MB and some
 * 50 ms, and says in the job how far it came; the row is put when it returns, or by the step itself
 * together with what it wrote (job_run_begin, job_run_commit). A step that is interrupted is run
 * again from what the row says: what it did in no transaction must bear being done twice. A step
 * that returns an error fails the job with it, but for those that pass: conflicts, a table that
 * moved, a store that is away or full. Those are tried again later.
 *
 * Of several processes one works on a job, by the lease "job/KIND/ID"; in a process one thread. The
 * server's upkeep calls job_run_step; an operation that started a job calls job_run_now, so that
 * what is small is done before the client asks.
 */
#ifndef DYNALITH_STORAGE_JOB_RUN_H
#define DYNALITH_STORAGE_JOB_RUN_H

#include "storage/job/job.h"

#define JOB_PIECE_ROWS 1000
#define JOB_PIECE_BYTES (5 * 1024 * 1024)
#define JOB_PROMPT_STEPS 16 /* of job_run_now, for operations */
#define JOB_FIRST_MS                                                                               \
	20 /* delay of a background thread's first step, so that it does not compete with a new    \
	      server's first requests */

struct leases;
struct job_run;

struct job_step {
	struct catalog *catalog;
	struct job *job;      /* as the row is; what the step makes of it is put */
	struct arena *arena;  /* of the step */
	int64_t now_ms;       /* by the clock of the job's namespace */
	void *context;        /* of its kind */
	bool is_put;          /* the step has put the row itself */
};

typedef enum code job_step(struct job_step *step, struct err *err);

struct job_kind {
	const char *name;
	job_step *step;
	void *context;
	/* NULL, or what is left to do when a job of the kind was failed by an error of its step, in
	 * the transaction that says so. */
	enum code (*give_up)(struct job_txn *txn, struct job *job, void *context, struct err *err);
};

/* `leases` may be NULL. The kinds are registered before the first job is run. */
struct job_run *job_run_new(struct catalog *catalog, struct leases *leases);
void job_run_free(struct job_run *run);
void job_run_register(struct job_run *run, const struct job_kind *kind);

/*
 * The next piece of any job that is due by the clock of its namespace. *wait_ms is how long to wait
 * before the next call, 0 while there is more, INT64_MAX when no job is open. `times` without
 * leases: this process does it, even if another one does it too.
 */
enum code job_run_step(struct job_run *run, const struct times *times, int64_t *wait_ms,
		       struct err *err) WARN_UNUSED;

/*
 * Up to `steps` pieces of one job that is due at `now_ms`, or more while requests come, since each
 * is smaller then (pace_next); none where another process works on it. A failure is in the
 * job's row. `run` NULL, or without this kind: nothing.
 */
enum code job_run_now(struct job_run *run, struct ns ns, struct str kind, struct str id,
		      unsigned steps, int64_t now_ms, struct err *err) WARN_UNUSED;

/* Whether an error of a step may be over by its next try; others fail the job. */
bool job_run_passes(enum code code);

/*
 * For a step that writes to the store: an armed transaction, in which the job still is what it was
 * (else ERR_CONFLICT). _commit puts the job's row as the step left it, and commits; after an error
 * of anything in between, call store_abort() and return the error.
 */
enum code job_run_begin(struct job_step *step, struct job_txn *txn, struct err *err) WARN_UNUSED;
enum code job_run_commit(struct job_step *step, struct job_txn *txn, struct err *err) WARN_UNUSED;

#endif
