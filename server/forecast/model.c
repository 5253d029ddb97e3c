#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/forecast/model_internal.h"

#define FLOW_SLOTS 2048 /* for flows of a pattern by their ranges: more than CELLS */
#define WORK_OF_LINK 4  /* times 10 ns, in a second that is run */
#define DEALT_KEPT (1 << 20)
#define PARTITION_GB 10
#define BURST_SECONDS 300

static const int64_t partition_units[METER_SIDES] = {[METER_READ] = 3000, [METER_WRITE] = 1000};

struct str model_hour_name(struct arena *arena, int64_t hour)
{
	return str_printf(arena, "day %lld, %02lld:00", (long long)(hour / PLAN_HOURS + 1),
			  (long long)(hour % PLAN_HOURS));
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

/* The row of a limit and a key; names are compared, since patterns may share a key. */
static size_t row_for(struct running *run, size_t pattern, size_t demand, enum meter_limit limit,
		      int32_t key)
{
	const struct plan_pattern *of = &run->plan->patterns[pattern];
	struct model_outcome *out = run->out;
	uint32_t **known = &run->rows[pattern][demand * METER_LIMITS + limit];

	if (!*known)
		*known = ARENA_ARRAY(run->scratch, uint32_t, CELLS + 1);
	if ((*known)[key + 1] > 0)
		return (*known)[key + 1] - 1;
	struct str name = spread_name(run->scratch, &run->spreads[pattern][demand], key, run->hour);
	size_t at = 0;
	for (; at < out->n; at++) {
		struct model_row *row = &out->rows[at];

		if (row->part == of->demands[demand].part && row->side == of->side &&
		    row->limit == limit && str_eq(row->key, name))
			break;
	}
	(*known)[key + 1] = (uint32_t)at + 1;
	if (at < out->n)
		return at;
	out->rows = arena_room(run->arena, out->rows, out->n, sizeof(*out->rows));
	out->rows[out->n++] = (struct model_row){.part = of->demands[demand].part,
						 .side = of->side,
						 .limit = limit,
						 .key = str_copy(run->arena, name)};
	return at;
}

/* Attempts are whole: what is left of one goes to the pattern's next key. */
static void add_refused(struct running *run, size_t pattern, size_t demand, enum meter_limit limit,
			int32_t key, double exact)
{
	const struct plan_pattern *of = &run->plan->patterns[pattern];

	run->rests[pattern] += exact;
	if (run->rests[pattern] < 0.5)
		return;
	uint64_t n = (uint64_t)(run->rests[pattern] + 0.5);
	size_t at = row_for(run, pattern, demand, limit, key);
	struct model_row *row = &run->out->rows[at];

	run->rests[pattern] -= (double)n;
	row->throttled += n;
	if (row->n == 0 || row->hours[row->n - 1].hour != run->hour) {
		row->hours = arena_room(run->arena, row->hours, row->n, sizeof(*row->hours));
		row->hours[row->n++] = (struct model_hour){.hour = run->hour};
	}
	row->hours[row->n - 1].throttled += n;
	run->out_parts[of->demands[demand].part].sides[of->side].throttled += n;
	run->out->patterns[pattern].throttled += n;
	run->out->throttled += n;
}

/* Of one limit of one demand: to the rows of keys. A limit is that of a partition or more, so that
 * each of a flow's cells is refused alike. */
static void flush_limit(struct running *run, size_t pattern, size_t demand, enum meter_limit limit,
			size_t first, size_t end)
{
	const struct spread *spread = &run->spreads[pattern][demand];
	struct dealt *dealt = &run->dealt;
	double of_key[CELLS + 1] = {0}, all = 0;

	for (size_t i = first; i < end; i++) {
		const struct flow *flow = &dealt->flow[i];
		const uint16_t *cells = &dealt->cells[pattern * CELLS + flow->first];
		double *refused = &dealt->refused[flow->link + demand][limit];

		all += *refused;
		double each = *refused / (double)flow->weight;

		*refused = 0;
		for (size_t c = 0; each > 0 && c < flow->weight; c++)
			of_key[spread->key[cells[c]] + 1] += each;
	}
	for (int32_t key = SPREAD_REST; all > 0 && key < CELLS; key++) {
		if (of_key[key + 1] > 0)
			add_refused(run, pattern, demand, limit, key, of_key[key + 1]);
	}
}

static void flush_refusals(struct running *run)
{
	const struct dealt *dealt = &run->dealt;
	size_t first = 0, end = 0;

	for (; first < dealt->n; first = end) {
		size_t pattern = dealt->flow[first].pattern;
		const struct plan_pattern *of = &run->plan->patterns[pattern];
		struct model_pattern *out = &run->out->patterns[pattern];
		const struct model_tally *tally = &run->tallies[pattern];

		while (end < dealt->n && dealt->flow[end].pattern == pattern)
			end++;
		for (size_t d = 0; d < of->n && tally->throttled > 0; d++) {
			for (enum meter_limit limit = 0; limit < METER_LIMITS; limit++)
				flush_limit(run, pattern, d, limit, first, end);
		}
		uint64_t failed = (uint64_t)(tally->failed + 0.5), before = out->failed;
		out->failed = of->attempts == 1 ? out->throttled : failed;
		run->out->failed += out->failed - before;
		out->waited_s = tally->waited_s;
	}
}

/* Returns whether a part has other ranges than before. */
static bool tune_parts(struct running *run, int64_t now_ms)
{
	bool is_new = false;

	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		tune_part(part, now_ms);
		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			const struct meter_gauge *gauge = &part->meter.sides[side];

			is_new = is_new || gauge->range_count != part->range_count[side] ||
				 gauge->ranges != part->ranges[side];
			part->range_count[side] = gauge->range_count;
			part->ranges[side] = gauge->ranges; /* only to be compared */
		}
	}
	return is_new;
}

/* The limits of all sides of all parts. */
static void deal_limits(struct running *run, struct dealt *dealt)
{
	size_t sides = run->table->n * METER_SIDES;

	dealt->gauge = ARENA_ARRAY(dealt->arena, struct running_gauge, sides);
	for (size_t g = 0; g < sides; g++) {
		struct running_part *part = &run->parts[g / METER_SIDES];
		struct meter_gauge *meter = &part->meter.sides[g % METER_SIDES];

		dealt->gauge[g] = (struct running_gauge){
			.meter = meter, .first = dealt->limiters, .ranges = meter->range_count};
		dealt->limiters += LIMIT_RANGE + meter->range_count;
	}
	dealt->limiter = ARENA_ARRAY(dealt->arena, struct limiter, dealt->limiters);
	dealt->candidate = ARENA_ARRAY(dealt->arena, size_t, dealt->limiters);
	for (size_t g = 0; g < sides; g++) {
		const struct running_gauge *gauge = &dealt->gauge[g];
		struct limiter *of = &dealt->limiter[gauge->first];

		if (gauge->meter->has_most)
			of[LIMIT_MOST].bucket = &gauge->meter->most;
		of[LIMIT_MOST].limit = METER_ON_DEMAND_MAX;
		of[LIMIT_WHOLE].bucket = &gauge->meter->whole;
		for (size_t r = 0; r < gauge->ranges; r++) {
			of[LIMIT_RANGE + r].bucket = meter_range_bucket(gauge->meter, r);
			of[LIMIT_RANGE + r].limit = METER_KEY_RANGE;
		}
	}
}

/* The flow of a pattern's cells in those ranges. `slots`: places of flows of the pattern by the
 * hash of their ranges; 0: none. */
static size_t flow_for(struct dealt *dealt, const struct plan_pattern *of, size_t pattern,
		       const size_t *ranges, uint32_t slots[FLOW_SLOTS])
{
	struct str bytes = {(const char *)ranges, of->n * sizeof(ranges[0])};
	size_t slot = str_hash(bytes, 0) % FLOW_SLOTS;

	for (; slots[slot] > 0; slot = (slot + 1) % FLOW_SLOTS) {
		const struct flow *flow = &dealt->flow[slots[slot] - 1];
		size_t d = 0;

		while (d < of->n && dealt->link[flow->link + d].range == ranges[d])
			d++;
		if (d == of->n)
			return slots[slot] - 1;
	}
	dealt->flow[dealt->n] = (struct flow){.pattern = pattern, .link = dealt->links};
	for (size_t d = 0; d < of->n; d++)
		dealt->link[dealt->links++] =
			(struct flow_link){.flow = dealt->n,
					   .gauge = of->demands[d].part * METER_SIDES + of->side,
					   .range = ranges[d],
					   .tokens = of->demands[d].units * BUCKET_UNIT};
	slots[slot] = (uint32_t)++dealt->n;
	return dealt->n - 1;
}

static void deal_pattern(struct running *run, struct dealt *dealt, size_t pattern)
{
	const struct plan_pattern *of = &run->plan->patterns[pattern];
	size_t first = dealt->n, *flow_of = &dealt->flow_of[pattern * CELLS];
	uint32_t slots[FLOW_SLOTS] = {0};

	for (size_t cell = 0; cell < CELLS; cell++) {
		size_t ranges[PLAN_PARTS_MAX];

		for (size_t d = 0; d < of->n; d++) {
			const struct running_gauge *gauge =
				&dealt->gauge[of->demands[d].part * METER_SIDES + of->side];

			ranges[d] =
				gauge->first + LIMIT_RANGE +
				meter_range_of(gauge->meter, run->spreads[pattern][d].place[cell]);
		}
		flow_of[cell] = flow_for(dealt, of, pattern, ranges, slots);
		dealt->flow[flow_of[cell]].weight++;
	}
	for (size_t i = first + 1; i < dealt->n; i++)
		dealt->flow[i].first = dealt->flow[i - 1].first + dealt->flow[i - 1].weight;
	for (size_t cell = 0; cell < CELLS; cell++) {
		struct flow *to = &dealt->flow[flow_of[cell]];

		dealt->cells[pattern * CELLS + to->first + to->placed++] = (uint16_t)cell;
	}
}

/* The links in the order of their ranges, and where those of each limit begin. */
static void sort_links(struct running *run, struct dealt *dealt)
{
	size_t at = 0;

	for (size_t i = 0; i < dealt->links; i++)
		dealt->limiter[dealt->link[i].range].n++;
	for (size_t g = 0; g < run->table->n * METER_SIDES; g++) {
		const struct running_gauge *gauge = &dealt->gauge[g];
		struct limiter *of = &dealt->limiter[gauge->first];

		of[LIMIT_MOST].first = of[LIMIT_WHOLE].first = at;
		for (size_t r = 0; r < gauge->ranges; r++) {
			of[LIMIT_RANGE + r].first = at;
			at += of[LIMIT_RANGE + r].n;
			of[LIMIT_RANGE + r].n = 0;
		}
		of[LIMIT_MOST].n = of[LIMIT_WHOLE].n = at - of[LIMIT_WHOLE].first;
	}
	for (size_t i = 0; i < dealt->links; i++) {
		struct limiter *of = &dealt->limiter[dealt->link[i].range];

		dealt->by_range[of->first + of->n++] = i;
	}
}

/* Whether all cells of the flows that take of a range have one place among hashes. */
static void note_lone_keys(struct running *run, struct dealt *dealt)
{
	for (size_t i = 0; i < dealt->limiters; i++) {
		struct limiter *of = &dealt->limiter[i];
		bool has_place = false;
		uint32_t place = 0;

		of->is_one_key = true;
		for (size_t k = of->first; k < of->first + of->n && of->is_one_key; k++) {
			size_t at = dealt->by_range[k];
			const struct flow *flow = &dealt->flow[dealt->link[at].flow];
			const struct spread *spread = &run->spreads[flow->pattern][at - flow->link];
			const uint16_t *cells = &dealt->cells[flow->pattern * CELLS + flow->first];

			for (size_t c = 0; c < flow->weight && of->is_one_key; c++) {
				uint32_t here = spread->place[cells[c]];

				of->is_one_key = !has_place || here == place;
				has_place = true;
				place = here;
			}
		}
	}
}

/* Retries that are due go on with the flows that have the old one's cells now. */
static void keep_due(const struct running *run, const struct dealt *old, struct dealt *dealt)
{
	for (size_t i = 0; i < run->plan->pattern_count * CELLS; i++) {
		size_t from = old->flow_of[i], to = dealt->flow_of[i];
		const struct flow *flow = &old->flow[from];

		for (int a = 1; a < run->plan->patterns[flow->pattern].attempts; a++) {
			for (int s = 0; s < model_second_delay(a); s++)
				dealt->due[a][(size_t)s * dealt->n + to] +=
					old->due[a][(size_t)s * old->n + from] /
					(double)flow->weight;
		}
	}
}

static void deal(struct running *run)
{
	struct dealt old = run->dealt, *dealt = &run->dealt;
	size_t cells = run->plan->pattern_count * CELLS, links = 0;

	flush_refusals(run);
	arena_reset(run->spare);
	*dealt = (struct dealt){.arena = run->spare};
	run->spare = old.arena;
	for (size_t i = 0; i < run->plan->pattern_count; i++)
		links += run->plan->patterns[i].n * CELLS;
	dealt->flow = ARENA_ARRAY(dealt->arena, struct flow, cells);
	dealt->link = ARENA_ARRAY(dealt->arena, struct flow_link, links);
	dealt->flow_of = ARENA_ARRAY(dealt->arena, size_t, cells);
	dealt->cells = ARENA_ARRAY(dealt->arena, uint16_t, cells);
	deal_limits(run, dealt);
	for (size_t i = 0; i < run->plan->pattern_count; i++)
		deal_pattern(run, dealt, i);
	dealt->by_range = ARENA_ARRAY(dealt->arena, size_t, dealt->links);
	dealt->refused = arena_calloc(dealt->arena, dealt->links, sizeof(*dealt->refused));
	dealt->blame = ARENA_ARRAY(dealt->arena, struct blame, dealt->links * LIMIT_KINDS);
	for (int a = 1; a < ATTEMPTS; a++) {
		size_t seconds = (size_t)model_second_delay(a);

		dealt->came[a] = ARENA_ARRAY(dealt->arena, double, dealt->n);
		dealt->due[a] = ARENA_ARRAY(dealt->arena, double, seconds * dealt->n);
	}
	sort_links(run, dealt);
	note_lone_keys(run, dealt);
	if (old.n > 0 && model_second_has_due(run))
		keep_due(run, &old, dealt);
}

static void run_second(struct running *run, bool is_new)
{
	if (tune_parts(run, START_MS + run->second * SECOND_MS) || is_new)
		deal(run);
	for (size_t g = 0; g < run->table->n * METER_SIDES; g++) {
		const struct running_gauge *gauge = &run->dealt.gauge[g];

		run->dealt.limiter[gauge->first + LIMIT_WHOLE].limit =
			meter_whole_limit(gauge->meter);
	}
	model_second_run(run);
}

/* What clients want in the hour. */
static void want_hour(struct running *run, int64_t hour)
{
	const struct plan *plan = run->plan;
	double times = plan->scale * run->growth;

	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *of = &plan->patterns[i];
		double rate = of->rates[(size_t)hour % of->hours] * times;

		run->rates[i] = rate / CELLS;
		for (size_t d = 0; d < of->n; d++)
			run->out_parts[of->demands[d].part].sides[of->side].demand[hour] +=
				rate * HOUR_SECONDS * of->demands[d].units;
		run->out->patterns[i].requests += (uint64_t)(rate * HOUR_SECONDS + 0.5);
		run->out->requests += (uint64_t)(rate * HOUR_SECONDS + 0.5);
	}
}

/* Returns whether the pattern has other keys in that hour. */
static bool move_keys(struct running *run, size_t pattern, int64_t hour)
{
	bool is_new = false;

	for (size_t d = 0; d < run->plan->patterns[pattern].n; d++) {
		if (!spread_move(run->scratch, &run->spreads[pattern][d], hour))
			continue;
		for (size_t limit = 0; limit < METER_LIMITS; limit++) {
			uint32_t *known = run->rows[pattern][d * METER_LIMITS + limit];

			if (known)
				memset(known, 0, (CELLS + 1) * sizeof(*known));
		}
		is_new = true;
	}
	return is_new;
}

/* Rates of the hour, and keys of it. Returns whether some are new. */
static bool start_hour(struct running *run, int64_t hour)
{
	bool is_new = hour == 0;

	if (hour > 0 && hour % PLAN_HOURS == 0)
		run->growth *= 1 + run->plan->growth;
	want_hour(run, hour);
	for (size_t i = 0; i < run->plan->pattern_count; i++)
		is_new = move_keys(run, i, hour) || is_new;
	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		part->gigabytes = run->table->parts[p].gigabytes * run->growth;
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

	run->rates = ARENA_ARRAY(run->scratch, double, plan->pattern_count);
	run->rests = ARENA_ARRAY(run->scratch, double, plan->pattern_count);
	run->tallies = ARENA_ARRAY(run->scratch, struct model_tally, plan->pattern_count);
	run->second_tallies = ARENA_ARRAY(run->scratch, struct model_tally, plan->pattern_count);
	run->spreads = ARENA_ARRAY(run->scratch, struct spread *, plan->pattern_count);
	run->rows = ARENA_ARRAY(run->scratch, uint32_t **, plan->pattern_count);
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *of = &plan->patterns[i];

		run->attempts = of->attempts > run->attempts ? of->attempts : run->attempts;
		run->spreads[i] = ARENA_ARRAY(run->scratch, struct spread, of->n);
		run->rows[i] = ARENA_ARRAY(run->scratch, uint32_t *, of->n * METER_LIMITS);
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
	run->day.patterns = ARENA_ARRAY(run->scratch, struct model_pattern, patterns);
	run->day.sides = ARENA_ARRAY(run->scratch, struct day_side, parts * METER_SIDES);
	run->day.gigabyte_days = ARENA_ARRAY(run->scratch, double, parts);
	for (size_t p = 0; p < parts; p++) {
		start_part(run->table, &run->table->parts[p], &run->parts[p]);
		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			run->out_parts[p].sides[side].demand =
				ARENA_ARRAY(run->arena, double, (size_t)run->out->hours);
			if (run->table->parts[p].scaling[side].most > 0)
				run->has_scaling = true;
		}
	}
	start_patterns(run);
}

static int more_throttled(const void *a, const void *b)
{
	const struct model_row *x = a, *y = b;

	if (x->throttled != y->throttled)
		return x->throttled < y->throttled ? 1 : -1;
	if (x->hours[0].hour != y->hours[0].hour)
		return x->hours[0].hour > y->hours[0].hour ? 1 : -1;
	int order = str_cmp(x->key, y->key);
	if (order == 0)
		order = (x->table > y->table) - (x->table < y->table);
	if (order == 0)
		order = (x->part > y->part) - (x->part < y->part);
	if (order == 0)
		order = (int)x->side - (int)y->side;
	return order != 0 ? order : (int)x->limit - (int)y->limit;
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
	}
	free(run->day.rows);
	arena_free(run->dealt.arena);
	arena_free(run->spare);
	arena_free(run->scratch);
}

static void run_hour(struct running *run, int64_t hour)
{
	int64_t end = (hour + 1) * HOUR_SECONDS;
	bool is_new = start_hour(run, hour);

	run->hour = hour;
	for (run->second = hour * HOUR_SECONDS; run->second < end; run->second++) {
		if (!arena_works(run->arena, 1 + WORK_OF_LINK * run->dealt.links))
			return;
		run_second(run, is_new);
		is_new = false;
		if (run->second % MINUTE_SECONDS == MINUTE_SECONDS - 1)
			model_second_end_minute(run);
		else
			model_second_leap(run);
	}
}

/* Fills in the outcome of the plan's only table. */
static void run_table(struct arena *arena, const struct plan *plan, struct model_outcome *out)
{
	struct running run = {.arena = arena,
			      .scratch = arena_new(0),
			      .dealt = {.arena = arena_new(DEALT_KEPT)},
			      .spare = arena_new(DEALT_KEPT),
			      .growth = 1,
			      .plan = plan,
			      .table = &plan->tables[0],
			      .out = out,
			      .out_parts = out->tables[0].parts};
	bool are_alike = !plan->is_thorough && model_days_are_alike(plan);

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
