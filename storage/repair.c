#include "storage/repair_internal.h"

#include <stdlib.h>

#include "core/image.h"
#include "storage/check.h"
#include "storage/check_messages.h"
#include "storage/expiry.h"
#include "storage/index_row.h"
#include "storage/item_key.h"
#include "storage/job/job.h"
#include "storage/catalog/retired.h"
#include "storage/catalog/size_rows.h"
#include "storage/catalog/table_rows.h"
#include "storage/state/snapshot.h"
#include "storage/state/snapshot_file.h"
#include "storage/store/row.h"
#include "storage/stream/stream_shard.h"
#include "storage/vector/vector_row.h"

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};
static const struct keyspace token_keyspaces[] = {{0, SYSTEM_TOKENS}, {0, SYSTEM_TOKEN_EXPIRY}};

/* The tables by their records. */
struct tables {
	struct repair *repair;
	size_t n;
	struct table **v;
	bool *is_retired;
};

/* The key under which the record of the table lies, in either form. */
static bool is_record_key_of(struct arena *arena, const struct table *table, struct str key)
{
	struct buf own = buf_in(arena), shared = buf_in(arena), retired = buf_in(arena);

	buf_printf(&own, STR_FMT "%c" STR_FMT "%c" STR_FMT, STR_ARG(table->identity.account), 0,
		   STR_ARG(table->identity.region), 0, STR_ARG(table->identity.name));
	buf_printf(&shared, "%c" STR_FMT, 0, STR_ARG(table->identity.name));
	buf_printf(&retired, "%c%c", 0, 0);
	buf_add_be64(&retired, table->identity.number);
	return str_eq(key, buf_str(&own)) || str_eq(key, buf_str(&shared)) ||
	       str_eq(key, buf_str(&retired));
}

static bool agrees_with_itself(struct arena *arena, const struct table *table,
			       const struct salvage_row *row)
{
	return str_eq(table_encode(arena, table), row->value) &&
	       is_record_key_of(arena, table, row->key);
}

static bool has_number(const struct tables *tables, const struct table *table, bool is_retired)
{
	for (size_t i = 0; i < tables->n; i++) {
		if (tables->v[i]->identity.number == table->identity.number &&
		    tables->is_retired[i] == is_retired)
			return true;
	}
	return false;
}

static void take_salvaged_table(void *context, const struct salvage_row *row)
{
	struct tables *tables = context;
	struct repair *repair = tables->repair;
	struct err err = err_in(repair->row);
	struct table *table = NULL;

	arena_reset(repair->row);
	bool is_read = str_is_set(row->value) &&
		       table_decode(row->value, repair->records, &table, &err) == OK;
	bool is_retired = is_read && retired_is_key(row->key);
	if (!is_read ||
	    (row->state != SALVAGE_SOUND && !agrees_with_itself(repair->row, table, row)) ||
	    has_number(tables, table, is_retired)) {
		table_unref(table);
		repair_set_aside(repair, row, REPAIR_TABLE_MALFORMED);
		repair->report->losses++;
		repair->report->tell(repair->report->context, STR(REPAIR_TABLE_LOST));
		return;
	}
	repair->table = table;
	if (row->state == SALVAGE_DAMAGED)
		repair_tell(repair, STR(REPAIR_TABLE_DOUBTFUL));
	repair->table = NULL;
	tables->v = arena_room(repair->arena, tables->v, tables->n, sizeof(*tables->v));
	tables->is_retired = arena_room(repair->arena, tables->is_retired, tables->n,
					sizeof(*tables->is_retired));
	tables->v[tables->n] = table;
	tables->is_retired[tables->n++] = is_retired;
	repair_put(repair, tables_keyspace, row->key, row->value);
}

static void create(struct repair *repair, struct keyspace keyspace)
{
	if (repair->code == OK)
		repair->code = store_create(repair->txn, keyspace, repair->err);
}

/* The keyspaces that the table must have, see storage/catalog/catalog.c. */
static void create_keyspaces(struct repair *repair, const struct table *table, bool is_retired)
{
	bool is_live = !is_retired && table->state.status != STATUS_DELETING;

	if (is_live)
		create(repair, table_items(table));
	for (size_t i = 0; i < table_index_total(table) && is_live && repair->code == OK; i++)
		repair->code =
			index_row_create(repair->txn, table, table_index_at(table, i), repair->err);
	if (is_live && table->ttl.is_enabled)
		create(repair, table_expiry(table));
	if (is_live && table_is_global(table))
		create(repair, table_replication(table));
	if (table_has_log(table) && (is_live || is_retired))
		create(repair, stream_keyspace(table));
}

static void take_as_it_is(void *context, const struct salvage_row *row)
{
	struct repair *repair = context;

	if (row->state == SALVAGE_SOUND)
		repair_put(repair, row->keyspace, row->key, row->value);
}

/* What the counters say. */
struct told {
	struct repair *repair;
	uint64_t highest; /* number that a table ever had, as far as can be seen */
	size_t n;
	uint64_t *owned;  /* numbers of keyspaces that jobs have: backups */
};

/*
 * How far the filling of indexes came is left out: they are whole when it goes on, from their
 * beginning. So are the numbers of items and bytes: they are counted again. Snapshots are not taken
 * over, nor are their names. What follows from the records of tables comes when the store is
 * opened.
 */
static void take_counter(void *context, const struct salvage_row *row)
{
	struct told *told = context;
	struct repair *repair = told->repair;

	arena_reset(repair->row);
	if (row->state == SALVAGE_DAMAGED || str_starts_with(row->key, STR("backfill/")) ||
	    size_rows_is_key(row->key) || table_rows_is_key(row->key) ||
	    snapshot_is_key(row->key) || snapshot_file_is_key(row->key))
		return;
	uint64_t data = job_data_of(repair->row, row->key, row->value);
	if (data) {
		told->owned = arena_room(repair->arena, told->owned, told->n, sizeof(*told->owned));
		told->owned[told->n++] = data;
	}
	if (!str_eq(row->key, STR("table"))) {
		repair_put(repair, counters_keyspace, row->key, row->value);
		return;
	}
	uint64_t number;
	if (row_is_decimal(row->value, &number) && number > told->highest)
		told->highest = number;
}

static void take_counters(struct repair *repair, const struct tables *tables, struct told *told)
{
	size_t n;
	const struct keyspace *keyspaces = repair->from->ops->keyspaces(repair->from, &n);

	for (size_t i = 0; i < n; i++)
		told->highest =
			keyspaces[i].table > told->highest ? keyspaces[i].table : told->highest;
	for (size_t i = 0; i < tables->n; i++)
		told->highest = tables->v[i]->identity.number > told->highest
					? tables->v[i]->identity.number
					: told->highest;
	repair->from->ops->rows(repair->from, counters_keyspace, take_counter, told);
	arena_reset(repair->row);
	repair_put(repair, counters_keyspace, STR("table"),
		   str_printf(repair->row, "%llu", (unsigned long long)told->highest));
	for (size_t i = 0; i < told->n; i++) {
		create(repair, (struct keyspace){told->owned[i], PART_ITEMS});
		repair->from->ops->rows(repair->from, (struct keyspace){told->owned[i], PART_ITEMS},
					take_as_it_is, repair);
	}
}

static void put_index_row(struct repair *repair, const struct index *index, struct str item_key,
			  const struct index_row *row)
{
	if (repair->code == OK)
		repair->code = index_row_put(repair->txn, repair->table, index, item_key, row,
					     repair->err);
	repair_put_note(repair, row->key.n + index_row_stored(index, row).n);
}

/* What follows from an item. */
static void put_derived(struct repair *repair, struct str key, const struct value *item,
			struct str image)
{
	const struct table *table = repair->table;
	struct str due = expiry_row(repair->row, table, key, image);

	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);
		struct index_row row = {.key = STR_ABSENT};

		if (index_is_kept(index))
			row = index_row_of(repair->row, table, index, item, image);
		if (str_is_set(row.key))
			put_index_row(repair, index, key, &row);
	}
	if (str_is_set(due) && !expiry_is_too_old(due, repair->now_ms))
		repair_put(repair, table_expiry(table), due, STR("-"));
}

static const char *problem_of_row(struct repair *repair, const struct salvage_row *row,
				  struct value *item)
{
	struct str known = STR_ABSENT;

	if (row->state != SALVAGE_SOUND || !check_image(repair->row, row->value, item))
		return CHECK_ITEM_MALFORMED;
	struct str own = item_key_of_row(repair->row, repair->table, NULL, item);
	if (!str_is_set(own) || !str_eq(own, row->key))
		return CHECK_ITEM_KEY;
	if (repair->code == OK)
		repair->code = store_get(repair->txn, row->keyspace, row->key, repair->row, &known,
					 repair->err);
	return str_is_set(known) ? REPAIR_ITEM_TWICE : NULL;
}

static void take_item(void *context, const struct salvage_row *row)
{
	struct repair *repair = context;
	struct value item;

	arena_reset(repair->row);
	const char *problem = problem_of_row(repair, row, &item);
	if (problem) {
		repair_set_aside(repair, row, problem);
		return;
	}
	repair_put(repair, row->keyspace, row->key, row->value);
	put_derived(repair, row->key, &item, row->value);
	repair->report->items++;
}

/* A row of the queue whose time is long past stays due: it was made when it was not. */
static void take_expiry(void *context, const struct salvage_row *row)
{
	struct repair *repair = context;
	struct str image, item;
	int64_t seconds;

	arena_reset(repair->row);
	if (repair->code != OK || row->state != SALVAGE_SOUND ||
	    !expiry_read(row->key, &seconds, &item))
		return;
	repair->code = store_get(repair->txn, table_items(repair->table), item, repair->row, &image,
				 repair->err);
	struct str due = repair->code == OK && str_is_set(image)
				 ? expiry_row(repair->row, repair->table, item, image)
				 : STR_ABSENT;
	if (str_is_set(due) && str_eq(due, row->key))
		repair_put(repair, row->keyspace, row->key, row->value);
}

static void take_salvaged_rows(struct repair *repair, bool is_retired)
{
	const struct table *table = repair->table;
	uint64_t aside = repair->report->aside;
	struct vector_version version;

	if (!is_retired && table->state.status != STATUS_DELETING) {
		repair->from->ops->rows(repair->from, table_items(table), take_item, repair);
		if (table->ttl.is_enabled)
			repair->from->ops->rows(repair->from, table_expiry(table), take_expiry,
						repair);
		if (table_is_global(table))
			repair->from->ops->rows(repair->from, table_replication(table),
						take_as_it_is, repair);
		for (size_t i = 0; i < table->indexes.vector_n && repair->code == OK; i++)
			repair->code = vector_row_next_version(
				repair->txn, repair->row,
				index_keyspace(table, &table->indexes.vectors[i]),
				(uint64_t)repair->now_ms, table->identity.id, &version,
				repair->err);
	}
	arena_reset(repair->row);
	if (repair->report->aside > aside)
		repair_tell(repair,
			    str_printf(repair->row, REPAIR_ITEMS_ASIDE,
				       (unsigned long long)(repair->report->aside - aside)));
	if (table_has_log(table) && (is_retired || table->state.status != STATUS_DELETING))
		repair_stream(repair);
	repair->report->tables += !is_retired;
}

static void leave_row(void *context, const struct salvage_row *row)
{
	repair_set_aside(context, row, REPAIR_NO_TABLE);
}

/* Rows of tables whose records are lost; and of no known keyspace. */
static void leave_rest(struct repair *repair, const struct tables *tables, const struct told *told)
{
	size_t n;
	const struct keyspace *keyspaces = repair->from->ops->keyspaces(repair->from, &n);

	repair->table = NULL;
	for (size_t i = 0; i < n; i++) {
		bool is_known = keyspaces[i].table == 0 || (keyspaces[i].part != PART_ITEMS &&
							    keyspaces[i].part != PART_STREAM);

		for (size_t k = 0; k < tables->n && !is_known; k++)
			is_known = tables->v[k]->identity.number == keyspaces[i].table;
		for (size_t k = 0; k < told->n && !is_known; k++)
			is_known = told->owned[k] == keyspaces[i].table;
		if (!is_known)
			repair->from->ops->rows(repair->from, keyspaces[i], leave_row, repair);
	}
	repair->from->ops->strays(repair->from, leave_row, repair);
}

/* A snapshot and what a checkpoint can return to are tables under numbers of their own, which mean
 * nothing without their records. */
static void leave_states(struct repair *repair)
{
	bool are_there = false;
	size_t n;
	const struct keyspace *keyspaces = repair->from->ops->keyspaces(repair->from, &n);

	for (size_t i = 0; i < n; i++)
		are_there =
			are_there || (keyspaces[i].table && (keyspaces[i].part == PART_SNAPSHOT ||
							     keyspaces[i].part == PART_JOURNAL));
	if (!are_there)
		return;
	repair->report->losses++;
	repair->report->tell(repair->report->context, STR(REPAIR_STATES));
}

enum code repair_store(struct salvage *from, struct store *to,
		       const struct settings_records *records, int64_t now_ms,
		       struct repair_report *report, struct err *err)
{
	struct repair repair = {
		.from = from,
		.to = to,
		.records = records,
		.now_ms = now_ms,
		.report = report,
		.arena = arena_new(0),
		.row = arena_new(1024 * 1024),
		.err = err,
	};
	struct tables tables = {.repair = &repair};
	struct told told = {.repair = &repair};

	repair_begin(&repair);
	if (repair.code == OK)
		from->ops->rows(from, tables_keyspace, take_salvaged_table, &tables);
	for (size_t i = 0; i < tables.n; i++)
		create_keyspaces(&repair, tables.v[i], tables.is_retired[i]);
	take_counters(&repair, &tables, &told);
	for (size_t i = 0; i < sizeof(token_keyspaces) / sizeof(token_keyspaces[0]); i++)
		from->ops->rows(from, token_keyspaces[i], take_as_it_is, &repair);
	for (size_t i = 0; i < tables.n && repair.code == OK; i++) {
		repair.table = tables.v[i];
		take_salvaged_rows(&repair, tables.is_retired[i]);
	}
	leave_rest(&repair, &tables, &told);
	leave_states(&repair);
	if (repair.code == OK)
		repair_commit(&repair);
	else if (repair.txn)
		store_abort(repair.txn);
	for (size_t i = 0; i < tables.n; i++)
		table_unref(tables.v[i]);
	arena_free(repair.row);
	arena_free(repair.arena);
	return repair.code;
}
