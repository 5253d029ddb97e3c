#include "storage/upkeep/replica_leave.h"

#include "storage/upkeep/replica_group.h"
#include "storage/write/replication_row.h"

/* Whether a change from another replica waits for this one. */
static enum code has_waiting(struct store_txn *txn, struct arena *arena, const struct table *table,
			     struct str from, bool *is_waiting, struct err *err)
{
	struct store_range range = replication_queue_range(arena, from);
	struct store_page page;
	enum code code = store_page(txn, table_replication(table), &range,
				    (struct store_bounds){1, 1}, arena, &page, err);

	if (code == OK)
		*is_waiting = *is_waiting || page.n > 0;
	return code;
}

/*
 * Runs in the transaction of the change. All queues of the leaving table must be empty, and in each
 * other replica the queue from its region.
 */
static enum code check_queues(struct store_txn *txn, const struct table *table, void *context,
			      bool *is_kept, struct err *err)
{
	const struct table *leaving = context;
	bool is_own = table == leaving, is_waiting = false;
	enum code code = OK;

	for (size_t i = 0; i < table->group.n && code == OK; i++) {
		if (is_own || str_eq(table->group.v[i].region, leaving->identity.region))
			code = has_waiting(txn, err->arena, table, table->group.v[i].region,
					   &is_waiting, err);
	}
	*is_kept = true;
	return code == OK && is_waiting ? ERR_CONFLICT : code;
}

/* AWS: the settings of the table stay, and its stream. */
static void end_membership(struct table *next, int64_t ends_ms, int64_t now_ms)
{
	next->group = (struct table_group){.id = STR_ABSENT};
	next->state.settles_ms = ends_ms > now_ms ? ends_ms : 0;
	if (ends_ms <= now_ms)
		next->state.status = STATUS_ACTIVE;
}

/* Looks in a read transaction first, so that a long wait does not block writers. */
static enum code is_settled(struct catalog *catalog, const struct replica_group *group, bool *out,
			    struct err *err)
{
	struct store_txn *txn;
	bool is_kept;
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &txn, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < group->n && code == OK; i++)
		code = check_queues(txn, group->v[i], group->v[0], &is_kept, err);
	store_abort(txn);
	bool has_conflict = code == ERR_CONFLICT;
	if (has_conflict)
		code = OK;
	return RESULT(code, out, !has_conflict);
}

static enum code leave_group(struct catalog *catalog, const struct replica_group *group,
			     int64_t now_ms, struct err *err)
{
	struct catalog_change *changes = ARENA_ARRAY(err->arena, struct catalog_change, group->n);
	struct str region = group->v[0]->identity.region;

	for (size_t i = 0; i < group->n; i++) {
		struct table *next = table_clone(group->v[i]);

		if (i == 0)
			end_membership(next, now_ms + catalog_options(catalog)->transient_status_ms,
				       now_ms);
		else
			table_remove_member(next, region);
		changes[i] = (struct catalog_change){group->v[i], next, now_ms, check_queues,
						     group->v[0]};
	}
	return catalog_change_all(catalog, changes, group->n, err);
}

static enum code leave_settled(struct catalog *catalog, struct table *table, int64_t now_ms,
			       struct replica_group *group, bool *is_free, struct err *err)
{
	enum code code = replica_group_read(catalog, err->arena, table, now_ms, group, err);

	if (code != OK)
		return code;
	code = is_settled(catalog, group, is_free, err);
	if (code != OK || !*is_free)
		return code;
	return leave_group(catalog, group, now_ms, err);
}

enum code replica_leave(struct catalog *catalog, struct table *table, int64_t now_ms,
			bool *is_waiting, struct err *err)
{
	struct arena *scratch = arena_new(0);
	struct err own = err_in(scratch);
	struct replica_group group;
	bool is_free = false;
	enum code code = leave_settled(catalog, table, now_ms, &group, &is_free, &own);
	replica_group_free(&group);
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(scratch);
	return RESULT(code, is_waiting, !is_free);
}
