#include "server/pull/pull_pace.h"

#define BEHIND_SECONDS 1

struct pull_pace pull_pace_begin(double per_second, uint64_t now_ns)
{
	return (struct pull_pace){.per_second = per_second, .began_ns = now_ns};
}

int64_t pull_pace_wait_ms(struct pull_pace *pace, double units, uint64_t now_ns)
{
	double elapsed = (double)(now_ns - pace->began_ns) / 1e9;

	pace->units += units;
	double ahead = pace->units / pace->per_second - elapsed;
	if (ahead < -BEHIND_SECONDS)
		pace->began_ns += (uint64_t)((-ahead - BEHIND_SECONDS) * 1e9);
	return ahead > 0 ? (int64_t)(ahead * 1000 + 1) : 0;
}
