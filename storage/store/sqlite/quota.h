/*
 * quota - a limit of the bytes that a store takes, its log included; internal to
 * storage/store/sqlite. In memory the log are the pages that a transaction replaces.
 *
 * The limit is parted: the database grows up to `data_max`. The rest, an eighth, is kept for the
 * log, and a quarter of that lets the database grow a little more for transactions that put no rows
 * of items or indexes. So what makes room goes on at the limit: a delete needs the log, and with a
 * stream a record. A log may take what the database leaves of the limit, and in any case its part.
 *
 * The file systems ask for each write that makes a file longer (page_file.h, memory_file.h).
 * What is refused ends the transaction with SQLITE_FULL, and nothing of it is kept. Pages that are
 * free within the database are used again, so they do not count as growth.
 */
#ifndef DYNALITH_STORAGE_SQLITE_QUOTA_H
#define DYNALITH_STORAGE_SQLITE_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

/* Written by the writer, under its lock. */
struct quota {
	uint64_t limit;     /* bytes; 0: none */
	uint64_t data_max;
	uint64_t data_most; /* for what makes room */
	uint64_t log_least;
	uint64_t data;      /* of the database, after the last commit */
	uint64_t data_next; /* if the transaction under way ends as it is */
	bool is_growing;    /* that transaction puts rows of items or indexes */
	bool is_refused;    /* and was refused */
};

#define QUOTA_LOG_MAX ((uint64_t)64 << 20)

struct quota quota_of(uint64_t limit);

/* How long the log may be before it is started over: a part of what the data leaves of the limit,
 * at most QUOTA_LOG_MAX. */
uint64_t quota_log_usual(const struct quota *quota);

/* The least of it. */
uint64_t quota_log_short(const struct quota *quota);

void quota_begin(struct quota *quota);
void quota_commit(struct quota *quota);

/* Whether the database may have `bytes` at the end of the transaction. */
bool quota_admits_data(struct quota *quota, uint64_t bytes);

/* Whether the log may be of so many bytes beside the database. */
bool quota_admits_log(struct quota *quota, uint64_t bytes);

/* Whether the database is so near to its limit that a value of `bytes` makes a difference. */
bool quota_is_near(const struct quota *quota, uint64_t bytes);

#endif
