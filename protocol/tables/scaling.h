/*
 * scaling - auto scaling of replicas: UpdateTableReplicaAutoScaling keeps what it is given, and
 * both operations show it. Nothing scales.
 *
 * AWS: write capacity scales alike in all replicas, read capacity in each of its own.
 * DDB-TABLE-189, 190, 194, 232, 238, 253, 255.
 */
#ifndef DYNALITH_PROTOCOL_SCALING_H
#define DYNALITH_PROTOCOL_SCALING_H

#include "protocol/tables/replicas.h"

/* {"TableAutoScalingDescription": {...}}: the whole answer, of these replicas, the table among
 * them. */
void scaling_describe(struct call *call, const struct table *table, struct table *const *replicas,
		      size_t n);

/* Checks an update of a dimension of a table or (`index` set) an index that has `known` (NULL:
 * never configured). */
enum code scaling_check(struct call *call, const struct table *table, const struct scaling *known,
			bool is_write, const struct auto_scaling_settings_update *update,
			struct err *err) WARN_UNUSED;

/* What the table has of a dimension; NULL: nothing. */
struct scaling *scaling_find(const struct table *table, struct str index, bool is_write);

/* Makes a checked update. */
void scaling_apply(struct table *table, struct str index, bool is_write,
		   const struct auto_scaling_settings_update *update);

/* Forgets what is of reads. */
void scaling_keep_writes(struct table *table);

#endif
