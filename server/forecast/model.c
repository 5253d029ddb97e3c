#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/forecast/model_internal.h"

#define STEPS 10
#define NANO 1000000000 /* requests are counted in billionths */
#define PARTITION_GB 10
#define BURST_SECONDS 300

static const int64_t partition_units[METER_SIDES] = {[METER_READ] = 3000, [METER_WRITE] = 1000};

struct str model_hour_name(struct arena *arena, int64_t hour)
{
	return str_printf(arena, "day %lld, %02lld:00", (long long)(hour / PLAN_HOURS + 1),
			  (long long)(hour % PLAN_HOURS));
}

static struct running_part *model_part_of(const struct running *run, size_t pattern, size_t demand)
{
	const struct plan_pattern *of = &run->plan->patterns[pattern];

	return &run->parts[of->demands[demand].part];
}

static void start_part(const struct plan_table *table, const struct plan_part *plan,
		       struct running_part *part)
{
	part->grants.is_on_demand = table->is_on_demand;
	part->gigabytes = plan->gigabytes;
	for (enum meter_side side = 0; side < METER_SIDES; side++)
		part->grants.sides[side] = (struct meter_grant){
			.rate = table->is_on_demand ? plan->warm[side] : plan->rate[side],
			.most = plan->most[side],
			.warm = plan->warm[side]};
}

/* Ranges for all that it ever had, and for its bytes. */
static void tune_part(struct running_part *part, int64_t now_ms)
{
	const struct meter_rules rules = {
		.burst_seconds = BURST_SECONDS, .is_adaptive = true, .servers = 1};
	int64_t partitions = (int64_t)ceil(part->gigabytes / PARTITION_GB);

	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		struct meter_grant *grant = &part->grants.sides[side];

		grant->warm = grant->warm > grant->rate ? grant->warm : grant->rate;
		if (grant->warm < partitions * partition_units[side])
			grant->warm = partitions * partition_units[side];
	}
	meter_tune(&part->meter, &part->grants, &rules, now_ms);
}

/* Returns whether a part has other ranges than before. */
static bool tune_parts(struct running *run, int64_t now_ms)
{
	bool is_new = false;

	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		tune_part(part, now_ms);
		size_t ranges = part->meter.sides[METER_READ].range_count;
		if (ranges == part->ranges)
			continue;
		part->ranges = ranges;
		free(part->need);
		part->need = arena_checked(calloc(METER_SIDES * ranges, sizeof(*part->need)));
		is_new = true;
	}
	return is_new;
}

/* The hash of one of its cells' keys: another one each time, each as often. */
static uint32_t place_of_flow(const struct running *run, const struct flow *flow, size_t demand)
{
	uint64_t at = (uint64_t)flow->weight * (flow->turn * 2654435769u) >> 32;
	const uint16_t *cells = &run->cells[flow->pattern * CELLS + flow->first];

	return run->spreads[flow->pattern][demand].place[cells[at]];
}

static struct flow *flow_for(struct running *run, const struct flow *wanted, size_t first)
{
	size_t size = run->plan->patterns[wanted->pattern].n * sizeof(wanted->range[0]);

	for (size_t i = run->n; i > first; i--) {
		if (memcmp(run->flows[i - 1].range, wanted->range, size) == 0)
			return &run->flows[i - 1];
	}
	if (run->n == run->room) {
		run->room = run->room ? 2 * run->room : 64;
		run->flows = arena_checked(realloc(run->flows, run->room * sizeof(*run->flows)));
	}
	run->flows[run->n] = *wanted;
	return &run->flows[run->n++];
}

static void deal_pattern(struct running *run, size_t pattern)
{
	const struct plan_pattern *of = &run->plan->patterns[pattern];
	size_t first = run->n;
	uint32_t flow_of[CELLS];

	for (size_t cell = 0; cell < CELLS; cell++) {
		struct flow flow = {.pattern = pattern};

		for (size_t d = 0; d < of->n; d++)
			flow.range[d] = (uint32_t)meter_range_of(
				&model_part_of(run, pattern, d)->meter.sides[of->side],
				run->spreads[pattern][d].place[cell]);
		struct flow *to = flow_for(run, &flow, first);
		to->weight++;
		flow_of[cell] = (uint32_t)(to - run->flows);
	}
	for (size_t i = first; i < run->n; i++)
		run->flows[i].first =
			i == first ? 0 : run->flows[i - 1].first + (size_t)run->flows[i - 1].weight;
	for (size_t cell = 0; cell < CELLS; cell++) {
		struct flow *to = &run->flows[flow_of[cell]];

		run->cells[pattern * CELLS + to->first + to->placed++] = (uint16_t)cell;
	}
}

/* Retries that are due go on with the flow that has most of the old one's partitions. */
static void keep_due(struct running *run, const struct flow *old, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct flow *to = NULL;
		size_t best = 0;

		for (size_t k = 0; k < run->n; k++) {
			struct flow *one = &run->flows[k];
			size_t same = 1;

			if (one->pattern != old[i].pattern)
				continue;
			for (size_t d = 0; d < run->plan->patterns[one->pattern].n; d++)
				same += one->range[d] == old[i].range[d];
			if (same > best) {
				best = same;
				to = one;
			}
		}
		to->part_of_one += old[i].part_of_one;
		for (size_t a = 0; a < ATTEMPTS; a++) {
			for (size_t s = 0; s < RING; s++)
				to->due[a][s] += old[i].due[a][s];
		}
	}
}

/* The row of a limit and a key; names are compared, since patterns may share a key. */
static size_t row_for(struct running *run, size_t pattern, size_t demand, enum meter_limit limit,
		      int32_t key)
{
	const struct plan_pattern *of = &run->plan->patterns[pattern];
	struct model_outcome *out = run->out;
	struct str name = spread_name(run->scratch, &run->spreads[pattern][demand], key, run->hour);

	for (size_t i = 0; i < out->n; i++) {
		struct model_row *row = &out->rows[i];

		if (row->part == of->demands[demand].part && row->side == of->side &&
		    row->limit == limit && str_eq(row->key, name))
			return i;
	}
	out->rows = arena_room(run->arena, out->rows, out->n, sizeof(*out->rows));
	out->rows[out->n] = (struct model_row){.part = of->demands[demand].part,
					       .side = of->side,
					       .limit = limit,
					       .key = str_copy(run->arena, name)};
	return out->n++;
}

static void add_refused(struct running *run, const struct refusal *refusal, size_t pattern,
			int32_t key, uint64_t n)
{
	size_t at = row_for(run, pattern, refusal->demand, refusal->limit, key);
	struct model_row *row = &run->out->rows[at];

	row->throttled += n;
	if (row->n == 0 || row->hours[row->n - 1].hour != run->hour) {
		row->hours = arena_room(run->arena, row->hours, row->n, sizeof(*row->hours));
		row->hours[row->n++] = (struct model_hour){.hour = run->hour};
	}
	row->hours[row->n - 1].throttled += n;
}

/* To the rows of keys: a limit is that of a partition or more, so that each of a flow's cells is
 * refused alike. */
static void flush_refusals(struct running *run)
{
	uint64_t of_key[CELLS + 1];

	for (size_t i = 0; i < run->refusal_count; i++) {
		const struct refusal *refusal = &run->refusals[i];
		const struct flow *flow = &run->flows[refusal->flow];
		const struct spread *spread = &run->spreads[flow->pattern][refusal->demand];
		const uint16_t *cells = &run->cells[flow->pattern * CELLS + flow->first];
		uint64_t n = refusal->n, all = (uint64_t)flow->weight;

		memset(of_key, 0, sizeof(of_key));
		for (uint64_t c = 0; c < all; c++)
			of_key[spread->key[cells[c]] + 1] += n * (c + 1) / all - n * c / all;
		for (int32_t key = SPREAD_REST; n > 0 && key < CELLS; key++) {
			if (of_key[key + 1] > 0)
				add_refused(run, refusal, flow->pattern, key, of_key[key + 1]);
		}
	}
	for (size_t i = 0; i < run->n; i++)
		memset(run->flows[i].refusals, 0, sizeof(run->flows[i].refusals));
	run->refusal_count = 0;
	run->began.last = 0; /* what the minute has refused is not known any more */
	run->began.is_cut = true;
}

static struct refusal *refusal_for(struct running *run, struct flow *flow, size_t demand,
				   enum meter_limit limit)
{
	uint32_t *place = &flow->refusals[demand][limit];

	if (*place > 0)
		return &run->refusals[*place - 1];
	if (run->refusal_count == run->refusal_room) {
		run->refusal_room = run->refusal_room ? 2 * run->refusal_room : 64;
		run->refusals = arena_checked(
			realloc(run->refusals, run->refusal_room * sizeof(*run->refusals)));
	}
	*place = (uint32_t)++run->refusal_count;
	run->refusals[*place - 1] = (struct refusal){
		.flow = (size_t)(flow - run->flows), .demand = demand, .limit = limit};
	return &run->refusals[*place - 1];
}

static void deal(struct running *run)
{
	struct flow *old = run->flows;
	size_t n = run->n;

	flush_refusals(run);
	run->flows = NULL;
	run->n = run->room = 0;
	for (size_t i = 0; i < run->plan->pattern_count; i++)
		deal_pattern(run, i);
	keep_due(run, old, n);
	free(old);
}

static int64_t tokens_of(const struct plan_demand *demand)
{
	return (int64_t)(demand->units * BUCKET_UNIT + 0.5);
}

static int delay_of(int attempts)
{
	int delay = attempts < 3 ? 1 : 1 << (attempts - 2);

	return delay < 20 ? delay : 20; /* AWS SDKs: random below 2^n seconds, 20 at most */
}

/* `attempts`: made, this one too. */
static void model_refuse(struct running *run, struct flow *flow, size_t demand,
			 enum meter_limit limit, int64_t n, int attempts)
{
	const struct plan_pattern *of = &run->plan->patterns[flow->pattern];
	struct model_pattern *pattern = &run->out->patterns[flow->pattern];

	refusal_for(run, flow, demand, limit)->n += (uint64_t)n;
	run->out_parts[of->demands[demand].part].sides[of->side].throttled += (uint64_t)n;
	run->out->throttled += (uint64_t)n;
	pattern->throttled += (uint64_t)n;
	if (attempts >= of->attempts) {
		pattern->failed += (uint64_t)n;
		run->out->failed += (uint64_t)n;
		return;
	}
	flow->due[attempts][(run->second + delay_of(attempts)) % RING] += n;
	run->due += n;
	pattern->waited_s += (double)n * delay_of(attempts);
}

/* As if they came one after the other. */
static void model_admit(struct running *run, struct flow *flow, int64_t n, int attempts,
			int64_t now_ms)
{
	const struct plan_pattern *of = &run->plan->patterns[flow->pattern];

	while (n > 0) {
		int64_t together = n;

		for (size_t d = 0; d < of->n; d++) {
			struct meter_gauge *gauge =
				&model_part_of(run, flow->pattern, d)->meter.sides[of->side];
			enum meter_limit limit = meter_refuses(gauge, flow->range[d]);
			int64_t tokens = tokens_of(&of->demands[d]);

			if (limit != METER_NONE) {
				model_refuse(run, flow, d, limit, n, attempts);
				return;
			}
			int64_t room = (meter_room(gauge, flow->range[d]) + tokens - 1) / tokens;
			room = room > 0 ? room : 1;
			together = room < together ? room : together;
		}
		for (size_t d = 0; d < of->n; d++)
			meter_take(&model_part_of(run, flow->pattern, d)->meter.sides[of->side],
				   flow->range[d], place_of_flow(run, flow, d),
				   together * tokens_of(&of->demands[d]), now_ms);
		flow->turn++;
		n -= together;
	}
}

static void clear_needs(struct running *run)
{
	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		memset(part->need, 0, METER_SIDES * part->ranges * sizeof(*part->need));
	}
}

static void add_need(struct running *run, const struct flow *flow, int64_t n)
{
	const struct plan_pattern *of = &run->plan->patterns[flow->pattern];

	for (size_t d = 0; d < of->n && n > 0; d++) {
		struct running_part *part = model_part_of(run, flow->pattern, d);

		part->need[(size_t)of->side * part->ranges + flow->range[d]] +=
			n * tokens_of(&of->demands[d]);
	}
}

/* The requests that come within seconds, and what they want of each range. */
static void note_needs(struct running *run, int64_t seconds)
{
	clear_needs(run);
	for (size_t i = 0; i < run->n; i++) {
		struct flow *flow = &run->flows[i];
		int64_t due = 0;

		flow->part_of_one += flow->weight * run->rates[flow->pattern] * seconds;
		flow->fresh = flow->part_of_one / NANO;
		flow->part_of_one %= NANO;
		for (int a = 1; a < run->plan->patterns[flow->pattern].attempts && run->due; a++)
			due += flow->due[a][run->second % RING];
		add_need(run, flow, flow->fresh + due);
	}
}

/* Of one side: `is_steady` asks what it can give each second, else what it has now. */
static bool side_has_room(const struct running_part *part, enum meter_side side, bool is_steady)
{
	const struct meter_gauge *gauge = &part->meter.sides[side];
	const int64_t *need = &part->need[(size_t)side * part->ranges];
	int64_t all = 0;

	for (size_t r = 0; r < part->ranges; r++)
		all += need[r];
	if (all == 0)
		return true;
	for (size_t r = 0; r < part->ranges; r++) {
		if (is_steady ? !meter_sustains(gauge, r, need[r], all)
			      : need[r] > 0 && meter_room(gauge, r) < need[r])
			return false;
	}
	return is_steady ||
	       (gauge->whole.left >= all && (!gauge->has_most || gauge->most.left >= all));
}

static bool model_has_room(const struct running *run, bool is_steady)
{
	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			if (!side_has_room(&run->parts[p], side, is_steady))
				return false;
		}
	}
	return true;
}

/* Whether all seconds that follow are as the one that was run: as long as rates are the same. */
static bool is_steady(struct running *run)
{
	if (!run->is_roomy || run->due > 0)
		return false;
	clear_needs(run);
	for (size_t i = 0; i < run->n; i++) /* rounded up: a second may have one more */
		add_need(run, &run->flows[i],
			 (run->flows[i].weight * run->rates[run->flows[i].pattern] + NANO - 1) /
				 NANO);
	return model_has_room(run, true);
}

/* Seconds of a steady time, at once. */
static void run_steadily(struct running *run, int64_t seconds)
{
	int64_t now_ms = START_MS + (run->second + 1) * SECOND_MS;

	tune_parts(run, now_ms);
	note_needs(run, seconds);
	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		for (size_t i = 0; i < METER_SIDES * part->ranges; i++) {
			if (part->need[i] > 0)
				meter_take_steadily(&part->meter.sides[i / part->ranges],
						    i % part->ranges, part->need[i], seconds,
						    now_ms);
		}
	}
	run->second += seconds;
}

/* A part of the second's requests; retries come first. */
static void model_run_step(struct running *run, int step, int steps, int64_t now_ms)
{
	size_t first = run->n ? (size_t)(run->second * 7 + step) % run->n : 0;

	for (size_t i = 0; i < run->n; i++) {
		struct flow *flow = &run->flows[(first + i) % run->n];
		int attempts = run->plan->patterns[flow->pattern].attempts;

		for (int a = 1; a < attempts && step == 0; a++) {
			int64_t *due = &flow->due[a][run->second % RING], n = *due;

			*due = 0;
			run->due -= n;
			model_admit(run, flow, n, a + 1, now_ms);
		}
		model_admit(run, flow,
			    flow->fresh * (step + 1) / steps - flow->fresh * step / steps, 1,
			    now_ms);
	}
}

static void run_second(struct running *run, bool is_new)
{
	int64_t now_ms = START_MS + run->second * SECOND_MS;

	is_new = tune_parts(run, now_ms) || is_new;
	if (is_new)
		deal(run);
	note_needs(run, 1);
	run->is_roomy = model_has_room(run, false);
	int steps = run->is_roomy ? 1 : STEPS;
	for (int step = 0; step < steps; step++) {
		if (step > 0 && tune_parts(run, now_ms + step * (SECOND_MS / STEPS)))
			deal(run); /* on demand: its peak counts now */
		model_run_step(run, step, steps, now_ms + step * (SECOND_MS / STEPS));
	}
}

static double growth_until(const struct plan *plan, int64_t hour)
{
	double growth = 1;

	for (int64_t day = hour / PLAN_HOURS; day > 0; day--)
		growth *= 1 + plan->growth;
	return growth;
}

/* What clients want in the hour. */
static void want_hour(struct running *run, int64_t hour)
{
	const struct plan *plan = run->plan;
	double times = plan->scale * growth_until(plan, hour);

	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *of = &plan->patterns[i];
		double rate = of->rates[(size_t)hour % of->hours] * times;

		run->rates[i] = (int64_t)(rate * (NANO / CELLS) + 0.5);
		for (size_t d = 0; d < of->n; d++)
			run->out_parts[of->demands[d].part].sides[of->side].demand[hour] +=
				rate * HOUR_SECONDS * of->demands[d].units;
		run->out->patterns[i].requests += (uint64_t)(rate * HOUR_SECONDS + 0.5);
		run->out->requests += (uint64_t)(rate * HOUR_SECONDS + 0.5);
	}
}

/* Rates of the hour, and keys of it. Returns whether some are new. */
static bool start_hour(struct running *run, int64_t hour)
{
	const struct plan *plan = run->plan;
	double growth = growth_until(plan, hour);
	bool is_new = hour == 0;

	want_hour(run, hour);
	for (size_t i = 0; i < plan->pattern_count; i++) {
		for (size_t d = 0; d < plan->patterns[i].n; d++)
			is_new = spread_move(run->scratch, &run->spreads[i][d], hour) || is_new;
	}
	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		part->gigabytes = run->table->parts[p].gigabytes * growth;
		for (enum meter_side side = 0; side < METER_SIDES; side++)
			part->hour_rate[side] = part->grants.sides[side].rate;
	}
	return is_new;
}

static void end_hour(struct running *run)
{
	for (size_t p = 0; p < run->table->n; p++) {
		struct model_part *out = &run->out_parts[p];
		const struct running_part *part = &run->parts[p];

		out->gigabyte_days += part->gigabytes / PLAN_HOURS;
		for (enum meter_side side = 0; side < METER_SIDES; side++)
			out->sides[side].unit_hours += (double)part->hour_rate[side];
	}
}

static void start_patterns(struct running *run)
{
	const struct plan *plan = run->plan;

	run->rates = ARENA_ARRAY(run->scratch, int64_t, plan->pattern_count);
	run->spreads = ARENA_ARRAY(run->scratch, struct spread *, plan->pattern_count);
	run->cells = ARENA_ARRAY(run->scratch, uint16_t, plan->pattern_count * CELLS);
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *of = &plan->patterns[i];

		run->spreads[i] = ARENA_ARRAY(run->scratch, struct spread, of->n);
		for (size_t d = 0; d < of->n; d++) {
			run->spreads[i][d] = (struct spread){
				.keys = &of->demands[d].keys,
				.seed = plan->seed,
				.space = str_printf(
					run->scratch, STR_FMT "/" STR_FMT,
					STR_ARG(run->table->name),
					STR_ARG(run->table->parts[of->demands[d].part].name))};
			spread_make(run->scratch, &run->spreads[i][d], d > 0);
		}
	}
}

static void start_run(struct running *run)
{
	size_t parts = run->table->n, patterns = run->plan->pattern_count;

	run->parts = ARENA_ARRAY(run->scratch, struct running_part, parts);
	run->began.patterns = ARENA_ARRAY(run->scratch, struct model_pattern, patterns);
	run->began.sides = ARENA_ARRAY(run->scratch, struct minute_side, parts * METER_SIDES);
	run->day.patterns = ARENA_ARRAY(run->scratch, struct model_pattern, patterns);
	run->day.sides = ARENA_ARRAY(run->scratch, struct day_side, parts * METER_SIDES);
	run->day.gigabyte_days = ARENA_ARRAY(run->scratch, double, parts);
	for (size_t p = 0; p < parts; p++) {
		start_part(run->table, &run->table->parts[p], &run->parts[p]);
		for (enum meter_side side = 0; side < METER_SIDES; side++)
			run->out_parts[p].sides[side].demand =
				ARENA_ARRAY(run->arena, double, (size_t)run->out->hours);
	}
	start_patterns(run);
}

static int more_throttled(const void *a, const void *b)
{
	const struct model_row *x = a, *y = b;

	if (x->throttled != y->throttled)
		return x->throttled < y->throttled ? 1 : -1;
	return x->hours[0].hour != y->hours[0].hour ? (x->hours[0].hour > y->hours[0].hour ? 1 : -1)
						    : str_cmp(x->key, y->key);
}

static void end_run(struct running *run)
{
	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			struct model_side *to = &run->out_parts[p].sides[side];

			to->units = (double)part->meter.sides[side].consumed / BUCKET_UNIT;
			to->rate = part->grants.sides[side].rate;
		}
		meter_clear(&part->meter);
		free(part->need);
	}
	free(run->flows);
	free(run->refusals);
	free(run->began.refusals);
	free(run->day.rows);
	arena_free(run->scratch);
}

static void run_hour(struct running *run, int64_t hour)
{
	int64_t end = (hour + 1) * HOUR_SECONDS;
	bool is_new = start_hour(run, hour);

	run->hour = hour;
	run->began.last = 0;
	for (run->second = hour * HOUR_SECONDS; run->second < end; run->second++) {
		if (!arena_works(run->arena, 1 + STEPS * run->n))
			return;
		if (run->second % 60 == 0)
			model_minute_begin(run);
		run_second(run, is_new);
		is_new = false;
		if (run->second % 60 < 59 && is_steady(run))
			run_steadily(run, 59 - run->second % 60);
		if (run->second % 60 == 59) {
			bool is_changed = model_minute_end(run);

			if (model_minute_is_like_last(run) && !is_changed)
				model_minute_repeat(run);
		}
	}
}

/* Fills in the outcome of the plan's only table. */
static void run_table(struct arena *arena, const struct plan *plan, struct model_outcome *out)
{
	struct running run = {.arena = arena,
			      .scratch = arena_new(0),
			      .plan = plan,
			      .table = &plan->tables[0],
			      .out = out,
			      .out_parts = out->tables[0].parts};
	bool are_alike = model_days_are_alike(plan);

	start_run(&run);
	for (int64_t hour = 0; hour < out->hours && !arena_is_over(arena); hour++) {
		int64_t left = (out->hours - hour - 1) / PLAN_HOURS;

		if (hour % PLAN_HOURS == 0)
			model_day_begin(&run);
		run_hour(&run, hour);
		flush_refusals(&run);
		end_hour(&run);
		if (!are_alike || left < 1 || (hour + 1) % PLAN_HOURS != 0 ||
		    !model_day_ends_as_it_began(&run))
			continue;
		model_day_repeat(&run, left);
		while (++hour < out->hours)
			want_hour(&run, hour);
	}
	end_run(&run);
}

/* Adds the outcome of one table to that of all. `places`: of its patterns. */
static void add_outcome(struct arena *arena, const struct model_outcome *one, size_t table,
			const size_t *places, size_t n, struct model_outcome *out)
{
	for (size_t i = 0; i < one->n; i++) {
		out->rows = arena_room(arena, out->rows, out->n, sizeof(*out->rows));
		out->rows[out->n] = one->rows[i];
		out->rows[out->n++].table = table;
	}
	for (size_t i = 0; i < n; i++)
		out->patterns[places[i]] = one->patterns[i];
	out->tables[table] = one->tables[0];
	out->throttled += one->throttled;
	out->failed += one->failed;
	out->requests += one->requests;
}

/* Tables share nothing: each runs by itself, with its patterns. */
void model_run(struct arena *arena, const struct plan *plan, struct model_outcome *out)
{
	size_t *places = ARENA_ARRAY(arena, size_t, plan->pattern_count);
	struct plan one = *plan;

	*out = (struct model_outcome){
		.hours = plan->days * PLAN_HOURS,
		.tables = ARENA_ARRAY(arena, struct model_table, plan->table_count),
		.patterns = ARENA_ARRAY(arena, struct model_pattern, plan->pattern_count)};
	one.table_count = 1;
	one.patterns = ARENA_ARRAY(arena, struct plan_pattern, plan->pattern_count);
	for (size_t t = 0; t < plan->table_count; t++) {
		struct model_table table = {
			ARENA_ARRAY(arena, struct model_part, plan->tables[t].n)};
		struct model_outcome of_one = {.hours = out->hours, .tables = &table};

		one.tables = &plan->tables[t];
		one.pattern_count = 0;
		for (size_t i = 0; i < plan->pattern_count; i++) {
			if (plan->patterns[i].table != t)
				continue;
			places[one.pattern_count] = i;
			one.patterns[one.pattern_count++] = plan->patterns[i];
		}
		of_one.patterns = ARENA_ARRAY(arena, struct model_pattern, one.pattern_count);
		run_table(arena, &one, &of_one);
		add_outcome(arena, &of_one, t, places, one.pattern_count, out);
	}
	if (out->n > 0)
		qsort(out->rows, out->n, sizeof(*out->rows), more_throttled);
}
