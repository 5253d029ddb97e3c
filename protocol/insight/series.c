#include "protocol/insight/series.h"

#include <string.h>

unsigned series_move(struct timeline *timeline, int64_t ms)
{
	unsigned times = 0;

	if (timeline->width_ms == 0)
		*timeline = (struct timeline){.began_ms = ms, .width_ms = 1};
	while ((ms - timeline->began_ms) / timeline->width_ms >= SERIES_BUCKETS) {
		timeline->width_ms *= 2;
		times++;
	}
	timeline->at = (unsigned)((ms - timeline->began_ms) / timeline->width_ms);
	timeline->end_ms = timeline->began_ms + (int64_t)(timeline->at + 1) * timeline->width_ms;
	return times;
}

void series_halve(struct series *series, unsigned times)
{
	for (unsigned n = 0; n < times && n < 6; n++) { /* 64 buckets are one by then */
		for (unsigned i = 0; i < SERIES_BUCKETS / 2; i++)
			series->units[i] = series->units[2 * i] + series->units[2 * i + 1];
		memset(&series->units[SERIES_BUCKETS / 2], 0, sizeof(series->units) / 2);
	}
}

void series_merge(struct series *into, const struct series *from)
{
	for (unsigned i = 0; i < SERIES_BUCKETS; i++)
		into->units[i] += from->units[i];
}
