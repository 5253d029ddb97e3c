/*
 * pinned - rows of SYSTEM_VERSIONS in memory: small rows, of which every transaction reads one.
 *
 * A cache of bounded size. Nobody else has the file open, so what this process committed is what is there. A row that the transaction under way
 * has changed, or whose commit is going on, is uncertain: a reader reads it from the file, in its own snapshot. A reader that began before a
 * commit may see the row as it is after it, never a row that is older than its snapshot.
 *
 * A reader keeps a row that it read from the file only if no commit that changed such rows has begun since its snapshot: pinned_moment() says when
 * that was, and pinned_keep() compares.
 *
 * Thread-safe, except for pinned_change and the ends of a transaction: those are the writer's, of whom there is one.
 */
#ifndef DYNALITH_STORAGE_SQLITE_PINNED_H
#define DYNALITH_STORAGE_SQLITE_PINNED_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/str.h"

#define PINNED_SETS 2048    /* a row lies in the set that the hash of its key names */
#define PINNED_PER_SET 4
#define PINNED_ROW_MAX 256  /* bytes of a key and a value; a longer one is always read from the file */

struct pinned_row {
	struct str key;           /* malloced, with the value behind it; absent: the place is free */
	struct str value;         /* absent: there is no such row */
	bool is_uncertain;
};

struct pinned {
	pthread_rwlock_t lock;
	_Atomic uint64_t commits; /* that began or ended; odd: one is under way */
	struct pinned_row *rows;  /* PINNED_SETS * PINNED_PER_SET */
	unsigned char *hands;     /* of each set: the place to use next, plus PINNED_PER_SET once the set has had a row */
	size_t change_count, change_capacity;
	struct pinned_row *changes; /* of the transaction under way, in their order */
};

void pinned_init(struct pinned *pinned);
void pinned_destroy(struct pinned *pinned);

/* To be called before the snapshot of a transaction begins. */
static inline uint64_t pinned_moment(const struct pinned *pinned)
{
	return atomic_load_explicit(&pinned->commits, memory_order_acquire);
}

/* The row's value, copied into the arena, or absent; false: read it from the file. */
bool pinned_get(struct pinned *pinned, bool is_writer, struct str key, struct arena *arena, struct str *value);
/* Keeps what the file has under the key (absent: no row), as a snapshot that began after `moment` showed it. */
void pinned_keep(struct pinned *pinned, bool is_writer, uint64_t moment, struct str key, struct str value);

/* The writer put the row, or deleted it (absent). */
void pinned_change(struct pinned *pinned, struct str key, struct str value);

static inline bool pinned_has_changes(const struct pinned *pinned)
{
	return pinned->change_count > 0;
}

/* Before the commit of a transaction with changes; after its end, of whatever kind. */
void pinned_begin_commit(struct pinned *pinned);
void pinned_end(struct pinned *pinned, bool is_committed);

#endif
