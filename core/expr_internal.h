/*
 * expr_internal - what the parts of the expression parser share; not for others.
 *
 * Parsing has two phases, since AWS reports any syntax error before any other:
 *   expr_parse*.c  text -> raw tree: placeholders and function names as written
 *   expr_check.c   raw tree -> struct node, operands first: names, values, functions, operand types
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

struct token {
	enum token_kind kind;
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
	RAW_PATH, RAW_VALUE, RAW_FUNCTION, RAW_COMPARISON, RAW_BETWEEN, RAW_IN, RAW_AND, RAW_OR, RAW_NOT, RAW_PLUS, RAW_MINUS,
};

struct raw_step {
	struct str text; /* a name or placeholder; absent for an index */
	struct str index; /* digits */
};

struct raw {
	enum raw_kind kind;
	bool is_parenthesised;       /* a condition in parentheses of its own */
	enum node_kind comparison;   /* RAW_COMPARISON */
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
	const char *parameter;       /* "ConditionExpression" */
	enum expr_kind kind;
	struct lexer lexer;
	struct token previous, token, next;
	unsigned depth;
	unsigned operators;
	bool has_redundant_parentheses;
};

/* Starts on a text: checks emptiness and size, reads the first tokens. */
enum code parser_open(struct parser *parser, struct expr_env *env, enum expr_kind kind, struct str text, struct err *err) WARN_UNUSED;
void parser_advance(struct parser *parser);
/* The syntax error at the current token. */
enum code parser_syntax_error(struct parser *parser) WARN_UNUSED;
bool parser_at(const struct parser *parser, char character);
/* Whether the current token is the keyword, in any case. */
bool parser_at_keyword(const struct parser *parser, const char *keyword);
enum code parser_expect(struct parser *parser, char character) WARN_UNUSED;

enum code parse_path(struct parser *parser, struct raw **out) WARN_UNUSED;
/* A value of SET: operand, operand + operand, operand - operand. */
enum code parse_set_value(struct parser *parser, struct raw **out) WARN_UNUSED;

/* Second phase. */
enum code check_condition(struct parser *parser, const struct raw *raw, const struct node **out) WARN_UNUSED;
enum code check_path(struct parser *parser, const struct raw *raw, const struct path **out) WARN_UNUSED;
enum code check_set_value(struct parser *parser, const struct raw *raw, const struct node **out) WARN_UNUSED;
enum code check_value(struct parser *parser, const struct raw *raw, struct value *out) WARN_UNUSED;
/* Overlaps and conflicts among the paths of an update or a projection. */
enum code check_paths(struct parser *parser, const struct path **paths, size_t n) WARN_UNUSED;

#endif
