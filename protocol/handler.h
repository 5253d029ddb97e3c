/*
 * handler - what an operation's handler sees: the room behind the gates.
 *
 *     enum code op_get_item(struct call *call, const struct get_item_input *input,
 *                           struct err *err);
 *
 * A handler runs after types and constraints passed. It checks its cross-field rules (rules.h)
 * before it looks at tables, fills struct write or struct read, calls storage and writes the
 * response into call->out. On an error it returns the code with err filled; what it wrote is
 * dropped.
 */
#ifndef DYNALITH_PROTOCOL_HANDLER_H
#define DYNALITH_PROTOCOL_HANDLER_H

#include "core/err.h"
#include "protocol/wire/json_out.h"
#include "protocol/service.h"
#include "protocol/wire/shape_bind.h"
#include "storage/catalog/catalog.h"
#include "storage/write/write.h"

struct held_table {
	struct table *table;
	struct str arn; /* by which the request names it first; absent: by its name */
};

/* What the call's reads and writes cost, by table in the order in which they came. */
struct charges {
	size_t n, cap;
	struct cost *v;
};

struct held_tables {
	size_t n;
	struct held_table *v;
	size_t from; /* earlier ones are held but not used: the call looks them up again */
};

/* PartiQL statements of a call from the service's cache. */
struct held_statements {
	size_t n;
	struct partiql_kept **v;
};

/* The request as it came, for what is kept or shown as it was given. */
struct call_request {
	struct str host; /* its Host header, or absent */
	const struct json *json;
	struct err *refused; /* of BatchExecuteStatement, by the place of the statement: its error
				where it may not run, else code OK; NULL: all may run */
};

/*
 * What may meet a call beside its work, each switched on by itself. The shelf that a hook belongs
 * to keeps its state of the call in call->hooks and is the only one to read it (make lint).
 */
enum hook {
	HOOK_CONFLICTS,  /* protocol/conflicts: the items that are busy by the call */
	HOOK_FAULTS,     /* protocol/faults: the rules that concern it */
	HOOK_THROUGHPUT, /* protocol/throughput: what it consumes is limited */
	HOOK_TRIAL,      /* protocol/insight/explain.h: it changes nothing */
	HOOK_INSIGHT,    /* protocol/insight/access.h: its reads and writes are noted */
	HOOKS
};

struct call {
	struct service *service;
	struct arena *arena;
	struct ns ns;
	int64_t now_ms;
	struct call_request request;
	struct charges charges; /* capacity so far, whether the response shows it or not */
	struct json_out out;
	struct err value_err; /* the first error inside an attribute value of the request */
	const struct action_err
		*actions; /* those inside the values of a transaction's actions, by their place */
	struct err late_err;  /* broken constraints that AWS reports after rules of the operation */
	bool is_older; /* the request is checked by AWS's older layer: surface.h */
	bool is_long;  /* it was given up before for its CPU time */
	bool is_unseen;                    /* as op_request says */
	struct held_tables tables;         /* released by op_run when the handler is done */
	struct held_statements statements; /* likewise */
	void *hooks[HOOKS];                /* NULL: the hook is off for this call */
};

static inline bool call_has(const struct call *call, enum hook hook)
{
	return call->hooks[hook] != NULL;
}

/* For each write of the call: see storage/write/write.h. */
static inline struct write_thought *call_thought(const struct call *call)
{
	return call->is_long ? write_thought_new(call->arena) : NULL;
}

/*
 * The error inside the request's attribute values, if there is one. An operation checks after the
 * rules of its parameters and before it uses a value. call_table checks too, so that no operation
 * can forget.
 */
enum code call_check_values(const struct call *call, struct err *err) WARN_UNUSED;

/* The same of one action of a transaction. `is_deep` chooses which of its errors; an operation
 * checks both. */
enum code call_check_action(const struct action_err *action, bool is_deep,
			    struct err *err) WARN_UNUSED;

/* The broken constraints that AWS reports after other rules of the operation, if there are any. */
enum code call_check_late(const struct call *call, struct err *err) WARN_UNUSED;

/* The error for an absent table. */
enum absent_table {
	ABSENT_RESOURCE, /* "Requested resource not found" */
	ABSENT_TABLE,  /* "Requested resource not found: Table: NAME not found"; of a table that is
			  being restored, too (AWS: DDB-TABLE-217) */
	ABSENT_AT_ALL, /* the same, but a table that is being restored is found: DescribeTable,
			  DeleteTable, CreateTable */
	ABSENT_BACKUP, /* ERR_TABLE_NOT_FOUND, "Table not found: NAME": the operations about backups
			*/
};

/*
 * The table named by a TableName parameter (a name or an ARN); the reference is held until the call
 * ends. ERR_RESOURCE_NOT_FOUND or as `words` says, or ERR_VALIDATION for a malformed name or an ARN
 * of another account or region, as AWS words it.
 */
enum code call_table(struct call *call, struct str name_or_arn, enum absent_table words,
		     struct table **out, struct err *err) WARN_UNUSED;

/* How the request names the table, by its name or an ARN; the first time where it does both. AWS:
 * API Reference, ConsumedCapacity, TableName. */
struct str call_named(const struct call *call, const struct table *table);

/* The caller's own: with a shared namespace every account and region is. */
bool call_owns(const struct call *call, struct str account, struct str region);

/* Takes in what other processes turned of the clock, and sets now_ms again. For operations without
 * a transaction of their own. */
enum code call_refresh(struct call *call, struct err *err) WARN_UNUSED;

/* The name alone, checked but not looked up: of a name or an ARN of this account and region. */
enum code call_table_name(struct call *call, struct str name_or_arn, struct str *name,
			  struct err *err) WARN_UNUSED;

/* Whether it has a table's or an index's length and letters. AWS: API Reference, CreateTable,
 * TableName. */
bool call_is_name(struct str name);

/*
 * The token of a transaction in the call's namespace; absent where the client gave none. `sameness`
 * is what makes two requests the same. Lasts ten minutes. AWS: API Reference, TransactWriteItems,
 * ClientRequestToken.
 */
struct write_token call_token(struct call *call, struct str client_token, struct str sameness);

/* Makes call_table look tables up again, after one changed. The tables returned so far stay valid.
 */
void call_look_again(struct call *call);

/* Adds what a read or write cost, as soon as storage has done it. ConsumedCapacity and the server's
 * metrics come from there. */
void call_charge(struct call *call, const struct cost *cost);

/* The units of all charges. */
struct units call_consumed(const struct call *call);

/* Takes over a reference and releases it when the call ends. */
void call_hold(struct call *call, struct table *table);

/* Declares every handler. */
#define OPERATION(service, name, prefix, input, ...) \
	enum code op_##prefix(struct call *call, const struct input *input, struct err *err) \
		WARN_UNUSED;
#define ABSENT(service, name)
#include "protocol/ops.def"

#endif
