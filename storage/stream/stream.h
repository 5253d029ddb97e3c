/*
 * stream - the change records of a table: written by the one write path in the transaction of the
 * change itself.
 *
 * A table's streams share its PART_STREAM keyspace, which holds two kinds of rows:
 *
 *   01 stamp(8)      a shard: a range of sequence numbers that one stream used, see stream_shard.h
 *   02 sequence(8)   a record, in the order in which changes were committed
 *
 * Sequence numbers rise strictly, within a lane (stream_lane.h), over all streams that a table ever
 * had, so a record needs no word of its shard. Numbers may be missing. A table whose stream was
 * never enabled has no such keyspace.
 *
 * Records are readable for 24 hours and then trimmed. AWS: Developer Guide, "Change data capture
 * for DynamoDB Streams".
 *
 * The shelf storage/stream/ holds all that reads or writes a table's PART_STREAM keyspace.
 */
#ifndef DYNALITH_STORAGE_STREAM_H
#define DYNALITH_STORAGE_STREAM_H

#include "core/err.h"
#include "storage/store/row.h"
#include "storage/stream/stream_record.h"

#define STREAM_RETENTION_MS (24 * 60 * 60 * 1000LL)

/* When an open shard is closed and followed by a child; 0: never by itself. */
struct stream_rotation {
	uint64_t records; /* after so many */
	int64_t ms;       /* by the first record that is so much younger than the shard */
};

/* What the appends of one transaction share. */
struct stream_appends {
	const struct stream_rotation *rotation;
	int64_t now_ms;
	struct stream_ending *endings; /* of the streams appended to so far; NULL at the begin, also
					  when the transaction is run again */
};

/*
 * Appends the record of a change within the transaction that made it; nothing where nothing is
 * logged (table_logs) or the images are equal. Closes and follows the open shard as `rotation`
 * says, and trims some of what is older than the retention.
 *
 * Numbers are in the order of commits, across processes: the transaction reads that the number it
 * takes is free and that the shard is open. The record's time is `now_ms`, or that of the record
 * before it where that is later: clocks differ, and can be turned back.
 */
enum code stream_append(struct store_txn *txn, struct arena *arena, const struct table *table,
			const struct stream_change *change, struct stream_appends *appends,
			struct err *err) WARN_UNUSED;

/* Records from before this moment may go: the stream's retention, and what the table's log is to
 * keep. */
int64_t stream_keeps_from(const struct table *table, int64_t now_ms);

/* What a row key says of the partition that the item is in. */
static inline uint32_t stream_partition(struct str row_key)
{
	struct row_reader row = row_read(row_key);

	return row_u32(&row);
}

/*
 * Adds to `n` keys, none of them twice, those of the rows that an append for the item may read; up
 * to two. Returns how many there are then. Where the store can append at the commit
 * (store_appends()), and this process remembers nothing else to be done at the end, it is not read.
 */
size_t stream_foresee(struct store_txn *txn, struct arena *arena, const struct table *table,
		      struct str row_key, const struct stream_appends *appends,
		      struct store_key *keys, size_t n);

/*
 * The transaction has ended with this code. After a commit: remembers the ends of its streams for
 * the next one. After a conflict: the next one looks at the ends that were taken for plain.
 */
void stream_end(const struct stream_appends *appends, enum code code);

/*
 * Brings shards from what `current` (NULL: a new table) says of the table's streams to what `next`
 * (NULL: the table is deleted) says: creates the keyspace, opens the first shard of an enabled
 * stream, closes the last one of a disabled stream. While only the log has a use for records, a
 * hidden shard is open. The times come from the streams and the log themselves.
 */
enum code stream_change_table(struct store_txn *txn, struct arena *arena,
			      const struct table *current, const struct table *next,
			      struct err *err) WARN_UNUSED;

/* Closes the open shards and opens a child of each. ERR_RESOURCE_NOT_FOUND where the table's stream
 * is off. */
enum code stream_rotate(struct store *store, struct table *table, int64_t now_ms,
			struct err *err) WARN_UNUSED;

/*
 * Deletes records that are older than stream_keeps_from(), or of no shard any more, and shards that
 * were closed longer ago: up to `budget` of each, in time linear in what it deletes. *is_done says
 * that none is left. The caller ends the transaction.
 */
enum code stream_trim(struct store_txn *txn, struct arena *arena, const struct table *table,
		      size_t budget, int64_t now_ms, bool *is_done, struct err *err) WARN_UNUSED;

/* The sequence number that the next record of the log gets. The table has or had a stream, or a
 * log. */
enum code stream_next(struct store_txn *txn, const struct table *table, uint64_t *next,
		      struct err *err) WARN_UNUSED;

/* The same of lane 0 and those behind it. */
struct stream_nexts {
	size_t n;
	uint64_t *v; /* in the arena */
};

enum code stream_nexts(struct store_txn *txn, struct arena *arena, const struct table *table,
		       struct stream_nexts *nexts, struct err *err) WARN_UNUSED;

/* Sees to it that no number below these is given to a record. */
enum code stream_skip(struct store_txn *txn, struct arena *arena, const struct table *table,
		      const struct stream_nexts *nexts, struct err *err) WARN_UNUSED;

/* Whether a stream was disabled so long ago that nothing of it can be read. */
static inline bool stream_is_gone(const struct stream *stream, int64_t now_ms)
{
	return stream->disabled_ms > 0 && now_ms - stream->disabled_ms > STREAM_RETENTION_MS;
}

#endif
