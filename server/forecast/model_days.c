#include <stdlib.h>
#include <string.h>

#include "server/forecast/model_internal.h"

bool model_days_are_alike(const struct plan *plan)
{
	for (size_t i = 0; i < plan->pattern_count; i++) {
		const struct plan_pattern *of = &plan->patterns[i];

		if (PLAN_HOURS % of->hours != 0)
			return false;
		for (size_t d = 0; d < of->n; d++) {
			if (of->demands[d].keys.spread == SPREAD_TIME)
				return false;
		}
	}
	return plan->growth == 0;
}

/* What a bucket has when the day ends and the next one begins: it is filled until the last second
 * that was run. */
static int64_t left_now(const struct running *run, struct bucket bucket)
{
	bucket_pass(&bucket, START_MS + run->second * SECOND_MS);
	return bucket.left;
}

void model_day_begin(struct running *run)
{
	struct day *day = &run->day;
	const struct model_outcome *out = run->out;
	struct day_side *to = day->sides;

	if (out->n > day->room) {
		day->room = 2 * out->n;
		day->rows = arena_checked(realloc(day->rows, day->room * sizeof(*day->rows)));
	}
	for (size_t i = 0; i < out->n; i++)
		day->rows[i] = (struct day_row){out->rows[i].throttled, out->rows[i].n};
	day->n = out->n;
	day->throttled = out->throttled;
	day->failed = out->failed;
	memcpy(day->patterns, out->patterns, run->plan->pattern_count * sizeof(*day->patterns));
	for (size_t p = 0; p < run->table->n; p++) {
		const struct running_part *part = &run->parts[p];

		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			const struct meter_gauge *gauge = &part->meter.sides[side];
			const struct model_part *of = &run->out_parts[p];

			*to++ = (struct day_side){.rate = gauge->whole.rate,
						  .whole = left_now(run, gauge->whole),
						  .most = left_now(run, gauge->most),
						  .ranges = gauge->range_count,
						  .consumed = gauge->consumed,
						  .throttled = of->sides[side].throttled,
						  .unit_hours = of->sides[side].unit_hours};
		}
		day->gigabyte_days[p] = run->out_parts[p].gigabyte_days;
	}
	day->has_due = model_second_has_due(run);
}

/* Whether a bucket is as full as it was: nearly empty both times, or a tenth of a second off. */
static bool model_day_is_level(const struct running *run, const struct bucket *bucket,
			       int64_t before)
{
	int64_t second = bucket->rate * BUCKET_UNIT, now = left_now(run, *bucket);

	return llabs(now - before) <= second / 10 || (now <= 2 * second && before <= 2 * second);
}

bool model_day_ends_as_it_began(const struct running *run)
{
	const struct day_side *began = run->day.sides;

	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side side = 0; side < METER_SIDES; side++, began++) {
			const struct meter_gauge *gauge = &run->parts[p].meter.sides[side];

			if (gauge->whole.rate != began->rate ||
			    gauge->range_count != began->ranges ||
			    !model_day_is_level(run, &gauge->whole, began->whole) ||
			    (gauge->has_most &&
			     !model_day_is_level(run, &gauge->most, began->most)))
				return false;
		}
	}
	return model_second_has_due(run) == run->day.has_due;
}

/* The hours of a row that the day has, for each of the next days. */
static void repeat_row(struct running *run, struct model_row *row, const struct day_row *began,
		       int64_t days)
{
	uint64_t throttled = row->throttled - began->throttled;
	size_t first = began->n, end = row->n;

	for (int64_t day = 1; day <= days; day++) {
		for (size_t i = first; i < end; i++) {
			row->hours =
				arena_room(run->arena, row->hours, row->n, sizeof(*row->hours));
			row->hours[row->n++] = (struct model_hour){
				row->hours[i].hour + day * PLAN_HOURS, row->hours[i].throttled};
		}
	}
	row->throttled += throttled * (uint64_t)days;
}

static void repeat_patterns(struct running *run, uint64_t days)
{
	for (size_t i = 0; i < run->plan->pattern_count; i++) {
		const struct model_pattern *began = &run->day.patterns[i];
		struct model_pattern *of = &run->out->patterns[i];

		of->throttled += (of->throttled - began->throttled) * days;
		of->failed += (of->failed - began->failed) * days;
		of->waited_s += (of->waited_s - began->waited_s) * (double)days;
	}
}

static void repeat_parts(struct running *run, int64_t days)
{
	const struct day_side *began = run->day.sides;

	for (size_t p = 0; p < run->table->n; p++) {
		struct model_part *out = &run->out_parts[p];

		for (enum meter_side side = 0; side < METER_SIDES; side++, began++) {
			struct meter_gauge *gauge = &run->parts[p].meter.sides[side];
			struct model_side *of = &out->sides[side];

			gauge->consumed += (gauge->consumed - began->consumed) * days;
			of->throttled += (of->throttled - began->throttled) * (uint64_t)days;
			of->unit_hours += (of->unit_hours - began->unit_hours) * (double)days;
		}
		out->gigabyte_days +=
			(out->gigabyte_days - run->day.gigabyte_days[p]) * (double)days;
	}
}

void model_day_repeat(struct running *run, int64_t days)
{
	struct model_outcome *out = run->out;

	for (size_t i = 0; i < out->n; i++) {
		const struct day_row none = {0};

		repeat_row(run, &out->rows[i], i < run->day.n ? &run->day.rows[i] : &none, days);
	}
	repeat_patterns(run, (uint64_t)days);
	repeat_parts(run, days);
	out->throttled += (out->throttled - run->day.throttled) * (uint64_t)days;
	out->failed += (out->failed - run->day.failed) * (uint64_t)days;
}
