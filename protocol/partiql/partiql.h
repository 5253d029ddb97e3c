/*
 * partiql - PartiQL statements, lowered to the AST and the reads and writes that the classic
 * operations use.
 *
 * partiql_parse() knows the text and the parameters only; partiql_plan_*() add the table. There is
 * no evaluator here: conditions are struct node, updates struct update, and storage/read and
 * storage/write run them.
 *
 * AWS: Developer Guide, "PartiQL - a SQL-compatible query language for Amazon DynamoDB".
 */
#ifndef DYNALITH_PROTOCOL_PARTIQL_PARTIQL_H
#define DYNALITH_PROTOCOL_PARTIQL_PARTIQL_H

#include "core/expr.h"
#include "protocol/handler.h"
#include "storage/read.h"
#include "storage/write/write.h"

#define PARTIQL_RANGES_MAX                                                                         \
	50 /* partitions that one SELECT reads. AWS: Developer Guide, "PartiQL operators", IN */

/* PARTIQL_NONE: not parsed; PARTIQL_OTHER: parsed, but nothing that DynamoDB runs. */
enum partiql_kind {
	PARTIQL_NONE,
	PARTIQL_OTHER,
	PARTIQL_CALL,
	PARTIQL_SELECT,
	PARTIQL_INSERT,
	PARTIQL_UPDATE,
	PARTIQL_DELETE,
	PARTIQL_EXISTS
};

enum partiql_returning {
	PARTIQL_RETURN_NONE,
	PARTIQL_RETURN_ALL_OLD,
	PARTIQL_RETURN_ALL_NEW,
	PARTIQL_RETURN_MODIFIED_OLD,
	PARTIQL_RETURN_MODIFIED_NEW,
};

/* A column of SELECT: a document path, and the name it has in the result. */
struct partiql_columns {
	struct projection paths;
	struct str *names;
};

struct partiql_order {
	struct str name;
	struct str other; /* how messages show a term that is no name; else absent */
	struct str position;
	bool is_descending;
};

struct partiql_statement {
	enum partiql_kind kind;
	bool is_transaction;
	struct str table, index;              /* index: absent where the table itself is meant */
	const struct node *where;             /* or NULL */
	const struct partiql_columns *columns; /* SELECT: NULL for * */
	size_t order_count;
	const struct partiql_order *order;
	const struct value *item;             /* INSERT */
	struct update *update;                /* UPDATE */
	enum partiql_returning returning;
	unsigned returning_count;             /* elements of RETURNING; more than one is an error */
	bool returns_columns;                 /* one that is not *: an error too */
	bool is_source_first;                 /* SELECT: an error that its source's comes before */
};

/* Releases a tree that a call holds. */
void partiql_kept_unref(struct partiql_kept *kept);

/*
 * Parses a statement, or takes the tree that the service's cache has of its text, and puts the
 * parameters in. ERR_VALIDATION: syntax, what DynamoDB does not take of PartiQL, operand
 * types, the number of parameters. With `is_transaction`, EXISTS(SELECT ...) is a statement too. Of
 * one that fails, *statement has the kind alone.
 */
enum code partiql_parse(struct call *call, struct str text, const struct value *parameters,
			size_t parameter_count, bool is_transaction,
			struct partiql_statement *statement, struct err *err) WARN_UNUSED;

/*
 * A write from INSERT, UPDATE, DELETE, or EXISTS, prepared: its table looked up, keys taken out of
 * the condition and checked. An INSERT's condition is that there is no item, an UPDATE's that there
 * is one. *is_malformed (NULL: not wanted): the error is the statement's, whatever item it names.
 */
enum code partiql_plan_write(struct call *call, const struct partiql_statement *statement,
			     struct write *write, bool *is_malformed, struct err *err) WARN_UNUSED;

/* A SELECT of one item by its full key and nothing else sets *is_point and prepares `read`. */
enum code partiql_plan_point(struct call *call, const struct partiql_statement *statement,
			     struct read_item *read, bool *is_point, struct err *err) WARN_UNUSED;

/* The error that a SELECT would have in ExecuteStatement for its index or keys, for those that may
 * read one item only. */
enum code partiql_check_select(struct call *call, const struct partiql_statement *statement,
			       struct err *err) WARN_UNUSED;

/* The error of a SELECT with a wrong column or operand, which *err has. The error that PartiQL does
 * not read its index comes first. */
enum code partiql_source_error(struct call *call, const struct partiql_statement *statement,
			       struct err *err) WARN_UNUSED;

/* Whether an EXISTS names one item by its key, with a further condition. */
bool partiql_is_item_check(struct call *call, const struct partiql_statement *statement,
			   const struct table *table);

/* ExecuteStatement's parameters of a SELECT. */
struct partiql_select {
	struct str text; /* with the parameters, what a NextToken is bound to */
	const struct value *parameters;
	const struct parameter_list *list;    /* the same */
	struct opt_bool consistent;
	uint64_t limit;                       /* items examined; 0: none */
	struct str next_token;                /* or absent */
	int capacity;                         /* ReturnConsumedCapacity */
};

/* Plans and runs a SELECT, and writes the whole response. */
enum code partiql_select_run(struct call *call, const struct partiql_statement *statement,
			     const struct partiql_select *select, struct err *err) WARN_UNUSED;

/* The item that a SELECT gives, as one value in the response: all of it, or its columns. */
void partiql_respond_item(struct call *call, const struct partiql_columns *columns,
			  struct str image);

/* The item that a write returns, as one value of the response; false, and nothing written, where
 * there is none. `name`: its member, or absent. */
bool partiql_respond_returning(struct call *call, const struct partiql_statement *statement,
			       const struct write *write, struct str name);

/* A failed write's error in PartiQL's words. */
enum code partiql_write_error(const struct partiql_statement *statement, struct err *err);

/* The values of Parameters; the first that cannot be read gives its error. */
enum code partiql_parameters(struct arena *arena, const struct parameter_list *list,
			     const struct value **out, struct err *err) WARN_UNUSED;
/* The error of the first of them that has one: its depth with `is_deep`, else any other. AWS
 * reports a transaction's errors in these two steps. */
enum code partiql_check_parameters(const struct parameter_list *list, bool is_deep,
				   struct err *err) WARN_UNUSED;

#endif
