#include <stdlib.h>
#include <string.h>

#include "server/forecast/model_internal.h"

bool model_minute_end(struct running *run)
{
	bool is_new = false;

	for (size_t p = 0; p < run->table->n; p++) {
		struct running_part *part = &run->parts[p];

		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			const struct follow_rule *rule = &run->table->parts[p].scaling[side];
			int64_t *rate = &part->grants.sides[side].rate, before = *rate,
				consumed = part->meter.sides[side].consumed;
			double used = (double)(consumed - part->consumed[side]) / BUCKET_UNIT / 60;

			part->consumed[side] = consumed;
			if (rule->most > 0)
				*rate = follow_minute(&part->scaling[side], rule, *rate, used,
						      run->second / 60);
			if (*rate > part->hour_rate[side])
				part->hour_rate[side] = *rate;
			is_new = is_new || *rate != before;
		}
		is_new = meter_splits(&part->meter) || is_new;
	}
	return is_new;
}

void model_minute_begin(struct running *run)
{
	struct minute *began = &run->began;
	const struct model_outcome *out = run->out;
	struct minute_side *to = began->sides;

	if (run->refusal_count > began->refusal_room) {
		began->refusal_room = 2 * run->refusal_count;
		began->refusals = arena_checked(
			realloc(began->refusals, began->refusal_room * sizeof(*began->refusals)));
	}
	began->throttled = out->throttled;
	began->failed = out->failed;
	began->is_cut = false;
	began->refusal_count = run->refusal_count;
	for (size_t i = 0; i < run->refusal_count; i++)
		began->refusals[i] = run->refusals[i].n;
	memcpy(began->patterns, out->patterns, run->plan->pattern_count * sizeof(*began->patterns));
	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			const struct meter_gauge *gauge = &run->parts[p].meter.sides[side];

			*to++ = (struct minute_side){gauge->consumed, gauge->whole.left,
						     gauge->most.left,
						     run->out_parts[p].sides[side].throttled};
		}
	}
}

bool model_minute_is_level(const struct bucket *bucket, int64_t before)
{
	int64_t second = bucket->rate * BUCKET_UNIT, off = llabs(bucket->left - before);

	return off <= second / 10 || (bucket->left <= 2 * second && before <= 2 * second);
}

bool model_minute_is_like_last(struct running *run)
{
	struct minute *began = &run->began;
	uint64_t now = run->out->throttled - began->throttled, last = began->last;
	const struct minute_side *before = began->sides;

	began->last = now;
	if (now == 0 || last == 0 || began->is_cut || run->refusal_count != began->refusal_count ||
	    (now > last ? now - last : last - now) > last / 200)
		return false;
	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side side = 0; side < METER_SIDES; side++, before++) {
			const struct meter_gauge *gauge = &run->parts[p].meter.sides[side];

			if (!model_minute_is_level(&gauge->whole, before->whole) ||
			    (gauge->has_most && !model_minute_is_level(&gauge->most, before->most)))
				return false;
		}
	}
	return true;
}

/* Adds what a minute has counted once more, to all but the meters. */
static void repeat_counts(struct running *run, const struct model_outcome *minute)
{
	struct model_outcome *out = run->out;

	for (size_t i = 0; i < run->refusal_count; i++)
		run->refusals[i].n += run->began.refusals[i];
	for (size_t i = 0; i < run->plan->pattern_count; i++) {
		out->patterns[i].throttled += minute->patterns[i].throttled;
		out->patterns[i].failed += minute->patterns[i].failed;
		out->patterns[i].waited_s += minute->patterns[i].waited_s;
	}
	out->throttled += minute->throttled;
	out->failed += minute->failed;
}

/* The same for the meters, a minute on. */
static void repeat_meters(struct running *run, const struct minute_side *sides, int64_t now_ms)
{
	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side side = 0; side < METER_SIDES; side++, sides++) {
			meter_repeat(&run->parts[p].meter.sides[side], sides->consumed, now_ms);
			run->out_parts[p].sides[side].throttled += sides->throttled;
		}
	}
}

/* Whether on demand a table or index gives more by then, since its peak counts. */
static bool grows_until(const struct running *run, int64_t ms)
{
	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side side = 0; side < METER_SIDES; side++) {
			const struct meter_gauge *gauge = &run->parts[p].meter.sides[side];
			struct peak peak = gauge->peak;

			if (gauge->is_on_demand &&
			    peak_limit(&peak, gauge->whole.rate, ms) > gauge->whole.rate)
				return true;
		}
	}
	return false;
}

/* Retries keep their distance from the second that is next. */
static void turn_rings(struct running *run, int64_t seconds)
{
	for (size_t i = 0; i < run->n; i++) {
		for (size_t a = 0; a < ATTEMPTS; a++) {
			int64_t old[RING];

			memcpy(old, run->flows[i].due[a], sizeof(old));
			for (int64_t s = 0; s < RING; s++)
				run->flows[i].due[a][(s + seconds) % RING] = old[s];
		}
	}
}

/* What the minute that is over has changed: the difference to its beginning, in place. */
static void take_differences(struct running *run, struct model_outcome *minute)
{
	struct minute *began = &run->began;
	const struct model_outcome *out = run->out;
	struct minute_side *side = began->sides;

	*minute = (struct model_outcome){.throttled = out->throttled - began->throttled,
					 .failed = out->failed - began->failed,
					 .patterns = began->patterns};
	for (size_t i = 0; i < run->refusal_count; i++)
		began->refusals[i] = run->refusals[i].n - began->refusals[i];
	for (size_t i = 0; i < run->plan->pattern_count; i++) {
		struct model_pattern *of = &began->patterns[i];

		of->throttled = out->patterns[i].throttled - of->throttled;
		of->failed = out->patterns[i].failed - of->failed;
		of->waited_s = out->patterns[i].waited_s - of->waited_s;
	}
	for (size_t p = 0; p < run->table->n; p++) {
		for (enum meter_side s = 0; s < METER_SIDES; s++, side++) {
			side->consumed = run->parts[p].meter.sides[s].consumed - side->consumed;
			side->throttled = run->out_parts[p].sides[s].throttled - side->throttled;
		}
	}
}

void model_minute_repeat(struct running *run)
{
	struct model_outcome minute;
	int64_t first = run->second;
	bool is_new = false;

	take_differences(run, &minute);
	while (!is_new && (run->second + 1) % HOUR_SECONDS != 0) {
		int64_t end_ms = START_MS + (run->second + 60) * SECOND_MS;

		if (grows_until(run, end_ms))
			break;
		run->second += 60;
		repeat_counts(run, &minute);
		repeat_meters(run, run->began.sides, end_ms);
		is_new = model_minute_end(run);
	}
	turn_rings(run, run->second - first);
	run->began.last = 0;
}
