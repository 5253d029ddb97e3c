#include "storage/stream/stream_head.h"

#include "storage/store/row.h"

/* These, of 8 bytes each, the first two as store_append() has them; then the latest shard as its
 * own row has it. */
enum { NEXT, LATEST, STAMP, IS_EMPTY, OLDEST, FIELDS };

struct store_key stream_head_key(struct arena *arena, const struct table *table, unsigned lane)
{
	return (struct store_key){stream_keyspace(table), stream_shard_head_key(arena, lane)};
}

bool stream_head_is_row(struct keyspace keyspace, struct str key)
{
	return keyspace.table != 0 && keyspace.part == PART_STREAM && stream_shard_is_head(key);
}

static bool decode_head(struct arena *arena, struct str bytes, struct stream_tail *tail)
{
	struct row_reader row = row_read(bytes);

	tail->next = row_u64(&row);
	tail->latest_ms = row_ms(&row);
	struct str shard = stream_shard_key(arena, row_u64(&row));
	tail->is_empty = row_u64(&row) != 0;
	tail->oldest_ms = row_ms(&row);
	return !row.is_cut && stream_lane_holds(tail->next) &&
	       stream_shard_decode(shard, row_rest(&row), &tail->last);
}

enum code stream_head_get(struct store_txn *txn, struct arena *arena, const struct table *table,
			  unsigned lane, struct stream_tail *tail, bool *is_there, struct err *err)
{
	struct str key = stream_shard_head_key(arena, lane), row;
	enum code code = store_get(txn, stream_keyspace(table), key, arena, &row, err);

	*is_there = code == OK && str_is_set(row);
	if (!*is_there)
		return code;
	return decode_head(arena, row, tail) ? OK : row_malformed(err, stream_keyspace(table), key);
}

enum code stream_head_put(struct store_txn *txn, struct arena *arena, const struct table *table,
			  const struct stream_tail *tail, struct err *err)
{
	const uint64_t fields[FIELDS] = {
		[STAMP] = tail->last.stamp,           [NEXT] = tail->next,
		[IS_EMPTY] = tail->is_empty,          [OLDEST] = (uint64_t)tail->oldest_ms,
		[LATEST] = (uint64_t)tail->latest_ms,
	};
	struct buf row = buf_in(arena);

	for (size_t i = 0; i < FIELDS; i++)
		buf_add_be64(&row, fields[i]);
	buf_add_str(&row, stream_shard_encode(arena, &tail->last));
	return store_put(txn, stream_keyspace(table),
			 stream_shard_head_key(arena, stream_lane_of(tail->last.start)),
			 buf_str(&row), err);
}
