#include "protocol/throughput/heat.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/throughput/bucket.h"

#define MINUTE_SECONDS 60
#define SAMPLES_PER_SECOND 8 /* at the limit */

/* Tokens from one sample to the next: not always as many, so that a client's rhythm does not
 * choose. */
static int64_t heat_step(const struct heat *heat, int64_t rate)
{
	int64_t mean = rate * BUCKET_UNIT / SAMPLES_PER_SECOND;
	uint32_t random = (heat->n + 1) * 2654435761u;

	return mean / 2 + (int64_t)((uint64_t)mean * (random >> 16) >> 16) + 1;
}

void heat_add(struct heat *heat, int64_t rate, uint32_t place, int64_t tokens)
{
	heat->tokens += tokens;
	heat->owed -= tokens;
	for (int i = 0; heat->owed <= 0 && i < HEAT_SAMPLES; i++) {
		heat->samples[heat->n++ % HEAT_SAMPLES] = place;
		heat->owed += heat_step(heat, rate);
	}
	if (heat->owed < 0)
		heat->owed = 0;
}

static bool is_hot(const struct heat *heat, int64_t rate)
{
	return (double)heat->tokens >= HEAT_SHARE * (double)(rate * BUCKET_UNIT * MINUTE_SECONDS);
}

static int order_samples(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* Where the samples fall into halves as equal as can be. False: all are one key. */
static bool heat_point(const struct heat *heat, uint32_t *cut)
{
	uint32_t sorted[HEAT_SAMPLES];
	int best = HEAT_SAMPLES;

	if (heat->n < HEAT_SAMPLES)
		return false;
	memcpy(sorted, heat->samples, sizeof(sorted));
	qsort(sorted, HEAT_SAMPLES, sizeof(sorted[0]), order_samples);
	for (int i = 1; i < HEAT_SAMPLES; i++) {
		int off = abs(HEAT_SAMPLES - 2 * i);

		if (sorted[i] == sorted[i - 1] || off >= best)
			continue;
		best = off;
		*cut = sorted[i];
	}
	return best < HEAT_SAMPLES;
}

bool heat_pass(struct heat *heat, int64_t rate, int64_t minute, uint32_t *cut)
{
	if (minute == heat->minute)
		return false;
	/* a minute without a request, or a clock that was turned, ends the row */
	heat->hot = minute == heat->minute + 1 && is_hot(heat, rate) ? heat->hot + 1 : 0;
	heat->minute = minute;
	heat->tokens = 0;
	if (heat->hot < HEAT_MINUTES || !heat_point(heat, cut))
		return false;
	heat->hot = 0;
	return true;
}
