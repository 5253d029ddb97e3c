#include "storage/check.h"

#include "core/image.h"
#include "storage/check_messages.h"
#include "storage/expiry.h"
#include "storage/item_key.h"
#include "storage/catalog/retired.h"
#include "storage/stream/stream_record.h"
#include "storage/vector/vector_row.h"

#define KEY_SHOWN 48 /* bytes of a row's key that a finding shows */
#define PARTS_MAX (INDEXES_MAX + VECTOR_INDEXES_MAX)

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct store_range every_row = {{NULL, 0}, {NULL, 0}, false};

/* One table under check. */
struct check {
	struct store_txn *txn;
	struct check_report *report;
	struct arena *arena;            /* of one row */
	const struct table *table;
	int64_t now_ms;
	bool is_unreadable[PARTS_MAX];  /* indexes that failed: told once */
	bool is_queue_unreadable;
	const struct index *index;      /* whose rows are gone through */
	size_t shard_count;
	const struct stream_shard *shards;
};

static struct str hex_of(struct arena *arena, struct str key)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < key.n && i < KEY_SHOWN; i++)
		buf_printf(&buf, "%02x", (unsigned char)key.p[i]);
	if (key.n > KEY_SHOWN)
		buf_printf(&buf, "...");
	return buf_str(&buf);
}

/* One line; `index` and `key` where it is about them. */
static void tell(struct check *check, const struct index *index, struct str key, const char *what)
{
	struct arena *arena = check->arena;
	struct buf line = buf_in(arena);
	const struct table *table = check->table;

	buf_printf(&line, "table " STR_FMT " (account " STR_FMT ", region " STR_FMT ")", STR_ARG(table->identity.name),
		   STR_ARG(table->identity.account),
		   STR_ARG(table->identity.region));
	if (index)
		buf_printf(&line, ", index " STR_FMT, STR_ARG(index->name));
	if (str_is_set(key))
		buf_printf(&line, ", row " STR_FMT, STR_ARG(hex_of(arena, key)));
	buf_printf(&line, ": %s", what);
	check->report->findings++;
	check->report->tell(check->report->context, buf_str(&line));
}

static void tell_unreadable(struct check *check, const struct index *index, const struct err *err)
{
	tell(check, index, STR_ABSENT, str_printf(check->arena, CHECK_UNREADABLE, STR_ARG(err->message)).p);
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
static struct str item_of_row(struct check *check, const struct index *index, struct str value)
{
	struct str image = index->vector ? vector_row_image(index, value) : value;
	struct value projected;

	return str_is_set(image) && image_decode(check->arena, image, &projected) ? item_key_of_row(check->arena, check->table, NULL, &projected)
										  : STR_ABSENT;
}

/* The item's row in an index: there, and equal to what the item implies. */
static void check_index(struct check *check, size_t i, struct str key, const struct value *item, struct str image)
{
	const struct index *index = table_index_at(check->table, i);
	struct err err = err_in(check->arena);
	struct str found;

	if (!index_is_kept(index) || check->is_unreadable[i])
		return;
	struct vector_row row = vector_row_of_index(check->arena, check->table, index, item, image);
	if (!str_is_set(row.key))
		return;
	if (store_get(check->txn, index_keyspace(check->table, index), row.key, check->arena, &found, &err) != OK) {
		check->is_unreadable[i] = true;
		tell_unreadable(check, index, &err);
	} else if (!str_is_set(found) && !index->is_backfilling) {
		tell(check, index, key, CHECK_INDEX_MISSING);
	} else if (str_is_set(found) && !str_eq(found, row.value) && str_is_set(item_of_row(check, index, found))) { /* else the check of rows reports it */
		tell(check, index, key, CHECK_INDEX_DIFFERENT);
	}
}

static void check_queue(struct check *check, struct str key, struct str image)
{
	struct str row = expiry_row(check->arena, check->table, key, image), found;
	struct err err = err_in(check->arena);

	if (!str_is_set(row) || check->is_queue_unreadable || expiry_is_too_old(row, check->now_ms))
		return;
	check->is_queue_unreadable = store_get(check->txn, table_expiry(check->table), row, check->arena, &found, &err) != OK;
	if (check->is_queue_unreadable)
		tell_unreadable(check, NULL, &err);
	else if (!str_is_set(found))
		tell(check, NULL, key, CHECK_EXPIRY_MISSING);
}

static bool visit_item(void *context, struct str key, struct str image)
{
	struct check *check = context;
	struct value item;

	arena_reset(check->arena);
	check->report->items++;
	if (!check_image(check->arena, image, &item)) {
		tell(check, NULL, key, CHECK_ITEM_MALFORMED);
		return true;
	}
	struct str own = item_key_of_row(check->arena, check->table, NULL, &item);
	if (!str_is_set(own) || !str_eq(own, key)) {
		tell(check, NULL, key, CHECK_ITEM_KEY);
		return true;
	}
	for (size_t i = 0; i < table_index_total(check->table); i++)
		check_index(check, i, key, &item, image);
	check_queue(check, key, image);
	return true;
}

/* The item of this key as the store has it; false, and nothing told, where there is none: what is wrong with it is told with the items. */
static bool find_item(struct check *check, struct str key, struct value *item, struct str *image)
{
	struct err err = err_in(check->arena);

	return store_get(check->txn, table_items(check->table), key, check->arena, image, &err) == OK && str_is_set(*image) &&
	       image_decode(check->arena, *image, item);
}

/* A row that an item implies was compared with it before; what is left are rows that none does. */
static bool visit_index_row(void *context, struct str key, struct str value)
{
	struct check *check = context;
	const struct index *index = check->index;
	struct value item;
	struct str image;

	arena_reset(check->arena);
	check->report->index_rows++;
	struct str own = item_of_row(check, index, value);
	if (!str_is_set(own)) {
		tell(check, index, key, CHECK_INDEX_MALFORMED);
		return true;
	}
	struct str implied = STR_ABSENT;
	if (find_item(check, own, &item, &image))
		implied = vector_row_of_index(check->arena, check->table, index, &item, image).key;
	if (!str_is_set(implied) || !str_eq(implied, key))
		tell(check, index, key, CHECK_INDEX_EXTRA);
	return true;
}

static bool visit_expiry_row(void *context, struct str key, struct str value)
{
	struct check *check = context;
	struct str implied = STR_ABSENT, image;
	struct value item;

	(void)value;
	arena_reset(check->arena);
	check->report->expiry_rows++;
	if (key.n > sizeof(uint64_t) && find_item(check, expiry_item(key), &item, &image))
		implied = expiry_row(check->arena, check->table, expiry_item(key), image);
	if (!str_is_set(implied) || !str_eq(implied, key))
		tell(check, NULL, key, CHECK_EXPIRY_EXTRA);
	return true;
}

static void scan(struct check *check, const struct index *index, struct keyspace keyspace, const struct store_range *range, store_visit *visit)
{
	struct err err = err_in(check->arena);

	check->index = index;
	arena_reset(check->arena);
	if (store_scan(check->txn, keyspace, range, visit, check, &err) != OK)
		tell_unreadable(check, index, &err);
}

static void check_items(struct check *check)
{
	const struct table *table = check->table;
	const struct store_range vector_rows = vector_row_range();

	scan(check, NULL, table_items(table), &every_row, visit_item);
	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);

		if (index_is_kept(index) && !check->is_unreadable[i])
			scan(check, index, index_keyspace(table, index), index->vector ? &vector_rows : &every_row, visit_index_row);
	}
	if (table->ttl.is_enabled && !check->is_queue_unreadable)
		scan(check, NULL, table_expiry(table), &every_row, visit_expiry_row);
}

/* Shards divide the range of numbers in order; the last one is open while the stream is enabled. */
static void check_shards(struct check *check)
{
	bool is_enabled = check->table->streams.view != STREAM_OFF;
	uint64_t end = 0;

	for (size_t i = 0; i < check->shard_count; i++) {
		const struct stream_shard *shard = &check->shards[i];
		struct str key = stream_shard_key(check->arena, shard->stamp);
		bool is_last = i + 1 == check->shard_count;

		if (shard->start < end || (shard->end && shard->end <= shard->start))
			tell(check, NULL, key, CHECK_SHARD_ORDER);
		if (!shard->end && !(is_last && is_enabled))
			tell(check, NULL, key, CHECK_SHARD_OPEN);
		end = shard->end ? shard->end : shard->start + 1;
	}
	if (is_enabled && (check->shard_count == 0 || check->shards[check->shard_count - 1].end))
		tell(check, NULL, STR_ABSENT, CHECK_SHARD_CLOSED);
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

	if (!stream_shard_is_record(key) || !stream_record_decode(key, row, &record) || !stream_record_keys(arena, table, &record, &ignored))
		return false;
	if (str_is_set(record.old_image) && !check_image(arena, record.old_image, &ignored))
		return false;
	return !str_is_set(record.new_image) || check_image(arena, record.new_image, &ignored);
}

static bool visit_record(void *context, struct str key, struct str row)
{
	struct check *check = context;

	arena_reset(check->arena);
	check->report->records++;
	if (!check_record(check->arena, check->table, key, row))
		tell(check, NULL, key, CHECK_RECORD_BYTES);
	else if (!has_shard(check, stream_shard_sequence(key)))
		tell(check, NULL, key, CHECK_RECORD_PLACE);
	return true;
}

static void check_stream(struct check *check)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct store_range range = stream_shard_range(arena, 0, 0);
	struct stream_shard *shards;

	arena_reset(check->arena);
	if (stream_shard_list(check->txn, arena, check->table, 0, 0, &shards, &check->shard_count, &err) != OK) {
		tell_unreadable(check, NULL, &err);
	} else {
		check->shards = shards;
		check_shards(check);
		scan(check, NULL, stream_keyspace(check->table), &range, visit_record);
	}
	arena_free(arena);
}

/* The records of tables: read before the tables are gone through, since scans do not nest. */
struct tables {
	struct check_report *report;
	const struct settings_records *records;
	struct arena *arena;
	size_t n;
	struct table **tables;
	bool *is_retired;
};

static bool collect_table(void *context, struct str key, struct str record)
{
	struct tables *tables = context;
	struct err err = err_in(tables->arena);

	tables->tables = arena_room(tables->arena, tables->tables, tables->n, sizeof(*tables->tables));
	tables->is_retired = arena_room(tables->arena, tables->is_retired, tables->n, sizeof(*tables->is_retired));
	if (table_decode(record, tables->records, &tables->tables[tables->n], &err) == OK) {
		tables->is_retired[tables->n++] = retired_is_key(key);
	} else {
		tables->report->findings++;
		tables->report->tell(tables->report->context, str_printf(tables->arena, CHECK_RECORD_MALFORMED, STR_ARG(err.message)));
	}
	return true;
}

/* Of a deleted table only its stream is left, under a record of its own. */
static void check_table(struct check *check, bool is_retired)
{
	bool is_deleting = check->table->state.status == STATUS_DELETING;

	check->report->tables++;
	if (!is_deleting)
		check_items(check);
	if (check->table->streams.n > 0 && (!is_deleting || is_retired))
		check_stream(check);
}

static bool is_of_table(const struct tables *tables, uint64_t number)
{
	for (size_t i = 0; i < tables->n; i++) {
		if (tables->tables[i]->identity.number == number)
			return true;
	}
	return number == 0;
}

/* A table has several keyspaces: one finding for each table, where its first part is. */
static void check_keyspaces(struct check_report *report, const struct tables *tables, struct arena *arena)
{
	for (size_t i = 0; i < report->keyspace_count; i++) {
		const struct keyspace *keyspace = &report->keyspaces[i];

		if ((keyspace->part != PART_ITEMS && keyspace->part != PART_STREAM) || is_of_table(tables, keyspace->table))
			continue;
		report->findings++;
		report->tell(report->context, str_printf(arena, CHECK_NO_TABLE, (unsigned long long)keyspace->table));
	}
}

enum code check_store(struct store *store, const struct settings_records *records, int64_t now_ms, struct check_report *report, struct err *err)
{
	struct tables tables = {.report = report, .records = records, .arena = err->arena};
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	struct arena *row = arena_new(64 * 1024);
	code = store_scan(txn, tables_keyspace, &every_row, collect_table, &tables, err);
	if (code != OK) {
		report->findings++;
		report->tell(report->context, str_printf(row, CHECK_RECORD_MALFORMED, STR_ARG(err->message)));
	}
	check_keyspaces(report, &tables, row);
	for (size_t i = 0; i < tables.n; i++) {
		struct check check = {.txn = txn, .report = report, .arena = row, .table = tables.tables[i], .now_ms = now_ms};

		check_table(&check, tables.is_retired[i]);
		table_unref(tables.tables[i]);
	}
	arena_free(row);
	store_abort(txn);
	return OK;
}
