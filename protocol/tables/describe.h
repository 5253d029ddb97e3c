/*
 * describe - a TableDescription, written once for every operation that answers with one.
 */
#ifndef DYNALITH_PROTOCOL_DESCRIBE_H
#define DYNALITH_PROTOCOL_DESCRIBE_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

/*
 * {"<name>": {...}}: the whole response. `status` is shown as the table's, and as its indexes'
 * where no transient status is under way. AWS: CreateTable's answer (CREATING) lacks a few members,
 * DeleteTable's (DELETING) most.
 */
enum code describe_table(struct call *call, struct str name, struct table *table,
			 enum table_status status, struct err *err) WARN_UNUSED;

/* "Projection": {...} */
void describe_projection(struct call *call, const struct index *index);
/* A vector index's own members: "SearchSchema", "VectorAttribute", "Dimensions",
 * "DistanceFunction". */
void describe_vector(struct json_out *out, const struct vector_spec *spec);

/* "KeySchema": [...] */
void describe_keys(struct json_out *out, const struct key_schema *keys);

#endif
