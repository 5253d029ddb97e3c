#include "protocol/work/work.h"

#include "protocol/conflicts/conflicts.h"
#include "protocol/faults/faults.h"
#include "protocol/insight/access.h"
#include "protocol/insight/explain.h"
#include "protocol/rollouts.h"
#include "protocol/throughput/admission.h"
#include "protocol/throughput/scale.h"
#include "protocol/throughput/throughput.h"

/* How a call ends. */
struct ending {
	enum code code;
	struct fault_reply *reply;
	struct fault_hold *hold; /* or NULL */
};

/* The items stay busy while the call is held. */
static void conflicts_end(struct call *call, struct ending *ending)
{
	if (!ending->hold)
		conflict_end(conflict_ticket(call));
}

static enum code conflicts_before(struct work *work, struct err *err)
{
	struct call *call = work->call;
	enum code code = OK;

	if (work->kind == WORK_OF_TRANSACTION)
		return conflict_at_reads(call, work->reads, work->n, err);
	if (work->kind != WORK_OF_WRITES)
		return OK;
	if (work->token)
		code = conflict_at_token(call, work->token, err);
	return code == OK ? conflict_at_writes(call, work->writes, work->n, work->mode, err) : code;
}

static enum code faults_begin(struct call *call, const struct work_start *start, struct err *err)
{
	(void)err;
	if (faults_are_set(call->service->faults) && !start->was_held)
		fault_begin(call->service->faults, call, start->operation, start->signer);
	return OK;
}

static void faults_end(struct call *call, struct ending *ending)
{
	ending->hold = fault_hold_new(call, conflict_ticket(call));
	fault_end(call, ending->reply);
}

static enum code faults_before(struct work *work, struct err *err)
{
	struct call *call = work->call;

	switch (work->kind) {
	case WORK_OF_WRITES:
		return fault_at_writes(call, work->writes, work->n, err);
	case WORK_OF_ITEM:
	case WORK_OF_BATCH:
	case WORK_OF_TRANSACTION:
		return fault_at_reads(call, work->reads, work->n, err);
	case WORK_OF_PAGE:
		return fault_at_page(call, work->page, &work->is_filled, err);
	case WORK_OF_SEARCH:
		return fault_at_table(call, work->search->table->identity.name,
				      work->search->index->name, err);
	case WORK_OF_TABLE:
		return fault_at_table(call, work->table, STR_ABSENT, err);
	}
	return OK;
}

static enum code throughput_start(struct call *call, const struct work_start *start,
				  struct err *err)
{
	if (!throughput_is_on(call->service->throughput))
		return OK;
	enum code code = throughput_begin(call->service->throughput, call, start->operation, err);
	if (code == OK && call_has(call, HOOK_THROUGHPUT))
		scale_begin(call);
	return code;
}

static void throughput_stop(struct call *call, struct ending *ending)
{
	throughput_end(call, ending->code);
}

static const struct write_admission *throughput_within(const struct work *work)
{
	return throughput_admission(work->call, work->mode);
}

static enum code throughput_after(struct work *work, enum code code, struct err *err)
{
	struct call *call = work->call;

	if (code != OK)
		return code;
	if (work->kind == WORK_OF_ITEM)
		return throughput_admit_read(call, work->reads, err);
	if (work->kind == WORK_OF_TRANSACTION)
		return throughput_admit_reads(call, work->reads, work->n, err);
	return work->kind == WORK_OF_PAGE ? throughput_admit_page(call, work->page, err) : OK;
}

static const struct write_admission *trial_within(const struct work *work)
{
	return explain_admission(work->call);
}

static void note_reads(struct work *work)
{
	access_note_reads(work->call, work->reads, work->n);
	for (size_t i = 0; i < work->n && work->projections; i++) {
		if (work->projections[i])
			access_note_projection(work->call, i, work->projections[i]);
	}
}

/* Writes are noted whatever becomes of them. */
static enum code insight_after(struct work *work, enum code code, struct err *err)
{
	(void)err;
	if (work->kind == WORK_OF_WRITES)
		access_note_writes(work->call, work->writes, work->n);
	else if (code == OK && work->kind == WORK_OF_PAGE)
		access_note_page(work->call, work->page);
	else if (code == OK && work->kind == WORK_OF_SEARCH)
		access_note_search(work->call, work->search, work->partition, work->projections[0]);
	else if (code == OK)
		note_reads(work);
	return code;
}

/* The hooks, in their order. */
static const struct row {
	enum hook hook;
	/* turns it on for the call, or leaves it off; not asked for calls that no hook meets */
	enum code (*begin)(struct call *call, const struct work_start *start, struct err *err);
	/* the handler is run once more; also where the hook is off */
	void (*again)(struct call *call);
	/* in the opposite order */
	void (*end)(struct call *call, struct ending *ending);
	/* may refuse */
	enum code (*before)(struct work *work, struct err *err);
	/* asked before writes are committed: the first hook that is on */
	const struct write_admission *(*within)(const struct work *work);
	/* takes the outcome and returns the outcome */
	enum code (*after)(struct work *work, enum code code, struct err *err);
} hooks[] = {
	{HOOK_CONFLICTS, NULL, NULL, conflicts_end, conflicts_before, NULL, NULL},
	{HOOK_FAULTS, faults_begin, fault_again, faults_end, faults_before, NULL, NULL},
	{HOOK_THROUGHPUT, throughput_start, throughput_again, throughput_stop, NULL,
	 throughput_within, throughput_after},
	{HOOK_TRIAL, NULL, NULL, NULL, NULL, trial_within, NULL},
	{HOOK_INSIGHT, NULL, access_again, NULL, NULL, NULL, insight_after},
};

_Static_assert(sizeof(hooks) / sizeof(hooks[0]) == HOOKS, "a row for each hook");

/* Conflicts are the namespace's: a call has no part in them before its first item. */
static bool is_on(const struct call *call, enum hook hook)
{
	return hook == HOOK_CONFLICTS
		       ? !call->is_unseen && conflicts_are_on(call->service->conflicts)
		       : call_has(call, hook);
}

enum code work_begin(struct call *call, const struct work_start *start, struct err *err)
{
	enum code code = OK;

	if (call->is_unseen || call_has(call, HOOK_TRIAL))
		return OK;
	for (size_t i = 0; i < HOOKS && code == OK; i++) {
		if (hooks[i].begin)
			code = hooks[i].begin(call, start, err);
	}
	return code;
}

enum code work_meet_request(struct call *call, const struct json *json, struct err *err)
{
	return call_has(call, HOOK_FAULTS) ? fault_at_request(call, json, err) : OK;
}

struct fault_hold *work_end(struct call *call, enum code code, struct fault_reply *reply)
{
	struct ending ending = {.code = code, .reply = reply};

	for (size_t i = HOOKS; i-- > 0;) {
		if (hooks[i].end && call_has(call, hooks[i].hook))
			hooks[i].end(call, &ending);
	}
	return ending.hold;
}

void work_resume(struct call *call, struct fault_hold *hold, struct fault_reply *reply)
{
	conflict_resume(call, fault_hold_end(hold, reply));
}

void work_again(struct call *call)
{
	for (size_t i = 0; i < HOOKS; i++) {
		if (hooks[i].again)
			hooks[i].again(call);
	}
}

enum code work_meet(struct work *work, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < HOOKS && code == OK; i++) {
		if (hooks[i].before && is_on(work->call, hooks[i].hook))
			code = hooks[i].before(work, err);
	}
	return code;
}

static enum code run_writes(const struct work *work, struct err *err)
{
	struct call *call = work->call;
	const struct write_admission *admission = NULL;
	struct write_token *token = work->token && str_is_set(work->token->token) ? work->token
		: NULL;

	for (size_t i = 0; i < HOOKS && !admission; i++) {
		if (hooks[i].within && is_on(call, hooks[i].hook))
			admission = hooks[i].within(work);
	}
	for (size_t i = 0; i < work->n; i++)
		work->writes[i].thought = call_thought(call);
	return write_run_admitted(call->service->catalog, call->arena, work->writes, work->n,
				  work->mode, token, call->now_ms,
				  admission, err);
}

/* Only a table with vectors is asked: few are. */
static bool charges_numbers(const struct call *call, const struct table *table)
{
	return table->indexes.vector_n > 0 && !rollout_has(call, ROLLOUT_VECTOR_READ_CHARGE);
}

static enum code carry_out(struct work *work, struct err *err)
{
	struct catalog *catalog = work->call->service->catalog;
	struct arena *arena = work->call->arena;

	switch (work->kind) {
	case WORK_OF_WRITES:
		return run_writes(work, err);
	case WORK_OF_ITEM:
	case WORK_OF_BATCH:
	case WORK_OF_TRANSACTION:
		for (size_t i = 0; i < work->n; i++)
			work->reads[i].charges_numbers =
				charges_numbers(work->call, work->reads[i].table);
		return read_items(catalog, arena, work->reads, work->n, err);
	case WORK_OF_PAGE:
		work->page->charges_numbers = charges_numbers(work->call, work->page->table);
		return work->is_filled ? OK : read_page(catalog, arena, work->page, err);
	case WORK_OF_SEARCH:
		return vector_search(arena, work->search, err);
	case WORK_OF_TABLE:
		break;
	}
	return OK;
}

static enum code tell(struct work *work, enum code code, struct err *err)
{
	for (size_t i = 0; i < HOOKS; i++) {
		if (hooks[i].after && is_on(work->call, hooks[i].hook))
			code = hooks[i].after(work, code, err);
	}
	return code;
}

static enum code carry_out_and_check(struct work *work, struct err *err)
{
	enum code code = carry_out(work, err);

	if (code != OK || !work->check)
		return code;
	return work->check(work, err);
}

enum code work_run(struct work *work, struct err *err)
{
	return tell(work, carry_out_and_check(work, err), err);
}

enum code work_do(struct work *work, struct err *err)
{
	enum code code = work_meet(work, err);

	return code == OK ? work_run(work, err) : code;
}

void work_note_refused(struct work *work)
{
	if (call_has(work->call, HOOK_INSIGHT))
		access_note_writes(work->call, work->writes, work->n);
}

/* Each by itself; refused[i] says which were throttled. An error of throttling where all were. */
static enum code run_each(struct work *work, bool *refused, struct err *err)
{
	struct err first = err_in(work->call->arena);
	size_t refused_n = 0;

	for (size_t i = 0; i < work->n; i++) {
		struct work one = {
			.call = work->call, .writes = &work->writes[i], .n = 1, .mode = WRITE_BATCH,
		};
		struct err own = err_in(work->call->arena);
		enum code code = run_writes(&one, &own);

		refused[i] = throughput_refuses(code);
		if (code != OK && !refused[i]) {
			*err = own;
			return code;
		}
		if (refused[i] && refused_n++ == 0)
			first = own;
	}
	if (work->n == 0 || refused_n < work->n)
		return OK;
	*err = first;
	return first.code;
}

enum code work_run_batch(struct work *work, bool *left_out, struct err *err)
{
	struct call *call = work->call;
	struct write *writes = work->writes;
	size_t *places = ARENA_ARRAY(call->arena, size_t, work->n); /* in the request */
	bool *refused = ARENA_ARRAY(call->arena, bool, work->n);
	size_t kept = 0, done = 0;
	enum code code = OK;

	for (size_t i = 0; i < work->n; i++) {
		left_out[i] = work_leaves_out(call, i);
		if (left_out[i]) {
			access_left(call, &writes[i]);
			continue;
		}
		places[kept] = i;
		writes[kept++] = writes[i];
	}
	work->n = kept;
	if (call_has(call, HOOK_THROUGHPUT))
		code = run_each(work, refused, err);
	else if (kept > 0)
		code = run_writes(work, err);
	for (size_t i = 0; i < kept && code == OK; i++) {
		left_out[places[i]] = refused[i];
		if (refused[i])
			access_left(call, &writes[i]);
		else
			writes[done++] = writes[i];
	}
	work->n = done;
	return tell(work, code, err);
}

bool work_may_leave_out(const struct call *call)
{
	return call_has(call, HOOK_FAULTS) || call_has(call, HOOK_THROUGHPUT) ||
	       call_has(call, HOOK_CONFLICTS);
}

bool work_leaves_out(const struct call *call, size_t i)
{
	return fault_leaves_out(call, i) || conflict_leaves_out(call, i);
}

enum code work_admit_read(struct call *call, const struct read_item *read, struct err *err)
{
	return call_has(call, HOOK_THROUGHPUT) ? throughput_admit_read(call, read, err) : OK;
}

bool work_is_throttled(enum code code)
{
	return throughput_refuses(code);
}

bool work_is_noted(const struct call *call)
{
	return call_has(call, HOOK_INSIGHT);
}

bool work_is_dropped(const struct call *call)
{
	return fault_drops(call);
}
