#include "core/number.h"
#include "protocol/partiql/messages.h"
#include "protocol/partiql/syntax.h"
#include "protocol/wire/java_number.h"

/* Where in a literal a value stands, for messages. */
struct place {
	const struct place *parent; /* NULL: the root */
	struct str name;            /* absent: an element of a list */
	unsigned index;
};

struct str partiql_position(struct arena *arena, const struct pq_token *token)
{
	return str_printf(arena, " at %u:%u:%u", token->line, token->column, token->length);
}

const char *partiql_kind_name(const struct pq_expr *expr)
{
	static const char *const names[] = {
		[PQ_EXPR_STRING] = "Lit",
		[PQ_EXPR_NUMBER] = "Lit",
		[PQ_EXPR_BOOLEAN] = "Lit",
		[PQ_EXPR_NULL] = "Lit",
		[PQ_EXPR_ION] = "Lit",
		[PQ_EXPR_MISSING] = "Missing",
		[PQ_EXPR_PARAMETER] = "Parameter",
		[PQ_EXPR_NAME] = "Id",
		[PQ_EXPR_PATH] = "Path",
		[PQ_EXPR_CALL] = "Call",
		[PQ_EXPR_AGGREGATE] = "CallAgg",
		[PQ_EXPR_IS] = "IsType",
		[PQ_EXPR_LIST] = "List",
		[PQ_EXPR_BAG] = "Bag",
		[PQ_EXPR_STRUCT] = "Struct",
		[PQ_EXPR_CASE] = "SearchedCase",
		[PQ_EXPR_CAST] = "Typed",
		[PQ_EXPR_STATEMENT] = "Select",
	};

	if (expr->kind == PQ_EXPR_CASE && expr->is_simple)
		return "SimpleCase";
	if (expr->kind == PQ_EXPR_IS && expr->is_negated)
		return "NAry";
	return (size_t)expr->kind < sizeof(names) / sizeof(names[0]) && names[expr->kind]
		       ? names[expr->kind]
		       : "NAry";
}

struct str partiql_token_name(struct arena *arena, const struct pq_expr *expr)
{
	char *lower;

	if (expr->kind == PQ_EXPR_STATEMENT || expr->kind == PQ_EXPR_CASE)
		return expr->kind == PQ_EXPR_CASE ? STR("CASE") : STR("SELECT");
	if (expr->kind == PQ_EXPR_CAST)
		return STR("cast");
	if (expr->kind == PQ_EXPR_NAME)
		return expr->text;
	lower = arena_bytes(arena, expr->at->text.n);
	for (size_t i = 0; i < expr->at->text.n; i++) {
		char c = expr->at->text.p[i];

		lower[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
	}
	return (struct str){lower, expr->at->text.n};
}

/* Where messages name the type of a literal. */
static const char *key_kind(const struct pq_expr *key)
{
	switch (key->kind) {
	case PQ_EXPR_NUMBER:
		return memchr(key->text.p, '.', key->text.n) ||
				       memchr(key->text.p, 'e', key->text.n)
			       ? "DECIMAL"
			       : "INT";
	case PQ_EXPR_BOOLEAN:
		return "BOOL";
	case PQ_EXPR_NULL:
		return "NULL";
	default:
		return partiql_kind_name(key);
	}
}

enum code partiql_check_key(struct pq_lowering *lowering, const struct pq_expr *key,
			    struct str place)
{
	if (key->kind != PQ_EXPR_STRING)
		return err_set(lowering->err, MSG_PARTIQL_TUPLE_KEY, key_kind(key), STR_ARG(place),
			       STR_ARG(partiql_position(lowering->arena, key->at)));
	return key->text.n ? OK : err_set(lowering->err, MSG_PARTIQL_PATH_EMPTY);
}

/* "root", "root.x[1]"; with `has_dots`, "root.x.1". */
static void describe(const struct place *place, bool has_dots, struct buf *out)
{
	if (!place->parent) {
		buf_add_lit(out, "root");
		return;
	}
	describe(place->parent, has_dots, out);
	if (str_is_set(place->name))
		buf_printf(out, "." STR_FMT, STR_ARG(place->name));
	else
		buf_printf(out, has_dots ? ".%u" : "[%u]", place->index);
}

static struct str place_name(struct pq_lowering *lowering, const struct place *place, bool has_dots)
{
	struct buf buf = buf_in(lowering->arena);

	describe(place, has_dots, &buf);
	return buf_str(&buf);
}

static enum code lower_number(struct pq_lowering *lowering, const struct pq_expr *expr,
			      const struct place *place, struct value *out)
{
	char *bytes = arena_bytes(lowering->arena, NUMBER_MAX);
	struct err err = err_in(lowering->arena);
	size_t n = 0;

	(void)(number_parse(expr->text, bytes, &n, &err) == OK); /* the next line tells it */
	if (java_number_error(expr->text, &err) != OK)
		return err_set(lowering->err, MSG_PARTIQL_VALUE_NUMBER, STR_ARG(err.message),
			       STR_ARG(place_name(lowering, place, false)));
	*out = value_of_str(TYPE_N, (struct str){bytes, n});
	return OK;
}

static enum code lower(struct pq_lowering *lowering, const struct pq_expr *expr,
		       const struct place *place, struct value *out);

static enum code lower_list(struct pq_lowering *lowering, const struct pq_expr *expr,
			    const struct place *place, struct value *out)
{
	struct value *elements = ARENA_ARRAY(lowering->arena, struct value, expr->n);

	for (unsigned i = 0; i < expr->n; i++) {
		struct place here = {place, STR_ABSENT, i};
		enum code code = lower(lowering, expr->args[i], &here, &elements[i]);

		if (code != OK)
			return code;
	}
	*out = (struct value){.type = TYPE_L, .n = expr->n, .elements = elements};
	return OK;
}

static enum code refuse_duplicates(struct pq_lowering *lowering, const struct pq_expr *expr,
				   const struct place *place, enum type type)
{
	struct buf list = buf_in(lowering->arena);

	for (unsigned i = 0; i < expr->n; i++)
		buf_printf(&list, "%s" STR_FMT, i ? ", " : "", STR_ARG(expr->args[i]->text));
	if (type != TYPE_S)
		return err_set(lowering->err, MSG_PARTIQL_BAG_DUPLICATES_NUMBER,
			       STR_ARG(buf_str(&list)),
			       STR_ARG(place_name(lowering, place, false)));
	return err_set(lowering->err, MSG_PARTIQL_BAG_DUPLICATES, STR_ARG(buf_str(&list)));
}

/* The first member says what the others have to be. The error of another has a place in a bag of
 * strings. */
static enum code check_member(struct pq_lowering *lowering, const struct pq_expr *bag, unsigned i,
			      const struct place *place)
{
	const struct pq_expr *member = bag->args[i];
	enum pq_kind first = bag->args[0]->kind;
	struct str position = partiql_position(lowering->arena, member->at);

	if (member->kind == first && (first == PQ_EXPR_STRING || first == PQ_EXPR_NUMBER))
		return OK;
	if (i > 0 && member->kind == PQ_EXPR_ION)
		return OK; /* refused as such */
	if (i > 0 && member->kind == PQ_EXPR_PARAMETER)
		return err_set(lowering->err, MSG_PARTIQL_VALUE_TYPE, STR_ARG(STR("Parameter")),
			       STR_ARG(place_name(lowering, place, true)), STR_ARG(position));
	if (first == PQ_EXPR_NUMBER && member->kind == PQ_EXPR_NULL)
		return err_set(lowering->err, MSG_PARTIQL_BAG_NULL,
			       STR_ARG(place_name(lowering, place, false)));
	return err_set(lowering->err, MSG_PARTIQL_BAG_TYPE,
		       STR_ARG(first == PQ_EXPR_NUMBER ? STR("") : position));
}

/* Sets of strings or numbers: a set of binary values has to be a parameter as a whole. */
static enum code lower_bag(struct pq_lowering *lowering, const struct pq_expr *expr,
			   const struct place *place, struct value *out)
{
	struct value *elements = ARENA_ARRAY(lowering->arena, struct value, expr->n);

	if (expr->n == 0)
		return err_set(lowering->err, MSG_PARTIQL_BAG_EMPTY, "");
	for (unsigned i = 0; i < expr->n; i++) {
		enum code code = check_member(lowering, expr, i, place);

		if (code != OK)
			return code;
		code = lower(lowering, expr->args[i], place, &elements[i]);
		if (code != OK)
			return code;
	}
	enum type type = (enum type)elements[0].type;
	if (!value_sort_set(elements, expr->n, NULL))
		return refuse_duplicates(lowering, expr, place, type);
	*out = (struct value){
		.type = type == TYPE_S ? TYPE_SS : TYPE_NS, .n = expr->n, .elements = elements};
	return OK;
}

static enum code lower_struct(struct pq_lowering *lowering, const struct pq_expr *expr,
			      const struct place *place, struct value *out)
{
	uint32_t n = expr->n / 2;
	struct member *members = ARENA_ARRAY(lowering->arena, struct member, n);
	struct str twice;

	for (uint32_t i = 0; i < n; i++) {
		const struct pq_expr *key = expr->args[2 * i];
		struct place here = {place, key->text, 0};

		enum code code =
			partiql_check_key(lowering, key, place_name(lowering, place, true));
		members[i].name = key->text;
		if (code != OK)
			return code;
		code = lower(lowering, expr->args[2 * i + 1], &here, &members[i].value);
		if (code != OK)
			return code;
	}
	if (!value_sort_members(members, n, &twice))
		return err_set(lowering->err, MSG_PARTIQL_TUPLE_TWICE, STR_ARG(twice),
			       STR_ARG(place_name(lowering, place, true)),
			       STR_ARG(partiql_position(lowering->arena, expr->at)));
	*out = (struct value){.type = TYPE_M, .n = n, .members = members};
	return OK;
}

/* How messages name an expression in place of a value: at the root of a literal by its text, below
 * by its kind. */
static enum code unsupported(struct pq_lowering *lowering, const struct pq_expr *expr,
			     const struct place *place)
{
	struct str name = str_of(partiql_kind_name(expr)),
		   position = partiql_position(lowering->arena, expr->at);

	if (!place->parent && expr->kind == PQ_EXPR_MISSING)
		name = STR("MISSING");
	else if (!place->parent && expr->kind == PQ_EXPR_PATH)
		name = STR("PATH");
	else if (!place->parent)
		name = partiql_token_name(lowering->arena, expr);
	return err_set(lowering->err, MSG_PARTIQL_VALUE_TYPE, STR_ARG(name),
		       STR_ARG(place_name(lowering, place, true)),
		       STR_ARG(str_eq(name, STR("PATH")) ? STR("") : position));
}

/* Ion's name of what a literal between backquotes seems to be. */
static const char *ion_name(struct str text)
{
	char c = text.n ? text.p[0] : 'n';

	if (c == '{')
		return str_starts_with(text, STR("{{\"")) ? "CLOB"
		       : str_starts_with(text, STR("{{")) ? "BLOB"
							  : "STRUCT";
	if (c == '[')
		return "LIST";
	if (c == '(')
		return "SEXP";
	if (c == '"')
		return "STRING";
	if (c >= '0' && c <= '9' && text.n > 4 && (text.p[4] == '-' || text.p[4] == 'T'))
		return "TIMESTAMP";
	if ((c >= '0' && c <= '9') || c == '-')
		return memchr(text.p, '.', text.n) ? "DECIMAL" : "INT";
	if (str_eq(text, STR("true")) || str_eq(text, STR("false")))
		return "BOOL";
	return str_starts_with(text, STR("null")) ? "NULL" : "SYMBOL";
}

/* The message names what would stand at the level that is too deep. */
static enum code refuse_depth(struct pq_lowering *lowering, const struct pq_expr *expr,
			      const struct place *place)
{
	bool is_struct = expr->kind == PQ_EXPR_STRUCT && expr->n > 0;
	struct place below = {place, is_struct ? expr->args[0]->text : STR_ABSENT, 0};

	return err_set(lowering->err, MSG_PARTIQL_LITERAL_DEPTH,
		       STR_ARG(place_name(lowering, expr->n ? &below : place, false)));
}

static enum code lower(struct pq_lowering *lowering, const struct pq_expr *expr,
		       const struct place *place, struct value *out)
{
	enum code code;

	switch (expr->kind) {
	case PQ_EXPR_STRING:
		*out = value_of_str(TYPE_S, expr->text);
		return OK;
	case PQ_EXPR_NUMBER:
		return lower_number(lowering, expr, place, out);
	case PQ_EXPR_BOOLEAN:
		*out = (struct value){.type = TYPE_BOOL, .boolean = expr->is_true};
		return OK;
	case PQ_EXPR_NULL:
		*out = (struct value){.type = TYPE_NULL};
		return OK;
	case PQ_EXPR_PARAMETER:
		if (place->parent)
			return unsupported(lowering, expr, place);
		*out = lowering->parameters[expr->parameter];
		return OK;
	case PQ_EXPR_BAG:
		return lower_bag(lowering, expr, place, out);
	case PQ_EXPR_LIST:
	case PQ_EXPR_STRUCT:
		if (++lowering->depth >= VALUE_DEPTH_MAX)
			return refuse_depth(lowering, expr, place);
		code = expr->kind == PQ_EXPR_LIST ? lower_list(lowering, expr, place, out)
						  : lower_struct(lowering, expr, place, out);
		lowering->depth--;
		return code;
	case PQ_EXPR_ION:
		return err_set(lowering->err, MSG_PARTIQL_VALUE_ION, ion_name(expr->text),
			       STR_ARG(place_name(lowering, place, false)),
			       STR_ARG(partiql_position(lowering->arena, expr->at)));
	default:
		return unsupported(lowering, expr, place);
	}
}

enum code partiql_lower_value(struct pq_lowering *lowering, const struct pq_expr *expr,
			      struct value *out)
{
	struct place root = {0};

	struct value value;

	lowering->depth = 0;
	enum code code = lower(lowering, expr, &root, &value);
	if (code != OK)
		return code;
	if (value_depth(&value) > VALUE_DEPTH_MAX)
		return err_set(lowering->err, MSG_PARTIQL_VALUE_DEPTH, "");
	*out = value;
	return OK;
}

bool partiql_is_path(const struct pq_expr *expr)
{
	return expr->kind == PQ_EXPR_NAME || expr->kind == PQ_EXPR_PATH;
}

static enum code unexpected_step(struct pq_lowering *lowering, const struct pq_expr *step)
{
	return err_set(lowering->err, MSG_PARTIQL_PATH_COMPONENT,
		       STR_ARG(partiql_position(lowering->arena, step->at)));
}

/* [1] is an index; ['a'] and [a] are names. */
static enum code lower_step(struct pq_lowering *lowering, const struct pq_expr *step,
			    struct path_step *out)
{
	unsigned long long index = 0;

	if (step->kind == PQ_EXPR_NAME || step->kind == PQ_EXPR_STRING) {
		if (step->text.n == 0)
			return err_set(lowering->err, MSG_PARTIQL_PATH_EMPTY);
		*out = (struct path_step){.name = step->text};
		return OK;
	}
	if (step->kind != PQ_EXPR_NUMBER)
		return unexpected_step(lowering, step);
	for (size_t i = step->text.p[0] == '-'; i < step->text.n; i++) {
		if (step->text.p[i] < '0' || step->text.p[i] > '9')
			return unexpected_step(lowering, step);
		if (index <= (unsigned long long)EXPR_INDEX_MAX)
			index = index * 10 + (unsigned long long)(step->text.p[i] - '0');
	}
	if (index > (unsigned long long)EXPR_INDEX_MAX || step->text.p[0] == '-')
		return err_set(lowering->err, MSG_PARTIQL_PATH_INDEX, STR_ARG(step->text),
			       STR_ARG(partiql_position(lowering->arena, step->at)));
	*out = (struct path_step){.index = (uint32_t)index};
	return OK;
}

enum code partiql_lower_path(struct pq_lowering *lowering, const struct pq_expr *expr,
			     const struct path **out)
{
	unsigned n = expr->kind == PQ_EXPR_PATH ? expr->n : 1;
	struct path_step *steps = ARENA_ARRAY(lowering->arena, struct path_step, n);
	struct path *path = ARENA_NEW(lowering->arena, struct path);

	for (unsigned i = 0; i < n; i++) {
		const struct pq_expr *step = expr->kind == PQ_EXPR_PATH ? expr->args[i] : expr;

		if (i == 0 && step->kind != PQ_EXPR_NAME)
			return unexpected_step(lowering, step);
		enum code code = lower_step(lowering, step, &steps[i]);
		if (code != OK)
			return RESULT_IN(code, out);
	}
	*path = (struct path){n, steps};
	*out = path;
	return OK;
}

enum code partiql_parameters(struct arena *arena, const struct parameter_list *list,
			     const struct value **out, struct err *err)
{
	struct value *values = ARENA_ARRAY(arena, struct value, list->n);
	enum code code = OK;

	for (size_t i = 0; i < list->n && code == OK; i++) {
		if (list->v[i].code != OK)
			code = err_set(err, list->v[i].code, STR_FMT, STR_ARG(list->v[i].message));
		values[i] = list->v[i].value;
	}
	return RESULT(code, out, values);
}

enum code partiql_check_parameters(const struct parameter_list *list, bool is_deep, struct err *err)
{
	for (size_t i = 0; i < list->n; i++) {
		if (list->v[i].code != OK)
			return list->v[i].is_deep == is_deep
				       ? err_set(err, list->v[i].code, STR_FMT,
						 STR_ARG(list->v[i].message))
				       : OK;
	}
	return OK;
}
