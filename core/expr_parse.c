#include "core/expr_internal.h"

#define TOKEN_STEPS 4 /* of work, as arena_works() counts them */

static const char *const parameters[] = {
	[EXPR_CONDITION] = "Invalid ConditionExpression: ",
	[EXPR_FILTER] = "Invalid FilterExpression: ",
	[EXPR_KEY_CONDITION] = "Invalid KeyConditionExpression: ",
	[EXPR_UPDATE] = "Invalid UpdateExpression: ",
	[EXPR_PROJECTION] = "Invalid ProjectionExpression: ",
	[EXPR_SEARCH] = "Invalid SearchConditionExpression: ",
};

enum code parser_open(struct parser *parser, struct expr_env *env, enum expr_kind kind,
		      struct str text, struct err *err)
{
	*parser = (struct parser){.env = env,
				  .arena = env->arena,
				  .err = err,
				  .kind = kind,
				  .parameter = parameters[kind]};
	if (text.n == 0)
		return err_set(err, MSG_EXPR_EMPTY, parser->parameter);
	if (text.n > EXPR_SIZE_MAX && env->is_older &&
	    (kind == EXPR_CONDITION || kind == EXPR_FILTER))
		return err_set(err, MSG_EXPR_SIZE_TOLD, parser->parameter, text.n);
	if (text.n > EXPR_SIZE_MAX)
		return err_set(err, MSG_EXPR_SIZE, parser->parameter);
	parser->lexer = (struct lexer){text, 0};
	parser->next = lexer_next(&parser->lexer);
	parser_advance(parser);
	return OK;
}

void parser_advance(struct parser *parser)
{
	parser->previous = parser->token;
	parser->token = parser->next;
	if (parser->token.kind != TOKEN_END)
		parser->next = lexer_next(&parser->lexer);
}

/* The text from the token before the offending one to the token after it, or the end of the text,
 * as AWS shows it. */
enum code parser_syntax_error(struct parser *parser)
{
	struct str token = parser->token.kind == TOKEN_END ? STR("<EOF>") : parser->token.text,
		   text = parser->lexer.text;
	const char *first = parser->previous.text.n ? parser->previous.text.p : text.p;
	bool is_last = parser->token.kind == TOKEN_END || parser->next.kind == TOKEN_END;
	const char *end = is_last ? text.p + text.n : parser->next.text.p + parser->next.text.n;
	struct str near = {first, (size_t)(end - first)};

	return err_set(parser->err, MSG_EXPR_SYNTAX, parser->parameter, STR_ARG(token),
		       STR_ARG(near));
}

bool parser_at(const struct parser *parser, char character)
{
	return parser->token.kind == TOKEN_CHARACTER && parser->token.text.p[0] == character;
}

static enum code parser_expect(struct parser *parser, char character)
{
	if (!parser_at(parser, character))
		return parser_syntax_error(parser);
	parser_advance(parser);
	return OK;
}

static struct raw *raw_new(struct parser *parser, enum raw_kind kind, unsigned arg_count)
{
	struct raw *raw = ARENA_NEW(parser->arena, struct raw);

	raw->kind = kind;
	raw->arg_count = arg_count;
	raw->args = ARENA_ARRAY(parser->arena, struct raw *, arg_count);
	return raw;
}

static struct raw *raw_two(struct parser *parser, enum raw_kind kind, struct raw *left,
			   struct raw *right)
{
	struct raw *raw = raw_new(parser, kind, 2);

	raw->args[0] = left;
	raw->args[1] = right;
	return raw;
}

static bool at_name(const struct parser *parser)
{
	return parser->token.kind == TOKEN_NAME ||
	       (parser->token.kind == TOKEN_WORD && parser->token.keyword == KEYWORD_NONE);
}

/* Closes the parentheses around `raw`. AWS refuses a second pair at once, before syntax errors that
 * follow. */
static enum code parse_closing(struct parser *parser, struct raw *raw)
{
	enum code code = parser_expect(parser, ')');

	if (code == OK && raw->is_parenthesised)
		return err_set(parser->err, MSG_EXPR_PARENTHESES, parser->parameter);
	raw->is_parenthesised = true;
	return code;
}

static enum code parse_step(struct parser *parser, struct raw_step *step)
{
	if (parser_at(parser, '.')) {
		parser_advance(parser);
		if (!at_name(parser))
			return parser_syntax_error(parser);
		step->text = parser->token.text;
		parser_advance(parser);
		return OK;
	}
	parser_advance(parser);
	if (parser->token.kind != TOKEN_NUMBER)
		return parser_syntax_error(parser);
	step->index = parser->token.text;
	parser_advance(parser);
	return parser_expect(parser, ']');
}

enum code parse_path(struct parser *parser, struct raw **out)
{
	struct raw *raw = raw_new(parser, RAW_PATH, 0);

	if (!at_name(parser))
		return parser_syntax_error(parser);
	raw->steps = arena_room(parser->arena, NULL, 0, sizeof(*raw->steps));
	raw->steps[raw->step_count++] = (struct raw_step){.text = parser->token.text};
	parser_advance(parser);
	while (parser_at(parser, '.') || parser_at(parser, '[')) {
		struct raw_step step = {{NULL, 0}, {NULL, 0}};
		enum code code = parse_step(parser, &step);

		if (code != OK)
			return code;
		raw->steps =
			arena_room(parser->arena, raw->steps, raw->step_count, sizeof(*raw->steps));
		raw->steps[raw->step_count++] = step;
	}
	*out = raw;
	return OK;
}

static enum code parse_operand(struct parser *parser, struct raw **out);

/* The items between "(" and ")", separated by commas; at least one. */
static enum code parse_operand_list(struct parser *parser, struct raw *owner, unsigned first)
{
	enum code code = parser_expect(parser, '(');

	if (code != OK)
		return code;
	owner->arg_count = first;
	for (;;) {
		struct raw *operand;

		code = parse_operand(parser, &operand);
		if (code != OK)
			return code;
		owner->args = arena_room(parser->arena, owner->args, owner->arg_count,
					 sizeof(*owner->args));
		owner->args[owner->arg_count++] = operand;
		if (!parser_at(parser, ','))
			return parser_expect(parser, ')');
		parser_advance(parser);
	}
}

/* What `parse` reads between parentheses. */
static enum code parse_enclosed(struct parser *parser,
				enum code (*parse)(struct parser *, struct raw **),
				struct raw **out)
{
	struct raw *raw;

	parser_advance(parser);
	enum code code = parse(parser, &raw);
	if (code != OK)
		return code;
	code = parse_closing(parser, raw);
	return RESULT(code, out, raw);
}

/* A path, a value, a function call, or one of these in parentheses. */
static enum code parse_operand(struct parser *parser, struct raw **out)
{
	struct raw *raw = NULL;
	enum code code = parser_works(parser, TOKEN_STEPS);

	if (code != OK)
		return code;
	if (++parser->depth > EXPR_DEPTH_MAX)
		return parser_syntax_error(parser);
	if (parser_at(parser, '(')) {
		code = parse_enclosed(parser, parse_operand, &raw);
	} else if (parser->token.kind == TOKEN_VALUE) {
		raw = raw_new(parser, RAW_VALUE, 0);
		raw->text = parser->token.text;
		parser_advance(parser);
	} else if (parser->token.kind == TOKEN_WORD && parser->next.text.n == 1 &&
		   parser->next.text.p[0] == '(' && parser->token.keyword == KEYWORD_NONE) {
		raw = raw_new(parser, RAW_FUNCTION, 0);
		raw->text = parser->token.text;
		parser_advance(parser);
		code = parse_operand_list(parser, raw, 0);
	} else {
		code = parse_path(parser, &raw);
	}
	parser->depth--;
	return RESULT(code, out, raw);
}

/* Of + and - there is one in a value, which may stand in parentheses: "(a + b)", "(a) + (b)", but
 * not "(a + b) + c". */
enum code parse_set_value(struct parser *parser, struct raw **out)
{
	struct raw *left = NULL, *right;
	enum code code;

	if (++parser->depth > EXPR_DEPTH_MAX)
		return parser_syntax_error(parser);
	if (parser_at(parser, '(')) {
		code = parse_enclosed(parser, parse_set_value, &left);
	} else {
		code = parse_operand(parser, &left);
	}
	parser->depth--;
	bool is_sum = code == OK && (left->kind == RAW_PLUS || left->kind == RAW_MINUS);
	if (code != OK || is_sum || (!parser_at(parser, '+') && !parser_at(parser, '-')))
		return RESULT(code, out, left);
	enum raw_kind kind = parser_at(parser, '+') ? RAW_PLUS : RAW_MINUS;
	parser_advance(parser);
	code = parse_operand(parser, &right);
	return RESULT(code, out, raw_two(parser, kind, left, right));
}

static enum code parse_between(struct parser *parser, struct raw *left, struct raw **out)
{
	struct raw *raw = raw_new(parser, RAW_BETWEEN, 3);

	parser_advance(parser);
	raw->args[0] = left;
	enum code code = parse_operand(parser, &raw->args[1]);
	if (code != OK)
		return code;
	if (parser->token.keyword != KEYWORD_AND)
		return parser_syntax_error(parser);
	parser_advance(parser);
	code = parse_operand(parser, &raw->args[2]);
	return RESULT(code, out, raw);
}

/* An operand with its comparison, BETWEEN or IN; a lone function call is a condition too. */
static enum code parse_comparison(struct parser *parser, struct raw **out)
{
	struct raw *left, *right, *raw;
	enum code code = parse_operand(parser, &left);

	raw = left;
	if (code != OK)
		return code;
	if (parser->token.kind == TOKEN_OPERATOR) {
		enum node_kind comparison = expr_comparison(parser->token.text);

		parser_advance(parser);
		code = parse_operand(parser, &right);
		if (code != OK)
			return code;
		raw = raw_two(parser, RAW_COMPARISON, left, right);
		raw->node = comparison;
	} else if (parser->token.keyword == KEYWORD_BETWEEN) {
		code = parse_between(parser, left, &raw);
	} else if (parser->token.keyword == KEYWORD_IN) {
		parser_advance(parser);
		raw = raw_new(parser, RAW_IN, 1);
		raw->args[0] = left;
		code = parse_operand_list(parser, raw, 1);
	} else if (left->kind != RAW_FUNCTION) {
		code = parser_syntax_error(parser);
	}
	return RESULT(code, out, raw);
}

static enum code parse_or(struct parser *parser, struct raw **out);

struct parenthesis {
	size_t at;
	bool has_function; /* a call lies within */
};

/* What is known of parentheses before their ends: the outermost `conditions` hold conditions. */
struct nesting {
	struct parenthesis *open;
	size_t depth, conditions;
};

/* The innermost parenthesis ends, or the text does; false where it holds a condition. */
static bool close_innermost(struct nesting *nesting, struct parenthesis *closed)
{
	*closed = nesting->open[--nesting->depth];
	if (nesting->depth > 0 && closed->has_function)
		nesting->open[nesting->depth - 1].has_function = true;
	if (nesting->depth >= nesting->conditions)
		return true;
	nesting->conditions = nesting->depth;
	return false;
}

/*
 * Finds which parentheses, from the current token on, hold an operand, "(a) = :v", and not a
 * condition. A function call may be either: what follows the parenthesis decides. One walk for all
 * of them, as there may be as many as characters.
 */
static void find_operands(struct parser *parser)
{
	struct lexer lexer = parser->lexer;
	struct token token = parser->token, next = parser->next, previous = token;
	struct nesting nesting = {ARENA_ARRAY(parser->arena, struct parenthesis, lexer.text.n), 0,
				  0};
	struct parenthesis closed;
	bool *undecided = NULL; /* of the parenthesis that ended just now */

	parser->operands = arena_calloc(parser->arena, lexer.text.n, sizeof(bool));
	while (token.kind != TOKEN_END && arena_works(parser->arena, TOKEN_STEPS)) {
		if (undecided)
			*undecided = token.kind == TOKEN_OPERATOR ||
				     token.keyword == KEYWORD_BETWEEN ||
				     token.keyword == KEYWORD_IN;
		undecided = NULL;
		if (token.kind == TOKEN_OPERATOR || token.keyword != KEYWORD_NONE) {
			nesting.conditions = nesting.depth;
		} else if (token.kind == TOKEN_CHARACTER && token.text.p[0] == '(') {
			if (nesting.depth > 0 && previous.kind == TOKEN_WORD)
				nesting.open[nesting.depth - 1].has_function = true;
			nesting.open[nesting.depth++] =
				(struct parenthesis){(size_t)(token.text.p - lexer.text.p), false};
		} else if (token.kind == TOKEN_CHARACTER && token.text.p[0] == ')' &&
			   nesting.depth > 0 && close_innermost(&nesting, &closed)) {
			parser->operands[closed.at] = !closed.has_function;
			undecided = closed.has_function ? &parser->operands[closed.at] : NULL;
		}
		previous = token;
		token = next;
		next = lexer_next(&lexer);
	}
	while (nesting.depth > 0) {
		if (close_innermost(&nesting, &closed))
			parser->operands[closed.at] = !closed.has_function;
	}
}

/* Whether the parenthesis at the current token does. */
static bool holds_operand(struct parser *parser)
{
	if (!parser->operands)
		find_operands(parser);
	return parser->operands[parser->token.text.p - parser->lexer.text.p];
}

static enum code parse_primary(struct parser *parser, struct raw **out)
{
	if (!parser_at(parser, '(') || holds_operand(parser))
		return parse_comparison(parser, out);
	return parse_enclosed(parser, parse_or, out);
}

static enum code parse_not(struct parser *parser, struct raw **out)
{
	struct raw *raw = NULL;
	enum code code = parser_works(parser, TOKEN_STEPS);

	if (code != OK)
		return code;
	if (++parser->depth > EXPR_DEPTH_MAX)
		return parser_syntax_error(parser);
	if (parser->token.keyword == KEYWORD_NOT) {
		raw = raw_new(parser, RAW_NOT, 1);
		parser_advance(parser);
		code = parse_not(parser, &raw->args[0]);
	} else {
		code = parse_primary(parser, &raw);
	}
	parser->depth--;
	return RESULT(code, out, raw);
}

static enum code parse_chain(struct parser *parser, enum keyword keyword, enum raw_kind kind,
			     enum code (*parse)(struct parser *, struct raw **), struct raw **out)
{
	struct raw *left, *right;
	enum code code = parse(parser, &left);

	if (code != OK)
		return code;
	while (parser->token.keyword == keyword) {
		parser_advance(parser);
		code = parse(parser, &right);
		if (code != OK)
			return code;
		left = raw_two(parser, kind, left, right);
	}
	*out = left;
	return OK;
}

static enum code parse_and(struct parser *parser, struct raw **out)
{
	return parse_chain(parser, KEYWORD_AND, RAW_AND, parse_not, out);
}

static enum code parse_or(struct parser *parser, struct raw **out)
{
	return parse_chain(parser, KEYWORD_OR, RAW_OR, parse_and, out);
}

enum code expr_parse_condition(struct expr_env *env, enum expr_kind kind, struct str text,
			       const struct node **out, struct err *err)
{
	struct parser parser;
	struct raw *raw;
	const struct node *condition;
	enum code code = parser_open(&parser, env, kind, text, err);

	if (code != OK)
		return code;
	code = parse_or(&parser, &raw);
	if (code != OK)
		return code;
	if (parser.token.kind != TOKEN_END)
		code = parser_syntax_error(&parser);
	if (code != OK)
		return code;
	code = check_usage(&parser, raw, USE_CONDITION);
	if (code != OK)
		return code;
	code = check_condition(&parser, raw, &condition);
	return RESULT(code, out, condition);
}

enum code expr_parse_projection(struct expr_env *env, struct str text, struct projection **out,
				struct err *err)
{
	struct parser parser;
	struct raw **raws = NULL, *raw;
	size_t n = 0;
	enum code code = parser_open(&parser, env, EXPR_PROJECTION, text, err);

	while (code == OK) {
		code = parse_path(&parser, &raw);
		if (code != OK)
			break;
		raws = arena_room(env->arena, raws, n, sizeof(*raws));
		raws[n++] = raw;
		if (parser.token.kind == TOKEN_END)
			break;
		code = parser_expect(&parser, ',');
	}
	for (size_t i = 0; i < n && code == OK; i++)
		code = check_usage(&parser, raws[i], USE_OPERAND);
	struct projection *projection = ARENA_NEW(env->arena, struct projection);
	projection->n = n;
	projection->paths = ARENA_ARRAY(env->arena, const struct path *, n);
	if (code != OK)
		return code;
	code = check_paths(&parser, raws, n, projection->paths);
	if (code != OK)
		return code;
	projection_order(env->arena, projection);
	*out = projection;
	return OK;
}
