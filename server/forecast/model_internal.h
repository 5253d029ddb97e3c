/*
 * model_internal - what the parts of the model share: its seconds and hours (model.c), its minutes
 * and days, which are repeated where they are alike (model_minute.c, model_days.c).
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

/* Cells of a pattern whose keys lie in the same ranges: limits treat them alike. */
struct flow {
	size_t pattern;
	size_t first;        /* of its cells: struct running, cells */
	int64_t weight;      /* cells */
	size_t placed;       /* of them, while they are dealt */
	int64_t part_of_one; /* billionths of requests that have not come yet */
	int64_t fresh;       /* requests of the second */
	uint32_t range[PLAN_PARTS_MAX];
	uint32_t turn;                                   /* which of its cells is next */
	uint32_t refusals[PLAN_PARTS_MAX][METER_LIMITS]; /* 1 + their places; 0: none yet */
	int64_t due[ATTEMPTS][RING]; /* by attempts made before, and second */
};

/* What a limit has refused of a flow since the hour began, or requests were dealt. */
struct refusal {
	size_t flow, demand;
	enum meter_limit limit;
	uint64_t n;
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
	bool is_cut;                      /* refusals went to the rows of keys meanwhile */
	size_t refusal_count, refusal_room;
	uint64_t *refusals;
	struct model_pattern *patterns;
	struct minute_side *sides; /* of all parts, in their order */
};

/* What one side of a table or index had when the day began. */
struct day_side {
	int64_t rate, whole, most; /* of the buckets; what was left */
	size_t ranges;
	int64_t consumed;
	uint64_t throttled;
	double unit_hours;
};

struct day_row {
	uint64_t throttled;
	size_t n; /* hours */
};

/* All that a day changes, as it was when the day began. */
struct day {
	uint64_t throttled, failed;
	int64_t due;
	size_t n, room;
	struct day_row *rows;
	struct model_pattern *patterns;
	struct day_side *sides;
	double *gigabyte_days;
};

/* One table with its patterns. */
struct running {
	struct arena *arena, *scratch; /* scratch: ends with the run */
	const struct plan *plan;
	const struct plan_table *table;
	struct model_outcome *out;
	struct model_part *out_parts;
	struct running_part *parts;
	struct spread **spreads; /* by pattern and demand */
	int64_t *rates;          /* by pattern, of this hour: billionths a second of a cell */
	uint16_t *cells;         /* CELLS by pattern: those of its flows, one after the other */
	size_t n, room;
	struct flow *flows;
	size_t refusal_count, refusal_room;
	struct refusal *refusals;
	int64_t second, hour;
	int64_t due;   /* retries that are to come */
	bool is_roomy; /* nothing of this second could be refused */
	struct minute began;
	struct day day;
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

/* Whether a bucket is as full as it was: nearly empty both times, or a tenth of a second off. */
bool model_minute_is_level(const struct bucket *bucket, int64_t before);

/* Whether the same is asked every day, of the same keys. */
bool model_days_are_alike(const struct plan *plan);

/* Notes all that the day which begins may change. */
void model_day_begin(struct running *run);

/* Whether the day that is over left rates, buckets and partitions as they were. Then the next day
 * goes as it went. */
bool model_day_ends_as_it_began(const struct running *run);

/* So many days like the one that is over: all but what clients want in them. */
void model_day_repeat(struct running *run, int64_t days);

#endif
