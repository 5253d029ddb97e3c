/*
 * plan - from a SELECT's condition to the ranges of keys that it reads; not for others.
 *
 * A condition that fixes the partition key in each of its alternatives reads these partitions only,
 * narrowed by its conditions on the sort key. Any other condition reads the whole keyspace.
 * Conditions that the ranges do not cover become a filter on the rows.
 */
#ifndef DYNALITH_PROTOCOL_PARTIQL_PLAN_H
#define DYNALITH_PROTOCOL_PARTIQL_PLAN_H

#include "protocol/partiql/partiql.h"

/* Takes the list apart that AND makes of a condition; NULL is none. Returns their number. */
size_t partiql_conjuncts(struct arena *arena, const struct node *condition,
			 const struct node ***out);

/* The value that a conjunct "name = value" or "name IN (value)" gives to the attribute, or NULL
 * where it is something else. */
const struct value *partiql_equality(const struct node *node, struct str name);

struct partiql_range {
	const struct value *partition;  /* its partition key; NULL: a Scan */
	struct key_condition keys;
};

struct partiql_plan {
	struct table *table;
	const struct index *index;
	size_t n;                       /* 0: there is nothing that could match */
	struct partiql_range *ranges;   /* in the order in which they are read; disjoint */
	bool is_keyed;                  /* false: one range, a Scan */
	bool is_reverse;                /* within each range */
	const struct node *filter;      /* or NULL */
};

/* Looks the table up and plans. ERR_VALIDATION: index, key types and sizes, overlapping ranges,
 * terms of ORDER BY that are no keys. */
enum code partiql_plan_select(struct call *call, const struct partiql_statement *statement,
			      struct partiql_plan *out, struct err *err) WARN_UNUSED;

#endif
