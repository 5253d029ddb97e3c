/*
 * legacy - the parameters older than expressions, lowered to the same trees.
 *
 * Expected, QueryFilter, ScanFilter and KeyConditions become conditions, AttributeUpdates an
 * update, AttributesToGet a projection. The evaluator does not know where they came from. AWS:
 * Developer Guide, "Legacy conditional parameters".
 *
 * Each returns OK with *out NULL where the parameter is not given or empty, and ERR_VALIDATION for
 * wrong counts and types of arguments.
 */
#ifndef DYNALITH_PROTOCOL_LEGACY_H
#define DYNALITH_PROTOCOL_LEGACY_H

#include "core/expr.h"
#include "protocol/wire/shapes.h"

/* `conditional_operator` is a CONDITIONAL_OPERATOR constant, 0 where not given. */
enum code legacy_expected(struct arena *arena, const struct expected_attribute_map *expected,
			  int conditional_operator, const struct node **out,
			  struct err *err) WARN_UNUSED;
enum code legacy_filter(struct arena *arena, const struct filter_condition_map *filter,
			int conditional_operator, const struct node **out,
			struct err *err) WARN_UNUSED;

/* Whether ConditionalOperator, as given, joins so many conditions. */
enum code legacy_operator(int conditional_operator, size_t conditions, struct err *err) WARN_UNUSED;

enum code legacy_key_conditions(struct arena *arena, const struct key_conditions *conditions,
				const struct node **out, struct err *err) WARN_UNUSED;

enum code legacy_updates(struct arena *arena, const struct attribute_updates *updates,
			 struct update **out, struct err *err) WARN_UNUSED;

enum code legacy_projection(struct arena *arena, const struct attribute_name_list *names,
			    struct projection **out, struct err *err) WARN_UNUSED;

/* Rewords an operand's type error of an update that came from AttributeUpdates. Returns err->code.
 */
enum code legacy_update_error(struct err *err);

#endif
