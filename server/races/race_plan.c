#include "server/races/race_plan.h"

/* splitmix64. */
static uint64_t scatter(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static bool is_answered(const struct race_trace *trace, uint64_t id)
{
	size_t request = race_trace_find(trace, id);

	return request != RACE_NONE && trace->requests[request].status != 0;
}

static bool is_held(const struct race_plan *plan, const struct race_trace *trace,
		    const struct race_request *request)
{
	for (size_t i = 0; i < plan->hold_count; i++) {
		const struct race_hold *hold = &plan->holds[i];

		if (hold->request == request->id &&
		    !(hold->until && is_answered(trace, hold->until)))
			return true;
	}
	return false;
}

/* The request was held, and what it waited for has come about: it goes first. */
static bool is_released(const struct race_plan *plan, const struct race_trace *trace,
			const struct race_request *request)
{
	bool was_held = false;

	for (size_t i = 0; i < plan->hold_count; i++)
		was_held = was_held || plan->holds[i].request == request->id;
	return was_held && !is_held(plan, trace, request);
}

bool race_plan_holds_all(const struct race_plan *plan, const struct race_trace *trace,
			 const size_t *waiting, size_t n)
{
	size_t held = 0;

	while (held < n && is_held(plan, trace, &trace->requests[waiting[held]]))
		held++;
	return held == n;
}

/* What was held, so that it comes right behind what it waited for; the chain of the last request;
 * else the one that began first. What is held comes last: the first of these, so that the others
 * stay behind it. */
static size_t pick_usual(const struct race_plan *plan, const struct race_trace *trace,
			 const size_t *waiting, size_t n)
{
	size_t chain = trace->last == RACE_NONE ? RACE_NONE : trace->requests[trace->last].chain;
	size_t best = RACE_NONE;

	for (size_t i = 0; i < n; i++) {
		if (is_released(plan, trace, &trace->requests[waiting[i]]))
			return i;
	}
	for (size_t i = 0; i < n; i++) {
		const struct race_request *request = &trace->requests[waiting[i]];

		if (is_held(plan, trace, request))
			continue;
		if (request->chain == chain)
			return i;
		if (best == RACE_NONE || request->chain < trace->requests[waiting[best]].chain)
			best = i;
	}
	return best == RACE_NONE ? 0 : best;
}

static uint64_t priority_of(const struct race_plan *plan, const struct race_trace *trace,
			    size_t chain)
{
	uint64_t priority = scatter(plan->seed ^ scatter(chain)) | (1ull << 63);

	for (unsigned i = 1; i < plan->depth; i++) {
		size_t place = scatter(plan->seed + i) % (plan->length + 1);

		/* the chain whose turn it was in that place comes behind all others */
		if (place < trace->order_n && trace->requests[trace->order[place]].chain == chain)
			priority = i;
	}
	return priority;
}

static size_t pick_by_priority(const struct race_plan *plan, const struct race_trace *trace,
			       const size_t *waiting, size_t n)
{
	size_t best = 0;
	uint64_t highest = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t priority = priority_of(plan, trace, trace->requests[waiting[i]].chain);

		if (priority > highest) {
			highest = priority;
			best = i;
		}
	}
	return best;
}

static size_t rank_of(const struct race_plan *plan, uint64_t id)
{
	size_t rank = 0;

	while (rank < plan->order_n && plan->order[rank] != id)
		rank++;
	return rank;
}

static size_t pick_by_order(const struct race_plan *plan, const struct race_trace *trace,
			    const size_t *waiting, size_t n)
{
	size_t best = RACE_NONE, lowest = plan->order_n;

	for (size_t i = 0; i < n; i++) {
		size_t rank = rank_of(plan, trace->requests[waiting[i]].id);

		if (rank < lowest) {
			lowest = rank;
			best = i;
		}
	}
	return best == RACE_NONE ? pick_usual(plan, trace, waiting, n) : best;
}

size_t race_plan_pick(const struct race_plan *plan, const struct race_trace *trace,
		      const size_t *waiting, size_t n)
{
	switch (plan->kind) {
	case PLAN_PRIORITY:
		return pick_by_priority(plan, trace, waiting, n);
	case PLAN_ORDER:
		return pick_by_order(plan, trace, waiting, n);
	case PLAN_USUAL:
	case PLAN_HOLD:
		break;
	}
	return pick_usual(plan, trace, waiting, n);
}

size_t race_plan_next(const struct race_plan *plan, const struct race_trace *trace, size_t from)
{
	for (size_t i = from; plan->kind == PLAN_ORDER && i < plan->order_n; i++) {
		size_t request = race_trace_find(trace, plan->order[i]);

		if (request == RACE_NONE || !trace->requests[request].is_picked)
			return i;
	}
	return RACE_NONE;
}

bool race_plan_is_followed(const struct race_plan *plan, const struct race_trace *trace)
{
	size_t k = 0;

	while (k < plan->order_n && k < trace->order_n &&
	       trace->requests[trace->order[k]].id == plan->order[k])
		k++;
	return k == plan->order_n;
}

void race_plan_settle(const struct race_plan *plan, struct race_trace *trace)
{
	size_t chains = 0;

	race_trace_settle(trace);
	if (!plan || !plan->chains || !race_plan_is_followed(plan, trace))
		return;
	for (size_t i = 0; i < plan->order_n; i++)
		chains = plan->chains[i] < chains ? chains : plan->chains[i] + 1;
	for (size_t r = 0; r < trace->n; r++)
		trace->requests[r].chain += chains; /* of those that are not in the order */
	for (size_t k = 0; k < plan->order_n; k++)
		trace->requests[trace->order[k]].chain = plan->chains[k];
	trace->chains += chains;
}

uint64_t race_plan_hash(const struct race_plan *plan)
{
	uint64_t hash = scatter(plan->kind) ^ scatter(plan->trouble.request + plan->trouble.kind) ^
			scatter(plan->trouble.since);

	for (size_t i = 0; i < plan->hold_count; i++)
		hash += scatter(plan->holds[i].request ^ scatter(plan->holds[i].until));
	if (plan->kind == PLAN_PRIORITY)
		hash = scatter(hash ^ plan->seed) + plan->depth;
	for (size_t i = 0; i < plan->order_n; i++)
		hash = scatter(hash ^ plan->order[i]);
	return hash;
}
