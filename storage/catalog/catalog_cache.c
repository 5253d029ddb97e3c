#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/catalog_size.h"

#define EVICTION_LOOKS 4096 /* entries that are looked at for one to evict */
#define EVICTION_CANDIDATES 8
#define TRIMMED_AT_ONCE 100 /* snapshots, while look-ups wait */

static size_t tables_max(const struct catalog *catalog)
{
	return catalog->options.tables_max ? catalog->options.tables_max : TABLES_IN_MEMORY_MAX;
}

/* The lock is held, here and in what follows, for writing where something changes. */
static size_t position(const struct catalog *catalog, struct str key, bool *found)
{
	return str_search(catalog->entries, catalog->n, sizeof(*catalog->entries), key, found);
}

static void remove_at(struct catalog *catalog, size_t at)
{
	struct entry *entry = &catalog->entries[at];

	free((void *)(uintptr_t)entry->key.p);
	table_unref(entry->table);
	catalog->n--;
	memmove((void *)entry, (void *)(entry + 1), (catalog->n - at) * sizeof(*entry));
}

/*
 * Removes one entry: of a few whose snapshots nobody holds, the one that was asked for longest ago.
 * The search goes on where the last one ended. Nobody gets a reference meanwhile.
 */
static bool evict(struct catalog *catalog)
{
	unsigned now = atomic_load_explicit(&catalog->clock, memory_order_relaxed), candidates = 0;
	size_t oldest = catalog->n;

	for (size_t looks = 0;
	     looks < EVICTION_LOOKS && looks < catalog->n && candidates < EVICTION_CANDIDATES;
	     looks++) {
		size_t at = catalog->hand++ % catalog->n;

		if (atomic_load(&catalog->entries[at].table->refs) != 1)
			continue;
		candidates++;
		if (oldest == catalog->n ||
		    now - atomic_load(&catalog->entries[at].used) >
			    now - atomic_load(&catalog->entries[oldest].used))
			oldest = at;
	}
	if (oldest == catalog->n)
		return false;
	remove_at(catalog, oldest);
	return true;
}

void catalog_trim(struct catalog *catalog)
{
	bool is_over = true;

	while (is_over) {
		pthread_rwlock_wrlock(&catalog->lock);
		for (int i = 0; i < TRIMMED_AT_ONCE && is_over; i++)
			is_over = catalog->n > tables_max(catalog) && evict(catalog);
		pthread_rwlock_unlock(&catalog->lock);
	}
}

void catalog_clear(struct catalog *catalog)
{
	while (catalog->n > 0)
		remove_at(catalog, catalog->n - 1);
	free(catalog->entries);
}

static void insert(struct catalog *catalog, size_t at, struct str key, struct table *table)
{
	if (catalog->n == catalog->capacity) {
		catalog->capacity = catalog->capacity ? catalog->capacity * 2 : 16;
		catalog->entries = arena_checked(
			realloc(catalog->entries, catalog->capacity * sizeof(*catalog->entries)));
	}
	memmove((void *)&catalog->entries[at + 1], (void *)&catalog->entries[at],
		(catalog->n - at) * sizeof(*catalog->entries));
	catalog->entries[at] = (struct entry){.key = str_duplicate(key), .table = table};
	catalog->n++;
}

/* Tables looked up from now on are younger than those not looked up since the last load. */
static void put_cache_entry(struct catalog *catalog, struct str key, struct table *table,
			    unsigned generation)
{
	bool found;
	size_t at = position(catalog, key, &found);

	if (!found)
		insert(catalog, at, key, table_ref(table));
	struct entry *entry = &catalog->entries[at];
	if (found) {
		table_unref(entry->table);
		entry->table = table_ref(table);
	}
	atomic_store(&entry->used, atomic_fetch_add(&catalog->clock, 1) + 1);
	atomic_store(&entry->generation, generation);
	if (!found && catalog->n > tables_max(catalog))
		(void)evict(catalog); /* not this one: two hold it */
	table_unref(table);
}

struct table *catalog_cached(struct catalog *catalog, struct str key, bool *is_checked)
{
	struct table *table = NULL;
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	if (found) {
		struct entry *entry = &catalog->entries[at];
		/* only the first look-up counts: that saves a write to memory that all threads
		 * share */
		unsigned now = atomic_load_explicit(&catalog->clock, memory_order_relaxed);

		if (atomic_load_explicit(&entry->used, memory_order_relaxed) != now)
			atomic_store_explicit(&entry->used, now, memory_order_relaxed);
		*is_checked = atomic_load_explicit(&entry->generation, memory_order_relaxed) ==
			      atomic_load_explicit(&catalog->generation, memory_order_relaxed);
		table = table_ref(entry->table);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return table;
}

/* Versions of a table only rise, also when it is rolled back. */
static bool is_as_late(const struct table *known, const struct table *table)
{
	return known->identity.number == table->identity.number &&
	       known->currency.version >= table->currency.version;
}

struct table *catalog_install(struct catalog *catalog, struct str key, struct table *table,
			      unsigned generation)
{
	bool found;

	catalog_listed_adopt(&catalog->sizes, table);
	pthread_rwlock_wrlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	struct table *known = found ? catalog->entries[at].table : NULL;
	if (known && is_as_late(known, table)) {
		table_unref(table);
		table = table_ref(known);
	} else {
		if (known && known->identity.number == table->identity.number)
			table_adopt(table, known);
		if (known)
			catalog_drop_vectors(catalog, known, table);
		put_cache_entry(catalog, key, table_ref(table), generation);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return table;
}

void catalog_check(struct catalog *catalog, struct str key, const struct table *table,
		   unsigned generation)
{
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	if (found && catalog->entries[at].table == table)
		atomic_store(&catalog->entries[at].generation, generation);
	pthread_rwlock_unlock(&catalog->lock);
}

/* Of two changes that two threads committed the first may come last. */
void catalog_show(struct catalog *catalog, struct str key, struct table *next)
{
	bool found;

	pthread_rwlock_wrlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	const struct table *known = found ? catalog->entries[at].table : NULL;
	if (known && (is_as_late(known, next) || known->identity.number > next->identity.number))
		table_unref(next);
	else
		put_cache_entry(catalog, key, next, atomic_load(&catalog->generation));
	pthread_rwlock_unlock(&catalog->lock);
}

void catalog_forget_entry(struct catalog *catalog, struct str key, uint64_t number,
			  uint64_t version)
{
	bool found;

	pthread_rwlock_wrlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	const struct table *known = found ? catalog->entries[at].table : NULL;
	if (known && known->identity.number == number && known->currency.version <= version)
		remove_at(catalog, at);
	pthread_rwlock_unlock(&catalog->lock);
}

static bool is_due(const struct table *table, int64_t now_ms)
{
	return table->state.settles_ms > 0 && table->state.settles_ms <= now_ms &&
	       table->state.status != STATUS_DELETING;
}

static struct table *settled_of(const struct table *table)
{
	struct table *settled = table_clone(table);

	settled->state.status = STATUS_ACTIVE;
	settled->state.settles_ms = 0;
	for (size_t i = 0; i < table_index_total(settled); i++) {
		struct index *index = table_index_at(settled, i);

		/* those of a live table end when their work is done */
		if (!index->is_backfilling && index->status != STATUS_DELETING)
			index->status = STATUS_ACTIVE;
	}
	return settled;
}

struct table *catalog_settle(struct catalog *catalog, struct str key, struct table *table,
			     int64_t now_ms)
{
	bool found;

	if (!is_due(table, now_ms))
		return table;
	pthread_rwlock_wrlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	struct table *known = found ? catalog->entries[at].table : NULL;
	struct table *settled =
		known && known != table && is_as_late(known, table) && !is_due(known, now_ms)
			? table_ref(known)
			: settled_of(table);
	if (known == table) {
		table_unref(known);
		catalog->entries[at].table = table_ref(settled);
	}
	pthread_rwlock_unlock(&catalog->lock);
	table_unref(table);
	return settled;
}

void catalog_drop_vectors(struct catalog *catalog, const struct table *current,
			  const struct table *next)
{
	for (size_t i = 0; i < current->indexes.vector_n; i++) {
		const struct index *after =
			next ? table_index_numbered(next, current->indexes.vectors[i].number)
			     : NULL;

		if (!after || !index_is_kept(after))
			vector_cache_drop(catalog->vector_memory,
					  index_keyspace(current, &current->indexes.vectors[i]));
	}
}
