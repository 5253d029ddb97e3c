/*
 * The second and third phase of parsing, see expr_internal.h.
 */
#include "core/base64.h"
#include "core/expr_internal.h"
#include "core/number.h"

#define NAMES_PER_STEP 8 /* that one of arena_works() compares with a placeholder */

/* The digits as a number; where it is too large, any number over EXPR_INDEX_MAX. */
static long long index_of(struct str digits)
{
	long long index = 0;

	for (size_t i = 0; i < digits.n && index <= EXPR_INDEX_MAX; i++)
		index = index * 10 + (digits.p[i] - '0');
	return index;
}

static enum code check_path_usage(struct parser *parser, const struct raw *raw)
{
	for (size_t i = 0; i < raw->step_count; i++) {
		const struct raw_step *step = &raw->steps[i];

		if (!str_is_set(step->text) && index_of(step->index) > EXPR_INDEX_MAX)
			return err_set(parser->err, MSG_EXPR_INDEX_RANGE, parser->parameter,
				       STR_ARG(step->index));
		if (str_is_set(step->text) && step->text.p[0] != '#' && reserved_has(step->text))
			return err_set(parser->err, MSG_EXPR_RESERVED, parser->parameter,
				       STR_ARG(step->text));
	}
	return OK;
}

static enum code check_function_usage(struct parser *parser, struct raw *raw, enum node_use use)
{
	bool is_update = parser->kind == EXPR_UPDATE;

	if (!expr_function(raw->text, &raw->node))
		return err_set(parser->err, MSG_EXPR_FUNCTION_UNKNOWN, parser->parameter,
			       STR_ARG(raw->text));
	const struct node_info *function = node_info(raw->node);
	if (is_update != ((function->use & (USE_SET | USE_ARGUMENT)) != 0))
		return err_set(parser->err, MSG_EXPR_FUNCTION_KIND, parser->parameter, is_update ?
			       "an update" : "a condition",
			       function->name.p);
	if (!(function->use & use))
		return err_set(parser->err, MSG_EXPR_FUNCTION_PLACE, parser->parameter,
			       function->name.p);
	return OK;
}

/* Depth is bounded by the parser. */
enum code check_usage(struct parser *parser, struct raw *raw, enum node_use use)
{
	bool is_condition = raw->kind == RAW_AND || raw->kind == RAW_OR || raw->kind == RAW_NOT;
	enum node_use below = parser->kind == EXPR_UPDATE ? USE_ARGUMENT : is_condition ?
		USE_CONDITION : USE_OPERAND;
	enum code code = OK;

	if (raw->kind == RAW_PATH)
		return check_path_usage(parser, raw);
	if (raw->kind == RAW_FUNCTION)
		code = check_function_usage(parser, raw, use);
	if (code != OK)
		return code;
	for (unsigned i = 0; i < raw->arg_count; i++) {
		code = check_usage(parser, raw->args[i], below);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code resolve_name(struct parser *parser, struct str text, struct str *name)
{
	struct expr_env *env = parser->env;

	if (text.p[0] != '#') {
		*name = text;
		return OK;
	}
	enum code code = parser_works(parser, 1 + env->name_count / NAMES_PER_STEP);
	if (code != OK)
		return code;
	for (size_t i = 0; i < env->name_count; i++) {
		if (str_eq(env->names[i].placeholder, text)) {
			env->names[i].is_used = true;
			*name = env->names[i].name;
			return OK;
		}
	}
	return err_set(parser->err, MSG_EXPR_NAME_UNDEFINED, parser->parameter, STR_ARG(text));
}

static enum code check_path(struct parser *parser, const struct raw *raw, const struct path **out)
{
	struct path_step *steps = ARENA_ARRAY(parser->arena, struct path_step, raw->step_count);
	struct path *path = ARENA_NEW(parser->arena, struct path);

	if (raw->step_count > VALUE_DEPTH_MAX)
		return err_set(parser->err, MSG_EXPR_NESTING, parser->parameter, raw->step_count);
	for (size_t i = 0; i < raw->step_count; i++) {
		const struct raw_step *step = &raw->steps[i];
		enum code code = OK;

		if (str_is_set(step->text))
			code = resolve_name(parser, step->text, &steps[i].name);
		else
			steps[i].index = (uint32_t)index_of(step->index);
		if (code != OK)
			return code;
	}
	*path = (struct path){raw->step_count, steps};
	*out = path;
	return OK;
}

enum code check_value(struct parser *parser, const struct raw *raw, struct value *out)
{
	struct expr_env *env = parser->env;
	enum code code = parser_works(parser, 1 + env->value_count / NAMES_PER_STEP);

	if (code != OK)
		return code;
	for (size_t i = 0; i < env->value_count; i++) {
		if (str_eq(env->values[i].placeholder, raw->text)) {
			env->values[i].is_used = true;
			*out = env->values[i].value;
			return OK;
		}
	}
	return err_set(parser->err, MSG_EXPR_VALUE_UNDEFINED, parser->parameter,
		       STR_ARG(raw->text));
}

static struct node *node_make(struct parser *parser, enum node_kind kind, unsigned arg_count)
{
	struct node *node = ARENA_NEW(parser->arena, struct node);

	node->kind = kind;
	node->arg_count = arg_count;
	node->args = ARENA_ARRAY(parser->arena, const struct node *, arg_count);
	return node;
}

/* TYPE_NONE of an operand whose type only the item shows. */
static enum code check_type(struct parser *parser, const struct node_info *info,
			    const struct node *operand, unsigned allowed)
{
	enum type type = operand->kind == NODE_VALUE ? (enum type)operand->value.type
		: node_info(operand->kind)->type;

	if (type == TYPE_NONE || (allowed & 1u << type))
		return OK;
	return err_set(parser->err, MSG_EXPR_OPERAND_TYPE, parser->parameter, info->name.p,
		       type_name(type));
}

static bool is_same_path(const struct node *a, const struct node *b)
{
	if (a->kind != NODE_PATH || b->kind != NODE_PATH || a->path->n != b->path->n)
		return false;
	return path_relate(a->path, b->path) == PATH_OVERLAP;
}

static enum code check_distinct(struct parser *parser, const char *operator_name,
				const struct node *node)
{
	for (unsigned i = 1; i < node->arg_count; i++) {
		if (is_same_path(node->args[0], node->args[i])) {
			struct buf buf = buf_in(parser->arena);

			path_describe(node->args[0]->path, &buf);
			return err_set(parser->err, MSG_EXPR_DISTINCT, parser->parameter,
				       operator_name, STR_ARG(buf_str(&buf)));
		}
	}
	return OK;
}

static enum code check_condition_operand(struct parser *parser, const struct raw *raw,
					 const struct node **out);

static enum code check_operands(struct parser *parser, const struct raw *raw, struct node *node)
{
	for (unsigned i = 0; i < raw->arg_count; i++) {
		enum code code = check_condition_operand(parser, raw->args[i], &node->args[i]);

		if (code != OK)
			return code;
	}
	return OK;
}

static enum code check_attribute_type(struct parser *parser, const struct node *node)
{
	const struct node *name = node->args[1];

	/* AWS: the order of hash sets, which differs between PartiQL and expressions; the set of
	 * PartiQL holds internal types, too (eu-west-2, 9 October 2026) */
	if (name->kind != NODE_VALUE)
		return err_set(parser->err, MSG_EXPR_OPERAND_TYPE, parser->parameter,
			       "attribute_type",
			       *parser->parameter ? "{NS,SS,L,BS,N,M,B,BOOL,NULL,S}"
						  : "{S,HDS,N,FS,BS,NULL,DOUBLE,NS,DECIMAL,SS,"
						    "DECIMALSET,BOOL,HD,DICT,INTSET,M,L,B,FLOAT,"
						    "INT,DOUBLESET}");
	if (type_of_name(value_str(&name->value)) == TYPE_NONE)
		return err_set(parser->err, MSG_EXPR_TYPE_NAME, parser->parameter,
			       STR_ARG(value_str(&name->value)),
			       *parser->parameter ? "B,NULL,SS,BOOL,L,BS,N,NS,S,M"
						  : "N,BS,L,B,NULL,M,S,SS,NS,BOOL");
	return OK;
}

static void add_bytes(struct buf *buf, struct str bytes)
{
	buf_add_byte(buf, '[');
	base64_encode(bytes, buf);
	buf_add_byte(buf, ']');
}

/* "N:1": how messages show an operand of BETWEEN. AWS: the bytes of a B are shown in PartiQL, whose
 * messages name no parameter (captured 2026-10-09). */
static struct str describe_value(struct parser *parser, const struct value *value)
{
	struct buf buf = buf_in(parser->arena);

	buf_printf(&buf, "%s:", type_name((enum type)value->type));
	if (value->type == TYPE_N)
		number_format(value_str(value), &buf);
	else if (value->type == TYPE_B && parser->parameter[0])
		buf_printf(&buf, MSG_PART_BYTES, value->n, value->n);
	else if (value->type == TYPE_B)
		add_bytes(&buf, value_str(value));
	else
		buf_add_str(&buf, value_str(value));
	return buf_str(&buf);
}

static enum code check_between(struct parser *parser, const struct node *node)
{
	const struct value *low = &node->args[1]->value, *high = &node->args[2]->value;

	if (node->args[1]->kind != NODE_VALUE || node->args[2]->kind != NODE_VALUE)
		return OK;
	if (low->type != high->type)
		return err_set(parser->err, MSG_EXPR_BETWEEN_TYPE, parser->parameter,
			       STR_ARG(describe_value(parser, low)),
			       STR_ARG(describe_value(parser, high)));
	if (value_compare(low, high) > 0)
		return err_set(parser->err, MSG_EXPR_BETWEEN_ORDER, parser->parameter,
			       STR_ARG(describe_value(parser, low)),
			       STR_ARG(describe_value(parser, high)));
	return OK;
}

/* The number, the types and the places of a node's operands, which are checked already. */
static enum code check_node(struct parser *parser, const struct node *node)
{
	const struct node_info *info = node_info(node->kind);
	enum code code = OK;

	if (info->class == NODE_CLASS_FUNCTION && node->arg_count != info->arity)
		return err_set(parser->err, MSG_EXPR_OPERAND_COUNT, parser->parameter, info->name.p,
			       node->arg_count);
	if ((info->rules & NEEDS_PATH) && node->args[0]->kind != NODE_PATH)
		return err_set(parser->err, MSG_EXPR_NEEDS_PATH, parser->parameter, info->name.p);
	for (unsigned i = 0; i < node->arg_count; i++) {
		code = check_type(parser, info, node->args[i], info->types[i > 0]);
		if (code != OK)
			return code;
	}
	if (info->rules & DISTINCT)
		code = check_distinct(parser, info->name.p, node);
	if (code != OK)
		return code;
	if (node->kind == NODE_IN && node->arg_count - 1 > EXPR_IN_MAX)
		return err_set(parser->err, MSG_EXPR_IN_OPERANDS, parser->parameter,
			       node->arg_count - 1);
	if (node->kind == NODE_ATTRIBUTE_TYPE)
		code = check_attribute_type(parser, node);
	if (code != OK)
		return code;
	return node->kind == NODE_BETWEEN ? check_between(parser, node) : OK;
}

static enum code check_function(struct parser *parser, const struct raw *raw,
				const struct node **out)
{
	struct node *node = node_make(parser, raw->node, raw->arg_count);
	enum code code = check_operands(parser, raw, node);

	if (code != OK)
		return code;
	code = check_node(parser, node);
	return RESULT(code, out, node);
}

static enum code check_condition_operand(struct parser *parser, const struct raw *raw,
					 const struct node **out)
{
	struct node *node;
	enum code code;

	switch (raw->kind) {
	case RAW_PATH:
		node = node_make(parser, NODE_PATH, 0);
		code = check_path(parser, raw, &node->path);
		break;
	case RAW_VALUE:
		node = node_make(parser, NODE_VALUE, 0);
		code = check_value(parser, raw, &node->value);
		break;
	case RAW_PLUS:
	case RAW_MINUS:
		return check_set_value(parser, raw, out);
	default:
		return check_function(parser, raw, out);
	}
	return RESULT(code, out, node);
}

/* As AWS counts: an operator after its operands, so that their errors come first. */
static enum code count_operator(struct parser *parser, const struct node *node,
				const struct node **out)
{
	if (++parser->operators > EXPR_OPERATORS_MAX)
		return err_set(parser->err, MSG_EXPR_OPERATORS, parser->parameter,
			       parser->operators);
	*out = node;
	return OK;
}

enum code check_set_value(struct parser *parser, const struct raw *raw, const struct node **out)
{
	enum node_kind kind = raw->kind == RAW_PLUS ? NODE_ADD : NODE_SUBTRACT;

	if (raw->kind != RAW_PLUS && raw->kind != RAW_MINUS)
		return check_condition_operand(parser, raw, out);
	struct node *node = node_make(parser, kind, 2);
	enum code code = check_operands(parser, raw, node);
	if (code != OK)
		return code;
	code = check_node(parser, node);
	return code != OK ? code : count_operator(parser, node, out);
}

static enum code check_operator(struct parser *parser, const struct raw *raw, enum node_kind kind,
				const struct node **out)
{
	struct node *node = node_make(parser, kind, raw->arg_count);
	enum code code = check_operands(parser, raw, node);

	if (code != OK)
		return code;
	code = check_node(parser, node);
	if (code != OK)
		return code;
	if (kind == NODE_IN)
		expr_order_in(parser->arena, node);
	return code != OK ? code : count_operator(parser, node, out);
}

/* Depth is bounded by the parser. */
enum code check_condition(struct parser *parser, const struct raw *raw, const struct node **out)
{
	struct node *node;

	switch (raw->kind) {
	case RAW_COMPARISON:
		return check_operator(parser, raw, raw->node, out);
	case RAW_BETWEEN:
		return check_operator(parser, raw, NODE_BETWEEN, out);
	case RAW_IN:
		return check_operator(parser, raw, NODE_IN, out);
	case RAW_AND:
	case RAW_OR:
	case RAW_NOT:
		node = node_make(parser,
				 raw->kind == RAW_AND  ? NODE_AND
				 : raw->kind == RAW_OR ? NODE_OR
						       : NODE_NOT,
				 raw->arg_count);
		for (unsigned i = 0; i < raw->arg_count; i++) {
			enum code code = check_condition(parser, raw->args[i], &node->args[i]);

			if (code != OK)
				return code;
		}
		return count_operator(parser, node, out);
	default:
		return check_function(parser, raw, out);
	}
}

static enum code check_relation(struct parser *parser, const struct path *one,
				const struct path *two)
{
	enum path_relation relation = path_relate(one, two);

	if (relation == PATH_DISTINCT)
		return OK;
	struct buf first = buf_in(parser->arena), second = buf_in(parser->arena);
	path_describe(one, &first);
	path_describe(two, &second);
	if (relation == PATH_OVERLAP)
		return err_set(parser->err, MSG_EXPR_OVERLAP, parser->parameter,
			       STR_ARG(buf_str(&first)), STR_ARG(buf_str(&second)));
	return err_set(parser->err, MSG_EXPR_CONFLICT, parser->parameter, STR_ARG(buf_str(&first)),
		       STR_ARG(buf_str(&second)));
}

/* From the last to the first, each against those after it; the message names the two in the order
 * of the text. */
enum code check_paths(struct parser *parser, struct raw *const *raws, size_t n,
		      const struct path **out)
{
	for (size_t i = n; i-- > 0;) {
		enum code code = check_path(parser, raws[i], &out[i]);

		if (code != OK)
			return code;
		code = parser_works(parser, n - i);
		if (code != OK)
			return code;
		for (size_t k = i + 1; k < n; k++) {
			code = check_relation(parser, out[i], out[k]);
			if (code != OK)
				return code;
		}
	}
	return OK;
}

enum code expr_check_unused(const struct expr_env *env, struct err *err)
{
	struct buf names = buf_in(env->arena), values = buf_in(env->arena);

	for (size_t i = 0; i < env->name_count; i++) {
		if (!env->names[i].is_used)
			buf_printf(&names, "%s" STR_FMT, names.n ? ", " : "",
				   STR_ARG(env->names[i].placeholder));
	}
	for (size_t i = 0; i < env->value_count; i++) {
		if (!env->values[i].is_used)
			buf_printf(&values, "%s" STR_FMT, values.n ? ", " : "",
				   STR_ARG(env->values[i].placeholder));
	}
	if (names.n)
		return err_set(err, MSG_EXPR_NAMES_UNUSED, STR_ARG(buf_str(&names)));
	if (values.n)
		return err_set(err, MSG_EXPR_VALUES_UNUSED, STR_ARG(buf_str(&values)));
	return OK;
}

enum code expr_check_node(struct arena *arena, const struct node *node, struct err *err)
{
	struct parser parser = {.arena = arena, .err = err, .parameter = ""};

	return check_node(&parser, node);
}

enum code expr_check_paths(struct arena *arena, const struct path *const *paths, size_t n,
			   struct err *err)
{
	struct parser parser = {.arena = arena, .err = err, .parameter = ""};

	for (size_t i = n; i-- > 0;) {
		if (paths[i]->n > VALUE_DEPTH_MAX)
			return err_set(err, MSG_EXPR_NESTING, "", paths[i]->n);
		enum code code = parser_works(&parser, n - i);
		if (code != OK)
			return code;
		for (size_t k = i + 1; k < n; k++) {
			code = check_relation(&parser, paths[i], paths[k]);
			if (code != OK)
				return code;
		}
	}
	return OK;
}
