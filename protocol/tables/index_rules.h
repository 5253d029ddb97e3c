/*
 * index_rules - UpdateTable's changes of global indexes: which are allowed, when, and the schema
 * that they make.
 *
 * AWS: Developer Guide, "Managing Global Secondary Indexes"; the texts are the service's own.
 */
#ifndef DYNALITH_PROTOCOL_INDEX_RULES_H
#define DYNALITH_PROTOCOL_INDEX_RULES_H

#include "protocol/tables/settings.h"
#include "protocol/wire/shapes.h"

/* Checks the request alone: one action per entry, one entry per index, at least one change.
 * concerns.h checks combinations. */
enum code index_rules_request(const struct update_table_input *input, struct err *err) WARN_UNUSED;

/* The table as it is: one index is created or deleted at a time; ERR_LIMIT_EXCEEDED,
 * ERR_RESOURCE_IN_USE, ERR_RESOURCE_NOT_FOUND. */
enum code index_rules_state(const struct table *table, const struct update_table_input *input,
			    struct err *err) WARN_UNUSED;

/* A table whose status is UPDATING: ERR_RESOURCE_IN_USE, but for what may be changed beside the
 * creation or deletion of an index. */
enum code index_rules_while_updating(const struct table *table,
				     const struct update_table_input *input,
				     struct err *err) WARN_UNUSED;

/*
 * Changes the schema: new indexes are CREATING, those to be deleted DELETING, others UPDATING. On a
 * table whose billing mode becomes PROVISIONED every index must be given its units.
 */
enum code index_rules_apply(struct table *table, const struct update_table_input *input,
			    bool becomes_provisioned, int64_t now_ms, struct err *err) WARN_UNUSED;

#endif
