#include "storage/stream/stream_head.h"

#include "storage/messages.h"

/* These, of 8 bytes each, the first two as store_append() has them; then the latest shard as its own row has it. */
enum { NEXT, LATEST, STAMP, IS_EMPTY, OLDEST, FIELDS };

struct store_key stream_head_key(struct arena *arena, const struct table *table, unsigned lane)
{
	return (struct store_key){stream_keyspace(table), stream_shard_head_key(arena, lane)};
}

bool stream_head_is_row(struct keyspace keyspace, struct str key)
{
	return keyspace.table != 0 && keyspace.part == PART_STREAM && stream_shard_is_head(key);
}

static bool decode(struct arena *arena, struct str row, struct stream_tail *tail)
{
	if (row.n < FIELDS * 8)
		return false;
	const char *p = row.p;

	tail->next = str_be(p + NEXT * 8, 8);
	tail->is_empty = str_be(p + IS_EMPTY * 8, 8) != 0;
	tail->oldest_ms = (int64_t)str_be(p + OLDEST * 8, 8);
	tail->latest_ms = (int64_t)str_be(p + LATEST * 8, 8);
	return stream_shard_decode(stream_shard_key(arena, str_be(p + STAMP * 8, 8)), (struct str){row.p + FIELDS * 8, row.n - FIELDS * 8}, &tail->last);
}

enum code stream_head_get(struct store_txn *txn, struct arena *arena, const struct table *table, unsigned lane, struct stream_tail *tail, bool *is_there,
			  struct err *err)
{
	struct str row;
	enum code code = store_get(txn, stream_keyspace(table), stream_shard_head_key(arena, lane), arena, &row, err);

	*is_there = code == OK && str_is_set(row);
	if (!*is_there)
		return code;
	return decode(arena, row, tail) ? OK : err_set(err, MSG_ROW_MALFORMED);
}

enum code stream_head_put(struct store_txn *txn, struct arena *arena, const struct table *table, const struct stream_tail *tail, struct err *err)
{
	const uint64_t fields[FIELDS] = {
		[STAMP] = tail->last.stamp, [NEXT] = tail->next, [IS_EMPTY] = tail->is_empty, [OLDEST] = (uint64_t)tail->oldest_ms,
		[LATEST] = (uint64_t)tail->latest_ms,
	};
	struct buf row = buf_in(arena);

	for (size_t i = 0; i < FIELDS; i++)
		buf_add_be64(&row, fields[i]);
	buf_add_str(&row, stream_shard_encode(arena, &tail->last));
	return store_put(txn, stream_keyspace(table), stream_shard_head_key(arena, stream_lane_of(tail->last.start)), buf_str(&row), err);
}
