/*
 * meter - what a table and its global indexes may consume, and have consumed: for each of them
 * reads and writes apart, and in each of these the buckets of the whole and of its partition key
 * ranges.
 *
 *   the whole   provisioned: the units of its ProvisionedThroughput, with what was not used for
 *               some seconds. On demand: twice its peak (bucket.h), its warm throughput at least,
 *               an account's quota at most; and a second bucket where it has a maximum of its own.
 *   a range     3,000 read and 1,000 write units a second, whatever the whole has; without adaptive
 *               capacity also no more than its equal share of it.
 *
 * A table has as many ranges as its warm throughput needs, or on demand its peak; each is an equal
 * part of the hashes of partition keys. They do not grow with the data. With adaptive capacity one
 * that stays hot is split (heat.h), and ranges are never merged. AWS: Developer Guide, "Designing
 * partition keys to distribute your workload", "DynamoDB burst and adaptive capacity".
 *
 * Callers see to it that one thread at a time uses a meter.
 */
#ifndef DYNALITH_PROTOCOL_METER_H
#define DYNALITH_PROTOCOL_METER_H

#include "protocol/throughput/bucket.h"
#include "protocol/throughput/follow.h"
#include "protocol/throughput/heat.h"
#include "storage/schema/schema.h"

enum meter_side { METER_READ, METER_WRITE, METER_SIDES };

/* By which limit a request is refused. */
enum meter_limit {
	METER_PROVISIONED,
	METER_KEY_RANGE,
	METER_ON_DEMAND_MAX,
	METER_ACCOUNT,
	METER_LIMITS,
	METER_NONE = METER_LIMITS
};

/* How limits are kept. */
struct meter_rules {
	int64_t burst_seconds; /* of unused capacity that is kept */
	bool is_adaptive;
	int64_t servers;       /* that share the throughput: each gives a part of it */
};

/* What a table or an index may consume, in units per second. */
struct meter_grant {
	int64_t rate;              /* of the whole; on demand the least that it has */
	int64_t most;              /* on demand, a maximum of its own; 0: none */
	int64_t warm;              /* what its ranges are made for */
};

struct meter_grants {
	bool is_on_demand;
	struct meter_grant sides[METER_SIDES];
};

/* Reads or writes of a table or an index. */
struct meter_gauge {
	struct bucket whole, most; /* most: the maximum of its own on demand */
	bool has_most, is_on_demand, has_shares;
	struct peak peak;
	size_t range_count, equal_count; /* equal_count: those that were not split off */
	struct meter_range *ranges;      /* of both sides the same; equal ones first */
	int64_t cost_factor;       /* tokens of the buckets for one of ours: see struct meter_rules,
				      servers */
	int64_t consumed;          /* tokens */
	int64_t minute, before; /* auto scaling: the minute under way, and `consumed` as it began */
	struct follow follow;
	uint64_t throttled[METER_LIMITS];
};

/* The table itself or an index. */
struct meter_part {
	int64_t number; /* the index's, or METER_TABLE */
	struct meter_gauge sides[METER_SIDES];
};

#define METER_TABLE (-1)

struct meter {
	uint64_t table;     /* its number, which is never used twice */
	struct str name;
	size_t part_count;
	struct meter_part **parts;
	uint64_t used;      /* rises with each use of any meter of the namespace */
};

struct meter *meter_new(const struct table *table);
void meter_free(struct meter *meter);

/* The part for the table (`index` NULL) or a global index, filled until now by the throughput that
 * the snapshot says. `is_new`: it was made for this call. */
struct meter_part *meter_part(struct meter *meter, const struct table *table,
			      const struct index *index, const struct meter_rules *rules,
			      int64_t now_ms, bool *is_new);

/* The same by grants that the caller has, without a table. A part of zeros begins full. */
void meter_tune(struct meter_part *part, const struct meter_grants *grants,
		const struct meter_rules *rules, int64_t now_ms);

/* Auto scaling of a part's side by the minutes that are over since the last call, at most a day:
 * the units that it comes to from `rate` on. `servers`: see struct meter_rules. */
int64_t meter_follow(struct meter_gauge *gauge, const struct follow_rule *rule, int64_t rate,
		     int64_t servers, int64_t now_ms);

/* The part of that number; NULL: it was not used yet. */
struct meter_part *meter_find(const struct meter *meter, int64_t number);

/* Frees what the part holds, not the part. */
void meter_clear(struct meter_part *part);

/* The hash of a row key's partition key, and the range that has it. */
uint32_t meter_place_of(struct str row_key);
size_t meter_range_of(const struct meter_gauge *gauge, uint32_t place);

/* What refuses a request of that range, or METER_NONE. */
enum meter_limit meter_refuses(const struct meter_gauge *gauge, size_t range);

/* By which limit a request is refused when the bucket of the whole is empty. */
enum meter_limit meter_whole_limit(const struct meter_gauge *gauge);

/* A range's own bucket, until ranges change. */
const struct bucket *meter_range_bucket(const struct meter_gauge *gauge, size_t range);

void meter_take(struct meter_gauge *gauge, size_t range, uint32_t place, int64_t tokens,
		int64_t now_ms);

/* Takes the tokens of some seconds from now on, as many in each: the peak is a second's. */
void meter_take_steadily(struct meter_gauge *gauge, size_t range, uint32_t place, int64_t tokens,
			 int64_t seconds, int64_t now_ms);

void meter_give_back(struct meter_gauge *gauge, size_t range, int64_t tokens);

/* Leaves so many units in the bucket of the whole; not more than it holds. */
void meter_leave(struct meter_gauge *gauge, int64_t units);

#endif
