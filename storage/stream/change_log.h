/*
 * change_log - all changes of a table, read by number or by time; a stream is a view of it.
 *
 * While a table has reasons (struct table_log), the record of each change in its PART_STREAM
 * keyspace has both images, also where the stream shows fewer or is off. Records are in the order
 * of commits, and their times never fall. They are kept as stream_keeps_from() says.
 *
 * The state of a table before the change N is what it is now with all changes from N on undone, the
 * last first: copies as of a moment (storage/backup/copy.h) are made so.
 */
#ifndef DYNALITH_STORAGE_CHANGE_LOG_H
#define DYNALITH_STORAGE_CHANGE_LOG_H

#include "storage/stream/stream.h"

/* The number of the first change that is later than the moment; the next free number where there is
 * none. */
enum code change_log_after(struct store_txn *txn, const struct table *table, int64_t moment_ms,
			   uint64_t *sequence, struct err *err) WARN_UNUSED;

/* A page of changes. */
struct change_log_page {
	uint64_t from, to; /* numbers from .. to - 1; to 0: up to the last. A page moves from (or,
			      backwards, to) to where the next begins */
	bool is_reverse;         /* the last first */
	struct store_bounds bounds;
	size_t n;                /* out */
	struct stream_record *v; /* in the arena */
	bool is_more;            /* out */
};

/* ERR_INTERNAL for a malformed row. A record from before the log was on may lack images. */
enum code change_log_read(struct store_txn *txn, struct arena *arena, const struct table *table,
			  struct change_log_page *page, struct err *err) WARN_UNUSED;

/* The row key of the item that a record is about. */
enum code change_log_key(struct arena *arena, const struct table *table,
			 const struct stream_record *record, struct str *row_key,
			 struct err *err) WARN_UNUSED;

/*
 * Switches reasons on or off in `next`, a clone that is then given to catalog_replace(); notes the
 * time. The log's keyspace comes with the first reason.
 */
void change_log_set(struct table *next, unsigned reasons, int64_t now_ms);

#endif
