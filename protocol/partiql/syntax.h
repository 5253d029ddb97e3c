/*
 * syntax - tokens and the tree of a PartiQL statement, before anything is known of tables; not for
 * others.
 *
 * The grammar is PartiQL's, of which DynamoDB takes a part: parts that DynamoDB lacks are parsed
 * too, and refused by name when the tree is lowered, so that the error is AWS's. An expression and
 * a statement are the same thing to the grammar: SELECT may stand where a value may.
 *
 * Order of work: lex.c text -> tokens, parse.c and statement.c tokens -> tree, lower*.c tree ->
 * struct partiql_statement.
 */
#ifndef DYNALITH_PROTOCOL_PARTIQL_SYNTAX_H
#define DYNALITH_PROTOCOL_PARTIQL_SYNTAX_H

#include "core/expr.h"
#include "protocol/partiql/partiql.h"

#define PARTIQL_DEPTH_MAX 200 /* our bound on recursion */

enum pq_token_kind {
	PQ_END,
	PQ_IDENTIFIER, /* a word that is no keyword, or a quoted name */
	PQ_KEYWORD,
	PQ_STRING,     /* text: without quotes, pairs of quotes made one */
	PQ_NUMBER,
	PQ_ION,        /* between backquotes */
	PQ_OPERATOR,   /* = <> < <= > >= + - / % || @ ~ ^ &; sign is its first character */
	PQ_SIGN,       /* ( ) [ ] { } : , * ; ? . and PQ_BAG_OPEN, PQ_BAG_CLOSE */
};

#define PQ_BAG_OPEN '\1'  /* << */
#define PQ_BAG_CLOSE '\2' /* >> */

/* Keywords that the grammar acts on; all others are PK_OTHER. */
enum pq_keyword {
	PK_NONE,
	PK_OTHER,
	PK_SELECT,
	PK_FROM,
	PK_WHERE,
	PK_INSERT,
	PK_INTO,
	PK_VALUE,
	PK_VALUES,
	PK_UPDATE,
	PK_SET,
	PK_REMOVE,
	PK_DELETE,
	PK_RETURNING,
	PK_MODIFIED,
	PK_ALL,
	PK_OLD,
	PK_NEW,
	PK_AND,
	PK_OR,
	PK_NOT,
	PK_IS,
	PK_IN,
	PK_BETWEEN,
	PK_LIKE,
	PK_ESCAPE,
	PK_NULL,
	PK_MISSING,
	PK_TRUE,
	PK_FALSE,
	PK_AS,
	PK_AT,
	PK_BY,
	PK_ORDER,
	PK_ASC,
	PK_DESC,
	PK_LIMIT,
	PK_GROUP,
	PK_HAVING,
	PK_PARTIAL,
	PK_DISTINCT,
	PK_UNION,
	PK_EXCEPT,
	PK_INTERSECT,
	PK_JOIN,
	PK_CROSS,
	PK_INNER,
	PK_LEFT,
	PK_RIGHT,
	PK_FULL,
	PK_OUTER,
	PK_ON,
	PK_CREATE,
	PK_DROP,
	PK_TABLE,
	PK_INDEX,
	PK_CASE,
	PK_WHEN,
	PK_THEN,
	PK_ELSE,
	PK_END,
	PK_CAST,
	PK_UNPIVOT,
	PK_FUNCTION,
	PK_AGGREGATE,
	PK_TYPE,
	PK_DOUBLE,
	PK_PRECISION,
	PK_CHARACTER,
	PK_VARYING,
	PK_LIST_TYPE,
};

struct pq_token {
	enum pq_token_kind kind;
	enum pq_keyword keyword;
	char sign;
	bool is_quoted;      /* PQ_IDENTIFIER */
	struct str text; /* names and keywords as written; strings and quoted names without their
			    quotes */
	unsigned line, column, length; /* characters, from 1 */
};

struct pq_tokens {
	size_t n;
	struct pq_token *v;  /* the last is PQ_END */
};

/* ERR_VALIDATION for unknown characters, texts and comments without an end, exponents beyond 32
 * bits. */
enum code partiql_lex(struct arena *arena, struct str text, struct pq_tokens *out,
		      struct err *err) WARN_UNUSED;

enum pq_kind {
	PQ_EXPR_STRING,
	PQ_EXPR_NUMBER,
	PQ_EXPR_BOOLEAN,
	PQ_EXPR_NULL,
	PQ_EXPR_MISSING,
	PQ_EXPR_ION,
	PQ_EXPR_PARAMETER,
	PQ_EXPR_NAME,
	PQ_EXPR_PATH, /* args[0]: root; then steps: PQ_EXPR_NAME for .name, PQ_EXPR_STAR, or what
			 stood in brackets */
	PQ_EXPR_STAR, /* .* and [*] as steps, * as a column */
	PQ_EXPR_CALL, /* text: name */
	PQ_EXPR_AGGREGATE,
	PQ_EXPR_AND,
	PQ_EXPR_OR,
	PQ_EXPR_NOT,
	PQ_EXPR_COMPARE,    /* operation: the operator */
	PQ_EXPR_ARITHMETIC, /* operation; one operand or two */
	PQ_EXPR_BETWEEN,
	PQ_EXPR_IN,
	PQ_EXPR_LIKE, /* is_negated for NOT .. */
	PQ_EXPR_IS,   /* text: the type's name, in capitals; is_negated */
	PQ_EXPR_LIST,
	PQ_EXPR_BAG,
	PQ_EXPR_STRUCT, /* args: key, value, key, value, ... */
	PQ_EXPR_CASE,
	PQ_EXPR_CAST,
	PQ_EXPR_UNION,
	PQ_EXPR_STATEMENT,
};

struct pq_expr {
	enum pq_kind kind;
	const struct pq_token *at;   /* where messages point */
	struct str text;
	const char *operation;
	bool is_negated, is_true;    /* is_true: PQ_EXPR_BOOLEAN */
	bool is_bracket;             /* of a step: stood in brackets */
	bool is_simple;              /* PQ_EXPR_CASE: CASE x WHEN */
	unsigned parameter;          /* PQ_EXPR_PARAMETER: from 0 */
	unsigned n;
	struct pq_expr **args;
	struct pq_statement *statement;
};

enum pq_statement_kind {
	PQ_SELECT,
	PQ_INSERT,
	PQ_UPDATE,
	PQ_DELETE,
	PQ_CREATE_TABLE,
	PQ_CREATE_INDEX,
	PQ_DROP_TABLE,
	PQ_DROP_INDEX
};

struct pq_list {
	unsigned n;
	struct pq_expr **v;
};

struct pq_statement {
	enum pq_statement_kind kind;
	const struct pq_expr *source;      /* the table; NULL: a bare SET or REMOVE */
	bool is_aliased, is_joined;
	/* SELECT */
	bool is_star, is_value;
	const struct pq_token *distinct;   /* or NULL */
	const char *clause;                /* an unsupported one, or NULL */
	const struct pq_token *clause_at;  /* NULL: its message has no position */
	struct pq_list columns;
	struct pq_list order;              /* is_negated: DESC */
	const struct pq_expr *where;       /* or NULL */
	/* INSERT */
	bool is_insert_value;
	const struct pq_expr *item;
	/* UPDATE: pairs of path and value, the value NULL for REMOVE */
	struct pq_list changes;
	/* RETURNING */
	enum partiql_returning returning;
	unsigned returning_count;
	bool returns_columns;              /* something else than * */
};

struct pq_parser {
	struct arena *arena;
	struct err *err;
	const struct pq_token *token;
	unsigned depth;
	unsigned parameters;
	/* parse.c calls it where a statement stands in an expression */
	enum code (*statement)(struct pq_parser *parser, struct pq_expr **out) WARN_UNUSED;
};

/* A parsed text. */
struct partiql_tree {
	struct pq_expr *expr;
	unsigned parameters; /* placeholders in it */
};

/* The whole text: one expression or statement, and nothing after it but a semicolon. */
enum code partiql_parse_text(struct arena *arena, struct str text, struct partiql_tree *out,
			     struct err *err) WARN_UNUSED;

/* Of parse.c, for statement.c. */
enum code partiql_parse_expression(struct pq_parser *parser, unsigned precedence,
				   struct pq_expr **out) WARN_UNUSED;
/* A name with steps; nothing else may be its root. */
enum code partiql_parse_simple_path(struct pq_parser *parser, struct pq_expr **out) WARN_UNUSED;
struct pq_expr *partiql_expr(struct pq_parser *parser, enum pq_kind kind,
			     const struct pq_token *at);
void partiql_list_add(struct pq_parser *parser, struct pq_list *list, struct pq_expr *expr);
enum code partiql_syntax_error(struct pq_parser *parser, const char *expected) WARN_UNUSED;
bool partiql_is_sign(const struct pq_token *token, char sign);

#define PQ_PRECEDENCE_SELECT 6 /* binds more tightly than UNION */

/* A statement on its way to struct partiql_statement. */
struct pq_lowering {
	struct arena *arena;
	struct err *err;
	const struct value *parameters;
	unsigned depth;
	size_t node_count;
	const struct node **nodes; /* to be checked when the whole statement is known to be one: AWS
				      orders errors so */
};

/* " at 1:8:3", in the arena. */
struct str partiql_position(struct arena *arena, const struct pq_token *token);
/* How messages name an expression by its first token or its operator. */
struct str partiql_token_name(struct arena *arena, const struct pq_expr *expr);
/* A key of a struct literal is a text, and not empty. `place`: where the struct stands. */
enum code partiql_check_key(struct pq_lowering *lowering, const struct pq_expr *key,
			    struct str place) WARN_UNUSED;
/* How messages name a kind of expression. */
const char *partiql_kind_name(const struct pq_expr *expr);
/* A literal, a parameter, or a list, bag or struct of them. */
enum code partiql_lower_value(struct pq_lowering *lowering, const struct pq_expr *expr,
			      struct value *out) WARN_UNUSED;
enum code partiql_lower_path(struct pq_lowering *lowering, const struct pq_expr *expr,
			     const struct path **out) WARN_UNUSED;
enum code partiql_lower_condition(struct pq_lowering *lowering, const struct pq_expr *expr,
				  const struct node **out) WARN_UNUSED;
/* The checks of all nodes made so far, in the order of the text, operands first. */
enum code partiql_check_nodes(struct pq_lowering *lowering) WARN_UNUSED;
/* The actions of SET and REMOVE. */
enum code partiql_lower_update(struct pq_lowering *lowering, const struct pq_statement *statement,
			       struct update **out) WARN_UNUSED;
bool partiql_is_path(const struct pq_expr *expr);

#endif
