#include "protocol/throughput/meter.h"

#include <stdlib.h>

#include "protocol/tables/throughput_rules.h"

#define MINUTE_MS 60000
#define MINUTE_SECONDS 60
#define DAY_MINUTES (24 * 60)

/* AWS: Developer Guide, "Designing partition keys to distribute your workload". */
static const int64_t range_rates[METER_SIDES] = {[METER_READ] = 3000, [METER_WRITE] = 1000};

#define SPLITS_MAX 256 /* of a part's ranges for their heat */

struct meter_range {
	struct bucket own, share; /* share: without adaptive capacity */
	uint32_t low, high;       /* hashes */
	size_t next;              /* the next one that was split off the same equal one; 0: none */
	struct heat heat;
};

struct meter *meter_new(const struct table *table)
{
	struct meter *meter = arena_checked(calloc(1, sizeof(*meter)));

	meter->table = table->identity.number;
	meter->name = str_duplicate(table->identity.name);
	return meter;
}

void meter_clear(struct meter_part *part)
{
	for (int side = 0; side < METER_SIDES; side++)
		free(part->sides[side].ranges);
	*part = (struct meter_part){0};
}

void meter_free(struct meter *meter)
{
	for (size_t i = 0; i < meter->part_count; i++) {
		meter_clear(meter->parts[i]);
		free(meter->parts[i]);
	}
	free(meter->parts);
	free((char *)(uintptr_t)meter->name.p);
	free(meter);
}

static struct meter_grant grant_of(const struct table *table, const struct index *index,
				   enum meter_side side)
{
	const struct throughput *units =
		index ? &index->settings->throughput : &table->settings->throughput;
	const struct throughput_pair *most =
		index ? &index->settings->on_demand : &table->settings->on_demand;
	struct throughput_pair warm = throughput_rules_warm_now(table, index);
	bool is_read = side == METER_READ,
	     is_on_demand = table->settings->billing == BILLING_PAY_PER_REQUEST;
	int64_t hot = is_read ? warm.read : warm.write;

	return (struct meter_grant){
		.rate = is_on_demand ? hot
			: is_read    ? units->read
				     : units->write,
		.most = !is_on_demand || !most->is_set ? 0
			: is_read                      ? most->read
						       : most->write,
		.warm = hot,
	};
}

static void tune_whole(struct meter_gauge *gauge, const struct meter_grant *grant,
		       bool is_on_demand, const struct meter_rules *rules, int64_t now_ms)
{
	int64_t quota = grant->rate > TABLE_UNITS_MAX ? grant->rate : TABLE_UNITS_MAX,
		rate = grant->rate, seconds = rules->burst_seconds;

	if (is_on_demand) { /* its peak is a peak: what was not used does not raise it */
		rate = peak_limit(&gauge->peak, grant->rate, now_ms);
		rate = rate < quota ? rate : quota;
		seconds = 1;
	}
	if (gauge->whole.capacity == 0 || gauge->is_on_demand != is_on_demand)
		gauge->whole = bucket_full(rate, seconds, now_ms);
	else
		bucket_tune(&gauge->whole, rate, seconds, now_ms);
	gauge->is_on_demand = is_on_demand;
	if (grant->most > 0 &&
	    gauge->has_most) /* AWS: "burst capacity" goes beyond the maximum, too */
		bucket_tune(&gauge->most, grant->most, rules->burst_seconds, now_ms);
	else if (grant->most > 0)
		gauge->most = bucket_full(grant->most, rules->burst_seconds, now_ms);
	gauge->has_most = grant->most > 0;
}

static size_t ranges_for(const struct meter_part *part, const struct meter_grants *grants)
{
	size_t most = 1;

	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		const struct meter_gauge *gauge = &part->sides[side];
		int64_t warm = grants->sides[side].warm;
		int64_t rate = gauge->is_on_demand && gauge->whole.rate > warm ? gauge->whole.rate
									       : warm;
		size_t n = (size_t)((rate + range_rates[side] - 1) / range_rates[side]);

		most = n > most ? n : most;
	}
	return most;
}

static struct meter_range new_range(const struct meter_gauge *gauge, enum meter_side side,
				    const struct meter_rules *rules, int64_t now_ms)
{
	return (struct meter_range){
		.own = bucket_full(range_rates[side], 1, now_ms),
		.share = bucket_full(gauge->whole.rate, rules->burst_seconds, now_ms)};
}

/* Ends a range below that hash; a new one has the rest. */
static void split_range(struct meter_gauge *gauge, enum meter_side side, uint32_t cut,
			const struct meter_rules *rules, int64_t now_ms)
{
	size_t at = meter_range_of(gauge, cut);

	if (gauge->ranges[at].low == cut)
		return;
	gauge->ranges = arena_checked(
		realloc(gauge->ranges, (gauge->range_count + 1) * sizeof(*gauge->ranges)));
	struct meter_range *old = &gauge->ranges[at], *new = &gauge->ranges[gauge->range_count];
	*new = new_range(gauge, side, rules, now_ms);
	new->low = cut;
	new->high = old->high;
	new->next = old->next;
	old->high = cut - 1;
	old->next = gauge->range_count++;
}

/* `n` equal ranges in place of those that there were; what was split for its heat stays split. */
static void make_ranges(struct meter_gauge *gauge, enum meter_side side, size_t n,
			const struct meter_rules *rules, int64_t now_ms)
{
	struct meter_range *before = gauge->ranges;
	size_t first = gauge->equal_count, end = gauge->range_count;

	gauge->ranges = arena_checked(calloc(n, sizeof(*gauge->ranges)));
	gauge->range_count = gauge->equal_count = n;
	for (size_t i = 0; i < n; i++) {
		struct meter_range *range = &gauge->ranges[i];

		*range = new_range(gauge, side, rules, now_ms);
		range->low = (uint32_t)((((uint64_t)i << 32) + n - 1) / n);
		range->high = (uint32_t)(((((uint64_t)i + 1) << 32) + n - 1) / n - 1);
	}
	for (size_t i = first; i < end && rules->is_adaptive; i++)
		split_range(gauge, side, before[i].low, rules, now_ms);
	free(before);
}

static void tune_ranges(struct meter_gauge *gauge, enum meter_side side, size_t n,
			const struct meter_rules *rules, int64_t now_ms)
{
	bool has_shares = !rules->is_adaptive && !gauge->is_on_demand && n > 1;

	gauge->cost_factor = rules->servers;
	if (gauge->equal_count != n || gauge->has_shares != has_shares) {
		make_ranges(gauge, side, n, rules, now_ms);
		gauge->has_shares = has_shares;
		return;
	}
	for (size_t i = 0; i < gauge->range_count; i++) {
		struct meter_range *range = &gauge->ranges[i];

		bucket_pass(&range->own, now_ms);
		bucket_tune(&range->share, gauge->whole.rate, rules->burst_seconds, now_ms);
	}
}

/* Splits the ranges that were hot for long enough, of both sides at once. */
static void split_hot(struct meter_part *part, const struct meter_rules *rules, int64_t now_ms)
{
	size_t n = part->sides[METER_READ].range_count;

	for (enum meter_side side = 0; side < METER_SIDES; side++) {
		for (size_t i = 0; i < n; i++) {
			struct meter_gauge *gauge = &part->sides[side];
			uint32_t cut;

			if (!heat_pass(&gauge->ranges[i].heat, range_rates[side],
				       now_ms / MINUTE_MS, &cut) ||
			    gauge->range_count - gauge->equal_count >= SPLITS_MAX)
				continue;
			for (enum meter_side s = 0; s < METER_SIDES; s++)
				split_range(&part->sides[s], s, cut, rules, now_ms);
		}
	}
}

int64_t meter_follow(struct meter_gauge *gauge, const struct follow_rule *rule, int64_t rate,
		     int64_t servers, int64_t now_ms)
{
	int64_t minute = now_ms / MINUTE_MS, from = gauge->minute;
	double used = (double)(gauge->consumed - gauge->before) * (double)servers / BUCKET_UNIT /
		      MINUTE_SECONDS;

	if (from > minute || from == 0) /* the clock was turned back; or the first minute */
		from = minute;
	if (from < minute - DAY_MINUTES)
		from = minute - DAY_MINUTES;
	for (int64_t at = from; at < minute; at++) {
		rate = follow_minute(&gauge->follow, rule, rate, used, at);
		used = 0;
	}
	if (gauge->minute != minute)
		gauge->before = gauge->consumed;
	gauge->minute = minute;
	return rate;
}

struct meter_part *meter_find(const struct meter *meter, int64_t number)
{
	for (size_t i = 0; i < meter->part_count; i++) {
		if (meter->parts[i]->number == number)
			return meter->parts[i];
	}
	return NULL;
}

static struct meter_part *find_or_add_part(struct meter *meter, int64_t number, bool *is_new)
{
	struct meter_part *part = meter_find(meter, number);

	*is_new = !part;
	if (part)
		return part;
	part = arena_checked(calloc(1, sizeof(*part)));
	part->number = number;
	meter->parts = arena_checked(
		realloc(meter->parts, (meter->part_count + 1) * sizeof(struct meter_part *)));
	meter->parts[meter->part_count++] = part;
	return part;
}

void meter_tune(struct meter_part *part, const struct meter_grants *grants,
		const struct meter_rules *rules, int64_t now_ms)
{
	for (enum meter_side side = 0; side < METER_SIDES; side++)
		tune_whole(&part->sides[side], &grants->sides[side], grants->is_on_demand, rules,
			   now_ms);
	size_t ranges = ranges_for(part, grants);
	for (enum meter_side side = 0; side < METER_SIDES; side++)
		tune_ranges(&part->sides[side], side, ranges, rules, now_ms);
	if (rules->is_adaptive)
		split_hot(part, rules, now_ms);
}

struct meter_part *meter_part(struct meter *meter, const struct table *table,
			      const struct index *index, const struct meter_rules *rules,
			      int64_t now_ms, bool *is_new)
{
	struct meter_part *part =
		find_or_add_part(meter, index ? (int64_t)index->number : METER_TABLE, is_new);
	struct meter_grants grants = {.is_on_demand =
					      table->settings->billing == BILLING_PAY_PER_REQUEST};

	for (enum meter_side side = 0; side < METER_SIDES; side++)
		grants.sides[side] = grant_of(table, index, side);
	for (enum meter_side side = 0; *is_new && side < METER_SIDES; side++)
		part->sides[side].minute = now_ms / MINUTE_MS;
	meter_tune(part, &grants, rules, now_ms);
	return part;
}

uint32_t meter_place_of(struct str row_key)
{
	return row_key.n < KEY_HASH_SIZE ? 0 : (uint32_t)str_be(row_key.p, KEY_HASH_SIZE);
}

size_t meter_range_of(const struct meter_gauge *gauge, uint32_t place)
{
	size_t at = (size_t)((uint64_t)place * gauge->equal_count >> 32);

	while (place < gauge->ranges[at].low || place > gauge->ranges[at].high)
		at = gauge->ranges[at].next;
	return at;
}

enum meter_limit meter_whole_limit(const struct meter_gauge *gauge)
{
	if (!gauge->is_on_demand)
		return METER_PROVISIONED;
	/* AWS: beyond its peak an on-demand table lacks room in its partitions */
	return gauge->whole.rate >= TABLE_UNITS_MAX ? METER_ACCOUNT : METER_KEY_RANGE;
}

const struct bucket *meter_range_bucket(const struct meter_gauge *gauge, size_t range)
{
	return &gauge->ranges[range].own;
}

enum meter_limit meter_refuses(const struct meter_gauge *gauge, size_t range)
{
	const struct meter_range *own = &gauge->ranges[range];

	if (gauge->has_most && bucket_is_empty(&gauge->most))
		return METER_ON_DEMAND_MAX;
	if (bucket_is_empty(&gauge->whole))
		return meter_whole_limit(gauge);
	if (bucket_is_empty(&own->own) || (gauge->has_shares && bucket_is_empty(&own->share)))
		return METER_KEY_RANGE;
	return METER_NONE;
}

/* The limit of the gauge's ranges. */
static int64_t range_rate(const struct meter_gauge *gauge)
{
	return gauge->ranges[0].own.rate;
}

void meter_take(struct meter_gauge *gauge, size_t range, uint32_t place, int64_t tokens,
		int64_t now_ms)
{
	int64_t cost = tokens * gauge->cost_factor;

	bucket_take(&gauge->whole, cost);
	if (gauge->has_most)
		bucket_take(&gauge->most, cost);
	bucket_take(&gauge->ranges[range].own, cost);
	bucket_take(&gauge->ranges[range].share, cost * (int64_t)gauge->range_count);
	heat_add(&gauge->ranges[range].heat, range_rate(gauge), place, cost);
	peak_add(&gauge->peak, cost, now_ms);
	gauge->consumed += tokens;
}

void meter_take_steadily(struct meter_gauge *gauge, size_t range, uint32_t place, int64_t tokens,
			 int64_t seconds, int64_t now_ms)
{
	meter_take(gauge, range, place, tokens, now_ms);
	gauge->peak.in_second -= tokens * gauge->cost_factor;
	peak_add(&gauge->peak, tokens * gauge->cost_factor / seconds, now_ms);
}

void meter_give_back(struct meter_gauge *gauge, size_t range, int64_t tokens)
{
	int64_t cost = tokens * gauge->cost_factor;

	bucket_give_back(&gauge->whole, cost);
	bucket_give_back(&gauge->most, cost);
	if (range < gauge->range_count) {
		bucket_give_back(&gauge->ranges[range].own, cost);
		bucket_give_back(&gauge->ranges[range].share, cost * (int64_t)gauge->range_count);
	}
	gauge->peak.in_second -= gauge->peak.in_second < cost ? gauge->peak.in_second : cost;
	gauge->consumed -= tokens;
}

void meter_leave(struct meter_gauge *gauge, int64_t units)
{
	int64_t tokens = units * BUCKET_UNIT * gauge->cost_factor;

	gauge->whole.left = tokens < gauge->whole.capacity ? tokens : gauge->whole.capacity;
	if (gauge->has_most)
		gauge->most.left = tokens < gauge->most.capacity ? tokens : gauge->most.capacity;
}
