/*
 * key_condition - from a key condition's AST and a key schema to one range of row keys.
 */
#ifndef DYNALITH_STORAGE_KEY_CONDITION_H
#define DYNALITH_STORAGE_KEY_CONDITION_H

#include "core/err.h"
#include "core/expr.h"
#include "storage/schema.h"
#include "storage/store.h"

struct key_condition {
	struct str partition;       /* hash and encoded partition key elements */
	struct store_range range;   /* is_reverse not set */
};

/*
 * Partition key attributes by equality, sort key attributes left to right, only the last with a range (<, <=, >, >=, BETWEEN,
 * begins_with). ERR_VALIDATION with AWS's texts ("Query condition missed key schema element: ..", "Query key condition not supported",
 * type mismatch, empty values, conditions on other attributes, too many conditions on one attribute).
 * `is_legacy` picks the wording of KeyConditions.
 */
enum code key_condition_resolve(struct arena *arena, const struct key_schema *keys, const struct node *condition, bool is_legacy,
				struct key_condition *out, struct err *err) WARN_UNUSED;

#endif
