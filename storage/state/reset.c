#include "storage/state/reset.h"

#include "storage/state/checkpoint.h"
#include "storage/state/state_messages.h"
#include "storage/stream/stream_shard.h"

static bool is_wanted(const struct reset *reset, const struct space_record *record)
{
	if (!reset->is_some)
		return true;
	for (size_t i = 0; i < reset->n && !record->is_retired; i++) {
		if (str_eq(reset->tables[i], record->name))
			return true;
	}
	return false;
}

static bool is_there(const struct space_records *records, struct str name)
{
	for (size_t i = 0; i < records->n; i++) {
		if (!records->v[i].is_retired && str_eq(records->v[i].name, name))
			return true;
	}
	return false;
}

/*
 * The table as it is when nothing was ever written to it: indexes that were being filled have
 * nothing to be filled with, and nobody can return to what was before.
 */
static enum code make_empty(struct space *space, const struct reset *reset,
			    const struct space_record *record, struct table *table,
			    const struct stream_nexts *nexts, struct err *err)
{
	if (table->log.since_ms && reset->now_ms > table->log.since_ms)
		table->log.since_ms = reset->now_ms;
	table->log.reasons &= ~(unsigned)LOG_COPY; /* the jobs that copy it go, too */
	if (!(table->log.reasons & LOG_REPLICATION))
		table->log.hold_ms = 0;
	if (table->streams.n > 1) { /* earlier ones have no records left to be read */
		table->streams.v[0] = table->streams.v[table->streams.n - 1];
		table->streams.n = 1;
	}
	enum code code = space_create(space, record->key, table, err);
	return code == OK && nexts->n ? stream_skip(space->txn, space->arena, table, nexts, err)
				      : code;
}

static enum code empty_or_drop(struct space *space, const struct reset *reset,
			       const struct space_record *record, struct table *table,
			       struct err *err)
{
	struct stream_nexts nexts = {.n = 0};
	bool is_kept = reset->keeps_tables && table->state.status != STATUS_DELETING &&
		       !str_is_set(table->state.job); /* its job goes */
	enum code code = OK;

	if (is_kept && table_has_log(table))
		code = stream_nexts(space->txn, space->arena, table, &nexts, err);
	if (code != OK)
		return code;
	code = space_drop(space, record, table, err);
	if (code != OK)
		return code;
	return is_kept ? make_empty(space, reset, record, table, &nexts, err)
		       : space_put_record(space, record->key, table, NULL, err);
}

static enum code reset_table(struct space *space, const struct reset *reset,
			     const struct space_record *record, struct err *err)
{
	struct table *table;
	enum code code = space_decode(space, record, &table, err);

	if (code != OK)
		return code;
	code = empty_or_drop(space, reset, record, table, err);
	table_unref(table);
	return code;
}

static enum code apply_reset(struct space *space, void *context, struct err *err)
{
	struct reset *reset = context;
	struct space_records records;
	enum code code = space_records(space, &records, err);

	if (code != OK)
		return code;
	reset->done = 0;
	if (!reset->is_some && !reset->keeps_tables)
		code = checkpoint_remove_all(space, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < reset->n; i++) {
		if (!is_there(&records, reset->tables[i]))
			code = err_set(err, MSG_STATE_NO_TABLE, STR_ARG(reset->tables[i]));
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < records.n; i++) {
		if (!is_wanted(reset, &records.v[i]))
			continue;
		code = reset_table(space, reset, &records.v[i], err);
		reset->done += !records.v[i].is_retired;
		if (code != OK)
			return code;
	}
	if (!reset->is_some)
		code = space_drop_jobs(space, err);
	return code == OK && !reset->is_some ? space_drop_tokens(space, err) : code;
}

enum code reset_run(struct catalog *catalog, struct ns ns, struct reset *reset, struct err *err)
{
	bool is_all = !reset->is_some && !reset->keeps_tables;

	return space_change(catalog, ns, is_all ? SPACE_BARE : 0, apply_reset, reset, err);
}
