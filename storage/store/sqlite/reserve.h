/*
 * reserve - some MB of the disk that a store keeps for the time when it is full; internal to
 * storage/store/sqlite.
 *
 * Each transaction appends to the log, a delete too. So a file FILE-reserve beside the data file
 * holds room. The first write that finds no room on the disk and makes no data grow empties it, and
 * is written again. Until the disk has room for the reserve again, transactions that put items or
 * index rows may use only what the data file and the log have already.
 */
#ifndef DYNALITH_STORAGE_SQLITE_RESERVE_H
#define DYNALITH_STORAGE_SQLITE_RESERVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RESERVE_BYTES ((uint64_t)4 << 20)

enum reserve_state {
	RESERVE_NONE,  /* of a store in memory */
	RESERVE_EMPTY, /* not filled yet, since the start */
	RESERVE_KEPT, RESERVE_USED,
};

struct reserve {
	const char *path; /* of the data file */
	int fd;           /* -1: no such file yet */
	_Atomic enum reserve_state state;
	atomic_bool is_short; /* the disk had no room when it was looked at last */
};

/* Opens the file that an earlier process may have filled; makes none, which reserve_fill() does.
 * `path` is the data file's and outlives the reserve. */
void reserve_open(struct reserve *reserve, const char *path);
void reserve_close(struct reserve *reserve);

/* Fills it where the disk has twice as much room. One thread at a time, or under the writer's lock.
 */
void reserve_fill(struct reserve *reserve);

/* The disk is full: empties it; false where there is none, or it is empty. */
bool reserve_use(struct reserve *reserve);

/* Whether it was used, and the disk still has no room for it. */
bool reserve_is_used(const struct reserve *reserve);

#endif
