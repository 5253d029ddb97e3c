#include <strings.h>

#include "protocol/partiql/messages.h"
#include "protocol/partiql/syntax.h"

static struct pq_expr *statement_expr(struct pq_parser *parser, enum pq_statement_kind kind,
				      const struct pq_token *at)
{
	struct pq_expr *expr = partiql_expr(parser, PQ_EXPR_STATEMENT, at);

	expr->statement = ARENA_NEW(parser->arena, struct pq_statement);
	expr->statement->kind = kind;
	return expr;
}

static bool at(const struct pq_parser *parser, enum pq_keyword keyword)
{
	return parser->token->keyword == keyword;
}

/* AS name, where it may be left out a bare name, AT name, BY name. */
static enum code parse_aliases(struct pq_parser *parser, bool *is_aliased)
{
	static const struct {
		enum pq_keyword keyword;
		const char *name;
	} aliases[] = {{PK_AS, "AS"}, {PK_AT, "AT"}, {PK_BY, "BY"}};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++) {
		if (at(parser, aliases[i].keyword)) {
			parser->token++;
			if (parser->token->kind != PQ_IDENTIFIER)
				return partiql_syntax_error(
					parser, str_printf(parser->arena, PARTIQL_ALIAS_IDENTIFIER,
							   aliases[i].name)
							.p);
		} else if (i > 0 || parser->token->kind != PQ_IDENTIFIER) {
			continue;
		}
		*is_aliased = true;
		parser->token++;
	}
	return OK;
}

static enum code parse_where(struct pq_parser *parser, struct pq_statement *statement)
{
	struct pq_expr *where = NULL;

	if (!at(parser, PK_WHERE))
		return OK;
	parser->token++;
	enum code code = partiql_parse_expression(parser, PQ_PRECEDENCE_SELECT, &where);
	statement->where = where;
	return code;
}

/* Whether a join follows; moves over its words. */
static bool skip_join(struct pq_parser *parser, bool *needs_on)
{
	const struct pq_token *token = parser->token;
	bool is_cross = false;

	if (partiql_is_sign(token, ',')) {
		*needs_on = false;
		parser->token++;
		return true;
	}
	while (token->keyword == PK_INNER || token->keyword == PK_LEFT ||
	       token->keyword == PK_RIGHT || token->keyword == PK_FULL ||
	       token->keyword == PK_OUTER || token->keyword == PK_CROSS) {
		is_cross = is_cross || token->keyword == PK_CROSS;
		token++;
	}
	if (token->keyword != PK_JOIN)
		return false;
	*needs_on = !is_cross;
	parser->token = token + 1;
	return true;
}

static enum code parse_source(struct pq_parser *parser, struct pq_statement *statement)
{
	struct pq_expr *source = NULL;
	bool needs_on = false;

	do {
		struct pq_expr *condition;

		if (at(parser, PK_UNPIVOT)) {
			statement->is_joined = true;
			parser->token++;
		}
		statement->is_joined = statement->is_joined || statement->source;
		enum code code = partiql_parse_expression(parser, PQ_PRECEDENCE_SELECT, &source);
		statement->source = source;
		if (code != OK)
			return code;
		code = parse_aliases(parser, &statement->is_aliased);
		if (code != OK)
			return code;
		if (needs_on) {
			if (!at(parser, PK_ON))
				return partiql_syntax_error(parser, PARTIQL_JOIN_ON);
			parser->token++;
			code = partiql_parse_expression(parser, PQ_PRECEDENCE_SELECT, &condition);
			if (code != OK)
				return code;
		}
	} while (skip_join(parser, &needs_on));
	return OK;
}

/* A path with a star at its end takes all members; elsewhere in a column it has no place. */
static enum code check_stars(struct pq_parser *parser, const struct pq_expr *column)
{
	bool has_bracket = false;

	if (column->kind != PQ_EXPR_PATH)
		return OK;
	for (unsigned i = 1; i < column->n; i++) {
		const struct pq_expr *step = column->args[i];

		has_bracket = has_bracket || step->is_bracket;
		if (step->kind == PQ_EXPR_STAR && (step->is_bracket || i + 1 < column->n))
			return partiql_syntax_error(parser, PARTIQL_STAR_PLACE);
		if (step->kind == PQ_EXPR_STAR && has_bracket)
			return partiql_syntax_error(parser, PARTIQL_STAR_MIXED);
	}
	return OK;
}

static enum code parse_columns(struct pq_parser *parser, struct pq_statement *statement)
{
	for (;;) {
		struct pq_expr *column;
		enum code code = OK;

		if (partiql_is_sign(parser->token, '*')) {
			statement->is_star = true;
			column = partiql_expr(parser, PQ_EXPR_STAR, parser->token++);
		} else if (at(parser, PK_FROM)) {
			return partiql_syntax_error(parser, PARTIQL_SELECT_NOTHING);
		} else {
			code = partiql_parse_expression(parser, 0, &column);
			if (code != OK)
				return code;
			code = check_stars(parser, column);
			if (code != OK)
				return code;
			code = parse_aliases(parser, &statement->is_aliased);
		}
		if (code != OK)
			return code;
		partiql_list_add(parser, &statement->columns, column);
		if (!partiql_is_sign(parser->token, ','))
			break;
		parser->token++;
	}
	if (statement->is_star && statement->columns.n > 1)
		return partiql_syntax_error(parser, PARTIQL_STAR_ALONE);
	return OK;
}

static bool is_word(const struct pq_token *token, struct str word)
{
	return !token->is_quoted && token->text.n == word.n &&
	       strncasecmp(token->text.p, word.p, word.n) == 0;
}

static enum code parse_order(struct pq_parser *parser, struct pq_statement *statement)
{
	if (!at(parser, PK_ORDER))
		return OK;
	parser->token++;
	if (!at(parser, PK_BY))
		return partiql_syntax_error(parser,
					    str_printf(parser->arena, PARTIQL_EXPECTED, "BY").p);
	do {
		struct pq_expr *term;

		parser->token++;
		enum code code = partiql_parse_expression(parser, PQ_PRECEDENCE_SELECT, &term);
		if (code != OK)
			return code;
		term->is_negated = at(parser, PK_DESC);
		parser->token += at(parser, PK_ASC) || at(parser, PK_DESC);
		if (is_word(parser->token, STR("nulls")) &&
		    (is_word(parser->token + 1, STR("first")) ||
		     is_word(parser->token + 1, STR("last"))))
			parser->token += 2; /* a key is never null */
		partiql_list_add(parser, &statement->order, term);
	} while (partiql_is_sign(parser->token, ','));
	return OK;
}

/* GROUP BY, HAVING, LIMIT: in the grammar, but not in DynamoDB. The error names the first one. */
static enum code parse_clauses(struct pq_parser *parser, struct pq_statement *statement)
{
	static const struct {
		enum pq_keyword keyword;
		const char *name;
	} clauses[] = {{PK_GROUP, "GROUP BY"}, {PK_HAVING, "HAVING"}, {PK_LIMIT, "LIMIT"}};
	enum code code = OK;

	for (size_t i = 0; i < sizeof(clauses) / sizeof(clauses[0]) && code == OK; i++) {
		struct pq_expr *expr;

		if (!at(parser, clauses[i].keyword))
			continue;
		parser->token++;
		if (clauses[i].keyword == PK_GROUP) {
			parser->token += at(parser, PK_PARTIAL);
			if (!at(parser, PK_BY))
				return partiql_syntax_error(
					parser,
					str_printf(parser->arena, PARTIQL_EXPECTED, "BY").p);
			parser->token++;
		}
		if (!statement->clause) {
			statement->clause = clauses[i].name;
			statement->clause_at =
				clauses[i].keyword == PK_GROUP ? NULL : parser->token;
		}
		code = partiql_parse_expression(parser, PQ_PRECEDENCE_SELECT, &expr);
		while (code == OK && clauses[i].keyword == PK_GROUP &&
		       partiql_is_sign(parser->token, ',')) {
			parser->token++;
			code = partiql_parse_expression(parser, PQ_PRECEDENCE_SELECT, &expr);
		}
	}
	return code;
}

static enum code parse_select(struct pq_parser *parser, struct pq_expr **out)
{
	struct pq_expr *value, *expr = statement_expr(parser, PQ_SELECT, parser->token++);
	struct pq_statement *statement = expr->statement;
	enum code code;

	if (at(parser, PK_DISTINCT))
		statement->distinct = parser->token++;
	else if (at(parser, PK_ALL))
		parser->token++;
	if (at(parser, PK_VALUE)) {
		statement->is_value = true;
		parser->token++;
		code = partiql_parse_expression(parser, 0, &value);
	} else {
		code = parse_columns(parser, statement);
	}
	if (code != OK)
		return code;
	if (!at(parser, PK_FROM))
		return partiql_syntax_error(parser, PARTIQL_SELECT_FROM);
	parser->token++;
	code = parse_source(parser, statement);
	if (code != OK)
		return code;
	code = parse_where(parser, statement);
	if (code != OK)
		return code;
	code = parse_order(parser, statement);
	if (code != OK)
		return code;
	code = parse_clauses(parser, statement);
	return RESULT(code, out, expr);
}

/* RETURNING (ALL | MODIFIED) (OLD | NEW) *, ... */
static enum code parse_returning(struct pq_parser *parser, struct pq_statement *statement)
{
	if (!at(parser, PK_RETURNING))
		return OK;
	do {
		struct pq_expr *column;
		const struct pq_token *token = ++parser->token;
		bool is_all = token->keyword == PK_ALL;

		if (!is_all && token->keyword != PK_MODIFIED)
			return partiql_syntax_error(parser, PARTIQL_RETURNING_ELEMENT);
		if (token[1].keyword == PK_OLD)
			statement->returning =
				is_all ? PARTIQL_RETURN_ALL_OLD : PARTIQL_RETURN_MODIFIED_OLD;
		else if (token[1].keyword == PK_NEW)
			statement->returning =
				is_all ? PARTIQL_RETURN_ALL_NEW : PARTIQL_RETURN_MODIFIED_NEW;
		else
			return partiql_syntax_error(parser, PARTIQL_RETURNING_ELEMENT);
		parser->token += 2;
		statement->returning_count++;
		if (partiql_is_sign(parser->token, '*')) {
			parser->token++;
			continue;
		}
		statement->returns_columns = true;
		enum code code = partiql_parse_expression(parser, 0, &column);
		if (code != OK)
			return code;
	} while (partiql_is_sign(parser->token, ','));
	return OK;
}

/* SET path = value, ... and REMOVE path, in any number. */
static enum code parse_changes(struct pq_parser *parser, struct pq_statement *statement)
{
	if (!at(parser, PK_SET) && !at(parser, PK_REMOVE))
		return partiql_syntax_error(parser, PARTIQL_MANIPULATION);
	while (at(parser, PK_SET) || at(parser, PK_REMOVE)) {
		bool is_set = at(parser, PK_SET);

		do {
			struct pq_expr *path, *value = NULL;

			parser->token++;
			enum code code = partiql_parse_simple_path(parser, &path);
			if (code == OK && is_set) {
				if (!str_eq(parser->token->text, STR("=")) ||
				    parser->token->kind != PQ_OPERATOR)
					return partiql_syntax_error(parser, PARTIQL_ASSIGNMENT);
				parser->token++;
				code = partiql_parse_expression(parser, 0, &value);
			}
			if (code != OK)
				return code;
			partiql_list_add(parser, &statement->changes, path);
			partiql_list_add(parser, &statement->changes, value);
		} while (is_set && partiql_is_sign(parser->token, ','));
	}
	return OK;
}

static enum code parse_insert(struct pq_parser *parser, struct pq_expr **out)
{
	struct pq_expr *source = NULL, *item = NULL, *position;

	if (parser->token[1].keyword != PK_INTO)
		return partiql_syntax_error(parser, PARTIQL_KEYWORD);
	struct pq_expr *expr = statement_expr(parser, PQ_INSERT, parser->token);
	struct pq_statement *statement = expr->statement;
	parser->token += 2;
	enum code code = partiql_parse_simple_path(parser, &source);
	if (code != OK)
		return code;
	statement->source = source;
	statement->is_insert_value = at(parser, PK_VALUE);
	parser->token += statement->is_insert_value;
	code = partiql_parse_expression(parser, 0, &item);
	statement->item = item;
	if (code != OK)
		return code;
	if (statement->is_insert_value && at(parser, PK_AT)) {
		parser->token++;
		code = partiql_parse_expression(parser, 0, &position);
	}
	if (code != OK)
		return code;
	code = parse_returning(parser, statement);
	return RESULT(code, out, expr);
}

/* UPDATE table ... WHERE ..., DELETE FROM table WHERE ... */
static enum code parse_update(struct pq_parser *parser, struct pq_expr **out)
{
	bool is_delete = at(parser, PK_DELETE);
	struct pq_expr *source = NULL,
		       *expr = statement_expr(parser, is_delete ? PQ_DELETE : PQ_UPDATE,
					      parser->token++);
	struct pq_statement *statement = expr->statement;

	if (is_delete && !at(parser, PK_FROM))
		return partiql_syntax_error(parser, PARTIQL_DELETE_FROM);
	parser->token += is_delete;
	enum code code = partiql_parse_simple_path(parser, &source);
	statement->source = source;
	if (code != OK)
		return code;
	code = parse_aliases(parser, &statement->is_aliased);
	if (code != OK)
		return code;
	if (!is_delete)
		code = parse_changes(parser, statement);
	if (code != OK)
		return code;
	code = parse_where(parser, statement);
	if (code != OK)
		return code;
	code = parse_returning(parser, statement);
	return RESULT(code, out, expr);
}

/* FROM table WHERE ... SET ...: an UPDATE the other way round. A bare SET has no table. */
static enum code parse_from(struct pq_parser *parser, struct pq_expr **out)
{
	struct pq_expr *expr = statement_expr(parser, PQ_UPDATE, parser->token);
	struct pq_statement *statement = expr->statement;
	enum code code = OK;

	if (at(parser, PK_FROM)) {
		parser->token++;
		code = parse_source(parser, statement);
		if (code != OK)
			return code;
		if (at(parser, PK_WHERE) &&
		    (parser->token[1].keyword == PK_SET || parser->token[1].keyword == PK_REMOVE))
			return partiql_syntax_error(parser, PARTIQL_MANIPULATION);
		code = parse_where(parser, statement);
	}
	if (code != OK)
		return code;
	code = parse_changes(parser, statement);
	if (code != OK)
		return code;
	code = parse_returning(parser, statement);
	return RESULT(code, out, expr);
}

/* The names of a definition, and the keys of a new index. */
static enum code parse_defined(struct pq_parser *parser, bool is_drop, bool is_index)
{
	for (int i = is_index && !is_drop ? 1 : 0; i < (is_index ? 2 : 1); i++) {
		if (i == 1 && !at(parser, PK_ON))
			return partiql_syntax_error(
				parser, str_printf(parser->arena, PARTIQL_EXPECTED, "ON").p);
		parser->token += i == 1;
		if (parser->token->kind != PQ_IDENTIFIER)
			return partiql_syntax_error(parser, PARTIQL_OBJECT);
		parser->token++;
	}
	if (!is_index || is_drop)
		return OK;
	if (!partiql_is_sign(parser->token, '('))
		return partiql_syntax_error(
			parser,
			str_printf(parser->arena, PARTIQL_EXPECTED, "parenthesis for keys").p);
	do {
		struct pq_expr *path;

		parser->token++;
		enum code code = partiql_parse_simple_path(parser, &path);
		if (code != OK)
			return code;
	} while (partiql_is_sign(parser->token, ','));
	if (!partiql_is_sign(parser->token, ')'))
		return partiql_syntax_error(
			parser, str_printf(parser->arena, PARTIQL_EXPECTED, "RIGHT_PAREN").p);
	parser->token++;
	return OK;
}

/* CREATE and DROP of TABLE and INDEX. */
static enum code parse_definition(struct pq_parser *parser, struct pq_expr **out)
{
	bool is_drop = at(parser, PK_DROP), is_index = parser->token[1].keyword == PK_INDEX;
	enum pq_statement_kind kind = is_index  ? (is_drop ? PQ_DROP_INDEX : PQ_CREATE_INDEX)
				      : is_drop ? PQ_DROP_TABLE
						: PQ_CREATE_TABLE;
	const struct pq_token *first = parser->token;

	if (!is_index && parser->token[1].keyword != PK_TABLE)
		return partiql_syntax_error(parser, is_drop ? PARTIQL_DROP : PARTIQL_CREATE);
	parser->token += 2;
	enum code code = parse_defined(parser, is_drop, is_index);
	return RESULT(code, out, statement_expr(parser, kind, first));
}

static enum code parse_any(struct pq_parser *parser, struct pq_expr **out)
{
	switch (parser->token->keyword) {
	case PK_SELECT:
		return parse_select(parser, out);
	case PK_INSERT:
		return parse_insert(parser, out);
	case PK_UPDATE:
	case PK_DELETE:
		return parse_update(parser, out);
	case PK_FROM:
	case PK_SET:
	case PK_REMOVE:
		return parse_from(parser, out);
	case PK_CREATE:
	case PK_DROP:
		return parse_definition(parser, out);
	default:
		return partiql_syntax_error(parser, PARTIQL_KEYWORD);
	}
}

static enum code parse_statement(struct pq_parser *parser, struct pq_expr **out)
{
	const struct pq_token *first = parser->token;
	bool is_nested = parser->depth > 1;
	struct pq_expr *expr = NULL;
	enum code code = parse_any(parser, &expr);

	if (code != OK)
		return code;
	if (is_nested && first->keyword != PK_SELECT)
		code = partiql_syntax_error(parser,
					    str_printf(parser->arena, PARTIQL_TOP_LEVEL,
						       str_copy(parser->arena, first->text).p)
						    .p);
	return RESULT(code, out, expr);
}

/* Nothing follows but a semicolon. */
static enum code parse_end(struct pq_parser *parser)
{
	bool is_closed = partiql_is_sign(parser->token, ';');

	parser->token += is_closed;
	return parser->token->kind == PQ_END
		       ? OK
		       : partiql_syntax_error(parser, is_closed ? PARTIQL_AFTER_SEMICOLON
								: PARTIQL_LEFTOVER);
}

enum code partiql_parse_text(struct arena *arena, struct str text, struct partiql_tree *out,
			     struct err *err)
{
	struct pq_parser parser = {.arena = arena, .err = err, .statement = parse_statement};
	struct pq_tokens tokens;
	struct pq_expr *expr = NULL;
	enum code code = partiql_lex(arena, text, &tokens, err);

	if (code != OK)
		return code;
	parser.token = tokens.v;
	code = partiql_parse_expression(&parser, 0, &expr);
	if (code != OK)
		return code;
	code = parse_end(&parser);
	return RESULT(code, out, ((struct partiql_tree){expr, parser.parameters}));
}
