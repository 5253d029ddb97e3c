/*
 * model - runs a plan in virtual time, second by second, through the meters that --throughput
 * enforce uses, and counts what they refuse.
 *
 * Tables share nothing: each runs by itself. A pattern's requests are dealt to CELLS cells of equal
 * weight. A cell has a key of the table and of each index; cells whose keys lie in the same ranges
 * are one flow, since limits are those of ranges or of the whole. So the work depends on ranges,
 * not on the rate. What a flow is refused is divided among its cells' keys.
 *
 * Requests are amounts, not one after the other: within a second those of all flows come evenly,
 * and a limit that is used up at a part of it refuses what comes after. A second after which the
 * next ones go alike is counted for these: while rates are the same, the same limits are used up,
 * as many retries come, and no other bucket runs empty; until the minute ends where rates follow
 * its consumption or a range may be split, else until the hour does. A day that ends as it began is
 * counted for all that follow, if these ask the same.
 *
 * Times are hours since the first day, 00:00. No randomness but the seed's: it places keys.
 */
#ifndef DYNALITH_SERVER_FORECAST_MODEL_H
#define DYNALITH_SERVER_FORECAST_MODEL_H

#include "server/forecast/plan.h"

struct model_hour {
	int64_t hour;
	uint64_t throttled;
};

/* What one limit has refused of one key. */
struct model_row {
	size_t table, part;
	enum meter_side side;
	enum meter_limit limit;
	struct str key;
	uint64_t throttled;
	size_t n;
	struct model_hour *hours; /* in their order */
};

/* A side of a table or an index. */
struct model_side {
	double units;      /* consumed */
	double unit_hours; /* provisioned: of each hour the highest rate */
	int64_t rate;      /* provisioned: at the end */
	double *demand;    /* units that clients wanted, by the hour, without retries */
	uint64_t throttled;
};

struct model_part {
	struct model_side sides[METER_SIDES];
	double gigabyte_days;
};

struct model_table {
	struct model_part *parts;
};

struct model_pattern {
	uint64_t requests, throttled; /* throttled: attempts of them */
	uint64_t failed;              /* requests whose last attempt was refused */
	double waited_s;              /* between attempts */
};

struct model_outcome {
	struct model_table *tables;
	struct model_pattern *patterns;
	size_t n;
	struct model_row *rows; /* the most throttled first */
	uint64_t throttled, failed, requests;
	int64_t hours;
};

/* In the arena. The same plan gives the same outcome. Of an arena that is over, it has the hours
 * until then, and nobody uses it. */
void model_run(struct arena *arena, const struct plan *plan, struct model_outcome *out);

/* "day 3, 09:00". */
struct str model_hour_name(struct arena *arena, int64_t hour);

#endif
