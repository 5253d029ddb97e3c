/*
 * work - the one path on which requests read and write items.
 *
 * Once its rules passed, an operation fills a struct work. work_meet() asks the hooks whether it
 * may go on; work_run() reads or writes, and tells the hooks the outcome. The hooks are rows of one
 * table in work.c, in one order: conflicts, faults, throughput, trial, insight. No operation calls
 * a hook (make lint). A hook that is off costs one look.
 *
 * The shelf protocol/work/ holds this and nothing else.
 */
#ifndef DYNALITH_PROTOCOL_WORK_H
#define DYNALITH_PROTOCOL_WORK_H

#include "protocol/faults/fault_hold.h"
#include "protocol/handler.h"
#include "protocol/ops.h"
#include "storage/read.h"
#include "storage/vector/vector.h"
#include "storage/write/write.h"

struct fault_signer;

enum work_kind {
	WORK_OF_WRITES,      /* writes, mode, token */
	WORK_OF_ITEM,        /* reads: one item */
	WORK_OF_BATCH,       /* reads: each may be left out, see work_admit_read() */
	WORK_OF_TRANSACTION, /* reads: all or none */
	WORK_OF_PAGE,        /* page */
	WORK_OF_SEARCH,      /* search, partition */
	WORK_OF_TABLE,       /* table: what reads no items. It is met only */
};

struct work {
	struct call *call;
	enum work_kind kind;
	size_t n; /* of writes or reads */
	struct write *writes;
	enum write_mode mode;
	struct write_token *token; /* of a transaction; may have no text */
	struct read_item *reads;
	const struct projection *const *projections; /* of the reads or the search,
		for insight; NULL: none */
	enum code (*check)(const struct work *work, struct err *err); /* of what was read,
		before it is paid for; or NULL */
	struct read_page *page;
	bool is_filled; /* the page: a hook did it */
	struct vector_search *search;
	const struct node
		*partition; /* the part of the search's condition that names it; or NULL */
	struct str table;
};

/* What a hook may ask before it begins with a call. */
struct work_start {
	enum op_id operation;
	const struct fault_signer *signer; /* until work_end() */
	bool was_held;                     /* a fault rule counted and held the call before */
};

/*
 * For op_run. work_begin: the hooks that concern the call are on from now on; ERR_THROTTLING where
 * the operation is called too often. work_meet_request: before the handler, of what reads no items.
 * work_again: the handler is run once more; the hooks take back what the last run did. work_end:
 * the code of the call; *reply is what becomes of the answer, and is set where a fault rule says
 * so. Returns what holds the call, which is to run again from its start, or NULL. work_resume: it
 * does, and takes over the hold.
 */
enum code work_begin(struct call *call, const struct work_start *start,
		     struct err *err) WARN_UNUSED;
enum code work_meet_request(struct call *call, const struct json *json,
			    struct err *err) WARN_UNUSED;
void work_again(struct call *call);
struct fault_hold *work_end(struct call *call, enum code code, struct fault_reply *reply);
void work_resume(struct call *call, struct fault_hold *hold, struct fault_reply *reply);

/* Whether a hook refuses the work: its error in place of the work. */
enum code work_meet(struct work *work, struct err *err) WARN_UNUSED;

/* Carries out what was met. Errors: those of storage, or of a hook that refuses what it cost. */
enum code work_run(struct work *work, struct err *err) WARN_UNUSED;

/* work_meet() and work_run(). */
enum code work_do(struct work *work, struct err *err) WARN_UNUSED;

/* Tells the hooks of writes that were refused before they could run. */
void work_note_refused(struct work *work);

/*
 * Runs the writes of a batch that no hook leaves out. Afterwards work->n writes are done; they come
 * first in work->writes. left_out[i]: the i-th write of the request was not done.
 */
enum code work_run_batch(struct work *work, bool *left_out, struct err *err) WARN_UNUSED;

/* Whether hooks can leave out members of a batch; whether they leave out the i-th of work_meet().
 */
bool work_may_leave_out(const struct call *call);
bool work_leaves_out(const struct call *call, size_t i);

/* One item of a batch, when it goes into the answer: an error leaves it out. */
enum code work_admit_read(struct call *call, const struct read_item *read,
			  struct err *err) WARN_UNUSED;

/* Whether it is an error by which one member of a batch stays undone. */
bool work_is_throttled(enum code code);

/* Whether a hook notes what the work is about: what only notes want need not be found else. */
bool work_is_noted(const struct call *call);

/* Whether the client gets no answer: what is left to do of several things is not done. */
bool work_is_dropped(const struct call *call);

#endif
