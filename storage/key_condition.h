/*
 * key_condition - from a key condition's AST and a key schema to one range of row keys.
 */
#ifndef DYNALITH_STORAGE_KEY_CONDITION_H
#define DYNALITH_STORAGE_KEY_CONDITION_H

#include "core/err.h"
#include "core/expr.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

struct key_condition {
	struct str partition;       /* hash and encoded partition key elements */
	struct store_range range;   /* is_reverse not set */
	const struct node *condition; /* what it was resolved from */
};

/*
 * What a key condition's text alone shows, before any table is looked up: operators that no key
 * condition has, more than one condition on an attribute, paths into attributes. ERR_VALIDATION
 * with AWS's texts.
 */
enum code key_condition_check(const struct node *condition, struct err *err) WARN_UNUSED;

/*
 * For the keys of `index`, or of the table where it is NULL. Partition key attributes by equality,
 * sort key attributes left to right, only the last with a range (<, <=, >, >=, BETWEEN,
 * begins_with). ERR_VALIDATION with AWS's texts ("Query condition missed key schema element: ..",
 * "Query key condition not supported", type mismatch, empty and oversized values, conditions on
 * other attributes, too many conditions on one attribute).
 */
enum code key_condition_resolve(struct arena *arena, const struct table *table,
				const struct index *index, const struct node *condition,
				struct key_condition *out, struct err *err) WARN_UNUSED;

#endif
