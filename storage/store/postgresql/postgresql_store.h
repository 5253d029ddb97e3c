/*
 * postgresql_store - a backend in a PostgreSQL database, which any number of servers may have open.
 * By libpq.
 *
 * All rows lie in one table, dynalith_kv, by keyspace and key; it is made in the first schema of
 * the connection's search_path. Keyspaces are prefixes: one that nobody created is empty. How the
 * promises of store.h are kept:
 *
 * - A READ transaction is REPEATABLE READ, READ ONLY: one snapshot, from its first read on.
 * - A WRITE transaction is READ COMMITTED and locks what it reads until its end (two-phase
 *   locking), so what it read is still true when it commits. Rows are read FOR UPDATE, those that
 *   every write reads (SYSTEM_VERSIONS) FOR SHARE. While it is under way it may see a mixture of
 *   two moments where rows were absent or in ranges; it does not commit then.
 * - A row that was read as absent is written by a plain INSERT, which fails where another
 *   transaction wrote it. Where it was not written, its key is inserted and deleted again, which
 *   has the same effect; of the system's keyspaces the commit only checks that it is still absent,
 *   after all locks are held.
 * - Of a range that was read, all rows are locked; the commit checks that they are still as many.
 *   Transactions that read ranges and write take one common lock before that, so that no two of
 *   them miss each other's rows.
 * - Conflicts (40001, 40P01, 23505, a check that failed) are ERR_CONFLICT. They may also come from
 *   a read; the transaction is over then.
 * - Writes are kept and go with the commit, in one round trip. A connection that breaks before that
 *   is ERR_STORE_UNAVAILABLE; when the answer to the commit does not come, ERR_STORE_UNKNOWN.
 * - store_stat counts what it sees; a write transaction does not hold it until its commit.
 * - store_add locks its row from the commit's statements to its end: others wait for it, and meet
 *   no conflict.
 *
 * A transaction that is idle for 10 s, or waits 5 s for another's lock, or 30 s for one statement,
 * is ended by the database: ERR_STORE_UNAVAILABLE.
 */
#ifndef DYNALITH_STORAGE_POSTGRESQL_STORE_H
#define DYNALITH_STORAGE_POSTGRESQL_STORE_H

#include "storage/store/store.h"

/* Of the rows in the table; a database with a newer one is refused. */
#define POSTGRESQL_STORE_FORMAT 1

struct postgresql_store_options {
	const char *url; /* postgresql://..., as libpq takes it; "": all of it from the environment
			    (PGHOST, PGSERVICE, ...) */
	const char *name;          /* of the database, for messages: the URL without a password */
	enum durability durability; /* OFF: commits do not wait for the database's disk; else as the
				       database is set up */
	unsigned connections;      /* at most, at least 1; to each standby as many */
	unsigned follower_lag_ms;  /* reads that may be behind go to standbys among the URL's hosts
				      that are at most so far behind; 0: to none */
};

/*
 * Connects, and makes the table where it is missing. ERR_INTERNAL with one line for the operator,
 * without a password: libpq is not installed, the database cannot be reached, takes no writes, does
 * not let us in, has a newer format.
 */
enum code postgresql_store_open(const struct postgresql_store_options *options, struct store **out,
				struct err *err) WARN_UNUSED;

struct postgresql_store_counts {
	uint64_t round_trips; /* that a thread waited for */
	uint64_t statements;
};

/* Since the store was opened. */
struct postgresql_store_counts postgresql_store_counts(const struct store *store);

#endif
