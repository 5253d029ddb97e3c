/*
 * restore_rules - the table that a restore makes: what it takes over from its source, and the
 * overrides.
 *
 * AWS: a restore keeps keys, indexes, billing, units, on-demand maxima and encryption; not streams,
 * time to live, recovery, tags, policies, deletion protection, table class (DDB-TABLE-215).
 * DDB-TABLE-273, 276, 279, 280, 405: the rules of overrides.
 */
#ifndef DYNALITH_PROTOCOL_RESTORE_RULES_H
#define DYNALITH_PROTOCOL_RESTORE_RULES_H

#include "protocol/tables/backup_rules.h"
#include "protocol/wire/shapes.h"

/* The overrides of either operation. A list whose v is NULL was not given; an empty one drops all
 * indexes. */
struct restore_overrides {
	int billing;
	struct global_secondary_index_list globals;
	struct local_secondary_index_list locals;
	struct vector_index_list vectors;
	const struct provisioned_throughput *units;
	const struct on_demand_throughput *maxima;
	const struct sse_specification *sse;
};

#define RESTORE_OVERRIDES(input)                                                                   \
	{                                                                                          \
		(input)->billing_mode_override, (input)->global_secondary_index_override,          \
			(input)->local_secondary_index_override, (input)->vector_index_override,   \
			(input)->provisioned_throughput_override,                                  \
			(input)->on_demand_throughput_override,                                    \
			(input)->sse_specification_override                                        \
	}

/* The new table, for the caller to unref. ERR_VALIDATION as AWS words it. */
enum code restore_rules_table(struct call *call, const struct table *source, struct str name,
			      const struct restore_overrides *overrides, struct table **out,
			      struct err *err) WARN_UNUSED;

/* The name is free and there are fewer than 50 restores: ERR_TABLE_EXISTS, ERR_TABLE_IN_USE,
 * ERR_LIMIT_EXCEEDED. */
enum code restore_rules_target(struct call *call, struct str name, struct err *err) WARN_UNUSED;

/* Starts the restore and answers with the table. `source` is NULL for a backup. Takes over the
 * reference to `table`. */
enum code restore_rules_start(struct call *call, const struct table *source, struct table *table,
			      const struct restore *restore, struct err *err) WARN_UNUSED;

#endif
