#include "storage/check.h"

#include <stdlib.h>

#include "core/image.h"
#include "storage/check_messages.h"
#include "storage/check_rows.h"
#include "storage/expiry.h"
#include "storage/index_row.h"
#include "storage/item_key.h"
#include "storage/job/job.h"
#include "storage/catalog/retired.h"
#include "storage/catalog/table_rows.h"
#include "storage/state/snapshot.h"
#include "storage/store/journal.h"
#include "storage/store/row.h"
#include "storage/stream/stream_record.h"
#include "storage/vector/vector_row.h"

#define KEY_SHOWN 48 /* bytes of a row's key that a finding shows */
#define PIECE_ROWS 500          /* that one piece looks at */
#define PIECE_BYTES (1 << 20)   /* of them */

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct store_range every_row = {{NULL, 0}, {NULL, 0}, false};

/* The parts of a table, in the order in which they are gone through. */
enum stage { STAGE_ITEMS, STAGE_INDEX, STAGE_EXPIRY, STAGE_STREAM, STAGE_REPLICATION, STAGE_COUNT };

/* One piece of the rows of a table. */
struct check {
	struct store_txn *txn;
	struct check_report *report;
	struct check_cursor *cursor;
	struct arena *arena;            /* of one row */
	struct arena *next;             /* of what stays in the cursor */
	const struct settings_records *records;
	const struct table *table;
	int64_t now_ms;
	const struct index *index;      /* whose rows are gone through */
	struct keyspace keyspace;       /* the same */
	size_t rows, bytes;             /* that were looked at */
	bool is_full;                   /* there may be more rows of this part */
	size_t shard_count;
	const struct stream_shard *shards;
};

/* A part that failed is reported once. Its rows are neither read nor searched for. */
static bool is_unreadable(const struct check *check, size_t index)
{
	return check->cursor->unreadable >> index & 1;
}

static void set_unreadable(struct check *check, size_t index)
{
	check->cursor->unreadable |= UINT64_C(1) << index;
}

static struct str hex_of(struct arena *arena, struct str key)
{
	struct buf buf = buf_in(arena);

	buf_add_hex(&buf, key.p, key.n < KEY_SHOWN ? key.n : KEY_SHOWN);
	if (key.n > KEY_SHOWN)
		buf_printf(&buf, "...");
	return buf_str(&buf);
}

/* One line; `index` and `key` where it is about them. */
static void tell_problem(struct check *check, const struct index *index, struct str key,
			 const char *what)
{
	struct arena *arena = check->arena;
	struct buf line = buf_in(arena);
	const struct table *table = check->table;

	buf_printf(&line, "table " STR_FMT " (account " STR_FMT ", region " STR_FMT ")",
		   STR_ARG(table->identity.name), STR_ARG(table->identity.account),
		   STR_ARG(table->identity.region));
	if (index)
		buf_printf(&line, ", index " STR_FMT, STR_ARG(index->name));
	if (str_is_set(key))
		buf_printf(&line, ", row " STR_FMT, STR_ARG(hex_of(arena, key)));
	buf_printf(&line, ": %s", what);
	check->report->findings++;
	check->report->tell(check->report->context, buf_str(&line));
}

static void find(struct check_report *report, struct str line)
{
	report->findings++;
	report->tell(report->context, line);
}

static void tell_unreadable(struct check *check, const struct index *index, const struct err *err)
{
	tell_problem(check, index, STR_ABSENT,
		     str_printf(check->arena, CHECK_UNREADABLE, STR_ARG(err->message)).p);
}

bool check_image(struct arena *arena, struct str image, struct value *item)
{
	struct buf again = buf_in(arena);

	if (!image_decode(arena, image, item))
		return false;
	image_encode(item, &again);
	return str_eq(buf_str(&again), image);
}

/* The table's key of an index row's item; absent where the row is malformed. */
static struct str item_of_row(struct check *check, const struct index *index, struct str key,
			      struct str value)
{
	if (index->is_by_reference)
		return str_eq(value, STORE_REFERENCE)
			       ? item_key_behind(check->arena, check->table, index, key)
			       : STR_ABSENT;
	struct str image = index->vector ? vector_row_image(index, value) : value;
	struct value projected;

	return str_is_set(image) && image_decode(check->arena, image, &projected)
		       ? item_key_of_row(check->arena, check->table, NULL, &projected)
		       : STR_ABSENT;
}

/* The item's row in an index: there, and equal to what the item implies. */
static void check_index(struct check *check, size_t i, struct str key, const struct value *item,
			struct str image)
{
	const struct index *index = table_index_at(check->table, i);
	struct err err = err_in(check->arena);
	struct str found;

	if (!index_is_kept(index) || is_unreadable(check, i))
		return;
	struct index_row row = index_row_of(check->arena, check->table, index, item, image);
	if (!str_is_set(row.key))
		return;
	if (store_get(check->txn, index_keyspace(check->table, index), row.key, check->arena,
		      &found, &err) != OK) {
		set_unreadable(check, i);
		tell_unreadable(check, index, &err);
	} else if (!str_is_set(found) && !index->is_backfilling) {
		tell_problem(check, index, key, CHECK_INDEX_MISSING);
	} else if (str_is_set(found) && !str_eq(found, index_row_stored(index, &row)) &&
		   str_is_set(item_of_row(check, index, row.key, found))) {
		/* else the check of rows reports it */
		tell_problem(check, index, key, CHECK_INDEX_DIFFERENT);
	}
}

static void check_queue(struct check *check, struct str key, struct str image)
{
	struct str row = expiry_row(check->arena, check->table, key, image), found;
	struct err err = err_in(check->arena);

	if (!str_is_set(row) || is_unreadable(check, CHECK_QUEUE) ||
	    expiry_is_too_old(row, check->now_ms))
		return;
	if (store_get(check->txn, table_expiry(check->table), row, check->arena, &found, &err) !=
	    OK) {
		set_unreadable(check, CHECK_QUEUE);
		tell_unreadable(check, NULL, &err);
	} else if (!str_is_set(found) && !check->table->ttl.is_filling) {
		tell_problem(check, NULL, key, CHECK_EXPIRY_MISSING);
	}
}

static void check_item_row(struct check *check, struct str key, struct str image)
{
	struct value item;

	if (!check_image(check->arena, image, &item)) {
		tell_problem(check, NULL, key, CHECK_ITEM_MALFORMED);
		return;
	}
	struct str own = item_key_of_row(check->arena, check->table, NULL, &item);
	if (!str_is_set(own) || !str_eq(own, key)) {
		tell_problem(check, NULL, key, CHECK_ITEM_KEY);
		return;
	}
	for (size_t i = 0; i < table_index_total(check->table); i++)
		check_index(check, i, key, &item, image);
	check_queue(check, key, image);
}

static void visit_item(struct check *check, struct str key, struct str image)
{
	arena_reset(check->arena);
	check->report->items++;
	check_item_row(check, key, image);
}

/* The item of this key as the store has it. False, without a report, where there is none: the check
 * of the items reports it. */
static bool find_item(struct check *check, struct str key, struct value *item, struct str *image)
{
	struct err err = err_in(check->arena);

	return store_get(check->txn, table_items(check->table), key, check->arena, image, &err) ==
		       OK &&
	       str_is_set(*image) && image_decode(check->arena, *image, item);
}

/* A row that an item implies was compared with it before; what is left are rows that none does. */
static void visit_index_row(struct check *check, struct str key, struct str value)
{
	const struct index *index = check->index;
	struct value item;
	struct str image;

	arena_reset(check->arena);
	check->report->index_rows++;
	struct str own = item_of_row(check, index, key, value);
	if (!str_is_set(own)) {
		tell_problem(check, index, key, CHECK_INDEX_MALFORMED);
		return;
	}
	struct str implied = STR_ABSENT;
	if (find_item(check, own, &item, &image))
		implied = index_row_of(check->arena, check->table, index, &item, image).key;
	if (!str_is_set(implied) || !str_eq(implied, key))
		tell_problem(check, index, key, CHECK_INDEX_EXTRA);
}

static void visit_expiry_row(struct check *check, struct str key, struct str value)
{
	struct str implied = STR_ABSENT, image, own;
	struct value item;
	int64_t seconds;

	(void)value;
	arena_reset(check->arena);
	check->report->expiry_rows++;
	if (expiry_read(key, &seconds, &own) && find_item(check, own, &item, &image))
		implied = expiry_row(check->arena, check->table, own, image);
	if (!str_is_set(implied) || !str_eq(implied, key))
		tell_problem(check, NULL, key, CHECK_EXPIRY_EXTRA);
}

typedef void visit(struct check *check, struct str key, struct str value);

/* Goes through a keyspace from where the piece before ended, as far as the piece still takes rows.
 */
static void scan(struct check *check, const struct index *index, struct keyspace keyspace,
		 struct store_range range, visit *handle)
{
	struct arena *rows = arena_new(0);
	struct err err = err_in(check->next);
	struct store_bounds bounds = {PIECE_ROWS - check->rows, PIECE_BYTES - check->bytes};
	struct store_page page = {.n = 0};

	check->index = index;
	check->keyspace = keyspace;
	if (str_is_set(check->cursor->key))
		range.low = check->cursor->key;
	arena_reset(check->arena);
	enum code code = store_page(check->txn, keyspace, &range, bounds, rows, &page, &err);
	if (code != OK && check->table)
		tell_unreadable(check, index, &err);
	else if (code != OK && code != ERR_RESOURCE_NOT_FOUND) /* the history is there only where
								  reads have lagged */
		find(check->report,
		     str_printf(check->arena, CHECK_UNREADABLE, STR_ARG(err.message)));
	for (size_t i = 0; i < page.n; i++) { /* also those before a damaged one */
		check->rows++;
		check->bytes += page.v[i].key.n + page.v[i].value.n;
		handle(check, page.v[i].key, page.v[i].value);
	}
	check->is_full = code == OK && page.is_more;
	if (check->is_full) {
		store_range_after(&range, &page, check->next);
		check->cursor->key = range.low;
	}
	arena_free(rows);
}

/* By lanes, and within one by their stamps. */
static int by_lane(const void *a, const void *b)
{
	const struct stream_shard *left = a, *right = b;
	unsigned lane = stream_lane_of(left->start), other = stream_lane_of(right->start);

	return lane != other ? (lane > other) - (lane < other)
			     : (left->stamp > right->stamp) - (left->stamp < right->stamp);
}

/* Shards divide the range of numbers of their lane in order; the last one is open while changes are
 * appended there. */
static void check_shards(struct check *check)
{
	unsigned lanes = stream_lanes_open(check->table), open = 0,
		 wanted = lanes + stream_lane_is_log_open(check->table);
	uint64_t end = 0;

	for (size_t i = 0; i < check->shard_count; i++) {
		const struct stream_shard *shard = &check->shards[i];
		struct str key = stream_shard_key(check->arena, shard->stamp);
		unsigned lane = stream_lane_of(shard->start);
		bool is_last =
			i + 1 == check->shard_count || stream_lane_of(shard[1].start) != lane;
		bool is_enabled = lane ? lane <= lanes : stream_lane_is_log_open(check->table);

		if (shard->start < end || (shard->end && (shard->end <= shard->start ||
							  stream_lane_of(shard->end) != lane)))
			tell_problem(check, NULL, key, CHECK_SHARD_ORDER);
		if (!shard->end && !(is_last && is_enabled))
			tell_problem(check, NULL, key, CHECK_SHARD_OPEN);
		end = shard->end ? shard->end : shard->start + 1;
		open += !shard->end && is_last && is_enabled;
	}
	if (open < wanted)
		tell_problem(check, NULL, STR_ABSENT, CHECK_SHARD_CLOSED);
}

/* A shard's own start is the number of no record. */
static bool has_shard(const struct check *check, uint64_t sequence)
{
	size_t low = 0, high = check->shard_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (check->shards[middle].start < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	const struct stream_shard *shard = low ? &check->shards[low - 1] : NULL;
	return shard && (!shard->end || sequence < shard->end) && sequence >= shard->trimmed;
}

bool check_record(struct arena *arena, const struct table *table, struct str key, struct str row)
{
	struct stream_record record;
	struct value ignored;

	if (!stream_shard_is_record(key) || !stream_record_decode(key, row, &record) ||
	    !stream_record_keys(arena, table, &record, &ignored))
		return false;
	if (str_is_set(record.old_image) && !check_image(arena, record.old_image, &ignored))
		return false;
	return !str_is_set(record.new_image) || check_image(arena, record.new_image, &ignored);
}

/* A row that is looked at by itself. */
static void visit_row(struct check *check, struct str key, struct str value)
{
	const struct store_row row = {key, value};

	arena_reset(check->arena);
	if (!check_rows_is_sound(check->arena, check->records, check->keyspace, &row))
		find(check->report,
		     str_printf(check->arena, CHECK_ROW_MALFORMED,
				STR_ARG(row_name(check->arena, check->keyspace, key))));
}

static void visit_record(struct check *check, struct str key, struct str row)
{
	arena_reset(check->arena);
	if (!stream_shard_is_record(key)) {
		visit_row(check, key, row);
		return;
	}
	check->report->records++;
	if (!check_record(check->arena, check->table, key, row))
		tell_problem(check, NULL, key, CHECK_RECORD_BYTES);
	else if (!has_shard(check, stream_shard_sequence(key)))
		tell_problem(check, NULL, key, CHECK_RECORD_PLACE);
}

static void check_stream_lanes(struct check *check)
{
	struct err err = err_in(check->next);
	struct stream_shard *shards;

	arena_reset(check->arena);
	if (stream_shard_list(check->txn, check->next, check->table, 0, 0, &shards,
			      &check->shard_count, &err) != OK) {
		tell_unreadable(check, NULL, &err);
		return;
	}
	check->shards = shards;
	if (check->shard_count > 0)
		qsort(shards, check->shard_count, sizeof(*shards), by_lane);
	if (!str_is_set(check->cursor->key))
		check_shards(check);
	scan(check, NULL, stream_keyspace(check->table), every_row, visit_record);
}

static void check_rows(struct check *check)
{
	const struct table *table = check->table;
	struct check_cursor *cursor = check->cursor;
	bool is_retired = retired_is_key(cursor->table),
	     is_deleting = table->state.status == STATUS_DELETING;
	const struct index *index;

	switch ((enum stage)cursor->stage) {
	case STAGE_ITEMS:
		if (!is_deleting)
			scan(check, NULL, table_items(table), every_row, visit_item);
		break;
	case STAGE_INDEX:
		index = table_index_at(table, cursor->index);
		if (!is_deleting && index_is_kept(index) && !is_unreadable(check, cursor->index))
			scan(check, index, index_keyspace(table, index),
			     index->vector ? vector_row_range() : every_row, visit_index_row);
		break;
	case STAGE_EXPIRY:
		if (!is_deleting && table->ttl.is_enabled && !is_unreadable(check, CHECK_QUEUE))
			scan(check, NULL, table_expiry(table), every_row, visit_expiry_row);
		break;
	case STAGE_STREAM:
		/* of a deleted table only its stream is left, under a record of its own */
		if (table_has_log(table) && (!is_deleting || is_retired))
			check_stream_lanes(check);
		break;
	case STAGE_REPLICATION:
		if (table_is_global(table) && !is_deleting)
			scan(check, NULL, table_replication(table), every_row, visit_row);
		break;
	case STAGE_COUNT:
		break;
	}
}

/* The next part of the table. */
static void check_next_part(struct check *check)
{
	struct check_cursor *cursor = check->cursor;

	cursor->key = STR_ABSENT;
	if (cursor->stage == STAGE_INDEX)
		cursor->index++;
	else
		cursor->stage++;
	if (cursor->stage == STAGE_INDEX && cursor->index >= table_index_total(check->table))
		cursor->stage = STAGE_EXPIRY;
}

/* The record where the cursor stands, or the next one; its key is absent where there is none. */
static struct store_row find_record(struct check *check)
{
	struct store_range range = {check->cursor->table, STR_ABSENT, false};
	struct err err = err_in(check->next);
	struct store_page page = {.n = 0};

	if (store_page(check->txn, tables_keyspace, &range, (struct store_bounds){.rows = 1},
		       check->next, &page, &err) != OK) {
		find(check->report,
		     str_printf(check->next, CHECK_RECORD_MALFORMED, STR_ARG(err.message)));
		page.n = 0;
	}
	return page.n > 0 ? page.v[0] : (struct store_row){STR_ABSENT, STR_ABSENT};
}

static void leave_table(struct check *check, struct str key)
{
	struct buf next = buf_in(check->next);

	buf_add_str(&next, key);
	buf_add_byte(&next, 0);
	*check->cursor = (struct check_cursor){.table = buf_str(&next), .key = STR_ABSENT};
}

static void find_missing(void *context, struct str key)
{
	struct check *check = context;

	(void)key;
	find(check->report,
	     str_printf(check->next, CHECK_MARK_MISSING, STR_ARG(check->table->identity.name)));
}

/* Those of a file that an older Dynalith wrote come when it is opened. */
static enum code find_missing_marks(struct check *check, struct str key, struct err *err)
{
	bool is_complete;
	enum code code = table_rows_are_complete(check->txn, &is_complete, err);

	if (code != OK || !is_complete || retired_is_key(key))
		return code;
	return table_rows_missing(check->txn, check->table, table_rows_space(key), key,
				  find_missing, check, err);
}

/* The rows by which the table is found. */
static void check_marks(struct check *check, struct str key)
{
	struct err err = err_in(check->next);
	enum code code = find_missing_marks(check, key, &err);

	if (code != OK)
		find(check->report,
		     str_printf(check->next, CHECK_RECORD_MALFORMED, STR_ARG(err.message)));
}

/* Behind the last table: the system's own keyspaces. */
static void check_system(struct check *check)
{
	static const enum system_part parts[] = {SYSTEM_COUNTERS, SYSTEM_VERSIONS, SYSTEM_TOKENS,
						 SYSTEM_TOKEN_EXPIRY, SYSTEM_HISTORY};
	struct check_cursor *cursor = check->cursor;

	if (cursor->stage != STAGE_COUNT)
		*cursor =
			(struct check_cursor){.table = STR("\xFF"),
					      .key = STR_ABSENT,
					      .stage = STAGE_COUNT}; /* behind all keys of tables */
	while (cursor->index < sizeof(parts) / sizeof(parts[0]) && !check->is_full) {
		scan(check, NULL, (struct keyspace){0, parts[cursor->index]}, every_row, visit_row);
		if (check->is_full)
			return;
		cursor->key = STR_ABSENT;
		cursor->index++;
	}
	cursor->is_done = cursor->index >= sizeof(parts) / sizeof(parts[0]);
}

/* The counter gives the numbers of tables: one that is behind would give this table's again. */
static void check_number(struct check *check)
{
	struct err err = err_in(check->next);
	struct str value;
	uint64_t last;
	enum code code = store_get(check->txn, (struct keyspace){0, SYSTEM_COUNTERS}, STR("table"),
				   check->next, &value, &err);

	if (code == OK && str_is_set(value) && row_is_decimal(value, &last) &&
	    last < check->table->identity.number)
		find(check->report, str_printf(check->next, CHECK_NUMBER_BEHIND,
					       STR_ARG(check->table->identity.name)));
}

static void check_piece(struct check *check)
{
	struct check_cursor *cursor = check->cursor;
	struct store_row record = find_record(check);
	struct err err = err_in(check->next);
	struct table *table;

	if (!str_is_set(record.key)) {
		check_system(check);
		return;
	}
	if (table_decode(record.value, check->records, &table, &err) != OK) {
		find(check->report,
		     str_printf(check->next, CHECK_RECORD_MALFORMED, STR_ARG(err.message)));
		leave_table(check, record.key);
		return;
	}
	if (cursor->number != table->identity.number || !str_eq(cursor->table, record.key)) {
		*cursor = (struct check_cursor){
			.table = record.key, .key = STR_ABSENT, .number = table->identity.number};
		check->report->tables++;
		check->report->last_table = table->identity.number;
	}
	cursor->table = record.key;
	check->table = table;
	if (cursor->stage == 0 && !str_is_set(cursor->key)) {
		check_marks(check, record.key);
		check_number(check);
	}
	/* the table may have lost an index since the last piece */
	if (cursor->stage == STAGE_INDEX && cursor->index >= table_index_total(table))
		check_next_part(check);
	while (cursor->stage < STAGE_COUNT && !check->is_full) {
		check_rows(check);
		if (!check->is_full)
			check_next_part(check);
	}
	if (cursor->stage >= STAGE_COUNT)
		leave_table(check, record.key);
	table_unref(table);
}

enum code check_step(struct store *store, const struct settings_records *records, int64_t now_ms,
		     struct arena *arena, struct check_cursor *cursor, struct check_report *report,
		     struct err *err)
{
	struct check check = {.report = report,
			      .cursor = cursor,
			      .next = arena,
			      .records = records,
			      .now_ms = now_ms};
	enum code code = store_begin(store, STORE_READ, &check.txn, err);

	if (code != OK)
		return code;
	check.arena = arena_new(64 * 1024);
	check_piece(&check);
	arena_free(check.arena);
	store_abort(check.txn);
	return OK;
}

/* The tables that were met. */
struct numbers {
	struct arena *arena;
	size_t n;
	uint64_t *v;
};

static void add_number(struct numbers *numbers, uint64_t number)
{
	if (numbers->n && numbers->v[numbers->n - 1] == number)
		return;
	numbers->v = arena_room(numbers->arena, numbers->v, numbers->n, sizeof(*numbers->v));
	numbers->v[numbers->n++] = number;
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *left = a, *right = b;

	return (*left > *right) - (*left < *right);
}

static bool add_hidden(void *context, struct keyspace keyspace, struct str key)
{
	(void)key;
	add_number(context, keyspace.table);
	return true;
}

static void add_copy(void *context, uint64_t number)
{
	add_number(context, number);
}

/* One keyspace, row by row, in pieces. */
static enum code check_alone(struct check *check, struct store *store, struct keyspace keyspace,
			     struct err *err)
{
	struct check_cursor cursor = CHECK_START;
	enum code code = OK;

	check->cursor = &cursor;
	do {
		check->rows = check->bytes = 0;
		code = store_begin(store, STORE_READ, &check->txn, err);
		if (code != OK)
			break;
		scan(check, NULL, keyspace, every_row, visit_row);
		store_abort(check->txn);
	} while (check->is_full);
	return code;
}

/* The keyspaces of no table: of checkpoints and snapshots, of tables as these have them, of jobs.
 */
static enum code check_tableless_keyspaces(struct store *store,
					   const struct settings_records *records,
					   struct check_report *report, struct numbers *tables,
					   struct err *err)
{
	struct check check = {.report = report,
			      .next = arena_new(1 << 16),
			      .arena = arena_new(1 << 16),
			      .records = records};
	enum code code = OK;

	if (tables->n > 0)
		qsort(tables->v, tables->n, sizeof(*tables->v), by_number);
	for (size_t i = 0; i < report->keyspaces.n && code == OK; i++) {
		const struct keyspace *keyspace = &report->keyspaces.v[i];
		bool is_tables = keyspace->table == 0 ||
				 (tables->n > 0 && bsearch(&keyspace->table, tables->v, tables->n,
							   sizeof(*tables->v), by_number));

		if (!is_tables)
			code = check_alone(&check, store, *keyspace, err);
		arena_reset(check.next);
	}
	arena_free(check.arena);
	arena_free(check.next);
	return code;
}

static enum code add_hidden_in(struct store_txn *txn, const struct check_report *report,
			       struct numbers *numbers, struct err *err)
{
	for (size_t i = 0; i < report->keyspaces.n; i++) {
		struct keyspace keyspace = report->keyspaces.v[i];
		enum code code = OK;

		if (keyspace.part == PART_JOURNAL)
			code = journal_hidden(txn, keyspace.table, add_hidden, numbers, err);
		if (keyspace.part == PART_SNAPSHOT)
			code = snapshot_tables(txn, keyspace.table, add_copy, numbers, err);
		if (code != OK)
			return code;
	}
	return job_numbers(txn, add_copy, numbers, err);
}

/* What a rollback to a checkpoint would bring back, or a snapshot or a job has, belongs to no table
 * now. */
static enum code add_all_hidden(struct store *store, const struct check_report *report,
				struct numbers *numbers, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = add_hidden_in(txn, report, numbers, err);
	store_abort(txn);
	return code;
}

/* A table has several keyspaces: one finding for each table, where its first part is. */
static void check_keyspaces(struct check_report *report, struct numbers *numbers)
{
	add_number(numbers, 0);
	qsort(numbers->v, numbers->n, sizeof(*numbers->v), by_number);
	for (size_t i = 0; i < report->keyspaces.n; i++) {
		const struct keyspace *keyspace = &report->keyspaces.v[i];

		if ((keyspace->part == PART_ITEMS || keyspace->part == PART_STREAM) &&
		    !bsearch(&keyspace->table, numbers->v, numbers->n, sizeof(*numbers->v),
			     by_number))
			find(report, str_printf(numbers->arena, CHECK_NO_TABLE,
						(unsigned long long)keyspace->table));
	}
}

static enum code check_all(struct store *store, const struct settings_records *records,
			   int64_t now_ms, struct arena *arenas[2], struct check_report *report,
			   struct err *err)
{
	struct check_cursor cursor = CHECK_START;
	struct numbers numbers = {.arena = err->arena};

	for (unsigned i = 0; !cursor.is_done; i ^= 1) {
		uint64_t tables = report->tables;

		arena_reset(arenas[i]);
		enum code code =
			check_step(store, records, now_ms, arenas[i], &cursor, report, err);
		if (code != OK)
			return code;
		if (report->tables > tables)
			add_number(&numbers, report->last_table);
	}
	enum code code = check_tableless_keyspaces(store, records, report, &numbers, err);
	if (code != OK)
		return code;
	code = add_all_hidden(store, report, &numbers, err);
	if (code != OK)
		return code;
	check_keyspaces(report, &numbers);
	return OK;
}

enum code check_store(struct store *store, const struct settings_records *records, int64_t now_ms,
		      struct check_report *report, struct err *err)
{
	struct arena *arenas[] = {
		arena_new(1 << 20),
		arena_new(1 << 20)}; /* a piece's cursor is read while the next is made */
	enum code code = check_all(store, records, now_ms, arenas, report, err);

	arena_free(arenas[0]);
	arena_free(arenas[1]);
	return code;
}
