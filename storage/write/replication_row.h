/*
 * replication_row - the rows of a replica's PART_REPLICATION keyspace.
 *
 *   i item-key                                  the stamp of the item's last change: where and when
 *                                               it was made
 *   t stamp-ms(8) item-key                      the same of a deleted item, by time: for those who
 *                                               forget them
 *   q region NUL written-ms(8) stamp-ms(8) item-key   a change made in that region which this
 *       replica has not yet: its stamp and the item
 *
 * An item that was there before the table became global, or whose replicas were equal when its
 * stamp was forgotten, has none: every change is later.
 */
#ifndef DYNALITH_STORAGE_REPLICATION_ROW_H
#define DYNALITH_STORAGE_REPLICATION_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"
#include "storage/store/store.h"

/* Orders the changes of an item: by time, then by region. The time is that of the region's clock,
 * but later than the change that was there. */
struct stamp {
	int64_t ms;
	struct str region; /* absent: no change is known */
	bool is_deleted;
};

/* Whether the change is later than what is known. */
bool stamp_is_later(const struct stamp *change, const struct stamp *known);

struct str replication_item_key(struct arena *arena, struct str row_key);
struct str replication_deleted_key(struct arena *arena, int64_t stamp_ms, struct str row_key);
/* The item's key in such a row, and its time. */
bool replication_deleted_read(struct str key, int64_t *stamp_ms, struct str *row_key) WARN_UNUSED;
/* All of them before a time. */
struct store_range replication_deleted_range(struct arena *arena, int64_t before_ms);

struct str replication_stamp_encode(struct arena *arena, const struct stamp *stamp);
bool replication_stamp_decode(struct str row, struct stamp *stamp) WARN_UNUSED;

/* A row of the queue. */
struct replication_queued {
	int64_t written_ms; /* by the clock of the region where the change was made */
	struct str row_key;
	struct stamp stamp;
	struct str image;   /* absent: deleted */
};

/* The rows that came from the region. */
struct store_range replication_queue_range(struct arena *arena, struct str region);
/* Those from all regions. */
struct store_range replication_queue_all(struct arena *arena);
struct str replication_queue_key(struct arena *arena, int64_t written_ms, const struct stamp *stamp,
				 struct str row_key);
struct str replication_queue_encode(struct arena *arena, const struct stamp *stamp,
				    struct str image);
/* The parts point into key and row. */
bool replication_queue_decode(struct str key, struct str row,
			      struct replication_queued *queued) WARN_UNUSED;

/* Whether a row of a replica's keyspace can be read. */
bool replication_is_sound(const struct store_row *row);

#endif
