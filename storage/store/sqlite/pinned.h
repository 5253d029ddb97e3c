/*
 * pinned - the rows of SYSTEM_VERSIONS in memory: one small row that every transaction reads.
 *
 * Nobody else has the file open, so what this process committed is what is there. A row that the transaction under way has changed, or
 * whose commit is going on, is uncertain: it is read from the file, by the snapshot of the one that asks. A reader that began before a
 * commit may see the row as it is after it, never a row that is older than its snapshot.
 *
 * Thread-safe, but for pinned_change and the ends of a transaction: those are the writer's, of whom there is one.
 */
#ifndef DYNALITH_STORAGE_SQLITE_PINNED_H
#define DYNALITH_STORAGE_SQLITE_PINNED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/arena.h"
#include "core/str.h"

struct pinned_row {
	struct str key, value;    /* malloced; absent: there is no row */
	bool is_uncertain;
};

struct pinned {
	pthread_rwlock_t lock;
	size_t n, capacity;
	struct pinned_row *rows;  /* by key */
	size_t change_count, change_capacity;
	struct pinned_row *changes; /* of the transaction under way, in their order */
};

void pinned_init(struct pinned *pinned);
void pinned_destroy(struct pinned *pinned);

/* A row that is there, as the store is opened. */
void pinned_load(struct pinned *pinned, struct str key, struct str value);

/* The row's value, copied into the arena, or absent; false: it is uncertain, look in the file. */
bool pinned_get(struct pinned *pinned, bool is_writer, struct str key, struct arena *arena, struct str *value);

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
