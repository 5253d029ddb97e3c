/*
 * table_rules - from CreateTable's and UpdateTable's parameters to the schema, with their many
 * rules.
 *
 * Each function checks one part and fills the table with it; strings are copied into the table's
 * arena.
 *
 * The shelf protocol/tables/ holds what the operations on tables share: rules for their parameters,
 * descriptions, ARNs, tags, policies and other settings.
 */
#ifndef DYNALITH_PROTOCOL_TABLE_RULES_H
#define DYNALITH_PROTOCOL_TABLE_RULES_H

#include "protocol/tables/settings.h"
#include "protocol/wire/shapes.h"

/* Whether settings of the table can be changed: not while it is being created or deleted. */
enum code table_rules_changeable(const struct table *table, struct err *err) WARN_UNUSED;

/* Everything of a CreateTable but the name's existence. The table has its account and region. */
enum code table_rules_create(const struct create_table_input *input, struct table *table,
			     struct err *err) WARN_UNUSED;

/* The attributes as a map to values of their types, which have no content: for looking many of them
 * up. */
struct value table_rules_types(struct arena *arena,
			       const struct attribute_definitions *definitions);

/* Adds attribute definitions that the table does not have yet. */
enum code table_rules_define(struct table *table, const struct attribute_definitions *definitions,
			     struct err *err) WARN_UNUSED;

/* Checks and appends a global index; its number is not set. */
enum code table_rules_add_global(struct table *table, const struct global_secondary_index *input,
				 struct err *err) WARN_UNUSED;

/*
 * The same for a vector index. What its SearchSchema names must stand in the request's own
 * `definitions`, even where the table has it already: so AWS does.
 */
enum code table_rules_add_vector(struct table *table, const struct vector_index *input,
				 const struct attribute_definitions *definitions,
				 struct err *err) WARN_UNUSED;

/* No key of a new global index is the attribute of a vector index. */
enum code table_rules_not_vector_key(const struct table *table, const struct index *index,
				     struct err *err) WARN_UNUSED;

/* "created", "updated" or "deleted": what a table of that transient status is being. */
const char *table_rules_doing(enum table_status status);

/* Drops definitions that no key uses. */
void table_rules_prune(struct table *table);

/* A stream specification beside what the table has; `now_ms` makes the label, and a new stream has
 * `shards` open ones (struct stream). */
enum code table_rules_stream(struct table *table, const struct stream_specification *input,
			     uint32_t shards, int64_t now_ms, struct err *err) WARN_UNUSED;

/* TableClass, which AWS checks after the other parameters. */
enum code table_rules_class(struct str name, struct err *err) WARN_UNUSED;

#endif
