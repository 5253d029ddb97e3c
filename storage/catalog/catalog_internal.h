/*
 * catalog_internal - what the parts of the catalog share; not for others.
 *
 * The entries are a cache of bounded size: snapshots of tables by the keys of their records. The
 * store decides: whoever uses a snapshot reads the row of the table's version in the transaction
 * that uses it (schema/currency.h), and an entry that is not current any more is read again then.
 */
#ifndef DYNALITH_STORAGE_CATALOG_INTERNAL_H
#define DYNALITH_STORAGE_CATALOG_INTERNAL_H

#include <pthread.h>

#include "storage/catalog/catalog.h"
#include "storage/pace.h"
#include "storage/schema/currency.h"

/* In byte order of their keys: account NUL region NUL name. */
struct entry {
	struct str key;         /* malloced */
	struct table *table;
	atomic_uint used;       /* when somebody last asked for it, as catalog->clock counts */
	atomic_uint generation; /* the catalog's when the snapshot was found current: another one,
				   and the next look-up asks the store */
};

/* Other processes with marks, and since when their signs of life are as they are; of upkeep alone.
 */
struct catalog_orphans {
	size_t n;
	struct seen_process *seen; /* malloced */
};

/* What keeps the numbers of tables. */
struct size_keeping {
	uint64_t process;            /* a random number that names this process in the store */
	pthread_mutex_t flush_lock;  /* held by a flush */
	pthread_mutex_t lock;        /* of the list */
	size_t n;
	struct table **listed; /* with changes that are not in the rows, or with a mark; a reference
				  each; malloced */
	atomic_uint flushes;         /* odd while one commits */
	atomic_ullong marks;         /* that were put */
	atomic_bool has_counts;      /* there may be counts under way */
	uint64_t counted;            /* the table that catalog_size_step came to; of upkeep alone */
	struct catalog_orphans orphans;
};

struct catalog {
	struct store *store;
	struct vector_memory *vector_memory;
	struct catalog_options options;
	pthread_rwlock_t lock;       /* of what follows; no commit is waited for with it */
	size_t n, capacity;
	size_t hand;                 /* where the next eviction looks */
	struct entry *entries;
	atomic_uint clock;           /* of loads */
	atomic_uint generation;      /* raised where any table may have changed */
	struct size_keeping sizes;
	struct pace pace;
};

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};

/* The snapshot that is in memory under the key, with a reference; NULL where none is. *is_checked:
 * no catalog_refresh() came since it was found current. */
struct table *catalog_cached(struct catalog *catalog, struct str key, bool *is_checked);
/*
 * Puts a snapshot that was just read in memory. Takes over the reference and gives one to the
 * snapshot that is there then: the same or a later one where another thread came first. It shares
 * with the one before it what this process remembers of the table. `generation` is the catalog's
 * from before the store was read.
 */
struct table *catalog_install(struct catalog *catalog, struct str key, struct table *table,
			      unsigned generation);
/* The snapshot is current: catalog_cached() says so until the next catalog_refresh(). */
void catalog_check(struct catalog *catalog, struct str key, const struct table *table,
		   unsigned generation);
/* Shows what this process committed: `next` under the key, whose reference it takes over; or that
 * the table of the number is gone. */
void catalog_show(struct catalog *catalog, struct str key, struct table *next);
void catalog_forget_entry(struct catalog *catalog, struct str key, uint64_t number,
			  uint64_t version);
/* The snapshot after the end of its transient status, in its place; takes over the reference. */
struct table *catalog_settle(struct catalog *catalog, struct str key, struct table *table,
			     int64_t now_ms);
/* Takes out of memory what is too much there, for those who held snapshots that they do not hold
 * any more. The lock is not held. */
void catalog_trim(struct catalog *catalog);
void catalog_clear(struct catalog *catalog);

/*
 * The tables whose numbers this process has changed since it put them into the rows. _remove, which
 * is called with sizes->lock held: of all snapshots that share the tally. _adopt: shares with
 * `next` what this process remembers of the table, where it is listed.
 */
void catalog_listed_add(struct size_keeping *sizes, struct table *table);
void catalog_listed_remove(struct size_keeping *sizes, const struct tally *tally);
void catalog_listed_adopt(struct size_keeping *sizes, struct table *next);
void catalog_listed_free(struct size_keeping *sizes);

/* A deleted table stays listed until its transient status is over; what is left of it then is
 * nothing to those who look. */
static inline bool catalog_is_gone(const struct table *table, int64_t now_ms)
{
	return table->state.status == STATUS_DELETING && table->state.settles_ms <= now_ms;
}

#define TABLES_IN_MEMORY_MAX 2000 /* snapshots; each takes some KB */

static inline struct ns catalog_ns_of(const struct table *table)
{
	return (struct ns){table->identity.account, table->identity.region};
}

/* What the keys of the records of the table's namespace begin with; the key of its own. */
struct str catalog_space(struct arena *arena, const struct catalog *catalog,
			 const struct table *table);
struct str catalog_key_of(struct arena *arena, const struct catalog *catalog,
			  const struct table *table);

void catalog_sizes_open(struct catalog *catalog);
void catalog_sizes_close(struct catalog *catalog);

/*
 * In the transaction that puts `next` in the place of `current`, after its row: drops the numbers
 * of indexes that went, and begins a count where the vector indexes, by which items are sized, are
 * others. `count` is that of the row.
 */
enum code catalog_size_change(struct catalog *catalog, struct store_txn *txn,
			      const struct table *current, const struct table *next, uint64_t count,
			      struct err *err) WARN_UNUSED;

/* What is in memory of vector indexes that `next` (NULL: no table) has no more. */
void catalog_drop_vectors(struct catalog *catalog, const struct table *current,
			  const struct table *next);

/*
 * Counting a table and its indexes, in bounded pieces, while others write.
 *
 * A count goes through the items in the order of their keys. The numbers of the epoch to be are
 * exact in each transaction for the items before the count's key: a piece adds what it met, and
 * writers, who see in the row of the table's version that a count goes on, add what they change of
 * those items in their own transaction. So any process may do the next piece, and after an
 * interruption the count goes on where it was.
 */

/* Begins a count within a transaction. `record` is the key of the table's record; `row` is that of
 * its version, and is written. */
enum code catalog_count_begin(struct store_txn *txn, struct arena *arena, uint64_t number,
			      struct str record, struct currency_row *row,
			      struct err *err) WARN_UNUSED;
/* The next piece of the table's count within a transaction. *more: there are further ones. */
enum code catalog_count_piece(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			      uint64_t number, bool *more, struct err *err) WARN_UNUSED;
/* A piece of the first count of a table with a greater number than *after, in a transaction of its
 * own. *more: there was one; *after is its table. */
enum code catalog_count_step(struct catalog *catalog, uint64_t *after, bool *more,
			     struct err *err) WARN_UNUSED;

/*
 * Begins the counts of tables whose mark a process left that ended without putting its changes into
 * the numbers, and deletes these marks.
 *
 * A process that is the only one of its store knows that every mark that it finds at its start is
 * such. Else it is those of a process whose sign of life has not changed for a minute: one that
 * lives and has marks changes it every few seconds, with each flush. One that was only very slow
 * loses nothing: the numbers of the next epoch are counted with its changes in them. `now_ms` is
 * monotonic. It reads two rows for each process, and the marks of those that ended.
 */
enum code catalog_orphans_take(struct catalog *catalog, int64_t now_ms,
			       struct err *err) WARN_UNUSED;
void catalog_orphans_free(struct catalog_orphans *orphans);

/* The table that the store has under the key, with a reference for the caller; NULL where there is
 * none. */
enum code catalog_stored(const struct catalog *catalog, struct store_txn *txn, struct str key,
			 struct table **out, struct err *err) WARN_UNUSED;

#endif
