/*
 * expr_internal - what the parts of the expression parser share; not for others.
 *
 * Parsing has three phases, since AWS reports every error of one before any of the next:
 *   expr_parse*.c  text -> raw tree: syntax, redundant parentheses
 *   check_usage()  raw tree, in the order of the text: functions and where they stand, reserved
 *                  words, list indexes
 *   expr_check.c   raw tree -> struct node, operands first: names, values, operand counts and
 *                  types. The paths of updates and projections, and after them an update's
 *                  operands, from the last to the first
 */
#ifndef DYNALITH_CORE_EXPR_INTERNAL_H
#define DYNALITH_CORE_EXPR_INTERNAL_H

#include "core/expr.h"
#include "core/expr_messages.h"

enum token_kind {
	TOKEN_END,
	TOKEN_WORD,        /* a name, a keyword or a function: letters, digits, _ */
	TOKEN_NAME,        /* #placeholder */
	TOKEN_VALUE,       /* :placeholder */
	TOKEN_NUMBER,      /* digits */
	TOKEN_OPERATOR,    /* = <> < <= > >= */
	TOKEN_CHARACTER,   /* ( ) [ ] . , + - */
	TOKEN_UNKNOWN,     /* any other character */
};

enum keyword {
	KEYWORD_NONE,
	KEYWORD_AND,
	KEYWORD_OR,
	KEYWORD_NOT,
	KEYWORD_BETWEEN,
	KEYWORD_IN,
	KEYWORD_SET,
	KEYWORD_REMOVE,
	KEYWORD_ADD,
	KEYWORD_DELETE,
};

struct token {
	enum token_kind kind;
	enum keyword keyword; /* of a TOKEN_WORD: in any case, and a keyword in every expression */
	struct str text;
};

struct lexer {
	struct str text;
	size_t at;
};

/* The next token; at the end TOKEN_END with an empty text. */
struct token lexer_next(struct lexer *lexer);

/* A node before its names are resolved. */
enum raw_kind {
	RAW_PATH,
	RAW_VALUE,
	RAW_FUNCTION,
	RAW_COMPARISON,
	RAW_BETWEEN,
	RAW_IN,
	RAW_AND,
	RAW_OR,
	RAW_NOT,
	RAW_PLUS,
	RAW_MINUS,
};

struct raw_step {
	struct str text; /* a name or placeholder; absent for an index */
	struct str index; /* digits */
};

struct raw {
	enum raw_kind kind;
	bool is_parenthesised;       /* in parentheses of its own */
	enum node_kind node;         /* RAW_COMPARISON; RAW_FUNCTION: set by check_usage() */
	struct str text;             /* RAW_VALUE: ":v"; RAW_FUNCTION: its name */
	size_t step_count;           /* RAW_PATH */
	struct raw_step *steps;
	unsigned arg_count;
	struct raw **args;
};

struct parser {
	struct expr_env *env;
	struct arena *arena;
	struct err *err;
	const char *parameter;       /* "Invalid ConditionExpression: ": how messages begin */
	enum expr_kind kind;
	struct lexer lexer;
	struct token previous, token, next;
	bool *operands; /* by place in the text: parentheses that hold one; NULL: not looked up */
	unsigned depth;
	unsigned operators;
};

/* Starts on a text: checks emptiness and size, reads the first tokens. */
enum code parser_open(struct parser *parser, struct expr_env *env, enum expr_kind kind,
		      struct str text, struct err *err) WARN_UNUSED;
void parser_advance(struct parser *parser);
/* The syntax error at the current token. */
enum code parser_syntax_error(struct parser *parser) WARN_UNUSED;
bool parser_at(const struct parser *parser, char character);
/* Counts steps of work in the arena's time: ERR_SERVICE_UNAVAILABLE where that is up. */
static inline WARN_UNUSED enum code parser_works(struct parser *parser, size_t steps)
{
	return arena_works(parser->arena, steps) ? OK : err_if_over(parser->arena, parser->err);
}

enum code parse_path(struct parser *parser, struct raw **out) WARN_UNUSED;
/* A value of SET: operand, operand + operand, operand - operand, or one of these in parentheses. */
enum code parse_set_value(struct parser *parser, struct raw **out) WARN_UNUSED;

/* Makes the search in many operands fast. They stay in the order of the text. */
void expr_order_in(struct arena *arena, struct node *node);

enum code check_usage(struct parser *parser, struct raw *raw, enum node_use use) WARN_UNUSED;

enum code check_condition(struct parser *parser, const struct raw *raw,
			  const struct node **out) WARN_UNUSED;
enum code check_set_value(struct parser *parser, const struct raw *raw,
			  const struct node **out) WARN_UNUSED;
enum code check_value(struct parser *parser, const struct raw *raw, struct value *out) WARN_UNUSED;
/* The paths of an update or a projection: names, overlaps, conflicts. */
enum code check_paths(struct parser *parser, struct raw *const *raws, size_t n,
		      const struct path **out) WARN_UNUSED;

#endif
