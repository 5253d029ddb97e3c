/*
 * throughput_settings - what a test has set for a namespace: whether its tables' throughput is
 * enforced, by which rules, and what their buckets begin with.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_SETTINGS_H
#define DYNALITH_PROTOCOL_THROUGHPUT_SETTINGS_H

#include "protocol/throughput/meter.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

#define THROUGHPUT_BURST_SECONDS                                                                   \
	300 /* AWS: Developer Guide, "DynamoDB burst and adaptive capacity" */
#define THROUGHPUT_SERVERS_MAX 1000

enum throughput_mode { THROUGHPUT_OFF, THROUGHPUT_ENFORCE };

/* What the buckets of a table or index begin with, in units; -1: they are full. */
struct throughput_left {
	struct str index; /* absent: the table itself */
	int64_t units[METER_SIDES];
};

struct throughput_scope {
	struct str table; /* absent: all tables of the namespace that have no scope of their own */
	enum throughput_mode mode;
	struct meter_rules rules;
	size_t left_count;
	struct throughput_left *left;
};

struct throughput_settings {
	struct arena *arena; /* its own */
	struct throughput_scope all;
	size_t n;
	struct throughput_scope *tables;
};

/* Of a namespace that has none of its own. */
struct throughput_settings throughput_settings_default(enum throughput_mode mode);

/*
 * {"throughput": "enforce" | "off", "burst_seconds": N, "adaptive": true | false, "servers": N,
 * "tables": {NAME: {...}}}. `mode` is the server's, for tables that the body does not name.
 * ERR_VALIDATION: anything else; then there is nothing to free.
 */
enum code throughput_settings_read(struct str body, enum throughput_mode mode,
				   struct throughput_settings *out, struct err *err) WARN_UNUSED;
void throughput_settings_free(struct throughput_settings *settings);

/* The scope of a table. */
const struct throughput_scope *throughput_settings_of(const struct throughput_settings *settings,
						      struct str table);

/* What the part begins with; NULL: full buckets. `index` absent: of the table itself. */
const struct throughput_left *throughput_settings_left(const struct throughput_scope *scope,
						       struct str index);

/* The members of a scope but "tables", into an open object. */
void throughput_settings_write(const struct throughput_scope *scope, struct json_out *out);

#endif
