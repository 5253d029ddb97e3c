/*
 * Rows of SYSTEM_HISTORY: what a row was, by table, part, the row's key and the moment of the
 * change; and for the upkeep the same by namespace and the moment from which nobody needs it.
 */
#include "storage/lag/history.h"

#include <string.h>

#include "core/be.h"
#include "core/buf.h"
#include "core/key.h"
#include "storage/store/row.h"

#define KIND_ROW 'h'
#define KIND_DUE 'd'
#define HEAD_SIZE 13      /* of a row's key: kind, table, part */
#define MOMENT_SIZE 8     /* at its end */
#define TRIMMED_AT_ONCE 64 /* rows removed in one transaction: writers wait that long */
#define PAGES_MAX 4       /* of history, beside a page of the present */

static const struct keyspace history = {0, SYSTEM_HISTORY};
static const struct store_bounds piece = {.rows = 256, .bytes = 1024 * 1024};

static struct buf row_head(struct arena *arena, uint64_t table, uint32_t part)
{
	struct buf buf = buf_in(arena);

	buf_add_byte(&buf, KIND_ROW);
	buf_add_be64(&buf, table);
	buf_add_be32(&buf, part);
	return buf;
}

static struct str row_key(struct arena *arena, struct keyspace keyspace, struct str key,
			  int64_t moment_ms)
{
	struct buf buf = row_head(arena, keyspace.table, keyspace.part);

	buf_add_str(&buf, key);
	buf_add_be64(&buf, (uint64_t)moment_ms);
	return buf_str(&buf);
}

static struct str due_key(struct arena *arena, struct str space, int64_t until_ms, struct str row)
{
	struct buf buf = buf_in(arena);

	buf_add_byte(&buf, KIND_DUE);
	buf_add_str(&buf, space);
	buf_add_be64(&buf, (uint64_t)until_ms);
	buf_add_str(&buf, row);
	return buf_str(&buf);
}

/* A row of the history, taken apart. */
struct note {
	struct str key;       /* of the row that was changed */
	int64_t moment_ms;
	uint64_t item;
	struct str value;     /* as it was; absent: there was none */
};

static bool decode_key(struct str bytes, struct note *note)
{
	struct row_reader key = row_read(bytes),
			  moment = row_read(row_take_last(&key, MOMENT_SIZE));

	*note = (struct note){.moment_ms = row_ms(&moment), .value = STR_ABSENT};
	bool is_row = row_at(row_take(&key, HEAD_SIZE), 0) == KIND_ROW;
	note->key = row_rest(&key);
	return is_row && row_is_whole(&key) && row_is_whole(&moment);
}

static bool decode_note(const struct store_row *row, struct note *note)
{
	struct row_reader value = row_read(row->value);

	if (!decode_key(row->key, note))
		return false;
	note->item = row_u64(&value);
	bool was_there = row_byte(&value) != 0;
	note->value = row_rest(&value);
	if (!was_there)
		note->value = STR_ABSENT;
	return row_is_whole(&value);
}

enum code history_note(const struct history_writer *writer, struct keyspace keyspace,
		       bool is_global, struct str key, struct str value, struct err *err)
{
	struct str row = row_key(writer->arena, keyspace, key, writer->now_ms), known;
	struct buf note = buf_in(writer->arena);

	if (lag_ms(&writer->lag, is_global) == 0)
		return OK;
	enum code code = store_get(writer->txn, history, row, writer->arena, &known, err);
	if (code != OK || str_is_set(known))
		return code;
	buf_add_be64(&note, writer->item);
	buf_add_byte(&note, str_is_set(value));
	buf_add_str(&note, str_is_set(value) ? value : STR(""));
	code = store_put(writer->txn, history, row, buf_str(&note), err);
	if (code != OK)
		return code;
	int64_t until_ms = writer->now_ms + (int64_t)lag_longest_ms(&writer->lag);
	return store_put(writer->txn, history, due_key(writer->arena, writer->space, until_ms, row),
			 STR("-"), err);
}

struct history_view history_view_of(const struct lag *lag, bool is_global, int64_t now_ms)
{
	return (struct history_view){.now_ms = now_ms,
				     .lag_ms = lag_ms(lag, is_global),
				     .jitter_ms = lag->jitter_ms,
				     .seed = lag->seed};
}

/* Whether the write that the row is of cannot be seen yet. */
static bool is_note_hidden(const struct history_view *view, const struct note *note)
{
	int64_t seen_ms = note->moment_ms + view->lag_ms;
	char own[2 * MOMENT_SIZE];

	if (view->jitter_ms > 0) {
		put_be64(own, note->item);
		put_be64(own + MOMENT_SIZE, (uint64_t)note->moment_ms);
		seen_ms += (int64_t)(str_hash((struct str){own, sizeof(own)}, view->seed) %
				     ((uint64_t)view->jitter_ms + 1));
	}
	return view->now_ms < seen_ms;
}

enum code history_get(struct store_txn *txn, const struct history_view *view,
		      struct keyspace keyspace, struct str key, struct arena *arena,
		      struct str *value, struct err *err)
{
	int64_t from_ms = view->now_ms - view->lag_ms - view->jitter_ms;
	struct buf all = row_head(arena, keyspace.table, keyspace.part);
	struct store_page page = {.is_more = true};

	buf_add_str(&all, key);
	struct store_range range = {row_key(arena, keyspace, key, from_ms > 0 ? from_ms : 0),
				    key_after_prefix(arena, buf_str(&all)), false};
	while (page.is_more) {
		enum code code = store_page(txn, history, &range, piece, arena, &page, err);
		if (code != OK)
			return code;
		for (size_t i = 0; i < page.n; i++) {
			struct note note;

			if (!decode_note(&page.v[i], &note))
				return row_malformed(err, history, page.v[i].key);
			if (str_eq(note.key, key) && is_note_hidden(view, &note)) {
				*value = note.value;
				return OK;
			}
		}
		if (page.is_more)
			store_range_after(&range, &page, arena);
	}
	return OK;
}

/* Rows that were other than they are, in the order of a range. */
struct past {
	struct arena *arena;
	const struct store_range *range;
	size_t n;
	struct store_row *rows; /* an absent value: there was none */
	struct str first, last; /* keys met */
	bool is_cut;            /* there is more from `last` on */
};

static bool is_within(const struct store_range *range, struct str key)
{
	return (!str_is_set(range->low) || str_cmp(key, range->low) >= 0) &&
	       (!str_is_set(range->high) || str_cmp(key, range->high) < 0);
}

/* Of several hidden writes of a row the first counts: before it the row was what a read sees. */
static void take_hidden_note(struct past *past, const struct history_view *view,
			     const struct note *note)
{
	struct str key = note->key;

	if (!is_within(past->range, key))
		return;
	past->first = str_is_set(past->first) ? past->first : key;
	past->last = key;
	if (!is_note_hidden(view, note))
		return;
	bool is_same = past->n > 0 && str_eq(past->rows[past->n - 1].key, key);
	if (!is_same) {
		past->rows = arena_room(past->arena, past->rows, past->n, sizeof(*past->rows));
		past->rows[past->n++] = (struct store_row){.key = key};
	}
	if (!is_same || past->range->is_reverse)
		past->rows[past->n - 1].value = note->value;
}

/* Beyond a bound of rows there may be a moment. */
static struct store_range history_range_of(struct arena *arena, struct keyspace keyspace,
					   const struct store_range *range)
{
	struct buf low = row_head(arena, keyspace.table, keyspace.part),
		   high = row_head(arena, keyspace.table, keyspace.part);

	if (str_is_set(range->low))
		buf_add_str(&low, range->low);
	if (!str_is_set(range->high))
		return (struct store_range){buf_str(&low), key_after_prefix(arena, buf_str(&high)),
					    range->is_reverse};
	buf_add_str(&high, range->high);
	for (int i = 0; i < MOMENT_SIZE; i++)
		buf_add_byte(&high, 0xff);
	return (struct store_range){buf_str(&low), buf_str(&high), range->is_reverse};
}

/* The history of a range, or of its beginning where there is much. */
static enum code collect_history(struct store_txn *txn, const struct history_view *view,
				 struct keyspace keyspace, struct past *past, struct err *err)
{
	struct store_range rest = history_range_of(past->arena, keyspace, past->range);
	struct store_page page = {.is_more = true};

	for (int pages = 0; page.is_more; pages++) {
		past->is_cut = pages >= PAGES_MAX && str_is_set(past->last) &&
			       !str_eq(past->first, past->last);
		if (past->is_cut)
			break;
		enum code code = store_page(txn, history, &rest, piece, past->arena, &page, err);
		if (code != OK)
			return code;
		for (size_t i = 0; i < page.n; i++) {
			struct note note;

			if (!decode_note(&page.v[i], &note))
				return row_malformed(err, history, page.v[i].key);
			take_hidden_note(past, view, &note);
		}
		if (page.is_more)
			store_range_after(&rest, &page, past->arena);
		code = err_if_over(past->arena, err);
		if (code != OK)
			return code;
	}
	/* the last row may have been changed more often than is known */
	if (past->is_cut && past->n > 0 && str_eq(past->rows[past->n - 1].key, past->last))
		past->n--;
	return OK;
}

static struct str behind(struct arena *arena, struct str key)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, key);
	buf_add_byte(&buf, 0);
	return buf_str(&buf);
}

static bool is_before(const struct store_range *range, struct str a, struct str b)
{
	return range->is_reverse ? str_cmp(a, b) > 0 : str_cmp(a, b) < 0;
}

/* The part of the range that the page is of. */
static struct store_range covered_by(struct arena *arena, const struct store_range *range,
				     const struct store_page *page)
{
	struct store_range covered = *range;

	if (!page->is_more || page->n == 0)
		return covered;
	if (range->is_reverse)
		covered.low = page->v[page->n - 1].key;
	else
		covered.high = behind(arena, page->v[page->n - 1].key);
	return covered;
}

/* Leaves what is from the past's cut on to the next page. */
static void cut(struct store_page *page, const struct past *past)
{
	if (!past->is_cut)
		return;
	while (page->n > 0 && !is_before(past->range, page->v[page->n - 1].key, past->last))
		page->n--;
	page->is_more = true;
}

static void merge_past(struct arena *arena, const struct store_page *present,
		       const struct past *past, struct store_page *page)
{
	size_t i = 0, k = 0;

	*page = (struct store_page){.v = ARENA_ARRAY(arena, struct store_row, present->n + past->n),
				    .is_more = present->is_more};
	while (i < present->n || k < past->n) {
		bool is_past = k < past->n &&
			       (i == present->n ||
				!is_before(past->range, present->v[i].key, past->rows[k].key));

		if (!is_past) {
			page->v[page->n++] = present->v[i++];
			continue;
		}
		i += i < present->n && str_eq(present->v[i].key, past->rows[k].key);
		if (str_is_set(past->rows[k].value))
			page->v[page->n++] = past->rows[k];
		k++;
	}
}

/* What is left of the range. */
static struct store_range rest_of(struct arena *arena, const struct store_range *range,
				  const struct store_range *covered, const struct past *past)
{
	struct store_range rest = *range;

	if (range->is_reverse)
		rest.high = past->is_cut ? behind(arena, past->last) : covered->low;
	else
		rest.low = past->is_cut ? past->last : covered->high;
	return rest;
}

enum code history_page(struct store_txn *txn, const struct history_view *view,
		       struct keyspace keyspace, const struct store_reference *reference,
		       const struct store_range *range, struct store_bounds bounds,
		       struct arena *arena, struct store_page *page, struct err *err)
{
	struct store_range rest = *range;

	for (;;) {
		struct store_page present;
		enum code code = store_page_of(txn, keyspace, reference, &rest, bounds, arena,
					       &present, err);

		if (code != OK)
			return code;
		struct store_range covered = covered_by(arena, &rest, &present);
		struct past past = {
			.arena = arena, .range = &covered, .first = STR_ABSENT, .last = STR_ABSENT};
		code = collect_history(txn, view, keyspace, &past, err);
		if (code != OK)
			return code;
		cut(&present, &past);
		merge_past(arena, &present, &past, page);
		if (page->n > 0 || !page->is_more)
			return OK;
		rest = rest_of(arena, &rest, &covered, &past);
	}
}

enum code history_forget(struct store_txn *txn, uint64_t table, struct err *err)
{
	struct buf low = buf_in(err->arena), high = buf_in(err->arena);
	bool is_begun;
	enum code code = lag_is_begun(txn, &is_begun, err);

	if (code != OK || !is_begun)
		return code;
	buf_add_byte(&low, KIND_ROW);
	buf_add_be64(&low, table);
	buf_add_byte(&high, KIND_ROW);
	buf_add_be64(&high, table + 1);
	const struct store_range range = {buf_str(&low), buf_str(&high), false};
	return store_del_range(txn, history, &range, err);
}

/* With what the keys of all rows of what is due begin that are of this one's namespace; absent
 * where it is malformed. */
static struct str space_of(struct str key, struct ns *ns)
{
	struct row_reader row = row_read(row_behind(key, 1));

	ns->account = row_until(&row, '/');
	ns->region = row_until(&row, '/');
	return row.is_cut ? STR_ABSENT : row_first(key, key.n - row.rest.n);
}

static enum code read_page_in(struct store_txn *txn, const struct store_range *range, size_t rows,
			      struct arena *arena, struct store_page *page, struct err *err)
{
	bool is_begun;
	enum code code = lag_is_begun(txn, &is_begun, err);

	if (code != OK || !is_begun)
		return code;
	return store_page(txn, history, range, (struct store_bounds){.rows = rows}, arena, page,
			  err);
}

static enum code read_page_of(struct store *store, const struct store_range *range, size_t rows,
			      struct arena *arena, struct store_page *page, struct err *err)
{
	struct store_txn *txn;

	page->n = 0;
	page->is_more = false;
	enum code code = store_begin(store, STORE_READ, &txn, err);
	if (code != OK)
		return code;
	code = read_page_in(txn, range, rows, arena, page, err);
	store_abort(txn);
	return code;
}

enum code history_find(struct store *store, struct arena *arena, struct str *after, struct ns *ns,
		       bool *is_found, struct err *err)
{
	static const char kind = KIND_DUE;
	const struct store_range range = {after->n > 0 ? *after : (struct str){&kind, 1}, STR("e"),
					  false};
	struct store_page page;
	enum code code = read_page_of(store, &range, 1, arena, &page, err);

	*is_found = false;
	if (code != OK || page.n == 0)
		return code;
	struct str all = space_of(page.v[0].key, ns);
	if (!str_is_set(all))
		return row_malformed(err, history, page.v[0].key);
	*is_found = true;
	*after = key_after_prefix(arena, all);
	return OK;
}

/* Those of moments after `after_ms`. */
static enum code remove_rows_in(struct store_txn *txn, const struct store_page *page,
				size_t space_n, int64_t after_ms, struct err *err)
{
	for (size_t i = 0; i < page->n; i++) {
		/* the row of what is due has the key of the row that it is about in its own */
		struct str row = row_behind(page->v[i].key, 1 + space_n + MOMENT_SIZE);
		struct note note;
		bool is_sound = decode_key(row, &note);

		if (is_sound && note.moment_ms <= after_ms)
			continue;
		/* what is malformed goes */
		enum code code = is_sound ? store_del(txn, history, row, err) : OK;
		if (code != OK)
			return code;
		code = store_del(txn, history, page->v[i].key, err);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code remove_history_rows(struct store *store, const struct store_page *page,
				     size_t space_n, int64_t after_ms, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = remove_rows_in(txn, page, space_n, after_ms, err);
	return store_end(txn, code, err);
}

/* The next piece of a range. */
static enum code trim_history_piece(struct store *store, struct arena *arena,
				    struct store_range *range, size_t space_n, int64_t after_ms,
				    bool *more, struct err *err)
{
	struct store_page page;
	enum code code = read_page_of(store, range, TRIMMED_AT_ONCE, arena, &page, err);

	*more = code == OK && page.is_more;
	if (code != OK || page.n == 0)
		return code;
	if (page.is_more)
		store_range_after(range, &page, arena);
	return remove_history_rows(store, &page, space_n, after_ms, err);
}

enum code history_trim(struct store *store, struct arena *arena, struct ns ns, int64_t now_ms,
		       bool is_turned, history_may *may, void *context, bool *more, struct err *err)
{
	struct str space =
		str_printf(arena, STR_FMT "/" STR_FMT "/", STR_ARG(ns.account), STR_ARG(ns.region));
	struct store_range due = {due_key(arena, space, 0, STR("")),
				  due_key(arena, space, now_ms + 1, STR("")), false};
	struct store_range later = {
		due.high, key_after_prefix(arena, row_first(due.low, 1 + space.n)), false};
	struct store_page first;
	bool is_more = true;
	enum code code = read_page_of(store, &due, 1, arena, &first, err);

	*more = false;
	if (code != OK || (first.n == 0 && !is_turned) || !may(context))
		return code;
	if (first.n > 0)
		code = trim_history_piece(store, arena, &due, space.n, INT64_MIN, more, err);
	if (code != OK)
		return code;
	while (is_turned && is_more) {
		code = trim_history_piece(store, arena, &later, space.n, now_ms, &is_more, err);
		if (code != OK)
			return code;
	}
	return OK;
}

bool history_read(const struct store_row *row, struct keyspace *keyspace, struct store_row *noted)
{
	struct row_reader key = row_read(row_behind(row->key, 1));
	struct note note;
	struct ns ns;
	bool is_sound;

	*keyspace = (struct keyspace){.table = row_u64(&key)};
	keyspace->part = row_u32(&key);
	if (row_at(row->key, 0) == KIND_DUE) {
		struct str all = space_of(row->key, &ns);

		is_sound = str_is_set(all) &&
			   decode_key(row_behind(row->key, all.n + MOMENT_SIZE), &note) &&
			   str_eq(row->value, STR("-"));
		note.value = STR_ABSENT;
	} else {
		is_sound = decode_note(row, &note);
	}
	*noted = (struct store_row){note.key, note.value};
	return is_sound;
}
