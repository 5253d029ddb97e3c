#include "storage/state/snapshot_file.h"

#include "core/base64.h"
#include "storage/index_row.h"
#include "storage/schema/currency.h"
#include "storage/state/snapshot_internal.h"
#include "storage/state/state_messages.h"
#include "storage/store/row.h"

#define BLOCK_BYTES ((size_t)512 * 1024)
#define PREFIX "loading/"

static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};

enum kind {
	KIND_FORMAT = 'v',
	KIND_TABLE = 't',
	KIND_ROW = 'r',
	KIND_PROGRESS = 'b',
	KIND_END = 'z'
};

static struct str key_of(struct arena *arena, enum kind kind, uint32_t table, uint32_t part,
			 struct str rest)
{
	struct buf buf = buf_in(arena);

	buf_add_byte(&buf, (int)kind);
	buf_add_be32(&buf, table);
	buf_add_be32(&buf, part);
	buf_add_str(&buf, rest);
	return buf_str(&buf);
}

/* The keyspaces of a table, one behind the other; false behind the last. */
static bool keyspace_at(const struct table *table, size_t i, struct keyspace *keyspace)
{
	size_t indexes = table_index_total(table);

	*keyspace = table_items(table);
	if (i > 0 && i <= indexes)
		*keyspace = index_keyspace(table, table_index_at(table, i - 1));
	if (i == indexes + 1)
		*keyspace = table_expiry(table);
	if (i == indexes + 2)
		*keyspace = stream_keyspace(table);
	if (i == indexes + 3)
		*keyspace = table_replication(table);
	return i <= indexes + 3;
}

static bool has_part(const struct table *table, struct keyspace keyspace)
{
	if (keyspace.part == PART_EXPIRY)
		return table->ttl.is_enabled;
	if (keyspace.part == PART_STREAM)
		return table_has_log(table);
	if (keyspace.part == PART_REPLICATION)
		return table_is_global(table);
	return keyspace.part == PART_ITEMS ||
	       (keyspace.part >= PART_INDEX &&
		table_index_numbered(table, keyspace.part - PART_INDEX));
}

/* Where a reading stands: a table, a keyspace of it, a key; and how many frames came before. */
struct place {
	uint32_t table, part;
	uint64_t frames;
	struct str key;
};

struct reading {
	struct space space;
	struct buf block;
	struct place at;
	bool is_ended;
};

static void add_frame(struct reading *reading, struct str key, struct str value)
{
	buf_add_be32(&reading->block, (uint32_t)key.n);
	buf_add_be32(&reading->block, (uint32_t)value.n);
	buf_add_str(&reading->block, key);
	buf_add_str(&reading->block, value);
	reading->at.frames++;
}

static bool is_full(const struct reading *reading)
{
	return buf_str(&reading->block).n >= BLOCK_BYTES;
}

static void add_format(struct reading *reading, const struct snapshot *snapshot)
{
	struct buf value = buf_in(reading->space.arena);

	buf_add_be32(&value, SNAPSHOT_FILE_FORMAT);
	buf_add_be64(&value, (uint64_t)snapshot->created_ms);
	buf_add_str(&value, snapshot->extra);
	add_frame(reading, STR("v"), buf_str(&value));
}

static enum code add_progress(struct reading *reading, const struct table *table, struct err *err)
{
	struct arena *arena = reading->space.arena;

	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);
		struct str progress;
		enum code code =
			store_get(reading->space.txn, counters_keyspace,
				  catalog_progress_key(arena, table, index), arena, &progress, err);

		if (code != OK)
			return code;
		if (str_is_set(progress))
			add_frame(reading,
				  key_of(arena, KIND_PROGRESS, reading->at.table, index->number,
					 STR("")),
				  progress);
	}
	return OK;
}

/* Rows of one keyspace, as many as fit. */
static enum code add_row_frames(struct reading *reading, struct keyspace keyspace, struct err *err)
{
	struct arena *arena = reading->space.arena;
	struct store_range range = {reading->at.key, STR_ABSENT, false};
	struct store_page page = {.n = 0};
	size_t left = BLOCK_BYTES - buf_str(&reading->block).n; /* it is not full */
	enum code code = store_page(reading->space.txn, keyspace, &range,
				    (struct store_bounds){0, left}, arena, &page, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++)
		add_frame(reading,
			  key_of(arena, KIND_ROW, reading->at.table, keyspace.part, page.v[i].key),
			  page.v[i].value);
	if (page.is_more)
		store_range_after(&range, &page, arena);
	else
		reading->at.part++;
	reading->at.key = page.is_more ? range.low : STR_ABSENT;
	return OK;
}

static enum code add_table_frames(struct reading *reading, const struct space_record *record,
				  struct err *err)
{
	struct keyspace keyspace;
	struct table *table;
	enum code code = space_decode(&reading->space, record, &table, err);

	if (code != OK)
		return code;
	if (reading->at.part == 0 && !str_is_set(reading->at.key)) {
		add_frame(reading, record->key, record->record);
		code = add_progress(reading, table, err);
	}
	while (code == OK && !is_full(reading) && keyspace_at(table, reading->at.part, &keyspace)) {
		if (has_part(table, keyspace))
			code = add_row_frames(reading, keyspace, err);
		else
			reading->at.part++;
	}
	if (code == OK && !keyspace_at(table, reading->at.part, &keyspace))
		reading->at =
			(struct place){reading->at.table + 1, 0, reading->at.frames, STR_ABSENT};
	table_unref(table);
	return code;
}

/* A first byte separates "no key" from an empty one. */
static struct str write_cursor(struct arena *arena, const struct place *at)
{
	struct buf bytes = buf_in(arena), text = buf_in(arena);

	buf_add_be32(&bytes, at->table);
	buf_add_be32(&bytes, at->part);
	buf_add_be64(&bytes, at->frames);
	buf_add_byte(&bytes, str_is_set(at->key));
	buf_add_str(&bytes, str_is_set(at->key) ? at->key : STR(""));
	base64_encode(buf_str(&bytes), &text);
	return buf_str(&text);
}

static bool read_cursor(struct arena *arena, struct str cursor, struct place *at)
{
	struct str bytes;

	*at = (struct place){.key = STR_ABSENT};
	if (!str_is_set(cursor))
		return true;
	if (!base64_decode(arena, cursor, &bytes))
		return false;
	struct row_reader row = row_read(bytes);
	at->table = row_u32(&row);
	at->part = row_u32(&row);
	at->frames = row_u64(&row);
	bool has_key = row_byte(&row) != 0;
	struct str key = row_rest(&row);
	if (has_key)
		at->key = key;
	return row_is_whole(&row);
}

static enum code read_file_block(struct reading *reading, struct str name, bool is_first,
				 struct err *err)
{
	struct space_records records = {0};
	struct snapshot snapshot = {0};
	enum code code = snapshot_find(&reading->space, name, &snapshot, err);

	if (code != OK)
		return code;
	code = snapshot_records(&reading->space, snapshot.number, &records, err);
	if (code != OK)
		return code;
	if (is_first)
		add_format(reading, &snapshot);
	while (reading->at.table < records.n && !is_full(reading)) {
		code = add_table_frames(reading, &records.v[reading->at.table], err);
		if (code != OK)
			return code;
	}
	if (reading->at.table < records.n)
		return OK;
	struct buf frames = buf_in(reading->space.arena);
	buf_add_be64(&frames, reading->at.frames);
	add_frame(reading, STR("z"), buf_str(&frames));
	reading->is_ended = true;
	return OK;
}

enum code snapshot_file_read(struct catalog *catalog, struct ns ns, struct str name,
			     struct str cursor, struct str *block, struct str *next,
			     struct err *err)
{
	struct reading reading = {.space = {.catalog = catalog, .ns = ns, .arena = err->arena},
				  .block = buf_in(err->arena)};

	if (!read_cursor(err->arena, cursor, &reading.at))
		return err_set(err, MSG_SNAPSHOT_CURSOR);
	enum code code = store_begin(catalog_store(catalog), STORE_READ, &reading.space.txn, err);
	if (code != OK)
		return code;
	code = read_file_block(&reading, name, !str_is_set(cursor), err);
	store_abort(reading.space.txn);
	*block = buf_str(&reading.block);
	*next = reading.is_ended ? STR_ABSENT : write_cursor(err->arena, &reading.at);
	return code;
}

/* A snapshot that comes in, by blocks. */
struct writing {
	struct str name, block;
	bool is_done;

	uint64_t number;      /* of the snapshot */
	uint64_t frames;      /* that came */
	uint32_t tables;
	struct table *table;  /* the latest one that a frame named, or NULL */
	uint32_t table_at;    /* its count */
};

static enum code malformed(struct err *err)
{
	return err_set(err, MSG_SNAPSHOT_BLOCK);
}

static struct str loading_key(const struct space *space, struct str name)
{
	struct buf buf = buf_in(space->arena);

	buf_add_str(&buf, STR(PREFIX));
	buf_add_str(&buf, catalog_key(space->arena, space->catalog, space->ns, STR("")));
	buf_add_str(&buf, name);
	return buf_str(&buf);
}

/* Rows of a snapshot while it comes in: "n", how far it came; "m" and the count of a table: its
 * name; "e": when it was taken, and what is the caller's. */
static struct str table_key(struct arena *arena, uint32_t table)
{
	return str_printf(arena, "m%u", (unsigned)table);
}

static enum code save_state(struct space *space, const struct writing *writing, struct err *err)
{
	struct buf buf = buf_in(space->arena);

	buf_add_be64(&buf, writing->frames);
	buf_add_be32(&buf, writing->tables);
	return store_put(space->txn, snapshot_keyspace(writing->number), STR("n"), buf_str(&buf),
			 err);
}

static enum code load_state(struct space *space, struct writing *writing, struct err *err)
{
	struct str state;
	enum code code =
		row_get_number(space->txn, counters_keyspace, loading_key(space, writing->name),
			       space->arena, &writing->number, err);

	if (code != OK || !writing->number)
		return code;
	code = store_get(space->txn, snapshot_keyspace(writing->number), STR("n"), space->arena,
			 &state, err);
	if (code != OK || !str_is_set(state))
		return code;
	struct row_reader row = row_read(state);
	writing->frames = row_u64(&row);
	writing->tables = row_u32(&row);
	return row_is_whole(&row)
		       ? OK
		       : row_malformed(err, snapshot_keyspace(writing->number), STR("n"));
}

/* The first frame: forgets what was begun under the name. */
static enum code take_format(struct space *space, struct writing *writing, struct str value,
			     struct err *err)
{
	struct buf number = buf_in(space->arena);
	enum code code = OK;

	struct row_reader row = row_read(value);
	unsigned format = row_u32(&row);
	struct str about = row.rest;
	(void)row_ms(&row); /* of which the rest begins */
	if (row.is_cut)
		return malformed(err);
	if (format > SNAPSHOT_FILE_FORMAT)
		return err_set(err, MSG_SNAPSHOT_NEWER, format, SNAPSHOT_FILE_FORMAT);
	if (writing->number)
		code = snapshot_drop(space, writing->number, err);
	if (code != OK)
		return code;
	writing->frames = writing->tables = 0;
	code = catalog_next_number(space->txn, space->arena, &writing->number, err);
	if (code != OK)
		return code;
	code = store_create(space->txn, snapshot_keyspace(writing->number), err);
	if (code != OK)
		return code;
	buf_add_be64(&number, writing->number);
	code = store_put(space->txn, counters_keyspace, loading_key(space, writing->name),
			 buf_str(&number), err);
	return code == OK ? store_put(space->txn, snapshot_keyspace(writing->number), STR("e"),
				      about, err)
			  : code;
}

/* The index whose rows the keyspace has; NULL: none's. */
static const struct index *index_of(const struct table *table, struct keyspace keyspace)
{
	return keyspace.part >= PART_INDEX ? table_index_numbered(table, keyspace.part - PART_INDEX)
					   : NULL;
}

static enum code create_parts(struct space *space, const struct table *table, struct err *err)
{
	struct keyspace keyspace;
	enum code code = OK;

	for (size_t i = 0; keyspace_at(table, i, &keyspace); i++) {
		const struct index *index = index_of(table, keyspace);

		if (has_part(table, keyspace))
			code = index ? index_row_create(space->txn, table, index, err)
				     : store_create(space->txn, keyspace, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code take_table_frame(struct space *space, struct writing *writing, struct str record,
				  struct err *err)
{
	const struct space_record own = {.record = record};
	struct table *table;
	enum code code = space_decode(space, &own, &table, err);

	if (code != OK)
		return malformed(err);
	table_unref(writing->table);
	writing->table = table;
	writing->table_at = writing->tables++;
	code = catalog_next_number(space->txn, space->arena, &table->identity.number, err);
	currency_follow(NULL, table);
	if (code != OK)
		return code;
	code = create_parts(space, table, err);
	if (code != OK)
		return code;
	code = store_put(space->txn, snapshot_keyspace(writing->number),
			 table_key(space->arena, writing->table_at), table->identity.name, err);
	return code != OK ? code
			  : store_put(space->txn, snapshot_keyspace(writing->number),
				      snapshot_table_key(space->arena, table->identity.name),
				      table_encode(space->arena, table), err);
}

/* Sees to it that writing->table is the one that the frame is about. */
static enum code find_frame_table(struct space *space, struct writing *writing, uint32_t at,
				  struct err *err)
{
	struct space_record own = {0};
	struct str name;

	if (writing->table && writing->table_at == at)
		return OK;
	enum code code = store_get(space->txn, snapshot_keyspace(writing->number),
				   table_key(space->arena, at), space->arena, &name, err);
	if (code != OK)
		return code;
	if (!str_is_set(name))
		return malformed(err);
	code = store_get(space->txn, snapshot_keyspace(writing->number),
			 snapshot_table_key(space->arena, name), space->arena, &own.record, err);
	if (code != OK)
		return code;
	table_unref(writing->table);
	writing->table = NULL;
	writing->table_at = at;
	return space_decode(space, &own, &writing->table, err);
}

static enum code take_row_frame(struct space *space, struct writing *writing, struct str key,
				struct str value, struct err *err)
{
	struct row_reader frame = row_read(key);
	unsigned kind = row_byte(&frame);
	uint32_t at = row_u32(&frame), part = row_u32(&frame);
	enum code code = frame.is_cut ? malformed(err) : find_frame_table(space, writing, at, err);

	if (code != OK)
		return code;
	if (kind == KIND_PROGRESS) {
		const struct index *index = table_index_numbered(writing->table, part);

		return index ? store_put(space->txn, counters_keyspace,
					 catalog_progress_key(space->arena, writing->table, index),
					 value, err)
			     : malformed(err);
	}
	struct keyspace keyspace = {writing->table->identity.number, part};
	if (!has_part(writing->table, keyspace))
		return malformed(err);
	struct index_row_reference room;
	const struct store_reference *reference =
		index_row_reference(writing->table, index_of(writing->table, keyspace), &room);
	const struct store_row row = {row_rest(&frame), value};

	return store_put_of(space->txn, keyspace, reference, &row, space->arena, err);
}

static enum code take_end(struct space *space, struct writing *writing, struct str value,
			  struct err *err)
{
	struct keyspace keyspace = snapshot_keyspace(writing->number);
	struct snapshot snapshot = {.name = writing->name};
	struct str about;
	uint64_t frames;
	enum code code =
		row_is_number(value, &frames) && frames == writing->frames ? OK : malformed(err);

	if (code != OK)
		return code;
	code = store_get(space->txn, keyspace, STR("e"), space->arena, &about, err);
	if (code != OK)
		return code;
	struct row_reader row = row_read(about);
	snapshot.created_ms = row_ms(&row);
	snapshot.extra = row_rest(&row);
	if (!row_is_whole(&row))
		return row_malformed(err, keyspace, STR("e"));
	for (uint32_t i = 0; i < writing->tables; i++) {
		code = store_del(space->txn, keyspace, table_key(space->arena, i), err);
		if (code != OK)
			return code;
	}
	code = store_del(space->txn, keyspace, STR("e"), err);
	if (code != OK)
		return code;
	code = store_del(space->txn, keyspace, STR("n"), err);
	if (code != OK)
		return code;
	code = store_del(space->txn, counters_keyspace, loading_key(space, writing->name), err);
	if (code != OK)
		return code;
	writing->is_done = true;
	return snapshot_publish(space, &snapshot, writing->number, err);
}

static enum code take_frame(struct space *space, struct writing *writing, struct str key,
			    struct str value, struct err *err)
{
	enum code code = malformed(err);

	int kind = row_at(key, 0);

	if (writing->is_done || (kind == KIND_FORMAT) != (writing->frames == 0) || !writing->number)
		return code;
	if (kind == KIND_FORMAT)
		code = OK;
	else if (kind == KIND_TABLE)
		code = take_table_frame(space, writing, value, err);
	else if (kind == KIND_ROW || kind == KIND_PROGRESS)
		code = take_row_frame(space, writing, key, value, err);
	else if (kind == KIND_END)
		code = take_end(space, writing, value, err);
	writing->frames++;
	return code;
}

/* Cuts the next frame off. */
static bool next_frame(struct row_reader *rest, struct str *key, struct str *value)
{
	size_t key_size = row_u32(rest), value_size = row_u32(rest);

	*key = row_take(rest, key_size);
	*value = row_take(rest, value_size);
	return !rest->is_cut;
}

static enum code take_frames(struct space *space, struct writing *writing, struct err *err)
{
	struct row_reader rest = row_read(writing->block);
	struct str key, value;
	enum code code = OK;

	for (bool is_first = true; rest.rest.n > 0; is_first = false) {
		if (!next_frame(&rest, &key, &value))
			return malformed(err);
		if (is_first && key.n == 1 && row_at(key, 0) == KIND_FORMAT)
			code = take_format(space, writing, value, err);
		if (code != OK)
			return code;
		code = take_frame(space, writing, key, value, err);
		if (code != OK)
			return code;
	}
	return !writing->is_done ? save_state(space, writing, err) : OK;
}

static enum code write_frames(struct space *space, struct writing *writing, struct err *err)
{
	enum code code = load_state(space, writing, err);

	if (code != OK)
		return code;
	return take_frames(space, writing, err);
}

static enum code apply_write(struct space *space, void *context, struct err *err)
{
	struct writing *writing = context;
	struct snapshot known;
	enum code code = snapshot_find(space, writing->name, &known, err);

	if (code == OK)
		return err_set(err, MSG_SNAPSHOT_THERE, STR_ARG(writing->name));
	if (code != ERR_RESOURCE_NOT_FOUND)
		return code;
	*writing = (struct writing){.name = writing->name, .block = writing->block};
	code = write_frames(space, writing, err);
	table_unref(writing->table);
	writing->table = NULL;
	return code;
}

enum code snapshot_file_write(struct catalog *catalog, struct ns ns, struct str name,
			      struct str block, bool *is_done, struct err *err)
{
	struct writing writing = {.name = name, .block = block};
	enum code code =
		space_change(catalog, ns, SPACE_BARE | SPACE_QUIET, apply_write, &writing, err);

	*is_done = code == OK && writing.is_done;
	return code;
}

bool snapshot_file_is_key(struct str key)
{
	return str_starts_with(key, STR(PREFIX));
}
