/*
 * aside - threads for requests that take long, so that the workers stay free for those that do not.
 *
 * A worker serves many connections, and while it runs one request the others wait. So it hands
 * requests that it cannot finish in a few milliseconds to these few threads. The threads start with
 * the first job.
 *
 * Jobs that are known to be long wait longer: each lets jobs pass that come up to ASIDE_PATIENCE
 * times its cost later. One thread takes no job of ASIDE_LONG_NS or more, so that a job that may be
 * short does not wait for the end of a long one.
 */
#ifndef DYNALITH_SERVER_HTTP_ASIDE_H
#define DYNALITH_SERVER_HTTP_ASIDE_H

#include <stdbool.h>
#include <stdint.h>

#define ASIDE_THREADS 4
#define ASIDE_PATIENCE 16
#define ASIDE_LONG_NS 10000000u /* of CPU time */

struct aside_job {
	struct aside_job *next;
	uint64_t due_ns; /* its place among those that wait */
	bool is_long;
	/* `is_late`: the server ends, and there is no time for it. */
	void (*run)(struct aside_job *job, bool is_late);
};

struct aside;

struct aside *aside_new(void);

/*
 * A thread runs the job, perhaps before this returns. `cost_ns`: CPU time that it is known to take;
 * 0: not known. False where there is no thread, or after aside_stop(): the job stays with the
 * caller.
 */
bool aside_take(struct aside *aside, struct aside_job *job, uint64_t cost_ns);

/* Runs the jobs that wait as late ones, returns when all have run, and takes no more. */
void aside_stop(struct aside *aside);

/* When it is stopped, or has had no job. */
void aside_free(struct aside *aside);

#endif
