#include "storage/catalog/table_rows.h"

#include "core/buf.h"
#include "core/key.h"
#include "storage/catalog/retired.h"
#include "storage/schema/currency.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"
#include "storage/stream/stream.h"

#define COUNT STR("tables/")
#define MARK STR("mark/")
#define COMPLETE                                                                                   \
	STR("table rows") /* a row of SYSTEM_VERSIONS: the catalog's version of older ones, and    \
			     which record comes next; or no more */
#define NUMBER_BYTES 8
#define FLAG_DELETED 1
#define FLAG_STREAM 2
#define PIECE_ROWS 200

static const struct keyspace tables = {0, SYSTEM_TABLES};
static const struct keyspace counters = {0, SYSTEM_COUNTERS};
static const struct keyspace versions = {0, SYSTEM_VERSIONS};
static const struct str kinds[] = {
	[MARK_NAME] = STR_INIT("mark/n/"),   [MARK_STREAM] = STR_INIT("mark/s/"),
	[MARK_LOG] = STR_INIT("mark/l/"),    [MARK_TTL] = STR_INIT("mark/t/"),
	[MARK_GLOBAL] = STR_INIT("mark/g/"), [MARK_SENDING] = STR_INIT("mark/k/"),
	[MARK_WORK] = STR_INIT("mark/w/"),
};

/* The mark rows of one table. */
struct rows {
	struct arena *arena;
	const struct table *table;
	struct str space, key;
	bool is_retired;
	size_t n;
	struct store_row *v;
};

struct str table_rows_space(struct str key)
{
	size_t n = key.n;

	while (n > 0 && row_at(key, n - 1) != 0)
		n--;
	return row_first(key, n);
}

static void add_mark_row(struct rows *rows, struct str key, int64_t ms, int flags)
{
	const struct table_identity *identity = &rows->table->identity;
	struct buf value = buf_in(rows->arena);

	buf_add_be64(&value, identity->number);
	buf_add_be64(&value, (uint64_t)ms);
	buf_add_byte(&value, flags);
	buf_add_str(&value, identity->account);
	buf_add_byte(&value, 0);
	buf_add_str(&value, identity->region);
	rows->v = arena_room(rows->arena, rows->v, rows->n, sizeof(*rows->v));
	rows->v[rows->n++] = (struct store_row){key, buf_str(&value)};
}

static struct str joined(struct arena *arena, struct str a, struct str b)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, a);
	buf_add_str(&key, b);
	return buf_str(&key);
}

struct str table_rows_named(struct arena *arena, struct str name)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, name);
	buf_add_byte(&key, 0);
	return buf_str(&key);
}

struct str table_rows_streams(struct arena *arena, struct str space, struct str name)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, space);
	buf_add_str(&key, name);
	buf_add_byte(&key, '/');
	return buf_str(&key);
}

static struct str stream_row(struct arena *arena, struct str space, struct str name,
			     struct str label, uint64_t number)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, kinds[MARK_STREAM]);
	buf_add_str(&key, table_rows_streams(arena, space, name));
	buf_add_str(&key, label);
	buf_add_byte(&key, 0);
	buf_add_be64(&key, number);
	return buf_str(&key);
}

static struct str log_row(struct arena *arena, struct str space, struct str name, uint64_t number)
{
	struct buf key = buf_in(arena);

	buf_add_str(&key, kinds[MARK_LOG]);
	buf_add_str(&key, space);
	buf_add_str(&key, name);
	buf_add_byte(&key, 0);
	buf_add_be64(&key, number);
	return buf_str(&key);
}

static int64_t last_ms(const struct stream *stream)
{
	return stream->disabled_ms > 0 ? stream->disabled_ms + STREAM_RETENTION_MS : INT64_MAX;
}

struct str table_rows_last_stream(struct arena *arena, struct str space, struct str name,
				  struct str label)
{
	return stream_row(arena, space, name, label, UINT64_MAX);
}

static void add_stream(struct rows *rows, const struct stream *stream)
{
	struct str key = stream_row(rows->arena, rows->space, rows->table->identity.name,
				    stream->label, rows->table->identity.number);

	add_mark_row(rows, key, last_ms(stream), rows->is_retired ? FLAG_DELETED : 0);
}

/* The rows of a deleted table's streams go with the last of them. */
static void add_log(struct rows *rows)
{
	const struct table *table = rows->table;
	bool is_over = rows->is_retired && table->streams.n > 0;

	add_mark_row(
		rows,
		log_row(rows->arena, rows->space, table->identity.name, table->identity.number),
		is_over ? last_ms(&table->streams.v[table->streams.n - 1]) : INT64_MAX,
		(rows->is_retired ? FLAG_DELETED : 0) | (table->log.reasons ? 0 : FLAG_STREAM));
}

/* While a deleted table is still listed, its stream is the retired one's. */
static struct rows rows_of(struct arena *arena, const struct table *table, struct str space,
			   struct str key)
{
	struct rows rows = {.arena = arena,
			    .table = table,
			    .space = space,
			    .key = key,
			    .is_retired = retired_is_key(key)};
	bool is_deleted = table->state.status == STATUS_DELETING && !rows.is_retired;
	struct table_brief brief = table_brief_of(table);

	for (size_t i = 0; i < table->streams.n && !is_deleted; i++)
		add_stream(&rows, &table->streams.v[i]);
	if (table_has_log(table) && !is_deleted)
		add_log(&rows);
	if (rows.is_retired)
		return rows;
	if (!is_deleted)
		add_mark_row(
			&rows,
			joined(arena, kinds[MARK_NAME],
			       joined(arena, table_rows_named(arena, table->identity.name), space)),
			0, table->streams.n > 0 ? FLAG_STREAM : 0);
	if (brief.has_ttl && !is_deleted)
		add_mark_row(&rows, joined(arena, kinds[MARK_TTL], key), 0, 0);
	if (brief.is_global && !is_deleted)
		add_mark_row(&rows, joined(arena, kinds[MARK_GLOBAL], key), 0, 0);
	if ((table->log.reasons & LOG_SENDING) && !is_deleted)
		add_mark_row(&rows, joined(arena, kinds[MARK_SENDING], key), 0, 0);
	if (brief.work_ms != INT64_MAX)
		add_mark_row(&rows, joined(arena, kinds[MARK_WORK], key), brief.work_ms,
			     is_deleted ? FLAG_DELETED : 0);
	return rows;
}

static bool has_key(const struct rows *rows, struct str key)
{
	for (size_t i = 0; i < rows->n; i++) {
		if (str_eq(rows->v[i].key, key))
			return true;
	}
	return false;
}

static enum code put_marks(struct store_txn *txn, const struct rows *before,
			   const struct rows *after, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < before->n; i++) {
		if (!has_key(after, before->v[i].key))
			code = store_del(txn, counters, before->v[i].key, err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < after->n; i++) {
		code = store_put(txn, counters, after->v[i].key, after->v[i].value, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* How far it came. */
struct progress {
	uint64_t version; /* an older Dynalith raises the catalog's version with each change: it
			     wrote to the store if that is another one */
	struct str next;  /* absent: all records have their rows */
	bool is_begun;    /* the row is of that version */
	bool is_absent;   /* there is no row */
};

static enum code read_progress(struct store_txn *txn, struct progress *progress, struct err *err)
{
	uint64_t version;
	struct str bytes;
	enum code code = store_get(txn, versions, COMPLETE, err->arena, &bytes, err);

	if (code != OK)
		return code;
	code = currency_catalog(txn, &version, err);
	if (code != OK)
		return code;
	*progress = (struct progress){version, STR_ABSENT, false, !str_is_set(bytes)};
	if (progress->is_absent)
		return OK;
	struct row_reader row = row_read(bytes);
	progress->is_begun = row_u64(&row) == version;
	if (row.is_cut)
		return row_malformed(err, versions, COMPLETE);
	if (progress->is_begun && row.rest.n > 0)
		progress->next = row_rest(&row);
	return OK;
}

static enum code is_empty(struct store_txn *txn, struct keyspace keyspace, bool *out,
			  struct err *err)
{
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page = {.n = 0};
	enum code code = store_page(txn, keyspace, &all, (struct store_bounds){1, 0}, err->arena,
				    &page, err);

	return RESULT(code, out, page.n == 0);
}

static enum code write_progress(struct store_txn *txn, const struct progress *progress,
				struct err *err)
{
	struct buf row = buf_in(err->arena);

	buf_add_be64(&row, progress->version);
	if (str_is_set(progress->next))
		buf_add_str(&row, progress->next);
	return store_put(txn, versions, COMPLETE, buf_str(&row), err);
}

/* Called with a record that is not there yet: the first one of a new store brings the row. */
static enum code begin_new(struct store_txn *txn, struct err *err)
{
	struct progress progress = {0};
	bool is_first = false;
	enum code code = read_progress(txn, &progress, err);

	if (code != OK)
		return code;
	if (progress.is_absent)
		code = is_empty(txn, tables, &is_first, err);
	return code == OK && is_first ? write_progress(txn, &progress, err) : code;
}

enum code table_rows_put(struct store_txn *txn, const struct settings_records *settings,
			 struct str space, struct str key, const struct table *next,
			 struct err *err)
{
	struct rows before = {.n = 0}, after = {.n = 0};
	struct table *known = NULL;
	struct str record;
	enum code code = store_get(txn, tables, key, err->arena, &record, err);

	if (code != OK)
		return code;
	if (str_is_set(record))
		code = table_decode(record, settings, &known, err);
	if (code != OK)
		return code;
	if (known)
		before = rows_of(err->arena, known, space, key);
	if (next)
		after = rows_of(err->arena, next, space, key);
	code = put_marks(txn, &before, &after, err);
	bool is_new = next && !known, is_gone = known && !next;
	table_unref(known);
	if (code != OK)
		return code;
	if ((is_new || is_gone) && !retired_is_key(key)) {
		code = store_add(txn, counters, joined(err->arena, COUNT, space), is_new ? 1 : -1,
				 err);
		if (code != OK)
			return code;
	}
	if (is_new) {
		code = begin_new(txn, err);
		if (code != OK)
			return code;
	}
	return next ? store_put(txn, tables, key, table_encode(err->arena, next), err)
		    : store_del(txn, tables, key, err);
}

enum code table_rows_count(struct store_txn *txn, struct str space, uint64_t *n, struct err *err)
{
	enum code code =
		row_get_number(txn, counters, joined(err->arena, COUNT, space), err->arena, n, err);

	*n = (int64_t)*n > 0 ? *n : 0;
	return code;
}

bool table_rows_is_key(struct str key)
{
	return str_starts_with(key, MARK) || str_starts_with(key, COUNT);
}

/* Takes the name, and the namespace's part, out of what a key has behind the kind. */
static bool take_mark_names(enum mark_kind kind, struct str rest, struct arena *arena,
			    struct mark *mark)
{
	struct str space;

	struct row_reader key = row_read(rest);
	if (kind == MARK_NAME) {
		mark->name = row_until(&key, '\0');
		mark->record = joined(arena, row_rest(&key), mark->name);
		return row_is_whole(&key);
	}
	bool is_numbered = kind == MARK_STREAM || kind == MARK_LOG;
	if (is_numbered)
		(void)row_take_last(&key, NUMBER_BYTES + 1);
	space = table_rows_space(key.rest);
	mark->record =
		is_numbered && mark->is_deleted ? retired_key(arena, mark->number) : key.rest;
	mark->name = row_behind(key.rest, space.n);
	if (key.is_cut || kind != MARK_STREAM)
		return !key.is_cut;
	struct row_reader name = row_read(mark->name);
	mark->name = row_until(&name, '/');
	mark->label = row_rest(&name);
	if (!mark->is_deleted)
		mark->record = row_first(key.rest, space.n + mark->name.n);
	return row_is_whole(&name);
}

static bool decode_mark(enum mark_kind kind, const struct store_row *row, struct arena *arena,
			struct mark *mark)
{
	struct row_reader value = row_read(row->value);
	uint64_t number = row_table(&value);
	int64_t ms = (int64_t)row_u64(&value); /* INT64_MAX: never */
	unsigned flags = row_byte(&value);

	*mark = (struct mark){
		.row = row->key,
		.number = number,
		.ms = ms,
		.label = STR_ABSENT,
		.is_deleted = flags & FLAG_DELETED,
		.has_stream = flags & FLAG_STREAM,
	};
	mark->ns.account = row_until(&value, '\0');
	mark->ns.region = row_rest(&value);
	return row_is_whole(&value) &&
	       take_mark_names(kind, row_behind(row->key, kinds[kind].n), arena, mark);
}

enum code table_rows_marks(struct store_txn *txn, struct arena *arena, struct marks *marks,
			   struct err *err)
{
	struct str low = str_is_set(marks->within)
				 ? joined(arena, kinds[marks->kind], marks->within)
				 : kinds[marks->kind];
	struct store_range range = {low, key_after_prefix(arena, low), false};
	struct store_page page = {.n = 0};

	if (str_is_set(marks->after) && str_cmp(marks->after, low) >= 0) {
		struct str copy = str_copy(arena, marks->after);

		copy.n++; /* the next possible key: a zero byte follows a copy */
		range.low = copy;
	}
	enum code code = store_page(txn, counters, &range, (struct store_bounds){marks->limit, 0},
				    arena, &page, err);
	marks->v = ARENA_ARRAY(arena, struct mark, page.n);
	marks->n = 0;
	for (size_t i = 0; i < page.n && code == OK; i++) {
		if (!decode_mark(marks->kind, &page.v[i], arena, &marks->v[marks->n++]))
			code = row_malformed(err, counters, page.v[i].key);
	}
	marks->is_more = code == OK && page.is_more;
	if (code == OK && page.n > 0)
		marks->after = page.v[page.n - 1].key;
	return code;
}

/* A table of whose record nothing else in the store knows: 0.1.0 made it. */
static enum code complete_currency(struct store_txn *txn, const struct table *table,
				   struct err *err)
{
	bool is_exact;
	enum code code = currency_is_exact(txn, table, &is_exact, err);

	return code != OK || is_exact
		       ? code
		       : currency_put(txn, table, 0, err); /* its numbers may be wrong */
}

static enum code complete_table(struct store_txn *txn, bool is_shared, struct str key,
				const struct table *table, struct err *err)
{
	bool is_retired = retired_is_key(key);
	struct str own =
		str_printf(err->arena, STR_FMT "%c" STR_FMT "%c", STR_ARG(table->identity.account),
			   0, STR_ARG(table->identity.region), 0);
	struct str space = !is_retired ? table_rows_space(key)
			   : is_shared ? (struct str){"", 1}
				       : own;
	struct rows after = rows_of(err->arena, table, space, key), before = {.n = 0};
	enum code code = put_marks(txn, &before, &after, err);

	if (code != OK || is_retired)
		return code;
	code = store_add(txn, counters, joined(err->arena, COUNT, space), 1, err);
	if (code != OK)
		return code;
	return complete_currency(txn, table, err);
}

static enum code complete_record(struct store_txn *txn, const struct settings_records *settings,
				 bool is_shared, const struct store_row *row, struct err *err)
{
	struct table *table;
	enum code code = table_decode(row->value, settings, &table, err);

	if (code != OK)
		return code;
	code = complete_table(txn, is_shared, row->key, table, err);
	table_unref(table);
	return code;
}

/* A new store lacks the row until its first record (begin_new), but has no records whose rows could
 * be missing. */
enum code table_rows_are_complete(struct store_txn *txn, bool *are_complete, struct err *err)
{
	struct progress progress = {0};
	bool is_new = false;
	enum code code = read_progress(txn, &progress, err);

	*are_complete = false;
	if (code != OK)
		return code;
	if (progress.is_absent)
		code = is_empty(txn, tables, &is_new, err);
	if (code != OK)
		return code;
	if (is_new)
		code = is_empty(txn, counters, &is_new, err);
	if (code != OK)
		return code;
	*are_complete = is_new || (progress.is_begun && !str_is_set(progress.next));
	return OK;
}

static enum code begin(struct store_txn *txn, struct err *err)
{
	struct store_range marks = {MARK, key_after_prefix(err->arena, MARK), false},
			   counts = {COUNT, key_after_prefix(err->arena, COUNT), false};
	enum code code = store_del_range(txn, counters, &marks, err);

	return code == OK ? store_del_range(txn, counters, &counts, err) : code;
}

static enum code complete_piece(struct store_txn *txn, const struct settings_records *settings,
				bool is_shared, bool *is_done, struct err *err)
{
	struct store_range range = {STR_ABSENT, STR_ABSENT, false};
	struct store_page page = {.n = 0};
	struct progress progress;
	enum code code = read_progress(txn, &progress, err);

	*is_done = code == OK && progress.is_begun && !str_is_set(progress.next);
	if (code != OK || *is_done)
		return code;
	if (!progress.is_begun)
		code = begin(txn, err);
	if (code != OK)
		return code;
	range.low = progress.next;
	code = store_page(txn, tables, &range, (struct store_bounds){PIECE_ROWS, 0}, err->arena,
			  &page, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < page.n; i++) {
		code = complete_record(txn, settings, is_shared, &page.v[i], err);
		if (code != OK)
			return code;
	}
	progress.next = STR_ABSENT;
	if (page.is_more) {
		store_range_after(&range, &page, err->arena);
		progress.next = range.low;
	}
	return write_progress(txn, &progress, err);
}

static enum code run_piece(struct store *store, enum store_mode mode,
			   const struct settings_records *settings, bool is_shared, bool *is_done,
			   struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, mode, &txn, err);

	if (code != OK)
		return code;
	if (mode == STORE_READ)
		code = table_rows_are_complete(txn, is_done, err);
	else
		code = complete_piece(txn, settings, is_shared, is_done, err);
	if (mode == STORE_WRITE && code == OK && !*is_done)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

enum code table_rows_complete(struct store *store, const struct settings_records *settings,
			      bool is_shared, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct err own = err_in(arena);
	struct retry retry = {0};
	bool is_done = false;
	enum code code = run_piece(store, STORE_READ, settings, is_shared, &is_done, &own);

	while (code == OK && !is_done) {
		do {
			arena_reset(arena);
			own = err_in(arena);
			code = run_piece(store, STORE_WRITE, settings, is_shared, &is_done, &own);
		} while (retry_again(&retry, code));
		code = retry_code(code, &own);
		retry = (struct retry){0};
	}
	if (code != OK)
		err_copy(err, code, own.message);
	arena_free(arena);
	return code;
}

static enum code put_if_inexact(struct store_txn *txn, const struct settings_records *settings,
				struct str space, struct str key, struct table *table,
				struct err *err)
{
	bool is_exact;
	enum code code = currency_is_exact(txn, table, &is_exact, err);

	if (code != OK || is_exact)
		return code;
	code = currency_put(txn, table, 0, err); /* its numbers may be wrong */
	return code == OK ? table_rows_put(txn, settings, space, key, table, err) : code;
}

static enum code mend_rows(struct store_txn *txn, const struct settings_records *settings,
			   struct str space, struct str key, struct err *err)
{
	struct table *table;
	struct str record;
	enum code code = store_get(txn, tables, key, err->arena, &record, err);

	if (code != OK || !str_is_set(record))
		return code;
	code = table_decode(record, settings, &table, err);
	if (code != OK)
		return code;
	code = put_if_inexact(txn, settings, space, key, table, err);
	table_unref(table);
	return code;
}

enum code table_rows_mend(struct store *store, const struct settings_records *settings,
			  struct str space, struct str key, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = mend_rows(txn, settings, space, key, err);
	return store_end(txn, code, err);
}

enum code table_rows_missing(struct store_txn *txn, const struct table *table, struct str space,
			     struct str key, table_rows_visit *visit, void *context,
			     struct err *err)
{
	struct rows rows = rows_of(err->arena, table, space, key);

	for (size_t i = 0; i < rows.n; i++) {
		struct str value;
		enum code code = store_get(txn, counters, rows.v[i].key, err->arena, &value, err);

		if (code != OK)
			return code;
		if (!str_is_set(value) || !str_eq(value, rows.v[i].value))
			visit(context, rows.v[i].key);
	}
	return OK;
}

bool table_rows_is_sound(struct arena *arena, const struct store_row *row)
{
	struct mark mark;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (str_is_set(kinds[i]) && str_starts_with(row->key, kinds[i]))
			return decode_mark((enum mark_kind)i, row, arena, &mark);
	}
	return false;
}
