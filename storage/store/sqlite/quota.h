/*
 * quota - whether a write may go on: a limit of the data, and a reserve for a full disk; internal
 * to storage/store/sqlite.
 *
 * The limit is of the bytes that a store takes, its log included; in memory the log are the pages
 * that a transaction replaces, where it makes data grow. It is parted: the database grows up to
 * `data_max`. The rest, an eighth, is kept for the log, and a quarter of that lets the database
 * grow a little more for transactions that put no rows of items or indexes. So what makes room goes
 * on at the limit: a delete needs the log, and with a stream a record. A log may take what the
 * database leaves of the limit, and in any case its part. Pages that are free within the database
 * are used again, so they do not count as growth.
 *
 * Also on a disk that is full each transaction appends to the log. So a file FILE-reserve beside
 * the data file holds room. The first write that finds no room on the disk and makes no data grow
 * empties it, and is written again. Until the disk has room for the reserve again, transactions
 * that put items or index rows may use only what the data file and the log have already.
 *
 * The file systems ask for each write (page_file.h, memory_file.h). What is refused ends the
 * transaction with SQLITE_FULL, and nothing of it is kept.
 */
#ifndef DYNALITH_STORAGE_SQLITE_QUOTA_H
#define DYNALITH_STORAGE_SQLITE_QUOTA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum quota_reserve {
	RESERVE_NONE,  /* of a store in memory */
	RESERVE_EMPTY, /* not filled yet, since the start */
	RESERVE_KEPT,
	RESERVE_USED,
};

/* Written by the writer, under its lock. */
struct quota {
	uint64_t limit;     /* bytes; 0: none */
	uint64_t data_max;
	uint64_t data_most; /* for what makes room */
	uint64_t log_least;
	uint64_t data;      /* of the database, after the last commit */
	uint64_t data_next; /* if the transaction under way ends as it is */
	bool is_growing;    /* that transaction puts rows of items or indexes */
	bool is_refused;    /* and the limit refused it */
	const char *path;   /* of the data file; outlives the quota */
	int fd;             /* of the reserve; -1: no such file yet */
	_Atomic enum quota_reserve reserve;
	atomic_bool is_short; /* the disk had no room when it was looked at last */
};

void quota_init(struct quota *quota, uint64_t limit);

/* Opens the reserve that an earlier process may have filled; quota_fill() makes one. */
void quota_open(struct quota *quota, const char *path);
void quota_close(struct quota *quota);

/* How long the log may be before it is started over, by default. */
uint64_t quota_log_short(const struct quota *quota);

/* The same now, where `bytes` were wanted: under a limit a part of what the data leaves of it; on a
 * full disk short, so that the reserve is left to the next transactions. */
uint64_t quota_log_usual(const struct quota *quota, uint64_t bytes);

void quota_begin(struct quota *quota);
void quota_commit(struct quota *quota);

/* Whether the log may be of `log` bytes, and the database, where the write ends its transaction, of
 * `data` bytes, else 0. `is_longer`: the log's file grows for it; only a full disk counts that. */
bool quota_admits(struct quota *quota, uint64_t log, uint64_t data, bool is_longer);

/* Whether the database is so near to its limit that a value of `bytes` makes a difference. */
bool quota_is_near(const struct quota *quota, uint64_t bytes);

/* Fills the reserve where the disk has twice as much room. One thread at a time, or under the
 * writer's lock. */
void quota_fill(struct quota *quota);

/* The disk is full: empties the reserve. False where there is none, or it is empty, or the
 * transaction makes data grow. */
bool quota_use_reserve(struct quota *quota);

/* Whether the reserve was used, and the disk still has no room for it. */
bool quota_is_full(const struct quota *quota);

#endif
