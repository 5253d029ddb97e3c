#include "server/forecast/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "server/forecast/messages.h"

#define DAYS 30
#define SCALE_MAX 1e9
#define REACHED_RATE_MAX 1e8 /* requests per second of a pattern */

/* What is left out stays. */
static bool run_read_number(const char *text, double least, double most, double *out)
{
	char *end;

	if (!text)
		return true;
	*out = strtod(text, &end);
	return end != text && *end == '\0' && *out >= least && *out <= most;
}

static bool run_read_integer(const char *text, double least, double most, double *out)
{
	return run_read_number(text, least, most, out) && floor(*out) == *out;
}

static bool read_growth(const char *text, double *out)
{
	char *end;

	if (!text)
		return true;
	*out = strtod(text, &end) / 100;
	return end != text && (strcmp(end, "%/day") == 0 || strcmp(end, "%") == 0) && *out > -1 &&
	       *out <= 1;
}

/* "zipf:1000000" as {"spread":"zipf","count":1000000}. */
static bool read_keys_word(struct arena *arena, const char *text, struct str *keys)
{
	static const char *const spreads[] = {"uniform", "zipf", "hot"};
	struct str rest = text ? str_of(text) : STR_ABSENT, spread = str_cut(&rest, ':');
	double count = 1000000;
	size_t i = 0, n = sizeof(spreads) / sizeof(spreads[0]);

	*keys = STR_ABSENT;
	if (!text)
		return true;
	while (i < n && !str_eq(spread, str_of(spreads[i])))
		i++;
	if (i == n || (rest.n > 0 && !run_read_number(rest.p, 1, 1e8, &count)))
		return false;
	*keys = str_printf(arena, "{\"spread\":\"%s\",\"count\":%.0f}", spreads[i], count);
	return true;
}

const char *run_take_words(struct arena *arena, const struct run_words *words, struct plan *plan,
			   struct str *keys)
{
	double days = DAYS, seed = 1;

	plan->scale = 1;
	if (!run_read_number(words->scale, 1e-9, SCALE_MAX, &plan->scale))
		return "scale";
	if (!run_read_integer(words->days, 1, PLAN_DAYS_MAX, &days))
		return "days";
	if (!read_growth(words->growth, &plan->growth))
		return "growth";
	if (!run_read_integer(words->seed, 0, 1e15, &seed))
		return "seed";
	plan->days = (int64_t)days;
	plan->seed = (uint64_t)seed;
	return read_keys_word(arena, words->keys, keys) ? NULL : "keys";
}

/* Rates as the last day has them. */
static enum code check_rates(const char *path, const struct plan *plan, struct err *err)
{
	double days = plan->growth > 0 ? (double)plan->days - 1 : 0,
	       times = plan->scale * pow(1 + plan->growth, days);

	for (size_t i = 0; i < plan->pattern_count; i++) {
		for (size_t h = 0; h < plan->patterns[i].hours; h++) {
			double rate = plan->patterns[i].rates[h] * times;

			if (rate > REACHED_RATE_MAX)
				return err_set(err, MSG_FORECAST_RATE, path,
					       STR_ARG(plan->patterns[i].name), rate,
					       REACHED_RATE_MAX);
		}
	}
	return OK;
}

static void note_what_is_left_out(struct arena *arena, struct plan *plan)
{
	for (size_t t = 0; t < plan->table_count; t++) {
		if (plan->tables[t].replicas > 0)
			plan_note(arena, plan,
				  str_printf(arena,
					     "transfer between the regions of " STR_FMT
					     " is not in the cost",
					     STR_ARG(plan->tables[t].name)));
	}
}

enum code run_plan(struct arena *arena, const char *path, struct plan *plan,
		   const struct prices *prices, struct shown *shown, struct err *err)
{
	struct model_outcome *outcomes = ARENA_ARRAY(arena, struct model_outcome, SHOW_SEEDS);
	struct bill *bills = ARENA_ARRAY(arena, struct bill, SHOW_SEEDS);
	uint64_t seed = plan->seed;
	enum code code = check_rates(path, plan, err);

	if (code != OK)
		return code;
	note_what_is_left_out(arena, plan);
	for (size_t i = 0; i < SHOW_SEEDS && !arena_is_over(arena); i++) {
		plan->seed = seed + i;
		model_run(arena, plan, &outcomes[i]);
		bill_make(arena, plan, &outcomes[i], prices, &bills[i]);
		shown->dollars[i] = bills[i].dollars;
	}
	plan->seed = seed;
	shown->outcomes = outcomes;
	shown->bill = &bills[0];
	return err_if_over(arena, err);
}
