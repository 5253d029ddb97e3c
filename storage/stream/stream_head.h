/*
 * stream_head - the end of a lane of a table's stream as a row, for stores that are elsewhere
 * (store_foresees).
 *
 * What a process remembers of the end (stream_state.h) holds only until another one appends. Where
 * each look at the store takes a round trip, and many append at the same moment, the row is the
 * counter of store_append(): a transaction takes its number at the commit. Only where something
 * else is to be done at the end, such as a rotation, it reads the row with its item, which locks
 * it, and writes it. Each change of a shard's row deletes this one (stream_shard.h); the append in
 * the same transaction, or the next, makes it again from the shards and the records.
 */
#ifndef DYNALITH_STORAGE_STREAM_HEAD_H
#define DYNALITH_STORAGE_STREAM_HEAD_H

#include "storage/stream/stream_shard.h"

struct store_key stream_head_key(struct arena *arena, const struct table *table, unsigned lane);

/* Whether the row is such a one: a copy of the store makes its own. */
bool stream_head_is_row(struct keyspace keyspace, struct str key);

enum code stream_head_get(struct store_txn *txn, struct arena *arena, const struct table *table,
			  unsigned lane, struct stream_tail *tail, bool *is_there,
			  struct err *err) WARN_UNUSED;
enum code stream_head_put(struct store_txn *txn, struct arena *arena, const struct table *table,
			  const struct stream_tail *tail, struct err *err) WARN_UNUSED;

#endif
