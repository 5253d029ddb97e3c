/*
 * stream_position - how far a reader with a name has come in the streams of a table: a row, so that
 * the reader goes on there after a restart and in another process.
 *
 * A position moves by comparing: who moves it says where it was. So of two processes that read
 * under one name only one gets on, and the other one looks where the first is.
 */
#ifndef DYNALITH_STORAGE_STREAM_POSITION_H
#define DYNALITH_STORAGE_STREAM_POSITION_H

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

struct stream_position {
	uint64_t stream;  /* struct stream's number; 0: there is no row */
	uint64_t shard;   /* stamp */
	uint64_t next;    /* sequence number of the next record wanted */
	int64_t saved_ms; /* real time */
};

/* The row of the reader; all zero where there is none. `table` is the table's number. */
enum code stream_position_get(struct store *store, struct arena *arena, uint64_t table,
			      struct str reader, struct stream_position *position,
			      struct err *err) WARN_UNUSED;

/*
 * Puts the row `to` (stream 0: deletes it) in the place of `from`, whose saved_ms does not count.
 * *is_moved false: it is elsewhere by now. Where it is at `to` already, it counts as moved.
 */
enum code stream_position_move(struct store *store, struct arena *arena, uint64_t table,
			       struct str reader, const struct stream_position *from,
			       const struct stream_position *to, bool *is_moved,
			       struct err *err) WARN_UNUSED;

/* Deletes the rows that nobody saved since then: their readers are gone. */
enum code stream_position_sweep(struct store *store, struct arena *arena, int64_t before_ms,
				struct err *err) WARN_UNUSED;

/* Whether the row of a position can be read. */
bool stream_position_is_sound(struct arena *arena, const struct store_row *row);

#endif
