#include "storage/stream/stream_shard.h"

#include "storage/messages.h"

#define KIND_SHARD 0x01
#define KIND_RECORD 0x02
#define KIND_END 0x03
#define KIND_USED 0x04 /* one row a lane */
#define KIND_HEAD 0x06 /* 0x05 was of another form */
#define KEY_SIZE 9
#define ROW_FIELDS 7 /* of 8 bytes */
#define SEEN_AT_ONCE (STREAM_LANES + 1) /* shards, in search of a lane's last */

static const struct keyspace versions = {0, SYSTEM_VERSIONS};

static struct str key_of(struct arena *arena, int kind, uint64_t number)
{
	struct buf buf = buf_in(arena);

	buf_reserve(&buf, KEY_SIZE);
	buf_add_byte(&buf, kind);
	buf_add_be64(&buf, number);
	return buf_str(&buf);
}

struct str stream_shard_key(struct arena *arena, uint64_t stamp)
{
	return key_of(arena, KIND_SHARD, stamp);
}

struct str stream_shard_record_key(struct arena *arena, uint64_t sequence)
{
	return key_of(arena, KIND_RECORD, sequence);
}

struct str stream_shard_record_prefix(void)
{
	return STR("\x02");
}

struct str stream_shard_head_key(struct arena *arena, unsigned lane)
{
	return key_of(arena, KIND_HEAD, lane);
}

bool stream_shard_is_head(struct str key)
{
	return key.n == KEY_SIZE && key.p[0] == KIND_HEAD;
}

/* Of the lane in which the number is. */
static enum code del_head(struct store_txn *txn, struct arena *arena, const struct table *table, uint64_t sequence, struct err *err)
{
	return store_foresees(txn) ? store_del(txn, stream_keyspace(table), stream_shard_head_key(arena, stream_lane_of(sequence)), err) : OK;
}

uint64_t stream_shard_sequence(struct str record_key)
{
	return record_key.n == KEY_SIZE ? str_be(record_key.p + 1, 8) : 0;
}

enum code stream_shard_used(struct store_txn *txn, struct arena *arena, const struct table *table, unsigned lane, uint64_t *below, struct err *err)
{
	struct str value;
	enum code code = store_get(txn, stream_keyspace(table), key_of(arena, KIND_USED, lane), arena, &value, err);

	*below = code == OK && str_is_set(value) ? str_be(value.p, value.n) : 0;
	return code;
}

enum code stream_shard_put_used(struct store_txn *txn, struct arena *arena, const struct table *table, uint64_t below, struct err *err)
{
	struct buf value = buf_in(arena);

	buf_add_be64(&value, below);
	enum code code = store_put(txn, stream_keyspace(table), key_of(arena, KIND_USED, stream_lane_of(below)), buf_str(&value), err);
	return code == OK ? del_head(txn, arena, table, below, err) : code; /* it says where the stream ended before */
}

struct store_range stream_shard_range(struct arena *arena, uint64_t low, uint64_t high)
{
	return (struct store_range){
		.low = key_of(arena, KIND_RECORD, low),
		.high = high == STREAM_SHARD_ALL ? key_of(arena, KIND_END, 0) :
			key_of(arena, KIND_RECORD, high ? high : stream_lane_base(stream_lane_of(low) + 1)),
	};
}

bool stream_shard_is_record(struct str key)
{
	return key.n == KEY_SIZE && key.p[0] == KIND_RECORD;
}

bool stream_shard_decode(struct str key, struct str row, struct stream_shard *shard)
{
	if (key.n != KEY_SIZE || key.p[0] != KIND_SHARD || row.n != ROW_FIELDS * 8)
		return false;
	*shard = (struct stream_shard){
		.stamp = str_be(key.p + 1, 8), .parent = str_be(row.p, 8), .stream = str_be(row.p + 8, 8), .start = str_be(row.p + 16, 8),
		.end = str_be(row.p + 24, 8), .trimmed = str_be(row.p + 32, 8), .created_ms = (int64_t)str_be(row.p + 40, 8),
		.closed_ms = (int64_t)str_be(row.p + 48, 8),
	};
	return true;
}

struct str stream_shard_encode(struct arena *arena, const struct stream_shard *shard)
{
	const uint64_t fields[ROW_FIELDS] = {
		shard->parent, shard->stream, shard->start, shard->end, shard->trimmed, (uint64_t)shard->created_ms, (uint64_t)shard->closed_ms,
	};
	struct buf row = buf_in(arena);

	for (size_t i = 0; i < ROW_FIELDS; i++)
		buf_add_be64(&row, fields[i]);
	return buf_str(&row);
}

enum code stream_shard_put(struct store_txn *txn, struct arena *arena, const struct table *table, const struct stream_shard *shard,
			   struct err *err)
{
	enum code code = store_put(txn, stream_keyspace(table), key_of(arena, KIND_SHARD, shard->stamp), stream_shard_encode(arena, shard), err);

	if (code == OK)
		code = del_head(txn, arena, table, shard->start, err);
	return code == OK && shard->end == 0 ? stream_shard_put_open(txn, table, shard, err) : code;
}

enum code stream_shard_del(struct store_txn *txn, struct arena *arena, const struct table *table, const struct stream_shard *shard,
			   struct err *err)
{
	enum code code = store_del(txn, stream_keyspace(table), key_of(arena, KIND_SHARD, shard->stamp), err);

	return code != OK ? code : del_head(txn, arena, table, shard->start, err);
}

enum code stream_shard_get(struct store_txn *txn, struct arena *arena, const struct table *table, uint64_t stamp,
			   struct stream_shard *shard, struct err *err)
{
	struct str key = key_of(arena, KIND_SHARD, stamp), row;
	enum code code = store_get(txn, stream_keyspace(table), key, arena, &row, err);

	*shard = (struct stream_shard){0};
	if (code != OK || !str_is_set(row))
		return code;
	return stream_shard_decode(key, row, shard) ? OK : err_set(err, MSG_ROW_MALFORMED);
}

/* Keys of tables have 8 bytes there (currency.h). */
static struct str open_key(struct arena *arena, const struct table *table, unsigned lane)
{
	struct buf buf = buf_in(arena);

	buf_reserve(&buf, KEY_SIZE + 1);
	buf_add_be64(&buf, table->identity.number);
	buf_add_byte(&buf, 's');
	if (lane)
		buf_add_byte(&buf, (int)lane);
	return buf_str(&buf);
}

enum code stream_shard_open(struct store_txn *txn, const struct table *table, unsigned lane, struct stream_open *open, struct err *err)
{
	struct str row;
	enum code code = store_get(txn, versions, open_key(err->arena, table, lane), err->arena, &row, err);

	*open = (struct stream_open){0, 0};
	if (code == OK && str_is_set(row) && row.n == 16)
		*open = (struct stream_open){str_be(row.p, 8), str_be(row.p + 8, 8)};
	return code;
}

enum code stream_shard_put_open(struct store_txn *txn, const struct table *table, const struct stream_shard *shard, struct err *err)
{
	struct buf row = buf_in(err->arena);

	buf_add_be64(&row, shard->stamp);
	buf_add_be64(&row, shard->trimmed);
	return store_put(txn, versions, open_key(err->arena, table, stream_lane_of(shard->start)), buf_str(&row), err);
}

enum code stream_shard_del_open(struct store_txn *txn, const struct table *table, unsigned lane, struct err *err)
{
	return store_del(txn, versions, open_key(err->arena, table, lane), err);
}

/* The rows of shards from a stamp on, in order or backwards. */
static enum code read_rows(struct store_txn *txn, struct arena *arena, const struct table *table, uint64_t from, bool is_reverse, size_t limit,
			   struct store_page *page, struct err *err)
{
	/* backwards: those below, where there is a bound */
	struct str end = key_of(arena, KIND_RECORD, 0);
	struct store_range range = is_reverse ? (struct store_range){key_of(arena, KIND_SHARD, 0), from ? key_of(arena, KIND_SHARD, from) : end, true} :
						(struct store_range){key_of(arena, KIND_SHARD, from), end, false};

	return store_page(txn, stream_keyspace(table), &range, (struct store_bounds){.rows = limit}, arena, page, err);
}

enum code stream_shard_last(struct store_txn *txn, const struct table *table, struct stream_shard *shard, struct err *err)
{
	struct store_page page;
	enum code code = read_rows(txn, err->arena, table, 0, true, 1, &page, err);

	*shard = (struct stream_shard){0};
	if (code != OK || page.n == 0)
		return code;
	return stream_shard_decode(page.v[0].key, page.v[0].value, shard) ? OK : err_set(err, MSG_ROW_MALFORMED);
}

enum code stream_shard_last_in(struct store_txn *txn, const struct table *table, unsigned lane, struct stream_shard *shard, struct err *err)
{
	struct store_page page = {.is_more = true};
	uint64_t below = 0;
	size_t limit = lane ? SEEN_AT_ONCE : 1;
	enum code code = OK;

	while (code == OK && page.is_more) {
		code = read_rows(txn, err->arena, table, below, true, limit, &page, err);
		for (size_t i = 0; i < page.n && code == OK; i++) {
			if (!stream_shard_decode(page.v[i].key, page.v[i].value, shard))
				return err_set(err, MSG_ROW_MALFORMED);
			if (stream_lane_of(shard->start) == lane)
				return OK;
			below = shard->stamp;
		}
		limit = SEEN_AT_ONCE;
	}
	*shard = (struct stream_shard){0};
	return code;
}

enum code stream_shard_list(struct store_txn *txn, struct arena *arena, const struct table *table, uint64_t from, size_t limit,
			    struct stream_shard **shards, size_t *n, struct err *err)
{
	struct store_page page;
	enum code code = read_rows(txn, arena, table, from, false, limit, &page, err);

	*n = 0;
	*shards = NULL;
	if (code != OK)
		return code;
	*shards = ARENA_ARRAY(arena, struct stream_shard, page.n);
	for (; *n < page.n; ++*n) {
		if (!stream_shard_decode(page.v[*n].key, page.v[*n].value, &(*shards)[*n]))
			return err_set(err, MSG_ROW_MALFORMED);
	}
	return OK;
}
