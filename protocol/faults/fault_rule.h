/*
 * fault_rule - the rules of a namespace, as a test gave them: read once, checked, immutable but for
 * their counters.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_RULE_H
#define DYNALITH_PROTOCOL_FAULTS_RULE_H

#include <stdatomic.h>

#include "core/arena.h"
#include "core/expr.h"
#include "protocol/faults/fault_count.h"
#include "protocol/faults/fault_operation.h"
#include "protocol/faults/fault_state.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

#define FAULT_RULES_MAX 100 /* of a namespace */

struct fault_match {
	struct fault_operations
		operations; /* as named: of a request, or of the work that it does */
	struct fault_operations requests;   /* that can match */
	struct str table, index, access_key; /* absent: any */
	struct value key;                    /* TYPE_NONE: any */
	bool is_prefix;
	const struct node *condition;        /* or NULL */
};

enum fault_when { FAULT_ALWAYS, FAULT_NTH, FAULT_EVERY, FAULT_FIRST, FAULT_PROBABILITY };

struct fault_fire {
	enum fault_when when;
	uint64_t n;         /* FAULT_NTH, FAULT_EVERY, FAULT_FIRST */
	double probability; /* FAULT_PROBABILITY */
	uint64_t seed;
	bool is_per_key;    /* matches are counted for each key; else for the rule */
};

enum fault_effect_kind {
	FAULT_NONE,
	FAULT_ERROR,
	FAULT_CANCEL,
	FAULT_UNPROCESSED,
	FAULT_PAGE,
	FAULT_CLOSE,
	FAULT_CRC,
	FAULT_TRICKLE,
	FAULT_HOLD,
	FAULT_LATENCY, /* and nothing else */
	FAULT_STATE,   /* the table is in a state of AWS's */
	FAULT_DELIVER, /* of a trigger's batches, not of requests */
};

enum fault_spread { FAULT_NO_LATENCY, FAULT_FIXED, FAULT_UNIFORM, FAULT_EXPONENTIAL };

struct fault_latency {
	enum fault_spread spread;
	double ms, to_ms; /* FAULT_UNIFORM: from, to; FAULT_EXPONENTIAL: the mean */
};

struct fault_effect {
	enum fault_effect_kind kind;
	enum code code;          /* FAULT_ERROR, FAULT_CANCEL */
	struct str message;      /* absent: AWS's */
	struct str reason; /* of throttling: the limit's name, with or without what is limited;
			      absent: the usual one */
	uint64_t n; /* FAULT_UNPROCESSED: members, 0: all that match; FAULT_PAGE: rows; FAULT_HOLD:
		       ms */
	size_t member_count;     /* FAULT_CANCEL: chosen ones, 0: all that match */
	const uint64_t *members;
	bool is_after;           /* FAULT_CLOSE */
	bool is_reversed;        /* FAULT_DELIVER; else twice */
	uint32_t piece_bytes, piece_ms; /* FAULT_TRICKLE */
	enum fault_state state; /* FAULT_STATE */
	struct fault_latency latency;
};

struct fault_rule {
	const struct json *text; /* as given */
	struct fault_match match;
	struct fault_fire fire;
	struct fault_effect effect;
	struct fault_counts *counts; /* of keys; NULL where nothing is decided by them */
	atomic_ullong matched, fired;
};

/* Reference-counted; all in its own arena. */
struct fault_set {
	atomic_uint refs;
	struct arena *arena;
	struct fault_operations requests; /* that can match any rule */
	size_t n;
	struct fault_rule *rules;
};

/* One reference is the caller's. ERR_VALIDATION for what is no list of rules. `n` may be 0. */
enum code fault_set_read(struct str body, struct fault_set **out, struct err *err) WARN_UNUSED;
struct fault_set *fault_set_ref(struct fault_set *set);
void fault_set_unref(struct fault_set *set);

/* The list of rules with their counters, as a JSON array. */
void fault_set_write(const struct fault_set *set, struct json_out *out);

#endif
