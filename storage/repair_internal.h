/*
 * repair_internal - what the parts of a repair share; not for others.
 */
#ifndef DYNALITH_STORAGE_REPAIR_INTERNAL_H
#define DYNALITH_STORAGE_REPAIR_INTERNAL_H

#include "storage/repair.h"

struct repair {
	struct salvage *from;
	struct store *to;
	const struct settings_records *records;
	struct store_txn *txn;     /* open all the time, committed now and then */
	size_t pending;            /* bytes that wait for the commit */
	int64_t now_ms;
	struct repair_report *report;
	struct arena *arena, *row; /* of all; of one row */
	const struct table *table; /* whose rows are gone through */
	enum code code;            /* the first error; then nothing more is written */
	struct err *err;
};

/* Begins and ends the transaction that puts; an error is in repair->code. */
void repair_begin(struct repair *repair);
void repair_commit(struct repair *repair);
/* Puts a row into the new store. _note: the caller put one of that size itself. */
void repair_put(struct repair *repair, struct keyspace keyspace, struct str key, struct str value);
void repair_put_note(struct repair *repair, size_t bytes);

/* Sets a row aside; `reason` where the row itself has none. */
void repair_set_aside(struct repair *repair, const struct salvage_row *row, const char *reason);

/* Reports what was lost of the table, in one line. */
void repair_tell(struct repair *repair, struct str what);

/* The table's stream: records, shards. */
void repair_stream(struct repair *repair);

#endif
