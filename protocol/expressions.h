/*
 * expressions - a request's expressions, and the legacy parameters that mean the same, parsed once.
 *
 * An operation describes what its input has in a struct expression_request; expressions_check()
 * judges which parameters stand together, expressions_parse() parses what is given. Later code sees
 * trees only, whichever way they were written.
 */
#ifndef DYNALITH_PROTOCOL_EXPRESSIONS_H
#define DYNALITH_PROTOCOL_EXPRESSIONS_H

#include "core/expr.h"
#include "protocol/handler.h"

#define EXPRESSION_LEGACY_MAX 4

/* A legacy parameter of the operation: its name, and whether the request has it (an empty one
 * counts). */
struct legacy_parameter {
	const char *name;
	bool is_given;
};

struct expression_request {
	/* The texts; absent where not given or not a parameter of the operation. */
	struct str update, projection, condition, filter, key_condition, search;
	/* What MSG_VALUES_WITHOUT_EXPRESSION says is null, with its verb: "ConditionExpression is".
	 */
	const char *valued; /* NULL: it does not say */
	bool is_write; /* of a single item */
	const struct expression_attribute_name_map *names; /* NULL: not a parameter */
	const struct value *values;                        /* NULL: not given */
	/* In the order that AWS lists them; the first without a name ends the list. */
	struct legacy_parameter legacy[EXPRESSION_LEGACY_MAX];
	/* ConditionalOperator as given, and how many conditions it joins: the newer layer looks at
	 * it before it looks at values. */
	int conditional_operator;
	size_t condition_count;
	/*
	 * A transaction's action: the errors of its own values, reported in place of the call's.
	 * Its names and values may come without any expression; then they are not checked. AWS:
	 * us-east-1 as recorded in October 2026.
	 */
	const struct action_err *action;
	/*
	 * SearchVectors, else NULL: judges its condition before unused names and values. These are
	 * judged where no expression uses them, too.
	 */
	enum code (*judge)(struct arena *arena, const struct node *search, struct err *err);
};

/* NULL where not given. */
struct expressions {
	struct update *update;
	size_t update_charge; /* update_charge of the text; 0 without one */
	struct projection *projection;
	const struct node *condition, *filter, *key_condition, *search;
};

/*
 * Whether the parameters may stand together: no legacy ones beside expressions; names and values
 * only with expressions, not empty, with well-formed placeholders; then whether the request's
 * attribute values are well-formed. ERR_VALIDATION.
 */
enum code expressions_check(struct call *call, const struct expression_request *request,
			    struct err *err) WARN_UNUSED;

/*
 * Parses every expression given, after expressions_check() found nothing, and then requires every
 * name and value to be used. In the order of DynamoDB Local: update, condition, filter, projection,
 * key condition; search. AWS: the newer layer reports an empty condition before all others.
 */
enum code expressions_parse(struct call *call, const struct expression_request *request,
			    struct expressions *out, struct err *err) WARN_UNUSED;

#endif
