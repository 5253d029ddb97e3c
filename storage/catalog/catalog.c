#include <stdlib.h>
#include <unistd.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/schema/currency.h"

uint64_t catalog_collection_max(const struct catalog *catalog)
{
	return catalog->options.collection_max ? catalog->options.collection_max : COLLECTION_SIZE_MAX;
}

struct store *catalog_store(struct catalog *catalog)
{
	return catalog->store;
}

const struct settings_records *catalog_settings(const struct catalog *catalog)
{
	return catalog->options.settings;
}

struct vector_memory *catalog_vector_memory(struct catalog *catalog)
{
	return catalog->vector_memory;
}

unsigned catalog_search_threads(const struct catalog *catalog)
{
	return catalog->options.search_threads;
}

size_t catalog_fill_max(const struct catalog *catalog)
{
	return catalog->options.fill_max;
}

uint64_t catalog_drop_max(const struct catalog *catalog)
{
	return catalog->options.drop_max ? catalog->options.drop_max : DROP_ROWS_MAX;
}

static size_t tables_max(const struct catalog *catalog)
{
	return catalog->options.tables_max ? catalog->options.tables_max : TABLES_IN_MEMORY_MAX;
}

bool catalog_is_shared(const struct catalog *catalog)
{
	return catalog->options.is_shared;
}

struct clocks *catalog_clocks(const struct catalog *catalog)
{
	return catalog->options.clocks;
}

const struct lag *catalog_lag(const struct catalog *catalog)
{
	return &catalog->options.lag;
}

const struct stream_rotation *catalog_rotation(const struct catalog *catalog)
{
	return &catalog->options.rotation;
}

struct str catalog_key(struct arena *arena, const struct catalog *catalog, struct ns ns, struct str name)
{
	struct buf buf = buf_in(arena);

	if (!catalog->options.is_shared) {
		buf_add_str(&buf, ns.account);
		buf_add_byte(&buf, 0);
		buf_add_str(&buf, ns.region);
	}
	buf_add_byte(&buf, 0);
	buf_add_str(&buf, name);
	return buf_str(&buf);
}

size_t catalog_position(const struct catalog *catalog, struct str key, bool *found)
{
	return str_search(catalog->entries, catalog->n, sizeof(*catalog->entries), key, found);
}

#define LOOKS_MAX 10            /* of one look-up: a table that others change all the time is given up */
#define EVICTION_LOOKS 4096 /* entries that are looked at for one to evict */
#define EVICTION_CANDIDATES 8
#define TRIMMED_AT_ONCE 100     /* snapshots, while look-ups wait */

/*
 * Takes one snapshot out of memory: of a few that nobody holds, the one that was asked for longest ago. The search goes on
 * where the last one ended. The lock is held for writing, so nobody else gets a reference meanwhile.
 */
static bool evict(struct catalog *catalog)
{
	struct entry *oldest = NULL;
	unsigned now = atomic_load_explicit(&catalog->clock, memory_order_relaxed), candidates = 0;

	for (size_t looks = 0; looks < EVICTION_LOOKS && looks < catalog->n && candidates < EVICTION_CANDIDATES; looks++) {
		struct entry *entry = &catalog->entries[catalog->hand++ % catalog->n];

		if (!entry->table || atomic_load(&entry->table->refs) != 1)
			continue;
		candidates++;
		if (!oldest || now - atomic_load(&entry->used) > now - atomic_load(&oldest->used))
			oldest = entry;
	}
	if (!oldest)
		return false;
	table_unref(oldest->table);
	oldest->table = NULL;
	catalog->in_memory--;
	return true;
}

void catalog_trim(struct catalog *catalog)
{
	bool is_over = true;

	while (is_over) {
		pthread_rwlock_wrlock(&catalog->lock);
		for (int i = 0; i < TRIMMED_AT_ONCE && is_over; i++)
			is_over = catalog->in_memory > tables_max(catalog) && evict(catalog);
		pthread_rwlock_unlock(&catalog->lock);
	}
}

/* The place of the key, made where there is none. */
static struct entry *place(struct catalog *catalog, struct str key)
{
	bool found;
	size_t at = catalog_position(catalog, key, &found);

	if (found)
		return &catalog->entries[at];
	if (catalog->n == catalog->capacity) {
		catalog->capacity = catalog->capacity ? catalog->capacity * 2 : 16;
		catalog->entries = arena_checked(realloc(catalog->entries, catalog->capacity * sizeof(*catalog->entries)));
	}
	memmove((void *)&catalog->entries[at + 1], (void *)&catalog->entries[at], (catalog->n - at) * sizeof(*catalog->entries));
	catalog->entries[at] = (struct entry){.key = str_duplicate(key)};
	catalog->n++;
	name_index_add(&catalog->by_name, catalog->entries[at].key);
	return &catalog->entries[at];
}

static void take_out(struct catalog *catalog, struct entry *entry)
{
	catalog->in_memory -= entry->table != NULL;
	table_unref(entry->table);
	entry->table = NULL;
}

void catalog_put(struct catalog *catalog, struct str key, struct table *table, uint64_t stamp)
{
	struct entry *entry = place(catalog, key);

	take_out(catalog, entry);
	entry->table = table;
	entry->brief = table_brief_of(table);
	entry->stamp = stamp;
	atomic_store(&entry->used, atomic_load(&catalog->clock));
	catalog->in_memory++;
	if (catalog->in_memory > tables_max(catalog))
		(void)evict(catalog);
}

void catalog_put_brief(struct catalog *catalog, struct str key, const struct table_brief *brief, uint64_t stamp)
{
	struct entry *entry = place(catalog, key);

	take_out(catalog, entry);
	entry->brief = *brief;
	entry->stamp = stamp;
}

void catalog_remove_at(struct catalog *catalog, size_t at)
{
	struct entry *entry = &catalog->entries[at];

	name_index_remove(&catalog->by_name, entry->key);
	free((void *)(uintptr_t)entry->key.p);
	take_out(catalog, entry);
	catalog->n--;
	memmove((void *)entry, (void *)(entry + 1), (catalog->n - at) * sizeof(*entry));
}

enum code catalog_open(struct store *store, const struct catalog_options *options, struct catalog **out, struct err *err)
{
	struct catalog *catalog = arena_checked(calloc(1, sizeof(*catalog)));

	catalog->store = store;
	catalog->options = *options;
	catalog->vector_memory = vector_cache_memory_new(options->vector_memory_bytes);
	pthread_rwlock_init(&catalog->lock, NULL);
	catalog->version = CATALOG_UNKNOWN;
	catalog_sizes_open(catalog);
	enum code code = catalog_refresh(catalog, err);
	if (code == OK)
		code = catalog_mend_versions(catalog, err);
	if (code == OK && !options->has_peers)
		code = catalog_orphans_take(catalog, 0, err);
	if (code != OK) {
		catalog_close(catalog);
		return code;
	}
	*out = catalog;
	return OK;
}

/* What fails to get into the rows leaves its mark, and is counted at the next start. */
static void flush_at_the_end(struct catalog *catalog)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	if (catalog_size_flush(catalog, &err) != OK)
		arena_reset(arena);
	arena_free(arena);
}

void catalog_close(struct catalog *catalog)
{
	if (!catalog)
		return;
	flush_at_the_end(catalog);
	catalog_sizes_close(catalog);
	while (catalog->n > 0)
		catalog_remove_at(catalog, catalog->n - 1);
	free(catalog->entries);
	name_index_free(&catalog->by_name);
	retired_clear(&catalog->retired);
	vector_cache_memory_free(catalog->vector_memory);
	pthread_rwlock_destroy(&catalog->lock);
	free(catalog);
}

static bool is_due(const struct table *table, int64_t now_ms)
{
	return table->state.settles_ms > 0 && table->state.settles_ms <= now_ms && table->state.status != STATUS_DELETING;
}

/* Puts what a transient status turned into in place of it. Called with the lock held for writing. */
static void settle_at(struct catalog *catalog, size_t at)
{
	struct table *table = catalog->entries[at].table;
	struct table *settled = table_clone(table);
	settled->state.status = STATUS_ACTIVE;
	settled->state.settles_ms = 0;
	for (size_t i = 0; i < table_index_total(settled); i++) {
		struct index *index = table_index_at(settled, i);

		/* those of a live table settle when their work is done */
		if (!index->is_backfilling && index->status != STATUS_DELETING)
			index->status = STATUS_ACTIVE;
	}
	catalog->entries[at].table = settled;
	table_unref(table);
}

/* The snapshot as it is in memory, with a reference; NULL where there is none there. *is_known: there is such a table. The lock is held. */
static struct table *in_memory(struct catalog *catalog, struct str key, int64_t now_ms, bool *is_known, size_t *at)
{
	*at = catalog_position(catalog, key, is_known);
	*is_known = *is_known && catalog->entries[*at].brief.gone_ms > now_ms;
	struct entry *entry = *is_known ? &catalog->entries[*at] : NULL;

	if (!entry || !entry->table)
		return NULL;
	/* whoever comes second counts no look-up: that saves a write to memory that all share */
	unsigned now = atomic_load_explicit(&catalog->clock, memory_order_relaxed);
	if (atomic_load_explicit(&entry->used, memory_order_relaxed) != now)
		atomic_store_explicit(&entry->used, now, memory_order_relaxed);
	return table_ref(entry->table);
}

/* The same settled where its time has come. */
static struct table *look_up(struct catalog *catalog, struct str key, int64_t now_ms, bool *is_known)
{
	struct table *table;
	size_t at;

	pthread_rwlock_rdlock(&catalog->lock);
	table = in_memory(catalog, key, now_ms, is_known, &at);
	pthread_rwlock_unlock(&catalog->lock);
	if (!table || !is_due(table, now_ms))
		return table;
	table_unref(table);
	pthread_rwlock_wrlock(&catalog->lock);
	table = in_memory(catalog, key, now_ms, is_known, &at);
	if (table && is_due(table, now_ms)) {
		table_unref(table);
		settle_at(catalog, at);
		table = table_ref(catalog->entries[at].table);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return table;
}

/*
 * What the store has under the key at a version of the catalog: a snapshot, or nothing (NULL). An entry of a later version stays. Gives the snapshot
 * that is in memory then, or the one that was read.
 */
static struct table *install(struct catalog *catalog, struct str key, struct table *table, uint64_t version)
{
	bool found;

	if (table)
		catalog_size_adopt(catalog, table);
	pthread_rwlock_wrlock(&catalog->lock);
	size_t at = catalog_position(catalog, key, &found);
	struct entry *entry = found ? &catalog->entries[at] : NULL;
	if (entry && entry->table) {
		table_unref(table);
		table = table_ref(entry->table);
	} else if (entry && entry->stamp <= version && !table) {
		catalog_remove_at(catalog, at);
	} else if (entry && entry->stamp <= version) {
		atomic_fetch_add(&catalog->clock, 1); /* whoever is asked for from now on is younger than those that were not since the last load */
		catalog_put(catalog, key, table_ref(table), entry->stamp);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return table;
}

enum code catalog_load(struct catalog *catalog, struct str key, struct table **out, struct err *err)
{
	struct store_txn *txn;
	uint64_t version;
	bool is_known;
	size_t at;

	pthread_rwlock_rdlock(&catalog->lock);
	*out = in_memory(catalog, key, INT64_MIN, &is_known, &at);
	pthread_rwlock_unlock(&catalog->lock);
	if (*out || !is_known)
		return OK;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);
	if (code != OK)
		return code;
	code = currency_catalog(txn, &version, err); /* first: what is read after it is not older */
	if (code == OK)
		code = catalog_stored(catalog, txn, key, out, err);
	store_abort(txn);
	if (code == OK)
		*out = install(catalog, key, *out, version);
	return code;
}

enum code catalog_get(struct catalog *catalog, struct ns ns, struct str name, int64_t now_ms, struct table **out, struct err *err)
{
	struct str key = catalog_key(err->arena, catalog, ns, name);
	bool is_known, is_fresh = false;

	for (int i = 0; i < LOOKS_MAX; i++) {
		struct table *loaded = NULL;
		enum code code = OK;

		*out = look_up(catalog, key, now_ms, &is_known);
		if (*out)
			return OK;
		if (!is_known && is_fresh)
			break;
		if (is_known)
			code = catalog_load(catalog, key, &loaded, err);
		if (code == OK && (!loaded || i > 0)) { /* another process may have made, changed or deleted it */
			code = catalog_refresh(catalog, err);
			is_fresh = true;
		}
		table_unref(loaded);
		if (code != OK)
			return code;
	}
	return err_default(err, is_known ? ERR_STORE_UNAVAILABLE : ERR_RESOURCE_NOT_FOUND); /* it is changed faster than we look */
}

bool catalog_holds(struct catalog *catalog, const struct table *table)
{
	struct arena *arena = arena_new(0);
	struct str key = catalog_key(arena, catalog, (struct ns){table->identity.account, table->identity.region}, table->identity.name);
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = catalog_position(catalog, key, &found);
	const struct table_brief *own = found ? &catalog->entries[at].brief : NULL;
	found = own && own->number == table->identity.number && own->version == table->currency.version;
	pthread_rwlock_unlock(&catalog->lock);
	arena_free(arena);
	return found;
}

struct str catalog_uuid(struct arena *arena)
{
	unsigned char b[16];

	if (getentropy(b, sizeof(b)) != 0)
		memset(b, 0, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
	return str_printf(arena, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5],
			  b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

struct str catalog_progress_key(struct arena *arena, const struct table *table, const struct index *index)
{
	return str_printf(arena, "backfill/%llu/%u", (unsigned long long)table->identity.number, (unsigned)index->number);
}

struct str catalog_expiry_progress_key(struct arena *arena, const struct table *table)
{
	return str_printf(arena, "backfill/%llu/expiry", (unsigned long long)table->identity.number);
}

void catalog_drop_vectors(struct catalog *catalog, const struct table *current, const struct table *next)
{
	for (size_t i = 0; i < current->indexes.vector_n; i++) {
		const struct index *after = next ? table_index_numbered(next, current->indexes.vectors[i].number) : NULL;

		if (!after || !index_is_kept(after))
			vector_cache_drop(catalog->vector_memory, index_keyspace(current, &current->indexes.vectors[i]));
	}
}

/* The keys of tables of which something is known. */
struct keys {
	size_t n;
	struct str *v;
};

typedef bool key_filter(const struct entry *entry, const void *context);

/* Of those whose keys begin with the prefix, or, where one is wanted, of the first of them. */
static struct keys keys_of(struct catalog *catalog, struct arena *arena, struct str prefix, bool is_one, key_filter *is_wanted, const void *context)
{
	struct keys keys = {0, NULL};
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t first = catalog_position(catalog, prefix, &found);
	for (size_t i = first; i < catalog->n && str_starts_with(catalog->entries[i].key, prefix) && (!is_one || i == first); i++) {
		if (!is_wanted(&catalog->entries[i], context))
			continue;
		keys.v = arena_room(arena, keys.v, keys.n, sizeof(*keys.v));
		keys.v[keys.n++] = str_copy(arena, catalog->entries[i].key);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return keys;
}

/* Adds the snapshots of the keys to the list, which has room for them; what is gone meanwhile is left out. Empties the list where one cannot be read. */
static enum code load_all(struct catalog *catalog, const struct keys *keys, struct table_list *tables, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < keys->n && code == OK; i++) {
		code = catalog_load(catalog, keys->v[i], &tables->v[tables->n], err);
		tables->n += code == OK && tables->v[tables->n];
	}
	if (code == OK)
		return OK;
	for (size_t i = 0; i < tables->n; i++)
		table_unref(tables->v[i]);
	tables->n = 0;
	return code;
}

static bool has_work(const struct entry *entry, const void *context)
{
	(void)context;
	return entry->brief.work_ms != INT64_MAX;
}

enum code catalog_find_work(struct catalog *catalog, const struct times *times, size_t skipped, struct table **table, int64_t *now_ms, int64_t *wait_ms,
			    struct err *err)
{
	struct arena *arena = arena_new(0);
	struct keys keys = keys_of(catalog, arena, STR(""), false, has_work, NULL);
	struct table_list tables = {0, ARENA_ARRAY(arena, struct table *, keys.n)};
	enum code code = load_all(catalog, &keys, &tables, err);

	*table = NULL;
	*wait_ms = INT64_MAX;
	for (size_t i = 0; i < tables.n; i++) {
		int64_t begins = table_brief_of(tables.v[i]).work_ms;

		if (!*table && begins != INT64_MAX && times_tell(times, tables.v[i], now_ms)) {
			if (begins <= *now_ms && skipped-- == 0)
				*table = table_ref(tables.v[i]);
			else if (begins > *now_ms && begins - *now_ms < *wait_ms)
				*wait_ms = begins - *now_ms;
		}
		table_unref(tables.v[i]);
	}
	arena_free(arena);
	return code;
}

struct stream_look {
	struct catalog *catalog;
	const struct ns *ns;
	struct str name;
};

static struct str name_in(struct str key)
{
	size_t at = key.n;

	while (at > 0 && key.p[at - 1] != 0)
		at--;
	return (struct str){key.p + at, key.n - at};
}

static bool has_stream(const struct entry *entry, const void *context)
{
	const struct stream_look *look = context;

	/* while a deleted table is still listed, its stream is the retired one's */
	return entry->brief.has_stream && entry->brief.gone_ms == INT64_MAX && (!str_is_set(look->name) || str_eq(name_in(entry->key), look->name));
}

static bool is_retired_wanted(const struct table *table, const struct stream_look *look)
{
	return (!str_is_set(look->name) || str_eq(table->identity.name, look->name)) &&
	       (!look->ns || look->catalog->options.is_shared ||
		(str_eq(table->identity.account, look->ns->account) && str_eq(table->identity.region, look->ns->region)));
}

enum code catalog_streamed(struct catalog *catalog, const struct ns *ns, struct str name, struct arena *arena, struct table_list *tables,
			   struct err *err)
{
	struct stream_look look = {catalog, ns, name};
	bool is_one = ns && str_is_set(name);
	struct str prefix = ns ? catalog_key(arena, catalog, *ns, is_one ? name : STR("")) : STR("");
	struct keys keys = keys_of(catalog, arena, prefix, is_one, has_stream, &look);
	struct table **retired;
	size_t n = 0;

	pthread_rwlock_rdlock(&catalog->lock);
	retired = ARENA_ARRAY(arena, struct table *, catalog->retired.n);
	for (size_t i = 0; i < catalog->retired.n; i++) {
		if (is_retired_wanted(catalog->retired.tables[i], &look))
			retired[n++] = table_ref(catalog->retired.tables[i]);
	}
	pthread_rwlock_unlock(&catalog->lock);
	*tables = (struct table_list){0, ARENA_ARRAY(arena, struct table *, keys.n + n)};
	enum code code = load_all(catalog, &keys, tables, err);
	for (size_t i = 0; i < n; i++) {
		if (code == OK)
			tables->v[tables->n++] = retired[i];
		else
			table_unref(retired[i]);
	}
	return code;
}

size_t catalog_list(struct catalog *catalog, struct ns ns, struct str after, size_t limit, int64_t now_ms, struct arena *arena, struct str **names,
		    bool *more)
{
	struct str prefix = catalog_key(arena, catalog, ns, STR("")), from = catalog_key(arena, catalog, ns, after);
	size_t n = 0;
	bool found;

	*more = false;
	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = catalog_position(catalog, from, &found);
	if (found)
		at++;
	*names = ARENA_ARRAY(arena, struct str, limit < catalog->n ? limit : catalog->n);
	for (; at < catalog->n && str_starts_with(catalog->entries[at].key, prefix); at++) {
		if (catalog->entries[at].brief.gone_ms <= now_ms)
			continue;
		if (n == limit) {
			*more = true;
			break;
		}
		(*names)[n++] = str_copy(arena, name_in(catalog->entries[at].key));
	}
	pthread_rwlock_unlock(&catalog->lock);
	return n;
}

static bool has_ttl(const struct entry *entry, const void *context)
{
	(void)context;
	return entry->brief.has_ttl && entry->brief.gone_ms == INT64_MAX;
}

enum code catalog_with_ttl(struct catalog *catalog, struct arena *arena, struct table_list *tables, struct err *err)
{
	struct keys keys = keys_of(catalog, arena, STR(""), false, has_ttl, NULL);

	*tables = (struct table_list){0, ARENA_ARRAY(arena, struct table *, keys.n)};
	return load_all(catalog, &keys, tables, err);
}

static bool is_global(const struct entry *entry, const void *context)
{
	(void)context;
	return entry->brief.is_global && entry->brief.gone_ms == INT64_MAX;
}

enum code catalog_with_replicas(struct catalog *catalog, const struct ns *ns, struct arena *arena, struct table_list *tables, struct err *err)
{
	struct str prefix = ns ? str_printf(arena, STR_FMT "%c", STR_ARG(ns->account), 0) : STR("");
	struct keys keys = keys_of(catalog, arena, prefix, false, is_global, NULL);

	*tables = (struct table_list){0, ARENA_ARRAY(arena, struct table *, keys.n)};
	return load_all(catalog, &keys, tables, err);
}

int64_t catalog_replication_lag_ms(const struct catalog *catalog)
{
	return catalog->options.replication_lag_ms;
}

int64_t catalog_transient_ms(const struct catalog *catalog)
{
	return catalog->options.transient_status_ms;
}

size_t catalog_count(struct catalog *catalog, struct ns ns, int64_t now_ms)
{
	struct arena *arena = arena_new(0);
	struct str prefix = catalog_key(arena, catalog, ns, STR(""));
	size_t n = 0;
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t at = catalog_position(catalog, prefix, &found); at < catalog->n && str_starts_with(catalog->entries[at].key, prefix); at++)
		n += catalog->entries[at].brief.gone_ms > now_ms;
	pthread_rwlock_unlock(&catalog->lock);
	arena_free(arena);
	return n;
}

struct elsewhere {
	const struct catalog *catalog;
	struct str own;   /* what the keys of the namespace begin with */
	struct str found; /* a key of another one */
};

static bool is_here_or_goes(void *context, struct str key)
{
	struct elsewhere *look = context;
	bool found;
	size_t at = catalog_position(look->catalog, key, &found);

	if (look->catalog->entries[at].brief.gone_ms != INT64_MAX || str_starts_with(key, look->own))
		return true;
	look->found = key;
	return false;
}

bool catalog_elsewhere(struct catalog *catalog, struct ns ns, struct str name, struct arena *arena, struct ns *where)
{
	struct elsewhere look = {.catalog = catalog, .own = catalog_key(arena, catalog, ns, STR(""))};

	pthread_rwlock_rdlock(&catalog->lock);
	name_index_walk(&catalog->by_name, name, is_here_or_goes, &look);
	struct str key = str_is_set(look.found) ? str_copy(arena, look.found) : STR_ABSENT;
	pthread_rwlock_unlock(&catalog->lock);
	const char *end = str_is_set(key) ? memchr(key.p, 0, key.n) : NULL;
	if (!end)
		return false;
	size_t account = (size_t)(end - key.p);
	*where = (struct ns){{key.p, account}, {end + 1, key.n - account - 2 - name.n}};
	return true;
}
