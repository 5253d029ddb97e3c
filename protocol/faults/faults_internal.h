/*
 * faults_internal - what a call has of the rules; not for others.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_INTERNAL_H
#define DYNALITH_PROTOCOL_FAULTS_INTERNAL_H

#include "protocol/faults/fault_rule.h"
#include "protocol/faults/faults.h"

/* What one hook decided: the handler may be run again, and then it is not decided again. */
struct fault_decision {
	const struct fault_rule *rule; /* or NULL */
	bool *members;                 /* those that match */
};

/* See fault_deliver(). */
enum fault_delivery fault_judge_delivery(struct fault_set *set, struct str table);

/* See fault_replica_state(). */
enum fault_state fault_judge_state(const struct fault_set *set, struct str table);

/* See fault_at_import(). */
enum code fault_judge_put(struct fault_set *set, struct arena *arena, const struct write *write,
			  struct err *err) WARN_UNUSED;

struct fault_call {
	struct fault_set *set;
	enum op_id operation;
	const struct fault_signer *signer;
	struct str access_key; /* absent: not asked yet */
	struct fault_decision *decisions;
	size_t decided, at;    /* at: the next hook */
	struct fault_reply reply;
	bool is_done_first;    /* the work is done before the connection is closed */
	const bool *left_out;  /* members of a batch, or NULL */
	enum fault_state state; /* that of the table, by a rule */
	uint64_t hold_ms;      /* it is held before its work: fault_hold.h */
	bool has_counted;      /* a rule counted the call: it is not given up any more */
};

/* NULL: no rule concerns the call. */
static inline struct fault_call *fault_call_of(const struct call *call)
{
	return call->hooks[HOOK_FAULTS];
}

/* Whether these still are the rules of the namespace. */
bool faults_has_set(struct faults *faults, struct ns ns, const struct fault_set *set);

#endif
