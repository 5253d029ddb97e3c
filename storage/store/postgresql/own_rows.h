/*
 * own_rows - what a write transaction has read and written so far: its own view, which its commit
 * makes true.
 */
#ifndef DYNALITH_STORAGE_OWN_ROWS_H
#define DYNALITH_STORAGE_OWN_ROWS_H

#include "core/arena.h"
#include "core/str.h"

/* What the database has under the key, as far as this transaction knows. */
enum own_base {
	BASE_UNKNOWN,
	BASE_ABSENT, /* read as absent: nothing keeps others from writing it until we do */
	BASE_GONE,   /* deleted by this transaction, so that nobody else can write it */
	BASE_THERE,  /* there, and locked by this transaction */
};

struct own_row {
	int64_t ks;
	struct str key;
	struct str value;   /* absent: there is none */
	enum own_base base;
	bool is_changed;    /* the value is not yet in the database */
	bool is_added;      /* the delta is not yet in the database; the value is not known */
	int64_t delta;
};

struct own_rows {
	size_t n, capacity;
	struct own_row *v;  /* by keyspace, then key; malloced */
};

/* NULL where the transaction has not met it. */
struct own_row *own_rows_find(const struct own_rows *rows, int64_t ks, struct str key);

/* The row, made (BASE_UNKNOWN, no value, a copy of the key) where it was not met before. Others
 * move. */
struct own_row *own_rows_place(struct own_rows *rows, struct arena *arena, int64_t ks,
			       struct str key);

/* Whether the transaction knows what is under the key. */
static inline bool own_row_is_known(const struct own_row *row)
{
	return row->is_changed || row->base != BASE_UNKNOWN;
}

/* How many have a value, from low to high (exclusive; absent: open). */
size_t own_rows_count(const struct own_rows *rows, int64_t ks, struct str low, struct str high);

/* The first row of a keyspace, as an index. */
size_t own_rows_first(const struct own_rows *rows, int64_t ks);

#endif
