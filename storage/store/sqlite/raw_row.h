/*
 * raw_row - rows of keyspaces, and the entries of their indexes of keys, taken from the bytes of pages; internal to storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_RAW_ROW_H
#define DYNALITH_STORAGE_SQLITE_RAW_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "core/str.h"

struct raw_row {
	uint64_t number;        /* of the place, in a SQL table that keyspaces share; else 0 */
	struct str key, value;  /* absent: cannot be read */
};

/* A row by its payload, absent where not all of it is there, and by the beginning of that. False where part of it is missing. */
bool raw_row_read(struct str payload, struct str beginning, struct raw_row *row);

struct raw_entry {
	uint64_t number;        /* as above */
	uint64_t rowid;         /* of the row that has the key */
	struct str key;
};

/* An entry of an index by its payload; false where it is none. */
bool raw_row_entry(struct str payload, bool is_shared, struct raw_entry *entry);

/* Of a row and of its entry, to find one by the other. */
uint64_t raw_row_hash(uint64_t rowid, struct str key);

#endif
