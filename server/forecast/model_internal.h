/*
 * model_internal - what the parts of the model share: its seconds and hours (model.c), its minutes,
 * which are repeated where they are alike (model_minute.c).
 */
#ifndef DYNALITH_SERVER_FORECAST_MODEL_INTERNAL_H
#define DYNALITH_SERVER_FORECAST_MODEL_INTERNAL_H

#include "protocol/throughput/follow.h"
#include "server/forecast/model.h"
#include "server/forecast/spread.h"

#define SECOND_MS 1000
#define HOUR_SECONDS 3600
#define RING 32 /* seconds in which a retry comes */
#define ATTEMPTS 10
#define START_MS 1767225600000 /* any midnight: buckets count from it */

/* Cells of a pattern that have the same keys and ranges. */
struct flow {
	size_t pattern;
	int64_t weight;      /* cells */
	int64_t part_of_one; /* billionths of requests that have not come yet */
	int64_t fresh;       /* requests of the second */
	int32_t key[PLAN_PARTS_MAX];
	uint32_t range[PLAN_PARTS_MAX];
	uint32_t low[PLAN_PARTS_MAX],
		high[PLAN_PARTS_MAX]; /* hashes of its cells' keys lie there */
	uint32_t turn;                /* which of these hashes is next */
	int64_t due[ATTEMPTS][RING]; /* by attempts made before, and second */
	size_t row;                  /* 1 + that of its last refusal, which was of: */
	size_t row_demand;
	enum meter_limit row_limit;
	int64_t row_hour;
};

/* A table or an index while time runs. */
struct running_part {
	struct meter_part meter;
	struct meter_grants grants;
	struct follow scaling[METER_SIDES];
	int64_t consumed[METER_SIDES]; /* tokens, until the minute began */
	int64_t hour_rate[METER_SIDES];
	size_t ranges;
	double gigabytes;
	int64_t *need; /* by side and range: tokens that a second wants */
};

/* What one side of a table or index had when the minute began. */
struct minute_side {
	int64_t consumed, whole, most; /* tokens; the last two: left in the buckets */
	uint64_t throttled;
};

/* All that a minute changes, as it was when the minute began. */
struct minute {
	uint64_t throttled, failed, last; /* last: throttled in the minute before; 0: unknown */
	size_t row_count, row_room;
	uint64_t *rows;
	struct model_pattern *patterns;
	struct minute_side *sides; /* of all parts, in their order */
};

struct running {
	struct arena *arena;
	const struct plan *plan;
	struct model_outcome *out;
	struct running_part **tables;
	struct spread **spreads; /* by pattern and demand */
	int64_t *rates;          /* by pattern, of this hour: billionths a second of a cell */
	size_t n, room;
	struct flow *flows;
	int64_t second;
	int64_t due;   /* retries that are to come */
	bool is_roomy; /* nothing of this second could be refused */
	size_t last_row;
	struct minute began;
};

/* Notes all that the minute which begins may change. */
void model_minute_begin(struct running *run);

/* Returns whether auto scaling has changed a rate, or a partition is to be split for its heat. */
bool model_minute_end(struct running *run);

/* Whether the minute that is over is like the one before, so that the next ones will be, too: it
 * refused as many within half a percent, by the same rows, and left the buckets as they were. */
bool model_minute_is_like_last(struct running *run);

/* Minutes like the one that is over, until the hour ends or something changes. */
void model_minute_repeat(struct running *run);

#endif
