/*
 * upkeep - what no request waits for, by a thread of its own: filling new indexes and emptying
 * dropped ones (storage/upkeep/backfill.h) as soon as there are any, filling new replicas of global
 * tables and repeating what waits in their queues (storage/upkeep/replica.h), from time to time
 * deleting expired items and trimming streams, and twice a second looking whether the data file is
 * still in its place.
 *
 * While requests come, the thread works in small pieces (pace_crowd) and pauses for longer than
 * it works.
 */
#ifndef DYNALITH_SERVER_UPKEEP_H
#define DYNALITH_SERVER_UPKEEP_H

#include "server/clock.h"
#include "server/metrics.h"
#include "storage/catalog/catalog.h"
#include "storage/job/job_run.h"

struct upkeep_options {
	struct catalog *catalog;
	struct clocks *clock;
	struct job_run *jobs;  /* carried out piece by piece; NULL: none are */
	struct leases *leases; /* shared work is done under these; NULL: by this process */
	int64_t ttl_delay_ms; /* how long after its time an item is deleted */
	const struct metrics *metrics; /* count the requests; NULL: the catalog is never crowded */
	void (*tick)(void *context); /* called twice a second or so; or NULL */
	void *tick_context;
	int64_t period_ms; /* real time between two looks for expired items; 0: only upkeep_run()
			      looks */
	bool is_ticked;    /* there is no thread: upkeep_tick() does the work, and nothing sleeps */
};

struct upkeep;

/* Without its thread: only upkeep_run() and upkeep_replicate() work then. NULL without memory. */
struct upkeep *upkeep_new(const struct upkeep_options *options);

/* Starts the thread, once; false where none can be had. */
bool upkeep_start(struct upkeep *upkeep);

/*
 * In place of the thread: a piece of what is due, and the ms until more is, at most half a second
 * (STORE_MS). For a host without threads, whose options say is_ticked.
 */
int64_t upkeep_tick(struct upkeep *upkeep);

/* Ends the thread; a round under way stops at its next step. */
void upkeep_stop(struct upkeep *upkeep);

/* There is work on an index now. From any thread; `upkeep` is a struct upkeep, as a service's hook
 * passes it. */
void upkeep_wake(void *upkeep);

/* Turns a clock. Where it fails, nothing else is done. */
typedef enum code upkeep_turn(void *context, struct err *err);

/*
 * A turn (or NULL), and then one whole round for the namespace, or (`ns` NULL) for all that follow
 * the default clock, by the time as it is then; done when it returns. *expired is the number of
 * items deleted: this process deletes none between the turn and the round. Thread-safe.
 */
enum code upkeep_run(struct upkeep *upkeep, const struct ns *ns, upkeep_turn *turn, void *context,
		     uint64_t *expired, struct err *err) WARN_UNUSED;

/*
 * Repeats all that is due in queues of replicas of the account of `ns` (NULL: of all accounts), by
 * the time as it is now; done when it returns. *repeated is the number of changes. Thread-safe.
 */
enum code upkeep_replicate(struct upkeep *upkeep, const struct ns *ns, uint64_t *repeated,
			   struct err *err) WARN_UNUSED;

/* Whether the store, a database, could not be reached when it was last tried, a second ago or so.
 */
bool upkeep_misses_store(struct upkeep *upkeep);

#endif
