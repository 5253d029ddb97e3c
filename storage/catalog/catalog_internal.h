/*
 * catalog_internal - what the parts of the catalog share; not for others.
 *
 * The entries name all tables: complete for the version of the catalog that stands beside them. Whoever changes a table in the store puts the
 * new snapshot here; what other processes change is found by catalog_refresh. Of a table that nobody asked for lately there is a brief
 * alone: catalog_load reads the record again.
 */
#ifndef DYNALITH_STORAGE_CATALOG_INTERNAL_H
#define DYNALITH_STORAGE_CATALOG_INTERNAL_H

#include <pthread.h>

#include "storage/catalog/catalog.h"
#include "storage/catalog/name_index.h"
#include "storage/catalog/retired.h"
#include "storage/schema/currency.h"

/* The tables, in byte order of their keys: account NUL region NUL name. They are the keys of the records too. */
struct entry {
	struct str key;      /* malloced */
	struct table *table; /* NULL: not in memory */
	struct table_brief brief;
	uint64_t stamp;      /* the version of the catalog that it is from */
	atomic_uint used;    /* when somebody last asked for it, as catalog->clock counts */
};

#define CATALOG_UNKNOWN UINT64_MAX /* a version: nothing was loaded yet */

/* Marks of other processes, and since when they are as they are; of upkeep alone. */
struct catalog_orphans {
	size_t n;
	struct seen_mark *seen; /* malloced */
};

/* What keeps the numbers of tables. */
struct size_keeping {
	uint64_t process;            /* a random number that names this process in the store */
	pthread_mutex_t flush_lock;  /* held by a flush */
	pthread_mutex_t lock;        /* of the list */
	size_t n;
	struct table **listed;       /* with changes that are not in the rows, or with a mark; a reference each; malloced */
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
	uint64_t version;            /* of the catalog, for which the entries are complete */
	uint64_t ahead;              /* bit i: the change that made version + 1 + i shows already */
	size_t n, capacity;
	size_t in_memory;            /* entries that have a snapshot */
	atomic_uint clock;           /* of loads */
	size_t hand;                 /* where the next eviction looks */
	struct entry *entries;
	struct name_index by_name;
	struct retired retired;      /* deleted tables whose streams are kept */
	uint64_t retired_stamp;      /* the version of the last change of them */
	struct size_keeping sizes;
};

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};

/* Position of the key, or where it would stand. The lock is held. */
size_t catalog_position(const struct catalog *catalog, struct str key, bool *found);

/*
 * Puts the snapshot in, or in the place of the one that has its key; takes over the reference. The lock is held for writing. _brief does so for a
 * table whose snapshot is not in memory.
 */
void catalog_put(struct catalog *catalog, struct str key, struct table *table, uint64_t stamp);
void catalog_put_brief(struct catalog *catalog, struct str key, const struct table_brief *brief, uint64_t stamp);
/*
 * The snapshot of the key's entry with a reference for the caller, read from the store where it is not in memory; NULL where there is no entry. The lock
 * is not held.
 */
enum code catalog_load(struct catalog *catalog, struct str key, struct table **out, struct err *err) WARN_UNUSED;
/* Takes out of memory what is too much there, for those who held snapshots that they do not hold any more. The lock is not held. */
void catalog_trim(struct catalog *catalog);
/* Shares with `next` what this process remembers of the table where it was in memory before. */
void catalog_size_adopt(struct catalog *catalog, struct table *next);
/* The entries are complete for the version; and for those behind it that show already. The lock is held for writing. */
void catalog_advance(struct catalog *catalog, uint64_t version);
void catalog_remove_at(struct catalog *catalog, size_t at);

/* A deleted table stays listed until its transient status is over; what is left of it then is nothing to those who look. */
static inline bool catalog_is_gone(const struct table *table, int64_t now_ms)
{
	return table->state.status == STATUS_DELETING && table->state.settles_ms <= now_ms;
}

#define TABLES_IN_MEMORY_MAX 2000 /* snapshots; each takes some KB */

void catalog_sizes_open(struct catalog *catalog);
void catalog_sizes_close(struct catalog *catalog);

/*
 * In the transaction that puts `next` in the place of `current`, after its row: drops the numbers of indexes that went, and begins a count where the
 * vector indexes, by which items are sized, are others. `count` is that of the row.
 */
enum code catalog_size_change(struct catalog *catalog, struct store_txn *txn, const struct table *current, const struct table *next, uint64_t count,
			      struct err *err) WARN_UNUSED;

/* What is in memory of vector indexes that `next` (NULL: no table) has no more. */
void catalog_drop_vectors(struct catalog *catalog, const struct table *current, const struct table *next);

/*
 * Counting a table and its indexes, in bounded pieces, while others write.
 *
 * A count goes through the items in the order of their keys. The numbers of the epoch to be are exact in each transaction for the items before the
 * count's key: a piece adds what it met, and writers, who see in the row of the table's version that a count goes on, add what they change of
 * those items in their own transaction. So any process may do the next piece, and after an interruption the count goes on where it was.
 */

/* Begins a count within a transaction. `record` is the key of the table's record; `row` is that of its version, and is written. */
enum code catalog_count_begin(struct store_txn *txn, struct arena *arena, uint64_t number, struct str record, struct currency_row *row,
			      struct err *err) WARN_UNUSED;
/* The next piece of the table's count within a transaction. *more: there are further ones. */
enum code catalog_count_piece(struct catalog *catalog, struct store_txn *txn, struct arena *arena, uint64_t number, bool *more,
			      struct err *err) WARN_UNUSED;
/* A piece of the first count of a table with a greater number than *after, in a transaction of its own. *more: there was one; *after is its table. */
enum code catalog_count_step(struct catalog *catalog, uint64_t *after, bool *more, struct err *err) WARN_UNUSED;

/*
 * Begins the counts of tables whose mark a process left that ended without putting its changes into the numbers, and deletes these marks.
 *
 * A process that is the only one of its store knows that every mark that it finds at its start is such. Else it is one that has not changed for a
 * minute: a process that lives rewrites its marks, or deletes them, with each flush, every few seconds. One that only was very slow loses
 * nothing: the numbers of the next epoch are counted with its changes in them. `now_ms` is monotonic.
 */
enum code catalog_orphans_take(struct catalog *catalog, int64_t now_ms, struct err *err) WARN_UNUSED;
void catalog_orphans_free(struct catalog_orphans *orphans);

/* The table that the store has under the key, with a reference for the caller; NULL where there is none. */
enum code catalog_stored(const struct catalog *catalog, struct store_txn *txn, struct str key, struct table **out, struct err *err) WARN_UNUSED;

/* Gives the tables of a file that an older Dynalith wrote to the rows that currency.h wants. */
enum code catalog_mend_versions(struct catalog *catalog, struct err *err) WARN_UNUSED;

#endif
