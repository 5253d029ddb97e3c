/*
 * model_internal - what the parts of the model share: its hours, flows and rows (model.c), its
 * seconds and leaps (model_second.c), and its days, which are repeated where they are alike
 * (model_days.c).
 */
#ifndef DYNALITH_SERVER_FORECAST_MODEL_INTERNAL_H
#define DYNALITH_SERVER_FORECAST_MODEL_INTERNAL_H

#include "protocol/throughput/follow.h"
#include "server/forecast/model.h"
#include "server/forecast/spread.h"

#define SECOND_MS 1000
#define MINUTE_SECONDS 60
#define HOUR_SECONDS 3600
#define ATTEMPTS 10
#define START_MS 1767225600000 /* any midnight: buckets count from it */

/* Cells of a pattern whose keys lie in the same ranges: limits treat them alike. */
struct flow {
	size_t pattern;
	size_t first, weight; /* its cells: struct running, cells */
	size_t placed;        /* of them, while they are dealt */
	size_t link;          /* its first one; it has one for each demand of its pattern */
	bool is_stopped;      /* in the second: a limit was used up */
	double fresh;         /* requests that come in the second */
	double all;           /* with retries */
	double until;         /* admitted in this part of the second, from 0 to 1 */
	/* stopped: the limit that refuses since a part of the second */
	double since;
	size_t blamed_link;
	size_t blamed_kind; /* of its limiters */
};

/* What a request of a flow takes, and of which range. */
struct flow_link {
	size_t flow;
	size_t gauge; /* struct running, gauges */
	size_t range; /* struct running, limiters */
	double tokens;
};

/* One limit: of a range, of a whole, or a maximum on demand. Amounts are tokens of a second. */
struct limiter {
	const struct bucket *bucket; /* NULL: there is none */
	enum meter_limit limit;
	size_t first, n; /* links that take of it: struct running, by_range */
	double room;     /* what it can give in the second */
	bool is_one_key; /* a range whose requests have one key: it is never split */
	double want;     /* what all attempts would take */
	double taken;    /* what those that are admitted take */
	double rest;     /* a range's: less than a token, not taken yet */
	/* where something is used up: taken until a part of the second, and what goes on */
	double spent, at, flows;
	bool is_short, is_used_up;
};

enum { LIMIT_MOST, LIMIT_WHOLE, LIMIT_RANGE, LIMIT_KINDS };

/* A side of a table or an index. */
struct running_gauge {
	struct meter_gauge *meter;
	size_t first; /* of its limiters: LIMIT_MOST, LIMIT_WHOLE, and its ranges */
	size_t ranges;
};

/* What a second refuses of a link by a limit. */
struct blame {
	size_t link;
	enum meter_limit limit;
	double n;
};

/* Attempts of a pattern. */
struct model_tally {
	double throttled, failed, waited_s;
};

/* A table or an index while time runs. */
struct running_part {
	struct meter_part meter;
	struct meter_grants grants;
	struct follow scaling[METER_SIDES];
	int64_t consumed[METER_SIDES]; /* tokens, until the minute began */
	int64_t hour_rate[METER_SIDES];
	size_t range_count[METER_SIDES];
	const struct meter_range *ranges[METER_SIDES]; /* of its meters, as flows were dealt */
	double gigabytes;
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
	bool has_due;
	size_t n, room;
	struct day_row *rows;
	struct model_pattern *patterns;
	struct day_side *sides;
	double *gigabyte_days;
};

/* The flows, and what they take of: made whenever ranges or keys change. */
struct dealt {
	struct arena *arena; /* all is in it */
	size_t n, links, limiters;
	struct flow *flow;
	struct flow_link *link;
	struct running_gauge *gauge; /* by part and side */
	struct limiter *limiter;
	size_t *by_range; /* links in the order of their ranges */
	/* Retries by attempts made before, of each flow: those that came in the second, and those
	 * that are due, of as many ticks as the delay. */
	double *came[ATTEMPTS], *due[ATTEMPTS];
	double (*refused)[METER_LIMITS]; /* by link, until they go to the rows of keys */
	size_t *flow_of;                 /* by pattern and cell */
	uint16_t *cells;                 /* by pattern: those of its flows, one after the other */
	size_t blames;
	struct blame *blame; /* of the second */
	size_t candidates;
	size_t *candidate; /* limiters that may be used up in the second */
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
	uint32_t ***rows;        /* by pattern, demand and limit: 1 + rows of keys; or none yet */
	double *rates;           /* by pattern, of this hour: requests a second of a cell */
	double *rests;           /* by pattern: throttled attempts that are in no row yet */
	struct model_tally *tallies, *second_tallies; /* by pattern: in all, and of the second */
	double growth;                                /* of the day */
	struct dealt dealt;
	struct arena *spare;
	int64_t second, hour;
	int64_t tick;      /* seconds that were run singly: what is leaped over has no ticks */
	int64_t due_until; /* the last tick to which a retry may come */
	int attempts;      /* the most that a pattern has */
	bool has_scaling;
	struct day day;
};

/* Whether retries are to come after the second that was run. */
bool model_second_has_due(const struct running *run);

/* Runs a second. Buckets are filled until it begins. */
void model_second_run(struct running *run);

/* Leaps over the seconds that will go as the one that was run, until the hour ends at most, and
 * ends the minutes that are over. */
void model_second_leap(struct running *run);

/* Auto scaling by the minute that is over. Returns whether a rate changes. */
bool model_second_end_minute(struct running *run);

/* Seconds until a request of so many attempts is sent once more. */
int model_second_delay(int attempts);

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
