/*
 * delay - answers that wait: one thread that hands jobs back when they are due, so that no worker
 * sleeps. It starts with the first job.
 */
#ifndef DYNALITH_SERVER_HTTP_DELAY_H
#define DYNALITH_SERVER_HTTP_DELAY_H

#include <stdbool.h>
#include <stdint.h>

struct delay_job {
	struct delay_job *next;
	uint64_t due_ns;
	void (*run)(struct delay_job *job);
};

struct delay;

struct delay *delay_new(void);

/*
 * Has the job run in so many milliseconds, or at once when the thread is stopped; it may be gone
 * when this returns. False where no thread can be had, or it is stopped: the job is the caller's
 * still.
 */
bool delay_take(struct delay *delay, struct delay_job *job, uint64_t ms);

/* Returns when all jobs have run, due or not. From then on it takes none. */
void delay_stop(struct delay *delay);

/* When it is stopped, or has had no job. */
void delay_free(struct delay *delay);

#endif
