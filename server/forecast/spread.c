#include "server/forecast/spread.h"

#include <math.h>
#include <string.h>

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += 0x9E3779B97F4A7C15;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
	z = (z ^ z >> 27) * 0x94D049BB133111EB;
	return z ^ z >> 31;
}

/* Shares of the first keys of Zipf's law, summed; as many as are at least a cell. */
static size_t zipf_sums(const struct plan_keys *keys, double sums[CELLS])
{
	double all = 0, sum = 0;
	int64_t exact = keys->count < 100000 ? keys->count : 100000;
	size_t n = 0;

	for (int64_t k = 1; k <= exact; k++)
		all += pow((double)k, -keys->exponent);
	/* the rest as an integral, in steps that grow with the key */
	for (int64_t k = exact, step; k < keys->count; k += step) {
		step = k / 100 < keys->count - k ? k / 100 : keys->count - k;
		all += (double)step * pow((double)k + (double)step / 2, -keys->exponent);
	}
	for (int64_t k = 1; k <= keys->count && n < CELLS; k++) {
		double share = pow((double)k, -keys->exponent) / all;

		if (share < 1.0 / CELLS)
			break;
		sums[n++] = sum += share;
	}
	return n;
}

static size_t value_sums(const struct plan_keys *keys, double sums[CELLS])
{
	double sum = 0;
	size_t n = keys->n < CELLS ? keys->n : CELLS;

	for (size_t i = 0; i < n; i++)
		sums[i] = sum += keys->shares[i];
	return n;
}

/* `count` keys that share the first `share` of the requests. */
static size_t equal_sums(int64_t count, double share, double sums[CELLS])
{
	if (share <= 0 || count > (int64_t)(share * CELLS))
		return 0;
	for (int64_t i = 0; i < count; i++)
		sums[i] = share * (double)(i + 1) / (double)count;
	return (size_t)count;
}

static size_t sums_of(const struct plan_keys *keys, double sums[CELLS])
{
	switch (keys->spread) {
	case SPREAD_ZIPF:
		return zipf_sums(keys, sums);
	case SPREAD_VALUES:
		return value_sums(keys, sums);
	case SPREAD_HOT:
		return equal_sums(keys->count, keys->share, sums);
	case SPREAD_TIME:
		return equal_sums(1, 1, sums);
	case SPREAD_UNIFORM:
		break;
	}
	return equal_sums(keys->count, 1, sums);
}

static void spread_mix(struct spread *spread)
{
	uint64_t state = str_hash(spread->space, spread->seed + 1);

	for (size_t i = CELLS - 1; i > 0; i--) {
		size_t j = (size_t)(next_random(&state) % (i + 1));
		int32_t key = spread->key[i];
		uint32_t place = spread->place[i];

		spread->key[i] = spread->key[j], spread->place[i] = spread->place[j];
		spread->key[j] = key, spread->place[j] = place;
	}
}

static uint32_t place_of(struct arena *arena, const struct spread *spread, int32_t key,
			 int64_t hour)
{
	uint64_t hash = str_hash(spread_name(arena, spread, key, hour),
				 str_hash(spread->space, spread->seed));

	return (uint32_t)(next_random(&hash) >> 32);
}

void spread_make(struct arena *arena, struct spread *spread, bool is_mixed)
{
	double *sums = ARENA_ARRAY(arena, double, CELLS);
	size_t n = sums_of(spread->keys, sums), at = 0, rest = 0;

	for (size_t i = 0; i < CELLS; i++) {
		while (at < n && ((double)i + 0.5) / CELLS >= sums[at])
			at++;
		spread->key[i] = at < n ? (int32_t)at : SPREAD_REST;
		rest += at == n;
		if (at < n && (i == 0 || spread->key[i] != spread->key[i - 1]))
			spread->place[i] = place_of(arena, spread, (int32_t)at, 0);
		else if (at < n)
			spread->place[i] = spread->place[i - 1];
	}
	for (size_t i = CELLS - rest; i < CELLS; i++) /* evenly over all hashes */
		spread->place[i] = (uint32_t)((2 * (uint64_t)(i - (CELLS - rest)) + 1) *
					      (UINT64_C(1) << 31) / rest);
	if (is_mixed)
		spread_mix(spread);
}

bool spread_move(struct arena *arena, struct spread *spread, int64_t hour)
{
	if (spread->keys->spread != SPREAD_TIME || hour % spread->keys->period_hours != 0)
		return false;
	uint32_t place = place_of(arena, spread, 0, hour);
	for (size_t i = 0; i < CELLS; i++)
		spread->place[i] = place;
	return true;
}

static struct str name_of_period(struct arena *arena, const struct plan_keys *keys, long long hour)
{
	long long day = hour / PLAN_HOURS + 1;

	return keys->period_hours % PLAN_HOURS == 0
		       ? str_printf(arena, "the key of day %lld", day)
		       : str_printf(arena, "the key of day %lld, %02lld:00", day,
				    hour % PLAN_HOURS);
}

struct str spread_name(struct arena *arena, const struct spread *spread, int32_t key, int64_t hour)
{
	const struct plan_keys *keys = spread->keys;

	if (keys->spread == SPREAD_TIME)
		return name_of_period(arena, keys, hour - hour % keys->period_hours);
	if (key == SPREAD_REST)
		return keys->spread == SPREAD_UNIFORM ? STR("any key") : STR("other keys");
	if (keys->spread == SPREAD_VALUES)
		return keys->names[key];
	return str_printf(arena, "%s %d", keys->spread == SPREAD_HOT ? "hot key" : "key",
			  (int)key + 1);
}
