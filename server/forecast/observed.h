/*
 * observed - requests that were seen, counted by pattern, as a plan: what recorded.h counts of a
 * recording and seen.h reads of insight's JSON.
 */
#ifndef DYNALITH_SERVER_FORECAST_OBSERVED_H
#define DYNALITH_SERVER_FORECAST_OBSERVED_H

#include "server/forecast/plan.h"

/* A table or index that requests of a pattern consume of. */
struct observed_demand {
	struct str index; /* empty: the table */
	double units;     /* the sum */
};

struct observed_pattern {
	struct str name, table, index; /* index: of a read; empty: of the table */
	struct str group;              /* its keys are counted with those of its group's others */
	bool is_write, is_strong, is_transaction;
	double requests, counted; /* counted: those whose units are known */
	double hours[PLAN_HOURS]; /* requests, by the hour of the day */
	size_t n;
	struct observed_demand demands[PLAN_PARTS_MAX];
};

struct observed_key {
	struct str name;
	double units;
};

/* All that a group of patterns consumed of a table or index, and its busiest keys. */
struct observed_part {
	struct str group, table, index;
	double units;
	size_t n;
	struct observed_key *keys;
};

struct observed {
	struct arena *arena;
	struct plan *plan; /* its tables are known already; it gets notes */
	struct str keys;   /* the value of "keys" for all; absent: the busiest keys' shares */
	double seconds;    /* that requests were seen for */
	double hours[PLAN_HOURS]; /* the same by the hour of the day; all 0: one rate */
	size_t pattern_count, part_count;
	struct observed_pattern *patterns;
	struct observed_part *parts;
};

/* The pattern like `wanted`, by all that names it; added where there is none. */
struct observed_pattern *observed_pattern_for(struct observed *observed,
					      const struct observed_pattern *wanted);
struct observed_part *observed_part_for(struct observed *observed, struct str group,
					struct str table, struct str index);
/* Adds units of a request, to the pattern and to the part. */
void observed_add_units(struct observed *observed, struct observed_pattern *pattern,
			struct str index, double units);

/* The time that requests were seen for. A day or more: by the hour of the day, in UTC. */
void observed_cover(struct observed *observed, int64_t from_ms, int64_t to_ms);
/* Adds the amount to the hours of the day that the time covers, evenly. */
void observed_spread(double hours[PLAN_HOURS], int64_t from_ms, int64_t to_ms, double amount);

/* The plan as JSON, in the form of docs/forecast.md. `tables`: the members of its list. */
struct str observed_plan(struct observed *observed, struct str tables);

#endif
