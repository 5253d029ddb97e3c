#include "protocol/partiql/messages.h"
#include "protocol/partiql/syntax.h"

static struct str position(struct pq_lowering *lowering, const struct pq_expr *expr)
{
	return partiql_position(lowering->arena, expr->at);
}

static struct str lower_case(struct arena *arena, struct str name)
{
	char *lower = arena_bytes(arena, name.n);

	for (size_t i = 0; i < name.n; i++)
		lower[i] =
			(char)(name.p[i] >= 'A' && name.p[i] <= 'Z' ? name.p[i] + 32 : name.p[i]);
	return (struct str){lower, name.n};
}

static enum code unknown_function(struct pq_lowering *lowering, const struct pq_expr *call)
{
	return err_set(lowering->err, MSG_PARTIQL_FUNCTION,
		       STR_ARG(lower_case(lowering->arena, call->text)),
		       STR_ARG(position(lowering, call)));
}

static const struct node *build(struct pq_lowering *lowering, enum node_kind kind, unsigned n,
				const struct node *const *args)
{
	const struct node *node = node_new(lowering->arena, kind, n, args);

	lowering->nodes = arena_room(lowering->arena, lowering->nodes, lowering->node_count,
				     sizeof(*lowering->nodes));
	lowering->nodes[lowering->node_count++] = node;
	return node;
}

static bool is_condition(const struct node *node)
{
	return node_info(node->kind)->use & USE_CONDITION;
}

enum code partiql_check_nodes(struct pq_lowering *lowering)
{
	unsigned operators = 0;

	for (size_t i = 0; i < lowering->node_count; i++) {
		const struct node *node = lowering->nodes[i];

		if ((node->kind == NODE_ADD || node->kind == NODE_SUBTRACT) && node->arg_count != 2)
			return err_set(lowering->err, MSG_PARTIQL_UNARY,
				       node->kind == NODE_ADD ? "+" : "-", node->arg_count);
		enum code code = expr_check_node(lowering->arena, node, lowering->err);

		if (code != OK)
			return code;
		if ((node_info(node->kind)->use & (USE_CONDITION | USE_OPERAND)) &&
		    ++operators > EXPR_OPERATORS_MAX)
			return err_set(lowering->err, MSG_PARTIQL_OPERATORS, operators);
	}
	lowering->node_count = 0;
	return OK;
}

static const struct node *negate(struct pq_lowering *lowering, bool is_negated,
				 const struct node *node)
{
	return is_negated ? build(lowering, NODE_NOT, 1, &node) : node;
}

static enum code unsupported_token(struct pq_lowering *lowering, const struct pq_expr *expr)
{
	struct str name = partiql_token_name(lowering->arena, expr);

	return err_set(lowering->err, MSG_PARTIQL_TOKEN, STR_ARG(name),
		       STR_ARG(position(lowering, expr)));
}

static enum code lower_operand(struct pq_lowering *lowering, const struct pq_expr *expr,
			       const struct node **out);

static enum code lower_call(struct pq_lowering *lowering, const struct pq_expr *expr,
			    const struct node **out)
{
	const struct node **args = ARENA_ARRAY(lowering->arena, const struct node *, expr->n);
	struct str name = lower_case(lowering->arena, expr->text);
	enum node_kind kind;

	for (unsigned i = 0; i < expr->n; i++)
		if (expr->args[i]->kind == PQ_EXPR_STATEMENT)
			return unsupported_token(lowering, expr->args[i]);
	if (!expr_function(name, &kind))
		return unknown_function(lowering, expr);
	if (node_info(kind)->use & USE_SET)
		return err_set(lowering->err, MSG_PARTIQL_FUNCTION_PLACE, "a condition",
			       STR_ARG(name));
	for (unsigned i = 0; i < expr->n; i++) {
		enum code code = lower_operand(lowering, expr->args[i], &args[i]);

		if (code != OK)
			return code;
	}
	*out = build(lowering, kind, expr->n, args);
	return OK;
}

static enum code lower_path_node(struct pq_lowering *lowering, const struct pq_expr *expr,
				 const struct node **out)
{
	const struct path *path;
	enum code code = partiql_lower_path(lowering, expr, &path);

	if (code != OK)
		return code;
	*out = node_path(lowering->arena, path);
	return OK;
}

static enum code lower_value_node(struct pq_lowering *lowering, const struct pq_expr *expr,
				  const struct node **out)
{
	struct value value;
	enum code code = partiql_lower_value(lowering, expr, &value);

	if (code != OK)
		return code;
	*out = node_value(lowering->arena, value);
	return OK;
}

/* An operand of a comparison or a function. */
static enum code lower_operand(struct pq_lowering *lowering, const struct pq_expr *expr,
			       const struct node **out)
{
	switch (expr->kind) {
	case PQ_EXPR_NAME:
	case PQ_EXPR_PATH:
		return lower_path_node(lowering, expr, out);
	case PQ_EXPR_CALL:
		return lower_call(lowering, expr, out);
	case PQ_EXPR_MISSING:
		return err_set(lowering->err, MSG_PARTIQL_MISSING);
	case PQ_EXPR_ARITHMETIC:
		return err_set(lowering->err, MSG_PARTIQL_CONDITION_OPERATOR, expr->operation);
	case PQ_EXPR_COMPARE:
	case PQ_EXPR_BETWEEN:
	case PQ_EXPR_IN:
	case PQ_EXPR_IS:
	case PQ_EXPR_LIKE:
	case PQ_EXPR_AND:
	case PQ_EXPR_OR:
	case PQ_EXPR_NOT:
		return partiql_lower_condition(lowering, expr, out);
	case PQ_EXPR_STATEMENT:
	case PQ_EXPR_CASE:
	case PQ_EXPR_CAST:
	case PQ_EXPR_AGGREGATE:
		return unsupported_token(lowering, expr);
	default:
		return lower_value_node(lowering, expr, out);
	}
}

static enum code lower_compare(struct pq_lowering *lowering, const struct pq_expr *expr,
			       const struct node **out)
{
	enum node_kind kind = expr_comparison(str_of(expr->operation));
	const struct node *args[2];

	for (unsigned k = 0; k < 2; k++) {
		enum code code = lower_operand(lowering, expr->args[k], &args[k]);

		if (code != OK)
			return code;
	}
	*out = build(lowering, kind, 2, args);
	return OK;
}

static enum code lower_between(struct pq_lowering *lowering, const struct pq_expr *expr,
			       const struct node **out)
{
	const struct node *args[3];
	enum code code = OK;

	for (unsigned i = 0; i < 3 && code == OK; i++)
		code = lower_operand(lowering, expr->args[i], &args[i]);
	if (code != OK)
		return code;
	*out = negate(lowering, expr->is_negated, build(lowering, NODE_BETWEEN, 3, args));
	return OK;
}

static enum code lower_in(struct pq_lowering *lowering, const struct pq_expr *expr,
			  const struct node **out)
{
	const struct pq_expr *list = expr->args[1];
	const struct node **args =
		ARENA_ARRAY(lowering->arena, const struct node *, (size_t)list->n + 1);

	if ((list->kind != PQ_EXPR_LIST && list->kind != PQ_EXPR_BAG) || list->n == 0)
		return err_set(lowering->err, MSG_PARTIQL_IN);
	enum code code = lower_operand(lowering, expr->args[0], &args[0]);
	for (unsigned i = 0; i < list->n && code == OK; i++)
		code = lower_operand(lowering, list->args[i], &args[i + 1]);
	if (code != OK)
		return code;
	*out = negate(lowering, expr->is_negated, build(lowering, NODE_IN, list->n + 1, args));
	return OK;
}

static bool is_literal(const struct pq_expr *expr)
{
	return expr->kind <= PQ_EXPR_NULL || expr->kind == PQ_EXPR_PARAMETER;
}

/* "DoublePrecisionType" of DOUBLE_PRECISION. */
static struct str type_class(struct arena *arena, struct str name)
{
	struct str lower = lower_case(arena, name);
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] != '_')
			buf_add_byte(&buf, i == 0 || name.p[i - 1] == '_' ? name.p[i] : lower.p[i]);
	buf_add_lit(&buf, "Type");
	return buf_str(&buf);
}

static enum code lower_is(struct pq_lowering *lowering, const struct pq_expr *expr,
			  const struct node **out)
{
	static const struct {
		struct str name;
		enum type type; /* TYPE_NONE: MISSING */
	} types[] = {
		{STR_INIT("MISSING"), TYPE_NONE}, {STR_INIT("NULL"), TYPE_NULL},
		{STR_INIT("BOOLEAN"), TYPE_BOOL}, {STR_INIT("BLOB"), TYPE_B},
		{STR_INIT("STRING"), TYPE_S},     {STR_INIT("NUMERIC"), TYPE_N},
		{STR_INIT("STRUCT"), TYPE_M},     {STR_INIT("TUPLE"), TYPE_M},
		{STR_INIT("LIST"), TYPE_L},
	};
	const struct node *args[2];
	size_t i = 0, n = sizeof(types) / sizeof(types[0]);

	if (!partiql_is_path(expr->args[0]) && !is_literal(expr->args[0]))
		return err_set(lowering->err, MSG_PARTIQL_IS_PATH);
	enum code code = lower_operand(lowering, expr->args[0], &args[0]);
	if (code != OK)
		return code;
	while (i < n && !str_eq(types[i].name, expr->text))
		i++;
	if (i == n)
		return err_set(lowering->err, MSG_PARTIQL_IS_TYPE,
			       STR_ARG(type_class(lowering->arena, expr->text)),
			       STR_ARG(position(lowering, expr->args[0])));
	args[1] =
		node_value(lowering->arena, value_of_str(TYPE_S, str_of(type_name(types[i].type))));
	*out = negate(lowering, expr->is_negated,
		      types[i].type == TYPE_NONE
			      ? build(lowering, NODE_ATTRIBUTE_NOT_EXISTS, 1, args)
			      : build(lowering, NODE_ATTRIBUTE_TYPE, 2, args));
	return OK;
}

/* Whether the expression is a condition: an operator or a function, not a path or a literal. */
static bool is_boolean(const struct pq_expr *expr)
{
	return expr->kind >= PQ_EXPR_CALL && expr->kind <= PQ_EXPR_IS;
}

static bool is_size(struct pq_lowering *lowering, const struct pq_expr *expr)
{
	return expr->kind == PQ_EXPR_CALL &&
	       str_eq(lower_case(lowering->arena, expr->text), STR("size"));
}

/* AND, OR, NOT. Depth is bounded by the parser. */
static enum code lower_logic(struct pq_lowering *lowering, const struct pq_expr *expr,
			     const struct node **out)
{
	enum node_kind kind = expr->kind == PQ_EXPR_AND  ? NODE_AND
			      : expr->kind == PQ_EXPR_OR ? NODE_OR
							 : NODE_NOT;
	const struct node *args[2];
	enum code code = OK;

	for (unsigned i = 0; i < expr->n && code == OK; i++) {
		if (!is_boolean(expr->args[i]))
			return kind == NODE_NOT ? err_set(lowering->err, MSG_PARTIQL_NOT)
						: err_set(lowering->err, MSG_PARTIQL_LOGIC);
		if (is_size(lowering, expr->args[i]))
			return err_set(lowering->err, MSG_PARTIQL_LOGIC_TYPE,
				       kind == NODE_AND  ? "AND"
				       : kind == NODE_OR ? "OR"
							 : "NOT");
		code = partiql_lower_condition(lowering, expr->args[i], &args[i]);
	}
	if (code != OK)
		return code;
	*out = build(lowering, kind, expr->n, args);
	return OK;
}

enum code partiql_lower_condition(struct pq_lowering *lowering, const struct pq_expr *expr,
				  const struct node **out)
{
	const struct node *call;
	enum code code;

	switch (expr->kind) {
	case PQ_EXPR_AND:
	case PQ_EXPR_OR:
	case PQ_EXPR_NOT:
		return lower_logic(lowering, expr, out);
	case PQ_EXPR_COMPARE:
		return lower_compare(lowering, expr, out);
	case PQ_EXPR_BETWEEN:
		return lower_between(lowering, expr, out);
	case PQ_EXPR_IN:
		return lower_in(lowering, expr, out);
	case PQ_EXPR_IS:
		return lower_is(lowering, expr, out);
	case PQ_EXPR_LIKE:
		return err_set(lowering->err, MSG_PARTIQL_CONDITION_OPERATOR, "like");
	case PQ_EXPR_ARITHMETIC:
		return err_set(lowering->err, MSG_PARTIQL_CONDITION_OPERATOR, expr->operation);
	case PQ_EXPR_CALL:
		code = lower_call(lowering, expr, &call);
		if (code == OK && !is_condition(call))
			return err_set(lowering->err, MSG_PARTIQL_BOOLEAN);
		return RESULT(code, out, call);
	case PQ_EXPR_STATEMENT:
	case PQ_EXPR_CASE:
	case PQ_EXPR_CAST:
	case PQ_EXPR_AGGREGATE:
		return unsupported_token(lowering, expr);
	default:
		return err_set(lowering->err, MSG_PARTIQL_BOOLEAN);
	}
}

static enum code lower_set_operand(struct pq_lowering *lowering, const struct pq_expr *expr,
				   const struct node **out);

static enum code lower_arithmetic(struct pq_lowering *lowering, const struct pq_expr *expr,
				  const struct node **out)
{
	const struct node *args[2];
	enum code code = OK;

	if (expr->operation[1] || (expr->operation[0] != '+' && expr->operation[0] != '-'))
		return err_set(lowering->err, MSG_PARTIQL_UPDATE_OPERATOR, expr->operation);
	for (unsigned i = 0; i < expr->n && code == OK; i++)
		code = lower_set_operand(lowering, expr->args[i], &args[i]);
	if (code != OK)
		return code;
	*out = build(lowering, expr->operation[0] == '+' ? NODE_ADD : NODE_SUBTRACT, expr->n, args);
	return OK;
}

static enum code lower_set_call(struct pq_lowering *lowering, const struct pq_expr *expr,
				const struct node **out)
{
	const struct node **args = ARENA_ARRAY(lowering->arena, const struct node *, expr->n);
	struct str name = lower_case(lowering->arena, expr->text);
	enum node_kind kind;
	enum code code = OK;

	if (!expr_function(name, &kind))
		return unknown_function(lowering, expr);
	if (!(node_info(kind)->use & USE_SET))
		return err_set(lowering->err, MSG_PARTIQL_FUNCTION_PLACE, "an update",
			       STR_ARG(name));
	for (unsigned i = 0; i < expr->n && code == OK; i++)
		code = lower_set_operand(lowering, expr->args[i], &args[i]);
	if (code != OK)
		return code;
	*out = build(lowering, kind, expr->n, args);
	return OK;
}

/* A value of SET. Depth is bounded by the parser. */
static enum code lower_set_operand(struct pq_lowering *lowering, const struct pq_expr *expr,
				   const struct node **out)
{
	switch (expr->kind) {
	case PQ_EXPR_NAME:
	case PQ_EXPR_PATH:
		return lower_path_node(lowering, expr, out);
	case PQ_EXPR_ARITHMETIC:
		return lower_arithmetic(lowering, expr, out);
	case PQ_EXPR_CALL:
		return lower_set_call(lowering, expr, out);
	case PQ_EXPR_MISSING:
		return err_set(lowering->err, MSG_PARTIQL_MISSING);
	case PQ_EXPR_COMPARE:
	case PQ_EXPR_AND:
	case PQ_EXPR_OR:
	case PQ_EXPR_NOT:
	case PQ_EXPR_BETWEEN:
	case PQ_EXPR_IN:
	case PQ_EXPR_LIKE:
		return err_set(lowering->err, MSG_PARTIQL_UPDATE_OPERATOR,
			       expr->kind == PQ_EXPR_NOT ? "not" : expr->operation);
	case PQ_EXPR_IS:
		return err_set(lowering->err, MSG_PARTIQL_UPDATE_IS);
	case PQ_EXPR_STATEMENT:
	case PQ_EXPR_CASE:
	case PQ_EXPR_CAST:
	case PQ_EXPR_AGGREGATE:
		return unsupported_token(lowering, expr);
	default:
		return lower_value_node(lowering, expr, out);
	}
}

static bool is_same_path(const struct path *a, const struct path *b)
{
	return a->n == b->n && path_relate(a, b) == PATH_OVERLAP;
}

/* set_add(path, set) and set_delete(path, set), which ADD and DELETE are in PartiQL; false where it
 * is another call. */
static enum code lower_set_function(struct pq_lowering *lowering, const struct pq_expr *call,
				    struct update_action *action, bool *is_one)
{
	struct str name =
		call->kind == PQ_EXPR_CALL ? lower_case(lowering->arena, call->text) : STR("");
	bool is_add = str_eq(name, STR("set_add"));
	const char *word = is_add ? "ADD" : "DELETE";
	const struct path *path;

	*is_one = is_add || str_eq(name, STR("set_delete"));
	if (!*is_one)
		return OK;
	if (call->n != 2)
		return err_set(lowering->err, MSG_PARTIQL_SET_COUNT, word,
			       STR_ARG(position(lowering, call)));
	if (!partiql_is_path(call->args[0]))
		return err_set(lowering->err, MSG_PARTIQL_SET_FIRST, word,
			       STR_ARG(position(lowering, call)));
	enum code code = partiql_lower_path(lowering, call->args[0], &path);
	if (code != OK)
		return code;
	if (!is_same_path(path, action->path))
		return err_set(lowering->err, MSG_PARTIQL_SET_FIRST, word,
			       STR_ARG(position(lowering, call)));
	action->verb = is_add ? UPDATE_ADD : UPDATE_DELETE;
	code = lower_set_operand(lowering, call->args[1], &action->operand);
	if (code != OK)
		return code;
	if (action->operand->kind != NODE_VALUE ||
	    !type_is_set((enum type)action->operand->value.type))
		return err_set(lowering->err, MSG_PARTIQL_SET_SECOND, word,
			       STR_ARG(position(lowering, call->args[0])));
	return OK;
}

/* As AWS does: paths that overlap are named from the last to the first. */
static enum code check_paths(struct pq_lowering *lowering, const struct update *update)
{
	const struct path **paths = ARENA_ARRAY(lowering->arena, const struct path *, update->n);

	for (size_t i = 0; i < update->n; i++)
		paths[update->n - 1 - i] = update->actions[i].path;
	return expr_check_paths(lowering->arena, paths, update->n, lowering->err);
}

static enum code lower_action(struct pq_lowering *lowering, const struct pq_expr *path,
			      const struct pq_expr *value, struct update_action *action)
{
	bool is_set_function;

	action->verb = value ? UPDATE_SET : UPDATE_REMOVE;
	enum code code = partiql_lower_path(lowering, path, &action->path);
	if (code != OK || !value)
		return code;
	code = lower_set_function(lowering, value, action, &is_set_function);
	if (code != OK || is_set_function)
		return code;
	return lower_set_operand(lowering, value, &action->operand);
}

enum code partiql_lower_update(struct pq_lowering *lowering, const struct pq_statement *statement,
			       struct update **out)
{
	struct update *update = ARENA_NEW(lowering->arena, struct update);

	update->n = statement->changes.n / 2;
	update->actions = ARENA_ARRAY(lowering->arena, struct update_action, update->n);
	for (size_t i = 0; i < update->n; i++) {
		enum code code = lower_action(lowering, statement->changes.v[2 * i],
					      statement->changes.v[2 * i + 1], &update->actions[i]);
		if (code != OK)
			return RESULT_IN(code, out);
	}
	enum code code = check_paths(lowering, update);
	if (code != OK)
		return code;
	code = partiql_check_nodes(lowering);
	return RESULT(code, out, update);
}
