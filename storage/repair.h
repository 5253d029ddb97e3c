/*
 * repair - a new store made of the rows that a damaged one still has.
 *
 * Items and stream records are taken over when their bytes are certain; all others are set aside,
 * for somebody to look at. What follows from items is made from them: rows of indexes, the queue of
 * time to live. Records of tables, counters and shards of streams are also taken from pages of
 * which one byte was wrong, and records of tables from any page where they agree with themselves:
 * without them nothing of a table could be brought back. A shard that is lost is made again from
 * its neighbours and records.
 */
#ifndef DYNALITH_STORAGE_REPAIR_H
#define DYNALITH_STORAGE_REPAIR_H

#include "core/err.h"
#include "storage/store/salvage.h"
#include "storage/schema/schema.h"

struct repair_report {
	store_tell *tell; /* called with a line for each thing that is not as it was, but for single
			     rows */
	void (*set_aside)(
		void *context, const struct table *table,
		const struct salvage_row *row); /* `table` is NULL where it is not known */
	void *context;
	uint64_t tables, items, records; /* that were taken over */
	uint64_t aside;                  /* rows that were set aside */
	uint64_t losses;                 /* lines reported about something lost */
};

/*
 * Fills `to`, which is new and empty. `now_ms` is the present. The versions of tables are left to
 * catalog_open. ERR_INTERNAL, ERR_STORE_FULL: from the store.
 */
enum code repair_store(struct salvage *from, struct store *to,
		       const struct settings_records *records, int64_t now_ms,
		       struct repair_report *report, struct err *err) WARN_UNUSED;

#endif
