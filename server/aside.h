/*
 * aside - threads for requests that take long, so that the workers stay free for those that do not.
 *
 * A worker serves many connections, and while it is in one request the others wait. So it hands on what it cannot finish in a few milliseconds;
 * such a job waits here for one of few threads, first come, first served. The threads start with the first job.
 */
#ifndef DYNALITH_SERVER_ASIDE_H
#define DYNALITH_SERVER_ASIDE_H

#include <stdbool.h>

#define ASIDE_THREADS 4

struct aside_job {
	struct aside_job *next;
	/* `is_late`: the server ends, and there is no time for it. */
	void (*run)(struct aside_job *job, bool is_late);
};

struct aside;

struct aside *aside_new(void);

/* Has the job run by a thread; it may be gone when this returns. False where no thread can be had, or it is stopped: the job is the caller's still. */
bool aside_take(struct aside *aside, struct aside_job *job);

/* Returns when all jobs have run; those that were not begun are late. From then on it takes none. */
void aside_stop(struct aside *aside);

/* When it is stopped, or has had no job. */
void aside_free(struct aside *aside);

#endif
