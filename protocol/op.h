/*
 * op - the operations: one table, one gate row, one dispatch.
 *
 * ops.def has a row per operation of the API. op_run takes a request through the gates - media
 * type, target, auth, body, JSON, types, constraints, rules - and, when all let it pass, calls the
 * operation's handler; whichever gate refuses, the response is the error it gave. So the precedence
 * of errors is the order of the gates.
 *
 * A request that exceeds its memory budget or its CPU time fails with ERR_SERVICE_UNAVAILABLE, and
 * nothing of it is written. Once its first write is committed it runs to its end (arena_pardon).
 */
#ifndef DYNALITH_PROTOCOL_OP_H
#define DYNALITH_PROTOCOL_OP_H

#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"
#include "protocol/faults/reply.h"
#include "protocol/ops.h"
#include "protocol/service.h"
#include "storage/cost.h"

struct op;
struct fault_hold;

enum op_explain {
	OP_EXPLAIN_NOT,
	OP_EXPLAIN_TOO,   /* beside the answer, in one line of ASCII: protocol/insight/explain.h */
	OP_EXPLAIN_ALONE, /* on trial: nothing is changed, no fault fires, nothing is counted;
			     without a slice */
};

struct op_request {
	struct arena *arena;       /* within a budget or not */
	uint64_t began_ns;         /* by monotonic_ns(); for insight */
	struct str target;         /* X-Amz-Target, or absent */
	struct str content_type;   /* or absent */
	struct str body;
	struct str host;           /* the Host header: where the client reached us; or absent */
	/*
	 * The auth gate: checks the request as configured and sets the namespace (account and
	 * region). Called after the target is known.
	 */
	enum code (*authenticate)(void *context, struct ns *ns, struct err *err);
	void *auth_context;
	struct str (*caller)(void *auth_context); /* what it says of who sent it, such as its SDK;
						     NULL: nobody knows */
	struct str (*access_key)(
		void *auth_context,
		struct arena *arena); /* by which it is signed, or empty; NULL: nobody knows */
	bool is_unseen; /* of the console: no report counts it, no fault or limit meets it */
	enum op_explain explain; /* whether the response explains it */
	bool is_long; /* it takes long, or is expected to: other writes are given up meanwhile */
	bool is_counted;   /* as a long write, when it was given up: see op_end_long_write() */
	struct fault_hold *hold; /* of the response, when it was held; op_run takes it over */
	uint64_t slice_ns; /* CPU time after which it is given up, to be run again where it may take
			      long; 0: it may */
	bool may_wait; /* with slice_ns: not given up because a long write is under way */
};

struct op_response {
	int status;
	struct str content_type;   /* "application/x-amz-json-1.0" */
	struct str body;           /* in the request's arena */
	const struct op *op;       /* NULL where the target named none */
	enum code code;            /* OK or the error's */
	struct str problem; /* of a status from 500 on: the cause, for the log only; else absent */
	struct str explanation; /* JSON; absent where it was not asked for, or the operation reads
				   and writes no items */
	struct units consumed;     /* capacity, of all tables and indexes */
	struct fault_reply
		fault; /* what becomes of the answer; nothing where no fault rule says so */
	bool is_behind;            /* where it was given up: it might wait for a long write */
	struct fault_hold *hold;   /* where it was given up: run it again when op_is_held() says no
				      more; NULL: at once */
	bool is_long_write; /* where it was given up: op_end_long_write() must be called when it has
			       run again */
};

/*
 * False where the request did not end within its slice, would not, or might wait for a long one.
 * Then nothing is done and there is no response; the arena holds left-overs.
 */
bool op_run(struct service *service, const struct op_request *request,
	    struct op_response *response);

/* A request of this process itself, by the operation's name. It is let in, to the namespace that
 * auth_context points to. */
struct op_request op_request_inside(struct arena *arena, const struct ns *ns, struct str operation,
				    struct str body);

/* Whether a fault rule still holds the request. And the end of one that will not run again; NULL is
 * fine. */
bool op_is_held(const struct fault_hold *hold);
void op_drop_hold(struct fault_hold *hold);

/* Ends the time during which other writes within a slice are given up at once. */
void op_end_long_write(struct service *service);

/* "PutItem"; number of rows; whether it exists here or only in AWS: for metrics and the support
 * table. */
size_t op_count(void);
const struct op *op_at(size_t i);
const char *op_name(const struct op *op);
bool op_is_supported(const struct op *op);
enum op_id op_number(const struct op *op);

/* The response for an error outside of any operation (server/http: oversized body, ...). */
void op_error_response(struct arena *arena, const struct err *err, struct op_response *response);

#endif
