/*
 * aside - threads for requests that take long, so that the workers stay free for those that do not.
 *
 * A worker serves many connections, and while it runs one request the others wait. So it hands requests that it cannot finish in a few
 * milliseconds to these few threads, first come, first served. The threads start with the first job.
 */
#ifndef DYNALITH_SERVER_HTTP_ASIDE_H
#define DYNALITH_SERVER_HTTP_ASIDE_H

#include <stdbool.h>

#define ASIDE_THREADS 4

struct aside_job {
	struct aside_job *next;
	/* `is_late`: the server ends, and there is no time for it. */
	void (*run)(struct aside_job *job, bool is_late);
};

struct aside;

struct aside *aside_new(void);

/* A thread runs the job, perhaps before this returns. False where there is no thread, or after aside_stop(): the job stays with the caller. */
bool aside_take(struct aside *aside, struct aside_job *job);

/* Runs the jobs that wait as late ones, returns when all have run, and takes no more. */
void aside_stop(struct aside *aside);

/* When it is stopped, or has had no job. */
void aside_free(struct aside *aside);

#endif
