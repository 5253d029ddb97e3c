#include "protocol/throughput/bucket.h"

#define PERIOD_MS (30 * 60 * (int64_t)1000)
#define SECOND_MS 1000
#define REQUEST_MS 10000 /* a request that began before another may come to its bucket behind it */

static int64_t room(int64_t rate, int64_t seconds)
{
	return rate * (seconds > 1 ? seconds : 1) * BUCKET_UNIT;
}

struct bucket bucket_full(int64_t rate, int64_t seconds, int64_t now_ms)
{
	int64_t capacity = room(rate, seconds);

	return (struct bucket){rate, capacity, capacity, now_ms};
}

void bucket_pass(struct bucket *bucket, int64_t now_ms)
{
	int64_t lack = bucket->capacity - bucket->left, passed = now_ms - bucket->at_ms;

	if (passed <= 0 && passed > -REQUEST_MS)
		return;
	bucket->at_ms = now_ms;
	if (passed <= 0 || lack <= 0 || bucket->rate == 0)
		return;
	if (passed > lack / bucket->rate) /* the product of a long time might not fit */
		bucket->left = bucket->capacity;
	else
		bucket->left += passed * bucket->rate;
}

void bucket_tune(struct bucket *bucket, int64_t rate, int64_t seconds, int64_t now_ms)
{
	bucket_pass(bucket, now_ms);
	if (rate > bucket->rate)
		bucket->left += (rate - bucket->rate) * BUCKET_UNIT;
	bucket->rate = rate;
	bucket->capacity = room(rate, seconds);
	if (bucket->left > bucket->capacity)
		bucket->left = bucket->capacity;
}

bool bucket_is_empty(const struct bucket *bucket)
{
	return bucket->left <= 0;
}

void bucket_take(struct bucket *bucket, int64_t tokens)
{
	bucket->left -= tokens;
}

void bucket_give_back(struct bucket *bucket, int64_t tokens)
{
	bucket->left += tokens;
	if (bucket->left > bucket->capacity)
		bucket->left = bucket->capacity;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static void roll(struct peak *peak, int64_t now_ms)
{
	if (now_ms / SECOND_MS != peak->second) {
		peak->best = larger(peak->best, peak->in_second);
		peak->second = now_ms / SECOND_MS;
		peak->in_second = 0;
	}
	if (now_ms - peak->period_ms >= PERIOD_MS) {
		peak->reached = larger(peak->reached, peak->best);
		peak->best = 0;
		peak->period_ms = 0;
	}
}

void peak_add(struct peak *peak, int64_t tokens, int64_t now_ms)
{
	roll(peak, now_ms);
	if (peak->period_ms == 0 || now_ms < peak->period_ms)
		peak->period_ms = now_ms - now_ms % SECOND_MS;
	peak->in_second += tokens;
}

int64_t peak_limit(struct peak *peak, int64_t least, int64_t now_ms)
{
	roll(peak, now_ms);
	return larger(least, 2 * peak->reached / BUCKET_UNIT);
}

int64_t peak_period_end(const struct peak *peak)
{
	return peak->period_ms > 0 ? peak->period_ms + PERIOD_MS : 0;
}
