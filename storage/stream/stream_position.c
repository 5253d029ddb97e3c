#include "storage/stream/stream_position.h"

#include "core/buf.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"

#define PREFIX "position/"
#define PREFIX_END "position0" /* behind every key: '0' follows '/' */
#define SWEEP_ROWS 100 /* looked at in one read */

static const struct keyspace counters = {0, SYSTEM_COUNTERS};

static struct str key_of(struct arena *arena, uint64_t table, struct str reader)
{
	return str_printf(arena, PREFIX "%llu/" STR_FMT, (unsigned long long)table,
			  STR_ARG(reader));
}

static bool decode_position(struct str bytes, struct stream_position *position)
{
	struct row_reader row = row_read(bytes);

	*position = (struct stream_position){0};
	if (!str_is_set(bytes))
		return true;
	position->stream = row_u64(&row);
	position->shard = row_u64(&row);
	position->next = row_u64(&row);
	position->saved_ms = row_ms(&row);
	return row_is_whole(&row);
}

static struct str encode(struct arena *arena, const struct stream_position *position)
{
	struct buf buf = buf_in(arena);

	buf_add_be64(&buf, position->stream);
	buf_add_be64(&buf, position->shard);
	buf_add_be64(&buf, position->next);
	buf_add_be64(&buf, (uint64_t)position->saved_ms);
	return buf_str(&buf);
}

static enum code read_row(struct store_txn *txn, struct arena *arena, struct str key,
			  struct stream_position *position, struct err *err)
{
	struct str row;
	enum code code = store_get(txn, counters, key, arena, &row, err);

	if (code != OK)
		return code;
	return decode_position(row, position) ? OK : row_malformed(err, counters, key);
}

enum code stream_position_get(struct store *store, struct arena *arena, uint64_t table,
			      struct str reader, struct stream_position *position, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_READ, &txn, err);

	*position = (struct stream_position){0};
	if (code != OK)
		return code;
	code = read_row(txn, arena, key_of(arena, table, reader), position, err);
	store_abort(txn);
	return code;
}

static bool is_same(const struct stream_position *a, const struct stream_position *b)
{
	return a->stream == b->stream && a->shard == b->shard && a->next == b->next;
}

static enum code move_once(struct store *store, struct arena *arena, struct str key,
			   const struct stream_position *from, const struct stream_position *to,
			   bool *is_moved, struct err *err)
{
	struct stream_position known;
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = read_row(txn, arena, key, &known, err);
	*is_moved = code == OK && (is_same(&known, from) || is_same(&known, to));
	if (*is_moved)
		code = to->stream ? store_put(txn, counters, key, encode(arena, to), err)
				  : store_del(txn, counters, key, err);
	if (code == OK && *is_moved)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}

enum code stream_position_move(struct store *store, struct arena *arena, uint64_t table,
			       struct str reader, const struct stream_position *from,
			       const struct stream_position *to, bool *is_moved, struct err *err)
{
	struct str key = key_of(arena, table, reader);
	struct retry retry = {0};
	enum code code;

	do {
		code = move_once(store, arena, key, from, to, is_moved, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

/* The row may have been saved since. */
static enum code delete_old(struct store *store, struct arena *arena, struct str key,
			    int64_t before_ms, struct err *err)
{
	struct stream_position position;
	struct store_txn *txn;
	enum code code = store_begin(store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = read_row(txn, arena, key, &position, err);
	if (code != OK || position.saved_ms >= before_ms) {
		store_abort(txn);
		return code;
	}
	return store_end(txn, store_del(txn, counters, key, err), err);
}

enum code stream_position_sweep(struct store *store, struct arena *arena, int64_t before_ms,
				struct err *err)
{
	struct store_range range = {STR(PREFIX), STR(PREFIX_END), false};
	struct store_page page = {.is_more = true};
	enum code code = OK;

	while (page.is_more && code == OK) {
		struct store_txn *txn;

		code = store_begin(store, STORE_READ, &txn, err);
		if (code != OK)
			return code;
		code = store_page(txn, counters, &range, (struct store_bounds){.rows = SWEEP_ROWS},
				  arena, &page, err);
		store_abort(txn);
		for (size_t i = 0; i < page.n && code == OK; i++) {
			struct stream_position position;

			if (!decode_position(page.v[i].value, &position))
				code = row_malformed(err, counters, page.v[i].key);
			else if (position.saved_ms < before_ms)
				code = delete_old(store, arena, page.v[i].key, before_ms, err);
		}
		if (code == OK && page.is_more)
			store_range_after(&range, &page, arena);
	}
	return code == ERR_CONFLICT ? OK : code;
}

bool stream_position_is_sound(struct arena *arena, const struct store_row *row)
{
	struct stream_position position;

	(void)arena;
	return decode_position(row->value, &position);
}
