/*
 * stream_shard - the shards of a table's streams: rows of its PART_STREAM keyspace.
 *
 * A stream has one open shard in each of its lanes (stream_lane.h) while it is enabled. A closed
 * shard has a child, unless its stream was disabled with it. A shard is named by its stamp: the
 * time of its creation in milliseconds, made unique within the table; those of a later stream are
 * larger, and those of children larger than their parents'.
 */
#ifndef DYNALITH_STORAGE_STREAM_SHARD_H
#define DYNALITH_STORAGE_STREAM_SHARD_H

#include "core/buf.h"
#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"
#include "storage/schema/stream_state.h"
#include "storage/stream/stream_lane.h"

static inline struct keyspace stream_keyspace(const struct table *table)
{
	return (struct keyspace){table->identity.number, PART_STREAM};
}

/* The parent of a shard whose records are in no stream: they were written for the log's own
 * reasons. */
#define STREAM_SHARD_HIDDEN UINT64_MAX

/* The row of a shard by its stamp; stamp 0 where there is none. */
enum code stream_shard_get(struct store_txn *txn, struct arena *arena, const struct table *table,
			   uint64_t stamp, struct stream_shard *shard, struct err *err) WARN_UNUSED;

/* The latest shard of the table; stamp 0 where there is none. And the latest of a lane. */
enum code stream_shard_last(struct store_txn *txn, const struct table *table,
			    struct stream_shard *shard, struct err *err) WARN_UNUSED;
enum code stream_shard_last_in(struct store_txn *txn, const struct table *table, unsigned lane,
			       struct stream_shard *shard, struct err *err) WARN_UNUSED;

/* The shards of the table from stamp `from` on, oldest first, in the arena; up to `limit` of them
 * (0: all). */
enum code stream_shard_list(struct store_txn *txn, struct arena *arena, const struct table *table,
			    uint64_t from, size_t limit, struct stream_shard **shards, size_t *n,
			    struct err *err) WARN_UNUSED;

/* With stream_shard_put_open where the shard is open. */
/* These two also delete the row of stream_head.h, which is not true any more. */
enum code stream_shard_put(struct store_txn *txn, struct arena *arena, const struct table *table,
			   const struct stream_shard *shard, struct err *err) WARN_UNUSED;
enum code stream_shard_del(struct store_txn *txn, struct arena *arena, const struct table *table,
			   const struct stream_shard *shard, struct err *err) WARN_UNUSED;

/*
 * The open shard of a lane as a small row of SYSTEM_VERSIONS, which every append reads: so that one
 * sees, at next to no cost, what another process did to shards. Written with the shard while that
 * is open, deleted when the stream is closed. Stamp 0 where there is none, as in files of 0.1.0.
 */
struct stream_open {
	uint64_t stamp;
	uint64_t trimmed;
};

enum code stream_shard_open(struct store_txn *txn, const struct table *table, unsigned lane,
			    struct stream_open *open, struct err *err) WARN_UNUSED;
enum code stream_shard_put_open(struct store_txn *txn, const struct table *table,
				const struct stream_shard *shard, struct err *err) WARN_UNUSED;
enum code stream_shard_del_open(struct store_txn *txn, const struct table *table, unsigned lane,
				struct err *err) WARN_UNUSED;

/* The key of a shard. */
struct str stream_shard_key(struct arena *arena, uint64_t stamp);

/* The row of a shard. */
struct str stream_shard_encode(struct arena *arena, const struct stream_shard *shard);

/* The key of the lane's row of stream_head.h: these lie behind all others. */
struct str stream_shard_head_key(struct arena *arena, unsigned lane);
bool stream_shard_is_head(struct str key);

/* The key of a record: this and the sequence number, in 8 bytes. And the number in one. */
struct str stream_shard_record_prefix(void);
struct str stream_shard_record_key(struct arena *arena, uint64_t sequence);
uint64_t stream_shard_sequence(struct str record_key);

bool stream_shard_is_record(struct str key);

/* Whether a row of the keyspace that is no record can be read. */
bool stream_shard_is_sound(const struct store_row *row);

/* A shard from its row; false for malformed bytes and for rows of records. */
bool stream_shard_decode(struct str key, struct str row, struct stream_shard *shard) WARN_UNUSED;

/*
 * The sequence numbers of a lane below were used, by records of which a rollback, a reset, or the
 * trimming of the lane's last shard left nothing: who reads on from one of them misses none. 0
 * where that never happened.
 */
enum code stream_shard_used(struct store_txn *txn, struct arena *arena, const struct table *table,
			    unsigned lane, uint64_t *below, struct err *err) WARN_UNUSED;
enum code stream_shard_put_used(struct store_txn *txn, struct arena *arena,
				const struct table *table, uint64_t below,
				struct err *err) WARN_UNUSED;

/* The range of the keys of records from sequence number `low` to below `high`; 0: to the last of
 * the lane of `low`, STREAM_SHARD_ALL: of all lanes. */
struct store_range stream_shard_range(struct arena *arena, uint64_t low, uint64_t high);
#define STREAM_SHARD_ALL UINT64_MAX

#endif
