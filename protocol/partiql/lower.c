#include <strings.h>

#include "protocol/handler.h"
#include "protocol/partiql/cache.h"
#include "protocol/partiql/messages.h"
#include "protocol/partiql/syntax.h"

/* AWS: in a statement any ARN is a name too. */
static bool is_table_name(struct str name)
{
	return call_is_name(name) || str_starts_with(name, STR("arn:"));
}

/* "table" or "table"."index". */
static enum code lower_source(struct pq_lowering *lowering, const struct pq_statement *in,
			      struct partiql_statement *out)
{
	const struct pq_expr *source = in->source;
	struct err *err = lowering->err;

	if (!source || in->is_joined)
		return err_set(err, MSG_PARTIQL_SINGLE_SOURCE);
	if (in->is_aliased)
		return err_set(err, MSG_PARTIQL_ALIAS);
	if (!partiql_is_path(source) ||
	    (source->kind == PQ_EXPR_PATH && source->args[0]->kind != PQ_EXPR_NAME))
		return err_set(err, MSG_PARTIQL_SOURCE);
	for (unsigned i = 0; i < source->n; i++) {
		if (source->args[i]->kind == PQ_EXPR_NUMBER)
			return err_set(err, MSG_PARTIQL_SOURCE_LIST);
		if (source->args[i]->kind != PQ_EXPR_NAME &&
		    source->args[i]->kind != PQ_EXPR_STRING)
			return err_set(err, MSG_PARTIQL_SOURCE);
	}
	if (in->kind == PQ_INSERT && source->kind == PQ_EXPR_PATH)
		return err_set(err, MSG_PARTIQL_SOURCE_INSERT);
	if (source->n > 2)
		return err_set(err, MSG_PARTIQL_SOURCE_PARTS);
	out->table = source->n ? source->args[0]->text : source->text;
	out->index = source->n ? source->args[1]->text : STR_ABSENT;
	if (out->table.n == 0 || (str_is_set(out->index) && out->index.n == 0))
		return err_set(err, MSG_PARTIQL_PATH_EMPTY);
	if (!is_table_name(out->table) || (str_is_set(out->index) && !is_table_name(out->index)))
		return err_set(err, MSG_PARTIQL_TABLE_NAME);
	return OK;
}

/* The name of a column in the result: its path from the last name on. */
static struct str column_name(struct arena *arena, const struct path *path)
{
	struct buf buf = buf_in(arena);
	size_t last = path->n - 1;

	while (!str_is_set(path->steps[last].name))
		last--;
	buf_add_str(&buf, path->steps[last].name);
	for (size_t i = last + 1; i < path->n; i++)
		buf_printf(&buf, "[%u]", path->steps[i].index);
	return buf_str(&buf);
}

/* A column is a document path. The error points at anything else. */
static enum code check_column(struct pq_lowering *lowering, const struct pq_expr *column,
			      struct partiql_statement *out)
{
	if (column->kind == PQ_EXPR_PATH && column->args[column->n - 1]->kind == PQ_EXPR_STAR)
		return err_set(lowering->err, MSG_PARTIQL_HIERARCHY);
	if (partiql_is_path(column))
		return OK;
	out->is_source_first = true;
	return err_set(lowering->err, MSG_PARTIQL_PATH_COMPONENT,
		       STR_ARG(partiql_position(lowering->arena, column->at)));
}

static enum code lower_columns(struct pq_lowering *lowering, const struct pq_statement *in,
			       struct partiql_statement *out)
{
	size_t n = in->columns.n;
	struct partiql_columns *columns = ARENA_NEW(lowering->arena, struct partiql_columns);
	const struct path **reversed = ARENA_ARRAY(lowering->arena, const struct path *, n);

	if (in->is_star)
		return OK;
	columns->paths = (struct projection){
		.n = n, .paths = ARENA_ARRAY(lowering->arena, const struct path *, n)};
	columns->names = ARENA_ARRAY(lowering->arena, struct str, n);
	for (size_t i = 0; i < n; i++) {
		enum code code = check_column(lowering, in->columns.v[i], out);

		if (code != OK)
			return code;
		code = partiql_lower_path(lowering, in->columns.v[i], &columns->paths.paths[i]);
		if (code != OK)
			return code;
		columns->names[i] = column_name(lowering->arena, columns->paths.paths[i]);
		for (size_t k = 0; k < i; k++)
			if (str_eq(columns->names[k], columns->names[i]))
				return err_set(lowering->err, MSG_PARTIQL_DUPLICATE_COLUMN,
					       STR_ARG(columns->names[i]));
		reversed[n - 1 - i] = columns->paths.paths[i];
	}
	out->columns = columns;
	return expr_check_paths(lowering->arena, reversed, n, lowering->err);
}

/* What may stand in ORDER BY is judged when the table is known. */
static void lower_order(struct pq_lowering *lowering, const struct pq_statement *in,
			struct partiql_statement *out)
{
	struct partiql_order *order =
		ARENA_ARRAY(lowering->arena, struct partiql_order, in->order.n);

	for (unsigned i = 0; i < in->order.n; i++) {
		const struct pq_expr *term = in->order.v[i];

		order[i] = (struct partiql_order){.name = term->text,
						  .is_descending = term->is_negated};
		order[i].position = partiql_position(lowering->arena, term->at);
		if (term->kind != PQ_EXPR_NAME)
			order[i].other = term->kind == PQ_EXPR_PATH ? STR("PATH") : term->text;
	}
	out->order = order;
	out->order_count = in->order.n;
}

static enum code lower_where(struct pq_lowering *lowering, const struct pq_statement *in,
			     struct partiql_statement *out)
{
	enum code code = in->where ? partiql_lower_condition(lowering, in->where, &out->where) : OK;

	if (code != OK)
		return code;
	code = partiql_check_nodes(lowering);
	out->is_source_first = code != OK;
	return code;
}

static enum code lower_select(struct pq_lowering *lowering, const struct pq_statement *in,
			      struct partiql_statement *out)
{
	struct err *err = lowering->err;
	enum code code;

	out->kind = PARTIQL_SELECT;
	if (in->clause)
		return err_set(err, MSG_PARTIQL_CLAUSE, in->clause,
			       STR_ARG(in->clause_at
					       ? partiql_position(lowering->arena, in->clause_at)
					       : STR("")));
	if (in->is_value)
		return err_set(err, MSG_PARTIQL_SELECT_VALUE);
	if (in->distinct)
		return err_set(err, MSG_PARTIQL_TOKEN, STR_ARG(STR("DISTINCT")), STR_ARG(STR("")));
	lower_order(lowering, in, out);
	code = lower_source(lowering, in, out);
	if (code != OK)
		return code;
	code = lower_columns(lowering, in, out);
	return code != OK ? code : lower_where(lowering, in, out);
}

/* Each attribute's value is a root of its own in messages. */
static enum code lower_item(struct pq_lowering *lowering, const struct pq_expr *item,
			    struct value *out)
{
	uint32_t n = item->n / 2;
	struct member *members = ARENA_ARRAY(lowering->arena, struct member, n);

	for (uint32_t i = 0; i < n; i++) {
		const struct pq_expr *key = item->args[2 * i];
		enum code code = partiql_check_key(lowering, key, STR("root"));
		if (code != OK)
			return code;
		members[i].name = key->text;
		code = partiql_lower_value(lowering, item->args[2 * i + 1], &members[i].value);
		for (uint32_t k = 0; k < i && code == OK; k++)
			if (str_eq(members[k].name, key->text))
				code = err_set(lowering->err, MSG_PARTIQL_TUPLE_TWICE,
					       STR_ARG(key->text), STR_ARG(STR("root")),
					       STR_ARG(partiql_position(lowering->arena, key->at)));
		if (code != OK)
			return code;
	}
	value_sort_members(members, n, NULL);
	*out = (struct value){.type = TYPE_M, .n = n, .members = members};
	return OK;
}

static enum code lower_insert(struct pq_lowering *lowering, const struct pq_statement *in,
			      struct partiql_statement *out)
{
	struct value *item = ARENA_NEW(lowering->arena, struct value);
	enum code code;

	out->kind = PARTIQL_INSERT;
	out->item = item;
	if (!in->is_insert_value) {
		out->kind = PARTIQL_OTHER;
		return err_set(lowering->err, MSG_PARTIQL_OPERATION, "InsertOp");
	}
	if (in->item->kind != PQ_EXPR_STRUCT)
		return err_set(lowering->err, MSG_PARTIQL_INSERT_FORMAT,
			       STR_ARG(partiql_position(lowering->arena, in->item->at)));
	code = lower_item(lowering, in->item, item);
	return code != OK ? code : lower_source(lowering, in, out);
}

/* The condition comes before the changes, as AWS orders their errors. */
static enum code lower_change(struct pq_lowering *lowering, const struct pq_statement *in,
			      struct partiql_statement *out)
{
	enum code code = lower_where(lowering, in, out);

	out->kind = in->kind == PQ_DELETE ? PARTIQL_DELETE : PARTIQL_UPDATE;
	if (code != OK)
		return code;
	if (in->kind == PQ_UPDATE)
		code = partiql_lower_update(lowering, in, &out->update);
	if (code != OK)
		return code;
	code = lower_source(lowering, in, out);
	if (code != OK)
		return code;
	if (str_is_set(out->index))
		return err_set(lowering->err, MSG_PARTIQL_SOURCE_INDEX);
	return OK;
}

static enum code lower_statement(struct pq_lowering *lowering, const struct pq_statement *in,
				 struct partiql_statement *out)
{
	static const char *const definitions[] = {
		[PQ_CREATE_TABLE] = "CreateTable",
		[PQ_CREATE_INDEX] = "CreateIndex",
		[PQ_DROP_TABLE] = "DropTable",
		[PQ_DROP_INDEX] = "DropIndex",
	};

	out->returning = in->returning;
	out->returning_count = in->returning_count;
	out->returns_columns = in->returns_columns;
	switch (in->kind) {
	case PQ_SELECT:
		return lower_select(lowering, in, out);
	case PQ_INSERT:
		return lower_insert(lowering, in, out);
	case PQ_UPDATE:
	case PQ_DELETE:
		return lower_change(lowering, in, out);
	default:
		out->kind = PARTIQL_OTHER;
		return err_set(lowering->err, MSG_PARTIQL_OPERATION, definitions[in->kind]);
	}
}

/* EXISTS(SELECT ...), or NULL. */
static const struct pq_statement *exists_of(const struct pq_expr *expr)
{
	bool is_call = expr->kind == PQ_EXPR_CALL && expr->n == 1 && expr->text.n == 6 &&
		       strncasecmp(expr->text.p, "exists", 6) == 0;

	return is_call && expr->args[0]->kind == PQ_EXPR_STATEMENT &&
			       expr->args[0]->statement->kind == PQ_SELECT
		       ? expr->args[0]->statement
		       : NULL;
}

/* Refuses an expression that is no statement. */
static enum code refuse(const struct pq_expr *expr, bool is_transaction,
			struct partiql_statement *out, struct err *err)
{
	const char *name = partiql_kind_name(expr);
	bool is_call = expr->kind == PQ_EXPR_CALL || str_eq(str_of(name), STR("NAry"));

	/* an error of kind OTHER names no statement of a transaction */
	out->kind = !is_transaction ? is_call ? PARTIQL_CALL : PARTIQL_OTHER
		    : is_call       ? PARTIQL_OTHER
				    : PARTIQL_NONE;
	if (is_call)
		return is_transaction ? err_set(err, MSG_PARTIQL_TRANSACTION_OPERATION)
				      : err_set(err, MSG_PARTIQL_EXISTS);
	return err_set(err, MSG_PARTIQL_OPERATION, name);
}

/* What partiql_parse() gives, and where it fails as far as it came. */
static enum code lower_tree(struct call *call, struct pq_lowering *lowering,
			    const struct pq_expr *expr, bool is_transaction,
			    struct partiql_statement *out)
{
	const struct pq_statement *exists = exists_of(expr);
	enum code code;

	if (expr->kind == PQ_EXPR_STATEMENT) {
		code = lower_statement(lowering, expr->statement, out);
		return out->is_source_first && str_is_set(out->index) && !is_transaction
			       ? partiql_source_error(call, out, lowering->err)
			       : code;
	}
	if (!exists || !is_transaction)
		return refuse(expr, is_transaction, out, lowering->err);
	code = lower_select(lowering, exists, out);
	out->kind = PARTIQL_EXISTS;
	return code;
}

static enum code parse_and_lower(struct call *call, struct pq_lowering *lowering, struct str text,
				 size_t parameter_count, bool is_transaction,
				 struct partiql_statement *statement)
{
	struct partiql_tree tree;
	enum code code = partiql_cache_parse(call, text, &tree, lowering->err);

	if (code != OK)
		return code;
	if (tree.parameters > parameter_count)
		return err_set(lowering->err, MSG_PARTIQL_PARAMETERS);
	return lower_tree(call, lowering, tree.expr, is_transaction, statement);
}

enum code partiql_parse(struct call *call, struct str text, const struct value *parameters,
			size_t parameter_count, bool is_transaction,
			struct partiql_statement *statement, struct err *err)
{
	struct pq_lowering lowering = {.arena = call->arena, .err = err, .parameters = parameters};
	struct partiql_statement read = {.is_transaction = is_transaction};
	enum code code =
		parse_and_lower(call, &lowering, text, parameter_count, is_transaction, &read);
	*statement = code == OK ? read : (struct partiql_statement){.kind = read.kind};
	return code;
}
