#include "server/pull/pull_onto.h"

#include "server/command/interrupt.h"
#include "server/messages.h"
#include "server/pull/pull_state.h"
#include "server/pull/pull_work.h"
#include "storage/store/copy_target.h"
#include "storage/store/maintenance.h"
#include "storage/store/sqlite/sqlite_store.h"

#define CACHE_BYTES ((size_t)8 << 20)

/* The state of the table must be what the exports go on from. */
static enum code check_onto_state(const struct pull_onto *onto, struct err *err)
{
	const struct export_manifest *first = &onto->exports->manifests[0],
				     *last = &onto->exports->manifests[onto->exports->n - 1];
	const struct pull *pull = onto->pull;
	struct pull_state state;
	bool is_there = false;
	enum code code =
		pull_ask_has_table(pull, err->arena, first->table)
			? pull_state_find(pull, err->arena, first->table, &state, &is_there, err)
			: OK;

	if (code != OK)
		return code;
	if (!is_there)
		return err_set(err, MSG_PULL_NOT_PULLED, onto->file, STR_ARG(first->table),
			       STR_ARG(pull->region));
	if (!str_eq(state.table_id, first->table_id))
		return err_set(err, MSG_PULL_OTHER_ID, first->where, STR_ARG(first->table));
	if (first->from_ms > state.from_ms)
		return err_set(err, MSG_PULL_GAP, first->where,
			       STR_ARG(export_manifest_time(err->arena, first->from_ms)),
			       STR_ARG(export_manifest_time(err->arena, state.from_ms)));
	if (last->until_ms < state.until_ms)
		return err_set(err, MSG_PULL_ORDER, last->where,
			       STR_ARG(export_manifest_time(err->arena, last->until_ms)),
			       STR_ARG(export_manifest_time(err->arena, state.until_ms)));
	return OK;
}

static enum code check_onto_table(const struct pull_onto *onto, struct err *err)
{
	enum code code = check_onto_state(onto, err);

	if (code != OK)
		return code;
	code = pull_work_describe_file(onto->pull, err->arena, onto->table, err);
	if (code != OK)
		return code;
	return pull_export_check(onto->pull, onto->table, onto->exports, err);
}

static void onto_target(const struct pull_onto *onto, struct rehearsal *file)
{
	onto->pull->target = local_rehearsal_target(file);
	onto->pull->target.region = onto->pull->region;
}

/* The file that is there, which is only read. */
static enum code check_onto(const struct pull_onto *onto, struct store *base, struct err *err)
{
	struct rehearsal *file;
	enum code code = local_rehearsal_over(base, &file, err);

	if (code != OK)
		return code;
	onto_target(onto, file);
	code = check_onto_table(onto, err);
	local_rehearsal_free(file);
	return code;
}

static enum code apply_to_part(const struct pull_onto *onto, struct err *err)
{
	struct rehearsal *file;
	enum code code = local_rehearsal_in(onto->pull->part, &file, err);

	if (code != OK)
		return code;
	onto_target(onto, file);
	code = pull_export_items(onto->pull, onto->table, onto->exports, err);
	local_rehearsal_free(file);
	if (code != OK)
		return code;
	return proof_file(onto->proof, onto->pull->part, err);
}

static enum code check_and_apply(const struct pull_onto *onto, struct store *base, bool *agreed,
				 struct err *err)
{
	enum code code = check_onto(onto, base, err);

	if (code != OK)
		return code;
	pull_export_show(onto->exports, err->arena);
	*agreed = onto->is_agreed(onto->context);
	if (!*agreed)
		return OK;
	code = base->maintenance->copy(base, onto->pull->part, err);
	if (code != OK)
		return code;
	return apply_to_part(onto, err);
}

/* The file is locked meanwhile, so that no server changes it. */
static enum code open_and_apply(const struct pull_onto *onto, bool *agreed, struct err *err)
{
	const struct sqlite_store_options options = {.path = onto->file,
						     .durability = DURABILITY_NORMAL,
						     .readers = 1,
						     .cache_bytes = CACHE_BYTES};
	struct store *base;
	enum code code = sqlite_store_is_there(onto->file, err);

	if (code != OK)
		return code;
	code = sqlite_store_open(&options, &base, err);
	if (code != OK)
		return code;
	code = check_and_apply(onto, base, agreed, err);
	store_close(base);
	if (code != OK || !*agreed)
		return code;
	return copy_target_replace(err->arena, onto->pull->part, onto->file, err);
}

enum code pull_onto_run(const struct pull_onto *onto, bool *agreed, struct err *err)
{
	struct interrupt_undo undo;

	*agreed = true;
	copy_target_discard(err->arena, onto->pull->part); /* of a run that was ended */
	interrupt_undo_file(&undo, onto->pull->part);
	enum code code = open_and_apply(onto, agreed, err);
	copy_target_discard(err->arena, onto->pull->part);
	interrupt_forget(&undo);
	return code;
}
