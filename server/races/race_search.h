/*
 * race_search - which orders to try, the likeliest first, until there are none left. Pure.
 *
 *   1. Each request has each trouble that is asked for and fits; a read lags behind each of a few
 *      writes.
 *   2. Each request that conflicts with a later one waits until all others wait. What comes before
 *      its answer then does not depend on it, which a run alone cannot tell.
 *   3. Each such request comes right behind the answer of one that it conflicts with.
 *   4. Two of them wait.
 *   5. Priorities by seeds, with depth 1 to 3.
 *
 * Requests that name a value in common come before those that only share a table, and those of
 * different chains before others.
 */
#ifndef DYNALITH_SERVER_RACE_SEARCH_H
#define DYNALITH_SERVER_RACE_SEARCH_H

#include "server/races/race_plan.h"

struct race_search;

/* `usual` is the run by PLAN_USUAL; it and the facts outlive the search. `seed` decides the
 * priorities. `troubles`: a set of 1 << enum race_trouble_kind. */
struct race_search *race_search_new(struct arena *arena, const struct race_trace *usual,
				    struct race_facts *facts, uint64_t seed, unsigned troubles);

/* The next plan; false where nothing in the run can meet. */
bool race_search_next(struct race_search *search, struct race_plan *plan);

/* What came of a plan; for the facts, too. */
void race_search_learn(struct race_search *search, const struct race_trace *trace);

/* How many pairs of requests conflict and can change places, and how many of them have been seen in
 * both orders. */
void race_search_cover(const struct race_search *search, size_t *pairs, size_t *seen);

/* How many different orders were run. */
size_t race_search_orders(const struct race_search *search);

#endif
