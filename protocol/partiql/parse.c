#include "protocol/partiql/messages.h"
#include "protocol/partiql/syntax.h"


struct pq_expr *partiql_expr(struct pq_parser *parser, enum pq_kind kind, const struct pq_token *at)
{
	struct pq_expr *expr = ARENA_NEW(parser->arena, struct pq_expr);

	expr->kind = kind;
	expr->at = at;
	expr->text = at->text;
	return expr;
}

void partiql_list_add(struct pq_parser *parser, struct pq_list *list, struct pq_expr *expr)
{
	list->v = arena_room(parser->arena, list->v, list->n, sizeof(*list->v));
	list->v[list->n++] = expr;
}

enum code partiql_syntax_error(struct pq_parser *parser, const char *expected)
{
	return err_set(parser->err, MSG_PARTIQL_SYNTAX, expected);
}

bool partiql_is_sign(const struct pq_token *token, char sign)
{
	return token->kind == PQ_SIGN && token->sign == sign;
}

/* How the grammar's messages name a sign. */
static const char *sign_name(char sign)
{
	switch (sign) {
	case ')':
		return "RIGHT_PAREN";
	case ']':
		return "RIGHT_BRACKET";
	case '}':
		return "RIGHT_CURLY";
	case ':':
		return "COLON";
	case '(':
		return "LEFT_PAREN";
	default:
		return "RIGHT_DOUBLE_ANGLE_BRACKET";
	}
}

static enum code expect(struct pq_parser *parser, char sign)
{
	if (!partiql_is_sign(parser->token, sign))
		return partiql_syntax_error(
			parser, str_printf(parser->arena, PARTIQL_EXPECTED, sign_name(sign)).p);
	parser->token++;
	return OK;
}

static enum code enter(struct pq_parser *parser)
{
	if (parser->depth == PARTIQL_DEPTH_MAX)
		return partiql_syntax_error(parser, PARTIQL_LEXICAL);
	parser->depth++;
	return OK;
}

static struct pq_expr *with_args(struct pq_expr *expr, const struct pq_list *args)
{
	expr->n = args->n;
	expr->args = args->v;
	return expr;
}

static struct pq_expr *node_of(struct pq_parser *parser, enum pq_kind kind,
			       const struct pq_token *at, struct pq_expr *a, struct pq_expr *b)
{
	struct pq_list args = {0};

	if (a)
		partiql_list_add(parser, &args, a);
	if (b)
		partiql_list_add(parser, &args, b);
	return with_args(partiql_expr(parser, kind, at), &args);
}

/* Expressions with commas between them; at least one. */
static enum code parse_arguments(struct pq_parser *parser, struct pq_list *out)
{
	for (;;) {
		struct pq_expr *expr;
		enum code code = partiql_parse_expression(parser, 0, &expr);

		if (code != OK)
			return code;
		partiql_list_add(parser, out, expr);
		if (!partiql_is_sign(parser->token, ','))
			return OK;
		parser->token++;
	}
}

/* "( ... )", "[ ... ]", "<< ... >>" after the opening sign; may be empty where `may_be_empty`. */
static enum code parse_group(struct pq_parser *parser, char closing, bool may_be_empty,
			     struct pq_list *out)
{
	if (may_be_empty && partiql_is_sign(parser->token, closing)) {
		parser->token++;
		return OK;
	}
	enum code code = parse_arguments(parser, out);
	return code != OK ? code : expect(parser, closing);
}

static enum code parse_struct(struct pq_parser *parser, struct pq_list *out)
{
	if (partiql_is_sign(parser->token, '}')) {
		parser->token++;
		return OK;
	}
	for (;;) {
		struct pq_expr *key, *value;
		enum code code = partiql_parse_expression(parser, 0, &key);

		if (code != OK)
			return code;
		code = expect(parser, ':');
		if (code != OK)
			return code;
		code = partiql_parse_expression(parser, 0, &value);
		if (code != OK)
			return code;
		partiql_list_add(parser, out, key);
		partiql_list_add(parser, out, value);
		if (!partiql_is_sign(parser->token, ','))
			return expect(parser, '}');
		parser->token++;
	}
}

/* At the opening sign of the arguments. */
static enum code parse_call(struct pq_parser *parser, const struct pq_token *name,
			    struct pq_expr **out)
{
	bool is_aggregate = name->keyword == PK_AGGREGATE;
	struct pq_expr *call =
		partiql_expr(parser, is_aggregate ? PQ_EXPR_AGGREGATE : PQ_EXPR_CALL, name);
	struct pq_list args = {0};
	enum code code;

	parser->token++;
	if (is_aggregate &&
	    (parser->token->keyword == PK_DISTINCT || parser->token->keyword == PK_ALL))
		parser->token++;
	if (partiql_is_sign(parser->token, '*')) {
		if (!is_aggregate)
			return partiql_syntax_error(
				parser, str_printf(parser->arena, PARTIQL_CALL_STAR,
						   str_copy(parser->arena, name->text).p)
						.p);
		parser->token++;
		code = expect(parser, ')');
	} else {
		code = parse_group(parser, ')', true, &args);
	}
	return RESULT(code, out, with_args(call, &args));
}

/* The name of a type that has several. */
static struct str type_of_alias(struct str name)
{
	static const struct {
		struct str alias, name;
	} aliases[] = {
		{STR_INIT("VARCHAR"), STR_INIT("CHARACTER_VARYING")},
		{STR_INIT("CHAR"), STR_INIT("CHARACTER")},
		{STR_INIT("DEC"), STR_INIT("DECIMAL")},
		{STR_INIT("INT"), STR_INIT("INTEGER")},
		{STR_INIT("INT2"), STR_INIT("SMALLINT")},
		{STR_INIT("INTEGER2"), STR_INIT("SMALLINT")},
		{STR_INIT("INT4"), STR_INIT("INTEGER4")},
		{STR_INIT("INT8"), STR_INIT("INTEGER8")},
		{STR_INIT("BIGINT"), STR_INIT("INTEGER8")},
		{STR_INIT("BOOL"), STR_INIT("BOOLEAN")},
	};

	for (size_t i = 0; i < sizeof(aliases) / sizeof(aliases[0]); i++)
		if (str_eq(aliases[i].alias, name))
			return aliases[i].name;
	return name;
}

static enum code parse_type(struct pq_parser *parser, struct str *name)
{
	const struct pq_token *token = parser->token;
	struct pq_list parameters = {0};

	switch (token->keyword) {
	case PK_TYPE:
	case PK_LIST_TYPE:
	case PK_NULL:
	case PK_MISSING:
	case PK_CHARACTER:
		break;
	case PK_DOUBLE:
		if (token[1].keyword == PK_PRECISION)
			break;
		return partiql_syntax_error(parser, PARTIQL_TYPE_NAME);
	default:
		return partiql_syntax_error(parser, PARTIQL_TYPE_NAME);
	}
	struct buf buf = buf_in(parser->arena);
	buf_add_str(&buf, token->text);
	parser->token++;
	if (parser->token->keyword == PK_PRECISION ||
	    (token->keyword == PK_CHARACTER && parser->token->keyword == PK_VARYING)) {
		buf_add_byte(&buf, '_');
		buf_add_str(&buf, parser->token->text);
		parser->token++;
	}
	for (size_t i = 0; i < buf.n; i++)
		buf.p[i] = (char)(buf.p[i] >= 'a' && buf.p[i] <= 'z' ? buf.p[i] - 32 : buf.p[i]);
	enum code code = OK;
	if (partiql_is_sign(parser->token, '(')) {
		parser->token++;
		code = parse_group(parser, ')', false, &parameters);
	}
	return RESULT(code, name, type_of_alias(buf_str(&buf)));
}

static enum code parse_case(struct pq_parser *parser, struct pq_expr **out)
{
	struct pq_expr *part, *whole = partiql_expr(parser, PQ_EXPR_CASE, parser->token++);
	enum code code = OK;

	if (parser->token->keyword != PK_WHEN) {
		whole->is_simple = true;
		code = partiql_parse_expression(parser, 0, &part);
		if (code != OK)
			return code;
	}
	if (parser->token->keyword != PK_WHEN)
		return partiql_syntax_error(parser, PARTIQL_WHEN);
	while (parser->token->keyword == PK_WHEN) {
		parser->token++;
		code = partiql_parse_expression(parser, 0, &part);
		if (code != OK)
			return code;
		if (parser->token->keyword != PK_THEN)
			return partiql_syntax_error(
				parser,
				str_printf(parser->arena, PARTIQL_EXPECTED, "THEN keyword").p);
		parser->token++;
		code = partiql_parse_expression(parser, 0, &part);
		if (code != OK)
			return code;
	}
	if (parser->token->keyword == PK_ELSE) {
		parser->token++;
		code = partiql_parse_expression(parser, 0, &part);
		if (code != OK)
			return code;
	}
	if (parser->token->keyword != PK_END)
		return partiql_syntax_error(
			parser, str_printf(parser->arena, PARTIQL_EXPECTED, "END keyword").p);
	parser->token++;
	return RESULT(code, out, whole);
}

static enum code parse_cast(struct pq_parser *parser, struct pq_expr **out)
{
	struct pq_expr *value, *cast = partiql_expr(parser, PQ_EXPR_CAST, ++parser->token);
	struct str type;
	enum code code = expect(parser, '(');

	if (code != OK)
		return code;
	code = partiql_parse_expression(parser, 0, &value);
	if (code != OK)
		return code;
	if (parser->token->keyword != PK_AS)
		return partiql_syntax_error(parser,
					    str_printf(parser->arena, PARTIQL_EXPECTED, "AS").p);
	parser->token++;
	code = parse_type(parser, &type);
	if (code != OK)
		return code;
	code = expect(parser, ')');
	return RESULT(code, out, cast);
}

static enum code parse_keyword(struct pq_parser *parser, struct pq_expr **out)
{
	const struct pq_token *token = parser->token;
	struct pq_list args = {0};

	switch (token->keyword) {
	case PK_TRUE:
	case PK_FALSE:
		*out = partiql_expr(parser, PQ_EXPR_BOOLEAN, token);
		(*out)->is_true = token->keyword == PK_TRUE;
		parser->token++;
		return OK;
	case PK_NULL:
	case PK_MISSING:
		*out = partiql_expr(
			parser, token->keyword == PK_NULL ? PQ_EXPR_NULL : PQ_EXPR_MISSING, token);
		parser->token++;
		return OK;
	case PK_FUNCTION:
	case PK_AGGREGATE:
	case PK_LIST_TYPE:
		parser->token++;
		if (!partiql_is_sign(parser->token, '('))
			return partiql_syntax_error(parser, PARTIQL_KEYWORD);
		return parse_call(parser, token, out);
	case PK_CASE:
		return parse_case(parser, out);
	case PK_CAST:
		return parse_cast(parser, out);
	case PK_VALUES:
		parser->token++;
		if (!partiql_is_sign(parser->token, '('))
			return partiql_syntax_error(
				parser, str_printf(parser->arena, PARTIQL_EXPECTED,
						   "LEFT_PAREN for row value constructor")
						.p);
		enum code code = parse_arguments(parser, &args);
		return RESULT(code, out,
			      with_args(partiql_expr(parser, PQ_EXPR_BAG, token), &args));
	default:
		return parser->statement(parser, out);
	}
}

/* "(a)" is a; "(a, b)" is a list. */
static enum code parse_parentheses(struct pq_parser *parser, struct pq_expr **out)
{
	const struct pq_token *open = parser->token++;
	struct pq_list args = {0};
	enum code code = parse_group(parser, ')', false, &args);

	if (code != OK)
		return code;
	*out = args.n == 1 ? args.v[0] : with_args(partiql_expr(parser, PQ_EXPR_LIST, open), &args);
	return OK;
}

static enum code parse_sign(struct pq_parser *parser, struct pq_expr **out)
{
	const struct pq_token *token = parser->token;
	struct pq_list args = {0};
	enum pq_kind kind;
	enum code code;

	switch (token->sign) {
	case '(':
		return parse_parentheses(parser, out);
	case '[':
	case PQ_BAG_OPEN:
		parser->token++;
		kind = token->sign == '[' ? PQ_EXPR_LIST : PQ_EXPR_BAG;
		code = parse_group(parser, token->sign == '[' ? ']' : PQ_BAG_CLOSE, true, &args);
		break;
	case '{':
		parser->token++;
		kind = PQ_EXPR_STRUCT;
		code = parse_struct(parser, &args);
		break;
	case '?':
		parser->token++;
		*out = partiql_expr(parser, PQ_EXPR_PARAMETER, token);
		(*out)->parameter = parser->parameters++;
		return OK;
	default:
		return partiql_syntax_error(parser, PARTIQL_TERM);
	}
	return RESULT(code, out, with_args(partiql_expr(parser, kind, token), &args));
}

static enum code parse_term(struct pq_parser *parser, struct pq_expr **out)
{
	const struct pq_token *token = parser->token;

	switch (token->kind) {
	case PQ_IDENTIFIER:
		parser->token++;
		if (partiql_is_sign(parser->token, '('))
			return parse_call(parser, token, out);
		*out = partiql_expr(parser, PQ_EXPR_NAME, token);
		return OK;
	case PQ_STRING:
	case PQ_NUMBER:
	case PQ_ION:
		parser->token++;
		*out = partiql_expr(parser,
				    token->kind == PQ_STRING   ? PQ_EXPR_STRING
				    : token->kind == PQ_NUMBER ? PQ_EXPR_NUMBER
							       : PQ_EXPR_ION,
				    token);
		return OK;
	case PQ_KEYWORD:
		if (token->keyword == PK_AND || token->keyword == PK_OR ||
		    token->keyword == PK_IS || token->keyword == PK_IN ||
		    token->keyword == PK_BETWEEN || token->keyword == PK_LIKE ||
		    token->keyword == PK_UNION || token->keyword == PK_EXCEPT ||
		    token->keyword == PK_INTERSECT)
			return partiql_syntax_error(parser, PARTIQL_OPERATOR);
		return parse_keyword(parser, out);
	case PQ_OPERATOR:
		if (token->sign != '@')
			return partiql_syntax_error(parser, PARTIQL_OPERATOR);
		if (token[1].kind != PQ_IDENTIFIER)
			return partiql_syntax_error(parser, PARTIQL_AT_IDENTIFIER);
		*out = partiql_expr(parser, PQ_EXPR_NAME, token + 1);
		parser->token += 2;
		return OK;
	case PQ_SIGN:
		return parse_sign(parser, out);
	default:
		return partiql_syntax_error(parser, PARTIQL_TERM);
	}
}

/* ".name", ".*" */
static enum code parse_dot(struct pq_parser *parser, bool is_simple, struct pq_list *steps)
{
	const struct pq_token *token = ++parser->token;

	if (token->kind != PQ_IDENTIFIER && !partiql_is_sign(token, '*'))
		return partiql_syntax_error(parser, PARTIQL_PATH_DOT);
	if (token->kind != PQ_IDENTIFIER && is_simple)
		return partiql_syntax_error(parser, PARTIQL_PATH_DOT_SIMPLE);
	partiql_list_add(parser, steps,
			 partiql_expr(parser,
				      token->kind == PQ_IDENTIFIER ? PQ_EXPR_NAME : PQ_EXPR_STAR,
				      token));
	parser->token++;
	return OK;
}

/* "[1]", "[*]" */
static enum code parse_bracket(struct pq_parser *parser, bool is_simple, struct pq_list *steps)
{
	struct pq_expr *step;
	enum code code = OK;

	parser->token++;
	if (partiql_is_sign(parser->token, '*'))
		step = partiql_expr(parser, PQ_EXPR_STAR, parser->token++);
	else
		code = partiql_parse_expression(parser, 0, &step);
	if (code != OK)
		return code;
	code = expect(parser, ']');
	if (code != OK)
		return code;
	if (is_simple && step->kind != PQ_EXPR_NUMBER && step->kind != PQ_EXPR_STRING &&
	    step->kind != PQ_EXPR_NAME)
		return partiql_syntax_error(parser, PARTIQL_PATH_SIMPLE);
	step->is_bracket = true;
	partiql_list_add(parser, steps, step);
	return OK;
}

/* `first` with the steps behind it, if there are any. */
static enum code parse_steps(struct pq_parser *parser, bool is_simple, struct pq_expr *first,
			     struct pq_expr **out)
{
	struct pq_list steps = {0};
	enum code code = OK;

	partiql_list_add(parser, &steps, first);
	while (code == OK &&
	       (partiql_is_sign(parser->token, '.') || partiql_is_sign(parser->token, '[')))
		code = partiql_is_sign(parser->token, '.')
			       ? parse_dot(parser, is_simple, &steps)
			       : parse_bracket(parser, is_simple, &steps);
	return RESULT(code, out,
		      steps.n > 1 ? with_args(partiql_expr(parser, PQ_EXPR_PATH, first->at), &steps)
				  : first);
}

enum code partiql_parse_simple_path(struct pq_parser *parser, struct pq_expr **out)
{
	if (parser->token->kind != PQ_IDENTIFIER)
		return partiql_syntax_error(parser, PARTIQL_IDENTIFIER);
	struct pq_expr *name = partiql_expr(parser, PQ_EXPR_NAME, parser->token++);
	return parse_steps(parser, true, name, out);
}

/* A number's sign belongs to the number. */
static void negate(struct pq_parser *parser, struct pq_expr *number)
{
	if (number->text.n > 0 && number->text.p[0] == '-')
		number->text = (struct str){number->text.p + 1, number->text.n - 1};
	else
		number->text = str_printf(parser->arena, "-" STR_FMT, STR_ARG(number->text));
}

static enum code too_many(struct pq_parser *parser)
{
	return err_set(parser->err, MSG_PARTIQL_OPERATORS, EXPR_OPERATORS_MAX + 1u);
}

static bool is_prefix(const struct pq_token *token, bool is_not)
{
	return is_not ? token->keyword == PK_NOT
		      : token->kind == PQ_OPERATOR && (token->sign == '+' || token->sign == '-');
}

/* A term, or a run of NOT or of signs before an operand: no recursion, since a text is that run as
 * often as it likes. */
static enum code parse_unary(struct pq_parser *parser, struct pq_expr **out)
{
	const struct pq_token *first = parser->token;
	bool is_not = is_prefix(first, true);
	struct pq_expr *operand;
	enum code code;

	while (is_prefix(parser->token, is_not))
		parser->token++;
	const struct pq_token *last = parser->token;
	if (last == first) {
		code = parse_term(parser, &operand);
		return code != OK ? code : parse_steps(parser, false, operand, out);
	}
	code = enter(parser);
	if (code != OK)
		return code;
	code = is_not ? partiql_parse_expression(parser, 30, &operand)
		      : parse_unary(parser, &operand);
	parser->depth--;
	for (size_t left = (size_t)(last - first); code == OK && last-- > first; left--) {
		bool is_number = !is_not && operand->kind == PQ_EXPR_NUMBER;

		if (is_number && last->sign == '-')
			negate(parser, operand);
		if (is_number)
			continue;
		if (left > EXPR_OPERATORS_MAX)
			return too_many(parser);
		operand = node_of(parser, is_not ? PQ_EXPR_NOT : PQ_EXPR_ARITHMETIC, last, operand,
				  NULL);
		operand->operation = last->sign == '+' ? "+" : "-";
	}
	return RESULT(code, out, operand);
}

/* What may stand between two operands. */
struct infix {
	enum pq_kind kind;
	unsigned precedence;
	const char *operation;
	unsigned tokens; /* that it is made of */
};

static const struct {
	struct str text;
	struct infix infix;
} operators[] = {
	{STR_INIT("="), {PQ_EXPR_COMPARE, 40, "=", 1}},
	{STR_INIT("<>"), {PQ_EXPR_COMPARE, 40, "<>", 1}},
	{STR_INIT("!="), {PQ_EXPR_COMPARE, 40, "<>", 1}},
	{STR_INIT("<"), {PQ_EXPR_COMPARE, 50, "<", 1}},
	{STR_INIT("<="), {PQ_EXPR_COMPARE, 50, "<=", 1}},
	{STR_INIT(">"), {PQ_EXPR_COMPARE, 50, ">", 1}},
	{STR_INIT(">="), {PQ_EXPR_COMPARE, 50, ">=", 1}},
	{STR_INIT("+"), {PQ_EXPR_ARITHMETIC, 60, "+", 1}},
	{STR_INIT("-"), {PQ_EXPR_ARITHMETIC, 60, "-", 1}},
	{STR_INIT("||"), {PQ_EXPR_ARITHMETIC, 60, "||", 1}},
	{STR_INIT("/"), {PQ_EXPR_ARITHMETIC, 70, "/", 1}},
	{STR_INIT("%"), {PQ_EXPR_ARITHMETIC, 70, "%", 1}},
	{STR_INIT("*"), {PQ_EXPR_ARITHMETIC, 70, "*", 1}},
};

static struct infix infix_of(const struct pq_token *token)
{
	unsigned negated = token->keyword == PK_NOT ? 1 : 0;

	for (size_t i = 0; (token->kind == PQ_OPERATOR || partiql_is_sign(token, '*')) &&
			   i < sizeof(operators) / sizeof(operators[0]);
	     i++) {
		if (str_eq(token->text, operators[i].text))
			return operators[i].infix;
	}
	switch (token[negated].keyword) {
	case PK_IN:
		return (struct infix){PQ_EXPR_IN, 40, "in", 1 + negated};
	case PK_BETWEEN:
		return (struct infix){PQ_EXPR_BETWEEN, 50, "between", 1 + negated};
	case PK_LIKE:
		return (struct infix){PQ_EXPR_LIKE, 50, "like", 1 + negated};
	default:
		break;
	}
	switch (token->keyword) {
	case PK_AND:
		return (struct infix){PQ_EXPR_AND, 20, "and", 1};
	case PK_OR:
		return (struct infix){PQ_EXPR_OR, 10, "or", 1};
	case PK_IS:
		return (struct infix){PQ_EXPR_IS, 40, "is", token[1].keyword == PK_NOT ? 2 : 1};
	case PK_UNION:
	case PK_EXCEPT:
	case PK_INTERSECT:
		return (struct infix){
			PQ_EXPR_UNION, 5, "union",
			token[1].keyword == PK_ALL || token[1].keyword == PK_DISTINCT ? 2 : 1};
	default:
		return (struct infix){0};
	}
}

/* The part behind the first operand on the right side: AND of BETWEEN, ESCAPE of LIKE. */
static enum code parse_third(struct pq_parser *parser, const struct infix *infix,
			     struct pq_expr *node)
{
	bool is_between = infix->kind == PQ_EXPR_BETWEEN;
	struct pq_list args = {node->n, node->args};
	struct pq_expr *third;

	if (!is_between && parser->token->keyword != PK_ESCAPE)
		return OK;
	if (is_between && parser->token->keyword != PK_AND)
		return partiql_syntax_error(
			parser, str_printf(parser->arena, PARTIQL_EXPECTED, "AND keyword").p);
	parser->token++;
	if (parser->token->kind == PQ_END || partiql_is_sign(parser->token, ';'))
		return partiql_syntax_error(parser,
					    is_between ? PARTIQL_AFTER_AND : PARTIQL_AFTER_ESCAPE);
	enum code code = partiql_parse_expression(parser, infix->precedence, &third);
	if (code != OK)
		return code;
	partiql_list_add(parser, &args, third);
	with_args(node, &args);
	return OK;
}

static enum code parse_right(struct pq_parser *parser, const struct infix *infix,
			     struct pq_expr *left, struct pq_expr **out)
{
	const struct pq_token *at = parser->token;
	struct pq_list list = {0};
	struct pq_expr *right = NULL, *node;
	enum code code;

	parser->token += infix->tokens;
	if (infix->kind == PQ_EXPR_IS) {
		node = node_of(parser, PQ_EXPR_IS, at, left, NULL);
		node->is_negated = infix->tokens == 2;
		code = parse_type(parser, &node->text);
		return RESULT(code, out, node);
	}
	if (infix->kind == PQ_EXPR_IN && partiql_is_sign(parser->token, '(') &&
	    parser->token[1].keyword != PK_SELECT && parser->token[1].keyword != PK_VALUES) {
		const struct pq_token *open = parser->token++;

		code = parse_group(parser, ')', false, &list);
		right = with_args(partiql_expr(parser, PQ_EXPR_LIST, open), &list);
	} else if (parser->token->kind == PQ_END || partiql_is_sign(parser->token, ';')) {
		return partiql_syntax_error(parser, PARTIQL_RIGHT_SIDE);
	} else {
		code = partiql_parse_expression(parser, infix->precedence, &right);
	}
	if (code != OK)
		return code;
	node = node_of(parser, infix->kind, at, left, right);
	node->operation = infix->operation;
	node->is_negated = at->keyword == PK_NOT;
	if (infix->kind == PQ_EXPR_BETWEEN || infix->kind == PQ_EXPR_LIKE)
		code = parse_third(parser, infix, node);
	return RESULT(code, out, node);
}

enum code partiql_parse_expression(struct pq_parser *parser, unsigned precedence,
				   struct pq_expr **out)
{
	enum code code = enter(parser);
	struct pq_expr *expr;
	unsigned operator_count = 0;

	if (code != OK)
		return code;
	code = parse_unary(parser, &expr);
	/* but for SELECT, a statement is no operand */
	bool is_whole =
		code == OK && expr->kind == PQ_EXPR_STATEMENT && expr->statement->kind != PQ_SELECT;
	while (code == OK && !is_whole) {
		struct infix infix = infix_of(parser->token);

		if (infix.precedence <= precedence)
			break;
		/* the tree grows to the left with each */
		if (++operator_count > 2 * EXPR_OPERATORS_MAX)
			return too_many(parser);
		code = parse_right(parser, &infix, expr, &expr);
	}
	parser->depth--;
	return RESULT(code, out, expr);
}
