#include "server/races/race_search.h"

#define DEPTH_MAX 3
#define STAGES 8
#define LAGS_MAX 3 /* writes that one read may not see yet, each in a run of its own */

/* Two requests of the usual run that conflict; `first` came first. */
struct pair {
	size_t first, second; /* numbers in the usual run */
	bool is_close;
	bool is_apart;    /* they are of different chains */
	bool is_reversed; /* they were carried out the other way round once */
};

struct race_search {
	struct arena *arena;
	const struct race_trace *usual;
	struct race_facts *facts;
	struct pair *pairs;
	size_t pair_count;
	struct race_plan *queue; /* stages 1 to 4 */
	size_t queue_n, next;
	unsigned stage;
	uint64_t seed, drawn;
	unsigned troubles;
	uint64_t *plans, *orders; /* hashes of those made and run */
	size_t plan_count, order_count;
};

static bool add_hash(struct arena *arena, uint64_t **hashes, size_t *n, uint64_t hash)
{
	for (size_t i = 0; i < *n; i++) {
		if ((*hashes)[i] == hash)
			return false;
	}
	*hashes = arena_room(arena, *hashes, *n, sizeof(**hashes));
	(*hashes)[(*n)++] = hash;
	return true;
}

static void add_plan(struct race_search *search, const struct race_plan *plan)
{
	if (!add_hash(search->arena, &search->plans, &search->plan_count, race_plan_hash(plan)))
		return;
	search->queue =
		arena_room(search->arena, search->queue, search->queue_n, sizeof(*search->queue));
	search->queue[search->queue_n++] = *plan;
}

static void find_pairs(struct race_search *search)
{
	const struct race_trace *usual = search->usual;

	for (size_t k = 0; k < usual->order_n; k++) {
		for (size_t i = 0; i < k; i++) {
			struct pair pair = {.first = usual->order[i], .second = usual->order[k]};
			const struct race_request *a = &usual->requests[pair.first];
			const struct race_request *b = &usual->requests[pair.second];

			if (!race_trace_conflict(a, b, &pair.is_close))
				continue;
			pair.is_apart = a->chain != b->chain;
			search->pairs = arena_room(search->arena, search->pairs, search->pair_count,
						   sizeof(*search->pairs));
			search->pairs[search->pair_count++] = pair;
		}
	}
}

struct race_search *race_search_new(struct arena *arena, const struct race_trace *usual,
				    struct race_facts *facts, uint64_t seed, unsigned troubles)
{
	struct race_search *search = arena_calloc(arena, 1, sizeof(*search));

	*search = (struct race_search){
		.arena = arena, .usual = usual, .facts = facts, .seed = seed, .troubles = troubles};
	find_pairs(search);
	return search;
}

static uint64_t id_of(const struct race_search *search, size_t request)
{
	return search->usual->requests[request].id;
}

static void make_trouble(struct race_search *search, enum race_trouble_kind kind)
{
	for (size_t i = 0; i < search->usual->order_n; i++) {
		const struct race_request *request =
			&search->usual->requests[search->usual->order[i]];

		if (race_trouble_fits(kind, request))
			add_plan(search, &(struct race_plan){.trouble = {kind, request->id, 0}});
	}
}

/* The read at that place does not see a write before it: of those that name a value in common with
 * it the last few, else the last one. */
static void make_lag(struct race_search *search, size_t place)
{
	const struct race_trace *usual = search->usual;
	const struct race_request *read = &usual->requests[usual->order[place]];
	struct race_trouble trouble = {TROUBLE_LAGGED, read->id, 0}, far = {0};
	size_t lags = 0;
	bool is_close;

	for (size_t k = place; k-- > 0 && lags < LAGS_MAX;) {
		const struct race_request *write = &usual->requests[usual->order[k]];

		if (!race_trouble_fits(TROUBLE_LOST, write) ||
		    !race_trace_conflict(write, read, &is_close))
			continue;
		trouble.since = write->id;
		if (!is_close)
			far = far.since ? far : trouble;
		else if (++lags)
			add_plan(search, &(struct race_plan){.trouble = trouble});
	}
	if (lags == 0 && far.since)
		add_plan(search, &(struct race_plan){.trouble = far});
}

static void make_lags(struct race_search *search)
{
	for (size_t k = 0; k < search->usual->order_n; k++) {
		const struct race_request *read = &search->usual->requests[search->usual->order[k]];

		if (!race_trouble_fits(TROUBLE_LAGGED, read))
			continue;
		if (str_eq(read->operation, STR("GetRecords")))
			add_plan(search,
				 &(struct race_plan){.trouble = {TROUBLE_LAGGED, read->id, 0}});
		else
			make_lag(search, k);
	}
}

static void make_troubles(struct race_search *search)
{
	if (search->troubles & 1u << TROUBLE_KEPT)
		add_plan(search, &(struct race_plan){.trouble = {TROUBLE_KEPT, 0, 0}});
	for (enum race_trouble_kind kind = TROUBLE_NONE + 1; kind < TROUBLE_KINDS; kind++) {
		if (!(search->troubles & 1u << kind))
			continue;
		if (kind == TROUBLE_LAGGED)
			make_lags(search);
		else
			make_trouble(search, kind);
	}
}

/* Whether the second one can come without the first one's answer: some run has shown it. */
static bool is_free(const struct race_search *search, const struct pair *pair)
{
	return race_trace_is_free(search->facts, id_of(search, pair->first),
				  id_of(search, pair->second));
}

static void hold_each(struct race_search *search, bool is_close, bool is_apart)
{
	for (size_t i = 0; i < search->pair_count; i++) {
		const struct pair *pair = &search->pairs[i];

		if (pair->is_close == is_close && pair->is_apart == is_apart)
			add_plan(search,
				 &(struct race_plan){.kind = PLAN_HOLD,
						     .holds = {{id_of(search, pair->first), 0}},
						     .hold_count = 1});
	}
}

static void hold_until(struct race_search *search, bool is_close)
{
	for (size_t i = 0; i < search->pair_count; i++) {
		const struct pair *pair = &search->pairs[i];

		if (pair->is_close != is_close || !is_free(search, pair))
			continue;
		add_plan(search, &(struct race_plan){.kind = PLAN_HOLD,
						     .holds = {{id_of(search, pair->first),
								id_of(search, pair->second)}},
						     .hold_count = 1});
	}
}

/* Of each two of these pairs. */
static void hold_two(struct race_search *search)
{
	for (size_t i = 0; i < search->pair_count; i++) {
		for (size_t k = 0; k < i; k++) {
			const struct pair *a = &search->pairs[k], *b = &search->pairs[i];
			struct race_plan plan = {.kind = PLAN_HOLD, .hold_count = 2};

			if (!a->is_close || !b->is_close || !is_free(search, a) ||
			    !is_free(search, b) || a->first == b->first)
				continue;
			plan.holds[0] = (struct race_hold){id_of(search, a->first),
							   id_of(search, a->second)};
			plan.holds[1] = (struct race_hold){id_of(search, b->first),
							   id_of(search, b->second)};
			add_plan(search, &plan);
		}
	}
}

static void fill_search(struct race_search *search)
{
	switch (search->stage++) {
	case 0:
		make_troubles(search);
		break;
	case 1:
		hold_each(search, true, true);
		break;
	case 2:
		hold_until(search, true);
		break;
	case 3:
		hold_each(search, true, false);
		break;
	case 4:
		hold_until(search, true); /* what is known to be free since */
		break;
	case 5:
		hold_two(search);
		break;
	case 6:
		hold_each(search, false, true);
		break;
	case 7:
		hold_until(search, false);
		break;
	}
}

bool race_search_next(struct race_search *search, struct race_plan *plan)
{
	while (search->next == search->queue_n && search->stage < STAGES)
		fill_search(search);
	if (search->next < search->queue_n) {
		*plan = search->queue[search->next++];
		return true;
	}
	if (search->pair_count == 0)
		return false;
	*plan = (struct race_plan){.kind = PLAN_PRIORITY,
				   .seed = search->seed + search->drawn,
				   .depth = 1 + (unsigned)(search->drawn % DEPTH_MAX),
				   .length = search->usual->order_n};
	search->drawn++;
	return true;
}

void race_search_learn(struct race_search *search, const struct race_trace *trace)
{
	add_hash(search->arena, &search->orders, &search->order_count, race_trace_hash(trace));
	race_trace_learn(search->facts, trace);
	for (size_t i = 0; i < search->pair_count; i++) {
		struct pair *pair = &search->pairs[i];
		size_t a = race_trace_place(trace, id_of(search, pair->first));
		size_t b = race_trace_place(trace, id_of(search, pair->second));

		pair->is_reversed = pair->is_reversed || (a != RACE_NONE && b < a);
	}
}

void race_search_cover(const struct race_search *search, size_t *pairs, size_t *seen)
{
	*pairs = *seen = 0;
	for (size_t i = 0; i < search->pair_count; i++) {
		*pairs += is_free(search, &search->pairs[i]);
		*seen += search->pairs[i].is_reversed;
	}
}

size_t race_search_orders(const struct race_search *search)
{
	return search->order_count;
}
