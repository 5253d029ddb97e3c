#include "storage/stream/stream_shard.h"

#include "storage/store/row.h"

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
	return key.n == KEY_SIZE && row_at(key, 0) == KIND_HEAD;
}

/* Of the lane in which the number is. */
static enum code del_head(struct store_txn *txn, struct arena *arena, const struct table *table,
			  uint64_t sequence, struct err *err)
{
	return store_foresees(txn)
		       ? store_del(txn, stream_keyspace(table),
				   stream_shard_head_key(arena, stream_lane_of(sequence)), err)
		       : OK;
}

uint64_t stream_shard_sequence(struct str record_key)
{
	uint64_t sequence;

	return row_is_number(row_behind(record_key, 1), &sequence) ? sequence : 0;
}

enum code stream_shard_used(struct store_txn *txn, struct arena *arena, const struct table *table,
			    unsigned lane, uint64_t *below, struct err *err)
{
	struct str key = key_of(arena, KIND_USED, lane);
	enum code code = row_get_number(txn, stream_keyspace(table), key, arena, below, err);

	if (code != OK)
		return code;
	if (*below && (!stream_lane_holds(*below) || stream_lane_of(*below) != lane))
		code = row_malformed(err, stream_keyspace(table), key);
	return code;
}

enum code stream_shard_put_used(struct store_txn *txn, struct arena *arena,
				const struct table *table, uint64_t below, struct err *err)
{
	struct buf value = buf_in(arena);

	buf_add_be64(&value, below);
	enum code code =
		store_put(txn, stream_keyspace(table),
			  key_of(arena, KIND_USED, stream_lane_of(below)), buf_str(&value), err);
	return code == OK ? del_head(txn, arena, table, below, err)
			  : code; /* it says where the stream ended before */
}

struct store_range stream_shard_range(struct arena *arena, uint64_t low, uint64_t high)
{
	return (struct store_range){
		.low = key_of(arena, KIND_RECORD, low),
		.high = high == STREAM_SHARD_ALL
				? key_of(arena, KIND_END, 0)
				: key_of(arena, KIND_RECORD,
					 high ? high : stream_lane_base(stream_lane_of(low) + 1)),
	};
}

bool stream_shard_is_record(struct str key)
{
	return key.n == KEY_SIZE && row_at(key, 0) == KIND_RECORD;
}

/* A stamp is a time that was made unique, so one more is still a number. */
bool stream_shard_decode(struct str key, struct str bytes, struct stream_shard *shard)
{
	struct row_reader row = row_read(bytes);

	*shard = (struct stream_shard){0};
	if (row_at(key, 0) != KIND_SHARD || !row_is_number(row_behind(key, 1), &shard->stamp) ||
	    shard->stamp == 0 || shard->stamp > ROW_MS_MAX)
		return false;
	shard->parent = row_u64(&row);
	shard->stream = row_u64(&row);
	shard->start = row_u64(&row);
	shard->end = row_u64(&row);
	shard->trimmed = row_u64(&row);
	shard->created_ms = row_ms(&row);
	shard->closed_ms = row_ms(&row);
	return row_is_whole(&row) && stream_lane_holds(shard->start) &&
	       stream_lane_holds(shard->end) && stream_lane_holds(shard->trimmed);
}

struct str stream_shard_encode(struct arena *arena, const struct stream_shard *shard)
{
	const uint64_t fields[ROW_FIELDS] = {
		shard->parent,
		shard->stream,
		shard->start,
		shard->end,
		shard->trimmed,
		(uint64_t)shard->created_ms,
		(uint64_t)shard->closed_ms,
	};
	struct buf row = buf_in(arena);

	for (size_t i = 0; i < ROW_FIELDS; i++)
		buf_add_be64(&row, fields[i]);
	return buf_str(&row);
}

enum code stream_shard_put(struct store_txn *txn, struct arena *arena, const struct table *table,
			   const struct stream_shard *shard, struct err *err)
{
	enum code code =
		store_put(txn, stream_keyspace(table), key_of(arena, KIND_SHARD, shard->stamp),
			  stream_shard_encode(arena, shard), err);

	if (code != OK)
		return code;
	code = del_head(txn, arena, table, shard->start, err);
	return code == OK && shard->end == 0 ? stream_shard_put_open(txn, table, shard, err) : code;
}

enum code stream_shard_del(struct store_txn *txn, struct arena *arena, const struct table *table,
			   const struct stream_shard *shard, struct err *err)
{
	enum code code = store_del(txn, stream_keyspace(table),
				   key_of(arena, KIND_SHARD, shard->stamp), err);

	return code != OK ? code : del_head(txn, arena, table, shard->start, err);
}

static enum code decode_row(const struct table *table, const struct store_row *row,
			    struct stream_shard *shard, struct err *err)
{
	return stream_shard_decode(row->key, row->value, shard)
		       ? OK
		       : row_malformed(err, stream_keyspace(table), row->key);
}

enum code stream_shard_get(struct store_txn *txn, struct arena *arena, const struct table *table,
			   uint64_t stamp, struct stream_shard *shard, struct err *err)
{
	struct str key = key_of(arena, KIND_SHARD, stamp), row;
	enum code code = store_get(txn, stream_keyspace(table), key, arena, &row, err);

	*shard = (struct stream_shard){0};
	if (code != OK || !str_is_set(row))
		return code;
	return decode_row(table, &(struct store_row){key, row}, shard, err);
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

enum code stream_shard_open(struct store_txn *txn, const struct table *table, unsigned lane,
			    struct stream_open *open, struct err *err)
{
	struct str key = open_key(err->arena, table, lane), bytes;
	enum code code = store_get(txn, versions, key, err->arena, &bytes, err);

	*open = (struct stream_open){0, 0};
	if (code != OK || !str_is_set(bytes))
		return code;
	struct row_reader row = row_read(bytes);
	open->stamp = row_u64(&row);
	open->trimmed = row_u64(&row);
	return row_is_whole(&row) ? OK : row_malformed(err, versions, key);
}

enum code stream_shard_put_open(struct store_txn *txn, const struct table *table,
				const struct stream_shard *shard, struct err *err)
{
	struct buf row = buf_in(err->arena);

	buf_add_be64(&row, shard->stamp);
	buf_add_be64(&row, shard->trimmed);
	return store_put(txn, versions, open_key(err->arena, table, stream_lane_of(shard->start)),
			 buf_str(&row), err);
}

enum code stream_shard_del_open(struct store_txn *txn, const struct table *table, unsigned lane,
				struct err *err)
{
	return store_del(txn, versions, open_key(err->arena, table, lane), err);
}

/* The rows of shards from a stamp on, in order or backwards. */
static enum code read_shard_rows(struct store_txn *txn, struct arena *arena,
				 const struct table *table, uint64_t from, bool is_reverse,
				 size_t limit, struct store_page *page, struct err *err)
{
	/* backwards: those below, where there is a bound */
	struct str end = key_of(arena, KIND_RECORD, 0);
	struct store_range range =
		is_reverse
			? (struct store_range){key_of(arena, KIND_SHARD, 0),
					       from ? key_of(arena, KIND_SHARD, from) : end, true}
			: (struct store_range){key_of(arena, KIND_SHARD, from), end, false};

	return store_page(txn, stream_keyspace(table), &range, (struct store_bounds){.rows = limit},
			  arena, page, err);
}

enum code stream_shard_last(struct store_txn *txn, const struct table *table,
			    struct stream_shard *shard, struct err *err)
{
	struct store_page page;
	enum code code = read_shard_rows(txn, err->arena, table, 0, true, 1, &page, err);

	*shard = (struct stream_shard){0};
	if (code != OK || page.n == 0)
		return code;
	return decode_row(table, &page.v[0], shard, err);
}

enum code stream_shard_last_in(struct store_txn *txn, const struct table *table, unsigned lane,
			       struct stream_shard *shard, struct err *err)
{
	struct store_page page = {.is_more = true};
	uint64_t below = 0;
	size_t limit = lane ? SEEN_AT_ONCE : 1;
	enum code code = OK;

	while (code == OK && page.is_more) {
		code = read_shard_rows(txn, err->arena, table, below, true, limit, &page, err);
		for (size_t i = 0; i < page.n && code == OK; i++) {
			code = decode_row(table, &page.v[i], shard, err);
			if (code != OK || stream_lane_of(shard->start) == lane)
				return code;
			below = shard->stamp;
		}
		limit = SEEN_AT_ONCE;
	}
	*shard = (struct stream_shard){0};
	return code;
}

enum code stream_shard_list(struct store_txn *txn, struct arena *arena, const struct table *table,
			    uint64_t from, size_t limit, struct stream_shard **shards, size_t *n,
			    struct err *err)
{
	struct store_page page;
	enum code code = read_shard_rows(txn, arena, table, from, false, limit, &page, err);

	*n = 0;
	*shards = NULL;
	if (code != OK)
		return code;
	*shards = ARENA_ARRAY(arena, struct stream_shard, page.n);
	for (; *n < page.n; ++*n) {
		code = decode_row(table, &page.v[*n], &(*shards)[*n], err);
		if (code != OK)
			return code;
	}
	return OK;
}

bool stream_shard_is_sound(const struct store_row *row)
{
	struct stream_shard shard;
	uint64_t below;

	if (row->key.n != KEY_SIZE)
		return false;
	switch (row_at(row->key, 0)) {
	case KIND_SHARD:
		return stream_shard_decode(row->key, row->value, &shard);
	case KIND_USED:
		return row_is_number(row->value, &below) && stream_lane_holds(below);
	default: /* stream_head.h; and rows of another form of it */
		return row_at(row->key, 0) > KIND_USED && row_at(row->key, 0) <= KIND_HEAD;
	}
}
