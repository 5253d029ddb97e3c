/*
 * scaling - auto scaling of tables and their indexes: the targets and policies that the records of
 * tables have. UpdateTableReplicaAutoScaling and DescribeTableReplicaAutoScaling see them by
 * replica, Application Auto Scaling by resource (scaling_target.h).
 *
 * AWS: write capacity scales alike in all replicas, read capacity in each of its own.
 * DDB-TABLE-189, 190, 194, 195, 232, 238, 253, 255, 314, 317.
 */
#ifndef DYNALITH_PROTOCOL_SCALING_H
#define DYNALITH_PROTOCOL_SCALING_H

#include "protocol/tables/replicas.h"

/* AWS: what TargetValue may be, in percent; below the first it is no number for any metric. */
#define SCALING_VALUE_MIN 8.51592E-109
#define SCALING_TARGET_MIN 10
#define SCALING_TARGET_MAX 90

/* {"TableAutoScalingDescription": {...}}: the whole answer, of these replicas, the table among
 * them. */
void scaling_describe(struct call *call, const struct table *table, struct table *const *replicas,
		      size_t n);

/* Members of a policy's configuration, into an open object. */
void scaling_tracking_write(struct json_out *out, const struct scaling *scaling);

/* Sets a policy's configuration. */
void scaling_track(struct table *table, struct scaling *scaling, double target,
		   struct opt_bool is_in_disabled, struct opt_int in_cooldown,
		   struct opt_int out_cooldown);

/* A decimal as Java prints it, in the arena: "70.0". */
struct str scaling_number(struct arena *arena, double value);

/* Checks an update of a dimension of a table or (`index` set) an index that has `known` (NULL:
 * never configured). */
enum code scaling_check(struct call *call, const struct table *table, const struct scaling *known,
			bool is_write, const struct auto_scaling_settings_update *update,
			struct err *err) WARN_UNUSED;

/* What the table has of a dimension; NULL: nothing. */
struct scaling *scaling_find(const struct table *table, struct str index, bool is_write);

/* Whether it has a policy. Without one only its limits count. */
bool scaling_is_on(const struct scaling *scaling);

/* A new target without limits and policy. Pointers to the table's other ones are not valid after
 * that. */
struct scaling *scaling_add(struct table *table, struct str index, bool is_write, int64_t now_ms);
void scaling_remove(struct table *table, struct scaling *scaling);

/* The units of the table, or of a global index of that name; NULL: there is none. */
struct throughput *scaling_units(struct table *table, struct str index);

/* New units of a side, with a table that is billed by them. */
void scaling_set(struct table *table, struct str index, bool is_write, int64_t value,
		 int64_t now_ms);

/* Changes the provisioned units where they are outside of the target's limits. */
void scaling_fit(struct table *table, struct str index, bool is_write, const struct scaling *by,
		 int64_t now_ms);

/* Makes a checked update. */
void scaling_apply(struct table *table, struct str index, bool is_write,
		   const struct auto_scaling_settings_update *update, int64_t now_ms);

/* What a new index of a table with replicas gets for its writes. AWS: DDB-TABLE-322. */
void scaling_begin(struct table *table, struct str index, int64_t now_ms);

/* Forgets what is of reads. */
void scaling_keep_writes(struct table *table);

#endif
