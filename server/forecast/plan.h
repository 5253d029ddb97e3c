/*
 * plan - what a forecast is made of: tables with their throughput, and patterns of requests with
 * their rates by the hour and their keys. A file has both; recordings and insight become one.
 *
 * docs/forecast.md describes the file.
 */
#ifndef DYNALITH_SERVER_FORECAST_PLAN_H
#define DYNALITH_SERVER_FORECAST_PLAN_H

#include "core/err.h"
#include "protocol/throughput/follow.h"
#include "protocol/throughput/meter.h"
#include "protocol/wire/json.h"

#define PLAN_HOURS 24
#define PLAN_DAYS_MAX 3660
#define PLAN_PARTS_MAX (1 + GLOBAL_INDEXES_MAX)

/* A table or a global index. */
struct plan_part {
	struct str name; /* an index's; empty: the table itself */
	int64_t rate[METER_SIDES], most[METER_SIDES], warm[METER_SIDES];
	struct follow_rule scaling[METER_SIDES];
	double gigabytes; /* on the first day */
};

struct plan_table {
	struct str name;
	bool is_on_demand, has_recovery, is_infrequent, has_kinesis;
	int64_t replicas; /* further regions that each write goes to */
	double backup_gigabytes, restore_gigabytes, export_gigabytes,
		import_gigabytes; /* a month */
	double stream_reads;      /* GetRecords per second that are billed */
	size_t n;
	struct plan_part parts[PLAN_PARTS_MAX]; /* the table first */
};

enum plan_spread { SPREAD_UNIFORM, SPREAD_ZIPF, SPREAD_HOT, SPREAD_TIME, SPREAD_VALUES };

/* How requests choose their partition keys. */
struct plan_keys {
	enum plan_spread spread;
	int64_t count;        /* of keys; of a hot set, those in it */
	double exponent;      /* of Zipf's law */
	double share;         /* of requests that go to the hot set */
	int64_t period_hours; /* of SPREAD_TIME: a new key as often */
	size_t n;             /* SPREAD_VALUES */
	struct str *names;
	double *shares; /* they may leave a rest, which is uniform */
};

/* What a request takes of a part, and where. */
struct plan_demand {
	size_t part;
	double units;
	struct plan_keys keys;
};

struct plan_pattern {
	struct str name;
	size_t table;
	enum meter_side side;
	bool is_strong, is_transaction; /* both are in the units already */
	int64_t bytes;                  /* of an item; 0: units were declared */
	size_t hours;                   /* of the list, which repeats */
	double *rates;                  /* requests per second, by the hour */
	int attempts;                   /* of the SDK for a request, the first one too */
	size_t n;
	struct plan_demand demands[PLAN_PARTS_MAX];
};

struct plan {
	size_t table_count, pattern_count;
	struct plan_table *tables;
	struct plan_pattern *patterns;
	struct str *notes; /* what a reader of the forecast must know; one line each */
	size_t note_count;
	/* of the command line */
	double scale, growth; /* growth of rates and sizes, a day: 0.03 */
	int64_t days;
	uint64_t seed;
	bool has_free_tier;
	bool is_thorough; /* each second is run, none leaped over: for tests */
};

/* Adds the tables of a text, whose patterns are left alone. */
enum code plan_read_tables(struct arena *arena, const char *path, const struct json *root,
			   struct plan *plan, struct err *err) WARN_UNUSED;
/* Adds the patterns. Their tables must be there. */
enum code plan_read_patterns(struct arena *arena, const char *path, const struct json *root,
			     struct plan *plan, struct err *err) WARN_UNUSED;

/* The place of a table; plan->table_count where there is none. */
size_t plan_table_at(const struct plan *plan, struct str name);

void plan_note(struct arena *arena, struct plan *plan, struct str line);

/* Read and write units of an item. AWS: Developer Guide, "DynamoDB read and write operations". */
double plan_units(enum meter_side side, int64_t bytes, bool is_strong, bool is_transaction);

#endif
