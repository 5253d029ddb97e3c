/*
 * stream_read - the only path by which stream records are found: where to start in a shard, and
 * pages from there on.
 *
 * A position is the sequence number of the next record wanted. Records older than the retention are
 * trimmed for readers whether they have been deleted yet or not. Each call sees one snapshot.
 */
#ifndef DYNALITH_STORAGE_STREAM_READ_H
#define DYNALITH_STORAGE_STREAM_READ_H

#include "core/err.h"
#include "storage/stream/stream_record.h"
#include "storage/stream/stream_shard.h"

#define STREAM_PAGE_SIZE_MAX (1024 * 1024) /* bytes by SizeBytes. AWS: API Reference, GetRecords */

struct stream_shard_page {
	uint64_t from;               /* in: the stamp of the first shard that counts */
	size_t limit;                /* in: how many at most */
	struct stream_shard *shards; /* out, in the arena */
	size_t n;
	bool is_cut;                 /* out: more shards follow */
};

/* The shards of a stream that can be read, oldest first, in time linear in the page. */
enum code stream_read_shards(struct store *store, struct arena *arena, const struct table *table,
			     const struct stream *stream, int64_t now_ms,
			     struct stream_shard_page *page, struct err *err) WARN_UNUSED;

/* The child of a closed shard as a page of one shard, or of none. */
enum code stream_read_child(struct store *store, struct arena *arena, const struct table *table,
			    const struct stream *stream, int64_t now_ms, uint64_t parent,
			    struct stream_shard_page *page, struct err *err) WARN_UNUSED;

enum stream_start {
	STREAM_START_TRIM_HORIZON,    /* the oldest record there is */
	STREAM_START_LATEST,          /* behind the newest one */
	STREAM_START_AT_SEQUENCE,
	STREAM_START_AFTER_SEQUENCE,
	STREAM_START_AT_TIME,         /* the first record of that time or later */
};

struct stream_cursor {
	const struct table *table;
	const struct stream *stream;
	uint64_t shard;      /* stamp */
	int64_t now_ms;
	uint64_t position;   /* stream_read_start: out; stream_read_page: in, and out the position
				behind the page */
	bool is_at_end;      /* out of stream_read_page: the shard is closed and has nothing more */
};

/*
 * Sets the position. `sequence` and `time_ms` count for the starts that need them.
 * ERR_RESOURCE_NOT_FOUND where the stream has no such shard, ERR_VALIDATION for a number that is
 * not the shard's, ERR_TRIMMED_DATA for one that is gone.
 */
enum code stream_read_start(struct store *store, struct arena *arena, struct stream_cursor *cursor,
			    enum stream_start start, uint64_t sequence, int64_t time_ms,
			    struct err *err) WARN_UNUSED;

/* A record of a page, with its keys and SizeBytes. */
struct stream_entry {
	struct stream_record record;
	struct value keys;
	size_t size;
};

struct stream_page {
	struct stream_entry *v; /* in the arena */
	size_t n;
};

/* Up to `limit` records, together of STREAM_PAGE_SIZE_MAX bytes but at least one. Errors as above.
 */
enum code stream_read_page(struct store *store, struct arena *arena, struct stream_cursor *cursor,
			   size_t limit, struct stream_page *page, struct err *err) WARN_UNUSED;

#endif
