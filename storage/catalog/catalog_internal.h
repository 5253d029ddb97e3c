/*
 * catalog_internal - what the parts of the catalog share; not for others.
 *
 * The entries are a cache: complete for the version of the catalog that stands beside them. Whoever changes a table in the store puts the
 * new snapshot here; what other processes change is found by catalog_refresh.
 */
#ifndef DYNALITH_STORAGE_CATALOG_INTERNAL_H
#define DYNALITH_STORAGE_CATALOG_INTERNAL_H

#include <pthread.h>

#include "storage/catalog/catalog.h"
#include "storage/catalog/name_index.h"
#include "storage/catalog/retired.h"

/* The snapshots, in byte order of their keys: account NUL region NUL name. They are the keys of the records too. */
struct entry {
	struct str key; /* malloced */
	struct table *table;
	uint64_t stamp; /* the version of the catalog that it is from */
};

#define CATALOG_UNKNOWN UINT64_MAX /* a version: nothing was loaded yet */

struct catalog {
	struct store *store;
	struct vector_memory *vector_memory;
	struct catalog_options options;
	pthread_mutex_t change_lock; /* one change at a time in this process: they show in the order of their commits */
	pthread_rwlock_t lock;       /* of what follows */
	uint64_t version;            /* of the catalog, for which the entries are complete */
	size_t n, capacity;
	struct entry *entries;
	struct name_index by_name;
	struct retired retired;      /* deleted tables whose streams are kept */
	uint64_t retired_stamp;      /* the version of the last change of them */
};

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};

/* Position of the key, or where it would stand. The lock is held. */
size_t catalog_position(const struct catalog *catalog, struct str key, bool *found);

/* Puts the snapshot in, or in the place of the one that has its key; takes over the reference. The lock is held for writing. */
void catalog_put(struct catalog *catalog, struct str key, struct table *table, uint64_t stamp);
void catalog_remove_at(struct catalog *catalog, size_t at);

/* A deleted table stays listed until its transient status is over; what is left of it then is nothing to those who look. */
static inline bool catalog_is_gone(const struct table *table, int64_t now_ms)
{
	return table->state.status == STATUS_DELETING && table->state.settles_ms <= now_ms;
}

/* There is nothing in it: yet, or any more. */
void catalog_count_nothing(struct table *table);

/* What is in memory of vector indexes that `next` (NULL: no table) has no more. */
void catalog_drop_vectors(struct catalog *catalog, const struct table *current, const struct table *next);

/* The table that the store has under the key, with a reference for the caller; NULL where there is none. */
enum code catalog_stored(const struct catalog *catalog, struct store_txn *txn, struct str key, struct table **out, struct err *err) WARN_UNUSED;

/* Gives the tables of a file that an older Dynalith wrote to the rows that currency.h wants. */
enum code catalog_mend_versions(struct catalog *catalog, struct err *err) WARN_UNUSED;

#endif
