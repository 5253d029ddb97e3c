#include "protocol/legacy.h"

#include "core/expr_messages.h"
#include "protocol/item_messages.h"

#define SCALARS (1u << TYPE_S | 1u << TYPE_N | 1u << TYPE_B)
#define ANY_TYPE (~0u)

/* What each ComparisonOperator takes. Indexed by its constant. */
static const struct comparison {
	const char *name;
	unsigned min, max; /* arguments */
	unsigned types;    /* bits of enum type that arguments may have */
	enum node_kind kind;
	bool is_range; /* whether it can select a range of keys */
} comparisons[comparison_operator_count] = {
	[COMPARISON_OPERATOR_EQ] = {"EQ", 1, 1, ANY_TYPE, NODE_EQ, true},
	[COMPARISON_OPERATOR_NE] = {"NE", 1, 1, ANY_TYPE, NODE_NE, false},
	[COMPARISON_OPERATOR_IN] = {"IN", 1, ~0u, SCALARS, NODE_IN, false},
	[COMPARISON_OPERATOR_LE] = {"LE", 1, 1, SCALARS, NODE_LE, true},
	[COMPARISON_OPERATOR_LT] = {"LT", 1, 1, SCALARS, NODE_LT, true},
	[COMPARISON_OPERATOR_GE] = {"GE", 1, 1, SCALARS, NODE_GE, true},
	[COMPARISON_OPERATOR_GT] = {"GT", 1, 1, SCALARS, NODE_GT, true},
	[COMPARISON_OPERATOR_BETWEEN] = {"BETWEEN", 2, 2, SCALARS, NODE_BETWEEN, true},
	[COMPARISON_OPERATOR_NOT_NULL] = {"NOT_NULL", 0, 0, 0, NODE_ATTRIBUTE_EXISTS, false},
	[COMPARISON_OPERATOR_NULL] = {"NULL", 0, 0, 0, NODE_ATTRIBUTE_NOT_EXISTS, false},
	[COMPARISON_OPERATOR_CONTAINS] = {"CONTAINS", 1, 1,
					  SCALARS | 1u << TYPE_NULL | 1u << TYPE_BOOL,
					  NODE_CONTAINS, false},
	[COMPARISON_OPERATOR_NOT_CONTAINS] = {"NOT_CONTAINS", 1, 1,
					      SCALARS | 1u << TYPE_NULL | 1u << TYPE_BOOL, NODE_NOT,
					      false},
	[COMPARISON_OPERATOR_BEGINS_WITH] = {"BEGINS_WITH", 1, 1, 1u << TYPE_S | 1u << TYPE_B,
					     NODE_BEGINS_WITH, true},
};

static const struct node *name_node(struct arena *arena, struct str name)
{
	return node_path(arena, path_of_name(arena, name));
}

static const struct node *unary(struct arena *arena, enum node_kind kind, const struct node *arg)
{
	return node_new(arena, kind, 1, &arg);
}

static const struct node *binary(struct arena *arena, enum node_kind kind, const struct node *a,
				 const struct node *b)
{
	return node_new(arena, kind, 2, (const struct node *const[]){a, b});
}

static enum code check_arguments(const struct comparison *comparison, const struct value *values,
				 size_t n, struct err *err)
{
	if (n < comparison->min || n > comparison->max)
		return err_set(err, MSG_COMPARISON_COUNT, comparison->name);
	/* AWS: IN names the first of its values that has a wrong type; the others check their first
	 * value only */
	for (size_t i = 0; i < (comparison->kind == NODE_IN ? n : n > 0); i++)
		if (!(comparison->types & 1u << values[i].type))
			return err_set(err, MSG_COMPARISON_TYPE, comparison->name,
				       type_name((enum type)values[i].type));
	for (size_t i = 1; i < n; i++)
		if (values[i].type != values[0].type)
			return err_set(err, MSG_COMPARISON_TYPES_DIFFER);
	if (comparison->kind == NODE_BETWEEN && value_compare(&values[0], &values[1]) > 0)
		return err_set(err, MSG_COMPARISON_BETWEEN_ORDER);
	return OK;
}

/* IN of as many values as a request has room for, for every row of a page: a set of them that is
 * searched by halving. */
static const struct node *in_many(struct arena *arena, const struct node *path,
				  const struct value *values, size_t n)
{
	enum type type = values[0].type == TYPE_S   ? TYPE_SS
			 : values[0].type == TYPE_N ? TYPE_NS
						    : TYPE_BS;
	struct value *elements = ARENA_ARRAY(arena, struct value, n);

	memcpy(elements, values, n * sizeof(*elements));
	(void)value_sort_set(elements, n, NULL); /* a value that stands there twice does no harm */
	return binary(arena, NODE_CONTAINS,
		      node_value(arena, (struct value){.type = (uint8_t)type,
						       .n = (uint32_t)n,
						       .elements = elements}),
		      path);
}

static enum code comparison_node(struct arena *arena, struct str name, int op,
				 const struct value *values, size_t n, const struct node **out,
				 struct err *err)
{
	const struct comparison *comparison = &comparisons[op];
	const struct node *path = name_node(arena, name);
	enum code code = check_arguments(comparison, values, n, err);

	if (code != OK)
		return code;
	if (comparison->kind == NODE_NOT) {
		/* AWS: an absent attribute is not "not containing": NOT_CONTAINS is false for it
		 * (tests/unit/protocol/test_legacy.c). */
		const struct node *contains =
			binary(arena, NODE_CONTAINS, path, node_value(arena, values[0]));

		*out = binary(arena, NODE_AND, unary(arena, NODE_ATTRIBUTE_EXISTS, path),
			      unary(arena, NODE_NOT, contains));
		return OK;
	}
	if (comparison->kind == NODE_IN && n > EXPR_IN_MAX) {
		*out = in_many(arena, path, values, n);
		return OK;
	}
	const struct node **args = ARENA_ARRAY(arena, const struct node *, n + 1);

	args[0] = path;
	for (size_t i = 0; i < n && !arena_is_over(arena); i++)
		args[i + 1] = node_value(arena, values[i]);
	code = err_if_over(arena, err);
	return RESULT(code, out, node_new(arena, comparison->kind, (unsigned)n + 1, args));
}

/* A balanced tree, so that many conditions do not make a deep recursion. */
static const struct node *join_balanced(struct arena *arena, enum node_kind kind,
					const struct node *const *nodes, size_t n)
{
	if (n == 0)
		return NULL;
	if (n == 1)
		return nodes[0];
	return binary(arena, kind, join_balanced(arena, kind, nodes, n / 2),
		      join_balanced(arena, kind, nodes + n / 2, n - n / 2));
}

enum code legacy_operator(int conditional_operator, size_t conditions, struct err *err)
{
	if (!conditional_operator ||
	    (conditions > 1 && conditional_operator < conditional_operator_count))
		return OK;
	if (conditions == 0)
		return err_set(err, MSG_OPERATOR_WITHOUT_CONDITIONS);
	if (conditions == 1)
		return err_set(err, MSG_OPERATOR_ONE_CONDITION);
	return err_set(err, MSG_OPERATOR_UNKNOWN);
}

static enum node_kind joint(int conditional_operator)
{
	return conditional_operator == CONDITIONAL_OPERATOR_OR ? NODE_OR : NODE_AND;
}

/* An entry without ComparisonOperator: Value and Exists. */
static enum code lower_exists(struct arena *arena, struct str name,
			      const struct expected_attribute_value *expected,
			      const struct node **out, struct err *err)
{
	bool has_value = value_is_set(&expected->value);
	bool exists = !expected->exists.is_set || expected->exists.value;

	if (expected->attribute_value_list.v)
		return err_set(err, MSG_EXPECTED_LIST_ALONE, STR_ARG(name));
	if (exists && !has_value)
		return err_set(err, MSG_EXPECTED_EXISTS_NO_VALUE,
			       expected->exists.is_set ? "true" : "null", STR_ARG(name));
	if (!exists && has_value)
		return err_set(err, MSG_EXPECTED_ABSENT_WITH_VALUE, STR_ARG(name));
	if (exists)
		*out = binary(arena, NODE_EQ, name_node(arena, name),
			      node_value(arena, expected->value));
	else
		*out = unary(arena, NODE_ATTRIBUTE_NOT_EXISTS, name_node(arena, name));
	return OK;
}

static enum code lower_expected(struct arena *arena, struct str name,
				const struct expected_attribute_value *expected,
				const struct node **out, struct err *err)
{
	const struct attribute_value_list *list = &expected->attribute_value_list;
	bool has_value = value_is_set(&expected->value);
	int op = expected->comparison_operator;

	if (name.n == 0)
		return err_set(err, MSG_LEGACY_EMPTY_NAME);
	if (op && expected->exists.is_set)
		return err_set(err, MSG_EXPECTED_EXISTS_AND_OPERATOR, STR_ARG(name));
	if (list->v && has_value)
		return err_set(err, MSG_EXPECTED_VALUE_AND_LIST, STR_ARG(name));
	if (!op)
		return lower_exists(arena, name, expected, out, err);
	if (op == comparison_operator_count)
		return err_set(err, MSG_COMPARISON_UNKNOWN);
	if (!list->v && !has_value && comparisons[op].min > 0)
		return err_set(err, MSG_EXPECTED_NO_VALUE, comparisons[op].name, STR_ARG(name));
	if (has_value)
		return comparison_node(arena, name, op, &expected->value, 1, out, err);
	return comparison_node(arena, name, op, list->v, list->n, out, err);
}

enum code legacy_expected(struct arena *arena, const struct expected_attribute_map *expected,
			  int conditional_operator, const struct node **out, struct err *err)
{
	const struct node **nodes = ARENA_ARRAY(arena, const struct node *, expected->n);
	enum code code = OK;

	for (size_t i = 0; i < expected->n; i++) {
		code = lower_expected(arena, expected->v[i].key, &expected->v[i].value, &nodes[i],
				      err);
		if (code != OK)
			return code;
		code = err_if_over(arena, err);
		if (code != OK)
			return code;
	}
	code = legacy_operator(conditional_operator, expected->n, err);
	return RESULT(code, out,
		      join_balanced(arena, joint(conditional_operator), nodes, expected->n));
}

static enum code lower_condition(struct arena *arena, struct str name,
				 const struct condition *condition, const struct node **out,
				 struct err *err)
{
	if (condition->comparison_operator == comparison_operator_count)
		return err_set(err, MSG_COMPARISON_UNKNOWN);
	return comparison_node(arena, name, condition->comparison_operator,
			       condition->attribute_value_list.v, condition->attribute_value_list.n,
			       out, err);
}

enum code legacy_filter(struct arena *arena, const struct filter_condition_map *filter,
			int conditional_operator, const struct node **out, struct err *err)
{
	const struct node **nodes = ARENA_ARRAY(arena, const struct node *, filter->n);
	enum code code = OK;

	for (size_t i = 0; i < filter->n; i++) {
		code = lower_condition(arena, filter->v[i].key, &filter->v[i].value, &nodes[i],
				       err);
		if (code != OK)
			return code;
		code = err_if_over(arena, err);
		if (code != OK)
			return code;
	}
	code = legacy_operator(conditional_operator, filter->n, err);
	return RESULT(code, out,
		      join_balanced(arena, joint(conditional_operator), nodes, filter->n));
}

enum code legacy_key_conditions(struct arena *arena, const struct key_conditions *conditions,
				const struct node **out, struct err *err)
{
	const struct node **nodes = ARENA_ARRAY(arena, const struct node *, conditions->n);
	enum code code = OK;

	if (conditions->v && conditions->n == 0)
		return err_set(err, MSG_KEY_CONDITIONS_EMPTY);
	for (size_t i = 0; i < conditions->n; i++) {
		if (conditions->v[i].key.n == 0)
			code = err_set(err, MSG_LEGACY_EMPTY_NAME);
		else
			code = lower_condition(arena, conditions->v[i].key, &conditions->v[i].value,
					       &nodes[i], err);
		if (code != OK)
			return code;
		code = err_if_over(arena, err);
		if (code != OK)
			return code;
		if (!comparisons[conditions->v[i].value.comparison_operator].is_range)
			return err_set(err, MSG_KEY_CONDITION_NOT_RANGE);
	}
	*out = join_balanced(arena, NODE_AND, nodes, conditions->n);
	return OK;
}

/* ADD of a list appends to it; expressions say that with SET and list_append. */
static void lower_append(struct arena *arena, const struct node *path, const struct value *value,
			 struct update_action *action)
{
	struct value empty = {.type = TYPE_L};
	const struct node *old = binary(arena, NODE_IF_NOT_EXISTS, path, node_value(arena, empty));

	action->verb = UPDATE_SET;
	action->operand = binary(arena, NODE_LIST_APPEND, old, node_value(arena, *value));
}

static enum code lower_update(struct arena *arena, struct str name,
			      const struct attribute_value_update *update,
			      struct update_action *action, struct err *err)
{
	enum type type = (enum type)update->value.type;

	if (name.n == 0)
		return err_set(err, MSG_LEGACY_EMPTY_NAME);
	if (type == TYPE_NONE && update->action != ATTRIBUTE_ACTION_DELETE)
		return err_set(err, MSG_UPDATES_NO_VALUE);
	action->path = path_of_name(arena, name);
	if (type == TYPE_NONE) {
		action->verb = UPDATE_REMOVE;
		return OK;
	}
	action->operand = node_value(arena, update->value);
	if (update->action == ATTRIBUTE_ACTION_DELETE) {
		action->verb = UPDATE_DELETE;
		return type_is_set(type)
			       ? OK
			       : err_set(err, MSG_UPDATES_DELETE_TYPE, type_long_name(type));
	}
	action->verb = update->action == ATTRIBUTE_ACTION_ADD ? UPDATE_ADD : UPDATE_SET;
	if (action->verb == UPDATE_SET)
		return OK;
	if (type == TYPE_L)
		lower_append(arena, node_path(arena, action->path), &update->value, action);
	else if (type != TYPE_N && !type_is_set(type))
		return err_set(err, MSG_UPDATES_ADD_TYPE, type_long_name(type));
	return OK;
}

enum code legacy_updates(struct arena *arena, const struct attribute_updates *updates,
			 struct update **out, struct err *err)
{
	struct update *update = updates->n > 0 ? ARENA_NEW(arena, struct update) : NULL;
	enum code code = OK;

	if (update)
		*update = (struct update){updates->n,
					  ARENA_ARRAY(arena, struct update_action, updates->n)};
	/* AWS: an unknown action precedes the other errors of all updates */
	for (size_t i = 0; i < updates->n && code == OK; i++)
		if (updates->v[i].value.action == attribute_action_count)
			code = err_set(err, MSG_UPDATES_ACTION);
	if (code != OK)
		return code;
	for (size_t i = 0; i < updates->n; i++) {
		code = lower_update(arena, updates->v[i].key, &updates->v[i].value,
				    &update->actions[i], err);
		if (code != OK)
			return code;
		code = err_if_over(arena, err);
		if (code != OK)
			return code;
	}
	*out = update;
	return OK;
}

/* Of one name or more. */
static enum code lower_names(struct arena *arena, const struct attribute_name_list *names,
			     struct projection *projection, struct err *err)
{
	struct member *sorted = ARENA_ARRAY(arena, struct member, names->n);
	struct str duplicate;

	projection->n = names->n;
	projection->paths = ARENA_ARRAY(arena, const struct path *, names->n);
	for (size_t i = 0; i < names->n; i++) {
		if (names->v[i].n == 0)
			return err_set(err, MSG_LEGACY_EMPTY_NAME);
		projection->paths[i] = path_of_name(arena, names->v[i]);
		sorted[i].name = names->v[i];
		if (arena_is_over(arena))
			return err_default(err, ERR_SERVICE_UNAVAILABLE);
	}
	if (!value_sort_members(sorted, names->n, &duplicate))
		return err_set(err, MSG_ATTRIBUTE_TWICE, STR_ARG(duplicate));
	projection_order(arena, projection);
	return OK;
}

enum code legacy_projection(struct arena *arena, const struct attribute_name_list *names,
			    struct projection **out, struct err *err)
{
	struct projection *projection = names->n > 0 ? ARENA_NEW(arena, struct projection) : NULL;
	enum code code = projection ? lower_names(arena, names, projection, err) : OK;

	return RESULT(code, out, projection);
}

enum code legacy_update_error(struct err *err)
{
	return err->code == ERR_OPERAND ? err_set(err, MSG_UPDATES_MISMATCH) : err->code;
}
