/*
 * check - whether the rows of a store agree with each other: each item with its key and its image,
 * each index with the items, the queue of time to live with the items, each stream's records with
 * its shards.
 *
 * It goes by the functions that the write path goes by (item_key.h, vector_row.h, expiry.h), and
 * changes nothing. It does so piece by piece, each in a read transaction of its own: each row is
 * compared with those that it belongs with in one state of the store, and no state is held for
 * long, so writers may go on meanwhile. What cannot be read is a finding like any other, and the
 * rest is still looked at. Not looked at: the pages of the file (store/maintenance.h), idempotency
 * tokens, and how far the filling of an index came.
 */
#ifndef DYNALITH_STORAGE_CHECK_H
#define DYNALITH_STORAGE_CHECK_H

#include "core/err.h"
#include "storage/schema/schema.h"

struct check_report {
	store_tell *tell;   /* called per finding: one line */
	void *context;
	uint64_t findings;
	struct store_keyspaces keyspaces; /* given by who asks: all that the store has; those of no
					     table are findings */
	uint64_t tables, items, index_rows, expiry_rows, records; /* that were looked at */
	uint64_t last_table; /* the number of the table that was begun last */
};

#define CHECK_QUEUE 63 /* the bit of the queue of time to live among those of indexes */

/* Where a check goes on. Any values are safe: at worst rows are left out. */
struct check_cursor {
	struct str table;    /* the key of its record; absent: from the first one on */
	uint64_t number;     /* the table's */
	unsigned stage;      /* of its parts */
	unsigned index;      /* of its indexes */
	struct str key;      /* the next row; absent: from the first one on */
	uint64_t unreadable; /* a bit for each index that failed */
	bool is_done;
};

#define CHECK_START {.table = {NULL, 0}, .key = {NULL, 0}}

/*
 * Looks at the next piece: some 500 rows, 1 MB or a table. Findings and figures are added to the
 * report. What the cursor holds then lies in the arena, which must not be the one of the cursor
 * before. ERR_INTERNAL where no transaction can be had: the cursor is as it was.
 */
enum code check_step(struct store *store, const struct settings_records *records, int64_t now_ms,
		     struct arena *arena, struct check_cursor *cursor, struct check_report *report,
		     struct err *err) WARN_UNUSED;

/*
 * Looks at all tables, for a store that nobody writes to. `now_ms` is the present: an item whose
 * time was long past when it was written has no row in the queue (expiry.h). An index that is being
 * filled may lack rows. ERR_INTERNAL only where no transaction can be had.
 */
enum code check_store(struct store *store, const struct settings_records *records, int64_t now_ms,
		      struct check_report *report, struct err *err) WARN_UNUSED;

/* Whether the image is exactly what its item is written as, its size in the head too. */
bool check_image(struct arena *arena, struct str image, struct value *item) WARN_UNUSED;

/* Whether the row of a stream is a whole record of a change of the table. */
bool check_record(struct arena *arena, const struct table *table, struct str key,
		  struct str row) WARN_UNUSED;

#endif
