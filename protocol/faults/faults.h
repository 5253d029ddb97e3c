/*
 * faults - failures on demand: a test sets rules for its namespace, and requests that match them
 * fail as AWS's do.
 *
 * A rule names what it matches (operations, table, index, partition key, a condition, access key),
 * which of the matches it fires on, and one effect. A request goes through the rules in their
 * order, once its own rules and its keys were checked and before any work; the first rule that
 * fires acts, and ends the search. An operation matches the request of its name, and its work in
 * any other request: a put is PutItem also in a batch. Which match fires is decided by counters and
 * a seed, never by time.
 *
 * Rules and counters belong to the process: a fault is what this server does to its clients, and a
 * counter in the store would make a write of each matching read. The page docs/testing.md describes
 * the JSON.
 *
 * The shelf protocol/faults/ holds the rules (fault_rule), their counters (fault_count), what they
 * do (fault_effect), and the namespaces that have some. Thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_H
#define DYNALITH_PROTOCOL_FAULTS_H

#include <stdatomic.h>

#include "protocol/faults/reply.h"
#include "protocol/handler.h"
#include "protocol/ops.h"
#include "storage/read.h"

#define FAULT_NAMESPACES_MAX                                                                       \
	4096 /* that have rules; of a namespace's rules fault_rule.h says how many */

struct faults;

/* `is_shared`: all namespaces are one. */
struct faults *faults_new(bool is_shared);
void faults_free(struct faults *faults);

/* The namespace's rules become those of the body, {"rules": [...]}; counters begin at zero.
 * ERR_VALIDATION: nothing was changed. */
enum code faults_set(struct faults *faults, struct ns ns, struct str body,
		     struct err *err) WARN_UNUSED;
/* {"rules": [{..., "matched": N, "fired": N}]} */
struct str faults_describe(struct faults *faults, struct ns ns, struct arena *arena);
/* No more rules; `ns` NULL: of all namespaces. */
void faults_clear(struct faults *faults, const struct ns *ns);

/* Whether any namespace has rules: one load, for those who never have. */
bool faults_are_set(const struct faults *faults);

/*
 * For op_run. fault_begin: the rules that concern the operation become the call's, or nothing.
 * fault_again, also where no rule concerns the call: the handler is run once more, and what was
 * decided stays. fault_end: when the handler is done; *reply is what happens to the answer.
 */
struct fault_signer {
	struct str (*access_key)(
		void *context,
		struct arena *arena); /* asked where a rule wants it; NULL: nobody knows */
	void *context;
};
void fault_begin(struct faults *faults, struct call *call, enum op_id operation,
		 const struct fault_signer *signer);
void fault_again(struct call *call);
void fault_end(struct call *call, struct fault_reply *reply);

/* Whether a rule counted the call: run from its start again, it would be counted twice. */
bool fault_has_counted(const struct call *call);

/*
 * For protocol/work, where a rule concerns the call: when all is checked and nothing is done. Each
 * may give an error in place of the work.
 */
enum code fault_at_writes(struct call *call, const struct write *writes, size_t n,
			  struct err *err) WARN_UNUSED;
enum code fault_at_reads(struct call *call, const struct read_item *reads, size_t n,
			 struct err *err) WARN_UNUSED;
/* May make the page shorter, or fill it with nothing: *is_filled, and it is not to be read. */
enum code fault_at_page(struct call *call, struct read_page *page, bool *is_filled,
			struct err *err) WARN_UNUSED;
/* Before the handlers of operations on tables, which have no hook of their own: by the name of the
 * table in the request. */
enum code fault_at_request(struct call *call, const struct json *json, struct err *err) WARN_UNUSED;
/* What has no items, and a table and an index at most; absent names for none. */
enum code fault_at_table(struct call *call, struct str table, struct str index,
			 struct err *err) WARN_UNUSED;

/* How a trigger is to post its next batch of the table's records, beside the usual way. */
enum fault_delivery { FAULT_DELIVER_ONCE, FAULT_DELIVER_TWICE, FAULT_DELIVER_REVERSED };
enum fault_delivery fault_deliver(struct faults *faults, struct ns ns, struct str table);

/*
 * A put of an import or a bulk operation, which is no request. Only rules with an "error" act; it
 * is the record's. `write` is prepared.
 */
enum code fault_at_import(struct faults *faults, struct arena *arena, const struct write *write,
			  struct err *err) WARN_UNUSED;

/* For DescribeTable: the status that a rule gives the table in place of its own; absent: none. */
struct str fault_shown_state(const struct call *call);
/* The same of a replica: by the first rule about its table that always fires. */
struct str fault_replica_state(struct faults *faults, const struct table *replica);

/* Whether the i-th member of a batch, as the hook saw them, stays undone. */
bool fault_leaves_out(const struct call *call, size_t i);

/* Whether the client gets no answer: what is left to do of several things is not done. */
bool fault_drops(const struct call *call);

#endif
