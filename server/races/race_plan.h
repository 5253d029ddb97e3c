/*
 * race_plan - in what order the requests of a run are carried out: of those that wait, which is
 * next. Pure, and the same for the same run.
 *
 * Where a plan says nothing else, the chain of the last request goes on as long as it can, then the
 * chain that began first: so each chain runs to its end, and every other order is told by the few
 * places in which it leaves that.
 *
 *   PLAN_USUAL     nothing else
 *   PLAN_HOLD      some requests wait: each until right behind another one's answer, or until all
 *                  wait
 *   PLAN_PRIORITY  chains have priorities by a seed, and change them in `depth` - 1 places
 *   PLAN_ORDER     as a list of ids says; what is not in it comes last
 *
 * Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs" (ASPLOS
 * 2010): by priorities, a fault of a depth is found with a chance of at least
 * 1 / (chains * requests^(depth - 1)).
 *
 * Besides, any plan may give one request a trouble of the network or the service.
 */
#ifndef DYNALITH_SERVER_RACE_PLAN_H
#define DYNALITH_SERVER_RACE_PLAN_H

#include "server/races/race_trouble.h"

#define RACE_HOLDS_MAX 3

enum race_plan_kind { PLAN_USUAL, PLAN_HOLD, PLAN_PRIORITY, PLAN_ORDER };

struct race_hold {
	uint64_t request, until; /* ids; until 0: until all others wait */
};

struct race_plan {
	enum race_plan_kind kind;
	struct race_hold holds[RACE_HOLDS_MAX];
	size_t hold_count;
	uint64_t seed;
	unsigned depth;
	size_t length; /* of the usual run, in requests: where places for changes are drawn from */
	const uint64_t *order;
	const size_t *chains; /* of each request of the order; NULL: unknown */
	size_t order_n;
	struct race_trouble trouble;
};

/* Which of the `n` requests that wait, numbers in the trace by arrival, is next: an index into
 * them. There is at least one, and no further one comes. */
size_t race_plan_pick(const struct race_plan *plan, const struct race_trace *trace,
		      const size_t *waiting, size_t n);

/* Whether all that wait are held by the plan. */
bool race_plan_holds_all(const struct race_plan *plan, const struct race_trace *trace,
			 const size_t *waiting, size_t n);

/* PLAN_ORDER: where in the list, from there on, is the next request that was not carried out,
 * whether it has come or not; RACE_NONE: nowhere. */
size_t race_plan_next(const struct race_plan *plan, const struct race_trace *trace, size_t from);

/* Whether the run began with just the plan's order. */
bool race_plan_is_followed(const struct race_plan *plan, const struct race_trace *trace);

/* Behind a run: chains by all that came (race_trace_settle()), or, where it followed an order,
 * those of the order: it is judged the same way however fast its requests came. `plan` may be NULL.
 */
void race_plan_settle(const struct race_plan *plan, struct race_trace *trace);

/* Of what the plan says: equal plans have equal hashes. */
uint64_t race_plan_hash(const struct race_plan *plan);

#endif
