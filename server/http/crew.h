/*
 * crew - threads that run jobs beside the threads of connections. They start as jobs need them.
 *
 * The front end has two crews. One runs answers that wait when they are due, so that no worker
 * sleeps. The other runs requests that take long: a worker serves many connections, and while it
 * runs one request the others wait, so it hands over what it cannot finish in a few milliseconds.
 *
 * There, jobs that are known to be long wait longer: each lets jobs pass that come up to
 * CREW_PATIENCE times its cost later. One thread takes no job of CREW_LONG_NS or more, so that a
 * job that may be short does not wait for the end of a long one.
 */
#ifndef DYNALITH_SERVER_HTTP_CREW_H
#define DYNALITH_SERVER_HTTP_CREW_H

#include <stdbool.h>
#include <stdint.h>

#define CREW_ASIDE 4 /* threads for requests that take long */
#define CREW_PATIENCE 16
#define CREW_LONG_NS 10000000u /* of CPU time */

struct crew_job {
	struct crew_job *next;
	uint64_t due_ns; /* its place among those that wait */
	bool is_long;
	/* `is_late`: the server ends, and there is no time for long work. */
	void (*run)(struct crew_job *job, bool is_late);
};

struct crew;

/* `is_timed`: jobs come by crew_take_in(), else by crew_take(). */
struct crew *crew_new(unsigned threads, bool is_timed);

/*
 * A thread runs the job, perhaps before this returns. `cost_ns`: CPU time that it is known to take;
 * 0: not known. False where no thread can be had, or after crew_stop(): then it has run, as a late
 * one.
 */
bool crew_take(struct crew *crew, struct crew_job *job, uint64_t cost_ns);

/* The same in so many milliseconds. */
bool crew_take_in(struct crew *crew, struct crew_job *job, uint64_t ms);

/* Runs the jobs that wait as late ones, due or not, returns when all have run, and takes no more.
 */
void crew_stop(struct crew *crew);

/* When it is stopped, or has had no job. */
void crew_free(struct crew *crew);

#endif
