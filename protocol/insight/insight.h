/*
 * insight - the access patterns of the requests that this server has seen: which there are, how
 * often, what they cost, and what is wrong with them.
 *
 * Requests that differ in values only are one pattern (outline.h). Values are never kept, but for
 * one example per pattern where the operator asked for examples. Memory is bounded: beyond
 * `patterns_max` patterns, the rarest become one, and the description says how many those were.
 *
 * Figures belong to the process and end with it; each server of a cluster has its own. Thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_INSIGHT_H
#define DYNALITH_PROTOCOL_INSIGHT_H

#include "protocol/insight/access.h"
#include "protocol/ops.h"

#define INSIGHT_PATTERNS_MAX 10000

struct insight;

struct insight *insight_new(size_t patterns_max, bool has_examples);
void insight_free(struct insight *insight);

/* Forgets all but which prefixes may be shown. */
void insight_clear(struct insight *insight);

/* A request that is done. */
struct insight_request {
	enum op_id number;    /* the operation */
	enum code code;
	struct units consumed; /* as the client saw it */
	uint64_t began_ns;    /* by monotonic_ns() */
	struct str caller;    /* who says to have sent it; may be empty */
	struct str body;
};

/* Folds it into its pattern. While the call's tables are held. */
void insight_fold(struct insight *insight, const struct call *call,
		  const struct insight_request *request);

/*
 * All that is known, as JSON: "patterns", "tables" with their indexes and busiest partitions,
 * "findings"; docs/insight.md has its members.
 */
struct str insight_describe(struct insight *insight, struct arena *arena);

/* Of one that has seen a single request: the members "pattern", its id, and "findings" of the
 * object that is being written. `is_short`: only their names. */
void insight_show_request(struct insight *insight, struct arena *arena, bool is_short,
			  struct json_out *out);

#endif
