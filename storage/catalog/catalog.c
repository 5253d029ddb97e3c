#include <stdlib.h>
#include <unistd.h>

#include "storage/catalog/catalog_internal.h"

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

bool catalog_is_shared(const struct catalog *catalog)
{
	return catalog->options.is_shared;
}

struct clocks *catalog_clocks(const struct catalog *catalog)
{
	return catalog->options.clocks;
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

void catalog_put(struct catalog *catalog, struct str key, struct table *table, uint64_t stamp)
{
	bool found;
	size_t at = catalog_position(catalog, key, &found);

	if (found) {
		table_unref(catalog->entries[at].table);
		catalog->entries[at].table = table;
		catalog->entries[at].stamp = stamp;
		return;
	}
	if (catalog->n == catalog->capacity) {
		catalog->capacity = catalog->capacity ? catalog->capacity * 2 : 16;
		catalog->entries = arena_checked(realloc(catalog->entries, catalog->capacity * sizeof(*catalog->entries)));
	}
	memmove(&catalog->entries[at + 1], &catalog->entries[at], (catalog->n - at) * sizeof(*catalog->entries));
	catalog->entries[at] = (struct entry){str_duplicate(key), table, stamp};
	catalog->n++;
	name_index_add(&catalog->by_name, catalog->entries[at].key);
}

void catalog_remove_at(struct catalog *catalog, size_t at)
{
	name_index_remove(&catalog->by_name, catalog->entries[at].key);
	free((void *)(uintptr_t)catalog->entries[at].key.p);
	table_unref(catalog->entries[at].table);
	catalog->n--;
	memmove(&catalog->entries[at], &catalog->entries[at + 1], (catalog->n - at) * sizeof(*catalog->entries));
}

enum code catalog_open(struct store *store, const struct catalog_options *options, struct catalog **out, struct err *err)
{
	struct catalog *catalog = arena_checked(calloc(1, sizeof(*catalog)));

	catalog->store = store;
	catalog->options = *options;
	catalog->vector_memory = vector_cache_memory_new(options->vector_memory_bytes);
	pthread_mutex_init(&catalog->change_lock, NULL);
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
	pthread_mutex_destroy(&catalog->change_lock);
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

/* The table with a reference, settled where its time has come; NULL where there is none. */
static struct table *look_up(struct catalog *catalog, struct str key, int64_t now_ms)
{
	struct table *table = NULL;
	bool found, settles;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = catalog_position(catalog, key, &found);
	found = found && !catalog_is_gone(catalog->entries[at].table, now_ms);
	settles = found && is_due(catalog->entries[at].table, now_ms);
	if (found && !settles)
		table = table_ref(catalog->entries[at].table);
	pthread_rwlock_unlock(&catalog->lock);
	if (!settles)
		return table;
	pthread_rwlock_wrlock(&catalog->lock);
	at = catalog_position(catalog, key, &found);
	if (found && is_due(catalog->entries[at].table, now_ms))
		settle_at(catalog, at);
	if (found && !catalog_is_gone(catalog->entries[at].table, now_ms))
		table = table_ref(catalog->entries[at].table);
	pthread_rwlock_unlock(&catalog->lock);
	return table;
}

enum code catalog_get(struct catalog *catalog, struct ns ns, struct str name, int64_t now_ms, struct table **out, struct err *err)
{
	struct str key = catalog_key(err->arena, catalog, ns, name);
	enum code code = OK;

	*out = look_up(catalog, key, now_ms);
	if (!*out) { /* another process may have made it */
		code = catalog_refresh(catalog, err);
		*out = code == OK ? look_up(catalog, key, now_ms) : NULL;
	}
	return code != OK || *out ? code : err_default(err, ERR_RESOURCE_NOT_FOUND);
}

bool catalog_holds(struct catalog *catalog, const struct table *table)
{
	struct arena *arena = arena_new(0);
	struct str key = catalog_key(arena, catalog, (struct ns){table->identity.account, table->identity.region}, table->identity.name);
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = catalog_position(catalog, key, &found);
	const struct table *own = found ? catalog->entries[at].table : NULL;
	found = own && own->identity.number == table->identity.number && own->currency.version == table->currency.version;
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

void catalog_drop_vectors(struct catalog *catalog, const struct table *current, const struct table *next)
{
	for (size_t i = 0; i < current->indexes.vector_n; i++) {
		const struct index *after = next ? table_index_numbered(next, current->indexes.vectors[i].number) : NULL;

		if (!after || !index_is_kept(after))
			vector_cache_drop(catalog->vector_memory, index_keyspace(current, &current->indexes.vectors[i]));
	}
}

/* When the work on the table's indexes begins, or what is left of a deleted table is to go; INT64_MAX where there is none. */
static int64_t work_begins(const struct table *table)
{
	int64_t begins = table->state.status == STATUS_DELETING ? table->state.settles_ms : INT64_MAX;

	for (size_t i = 0; i < table_index_total(table) && table->state.status != STATUS_DELETING; i++) {
		const struct index *index = table_index_at(table, i);

		if ((index->is_backfilling || index->status == STATUS_DELETING) && index->settles_ms < begins)
			begins = index->settles_ms;
	}
	return begins;
}

struct table *catalog_find_work(struct catalog *catalog, const struct times *times, size_t skipped, int64_t *now_ms, int64_t *wait_ms)
{
	struct table *found = NULL;

	*wait_ms = INT64_MAX;
	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = 0; i < catalog->n && !found; i++) {
		int64_t begins = work_begins(catalog->entries[i].table);

		if (begins == INT64_MAX || !times_tell(times, catalog->entries[i].table, now_ms))
			continue;
		if (begins <= *now_ms && skipped-- == 0)
			found = table_ref(catalog->entries[i].table);
		else if (begins > *now_ms && begins - *now_ms < *wait_ms)
			*wait_ms = begins - *now_ms;
	}
	pthread_rwlock_unlock(&catalog->lock);
	return found;
}

static bool is_wanted(const struct catalog *catalog, const struct table *table, const struct ns *ns, struct str name)
{
	return table->streams.n > 0 && (!str_is_set(name) || str_eq(table->identity.name, name)) &&
	       (!ns || catalog->options.is_shared || (str_eq(table->identity.account, ns->account) &&
						      str_eq(table->identity.region, ns->region)));
}

static size_t add_streamed(const struct catalog *catalog, const struct ns *ns, struct str name, struct table *table, struct arena *arena,
			   struct table ***tables, size_t n)
{
	if (!is_wanted(catalog, table, ns, name))
		return n;
	*tables = arena_room(arena, *tables, n, sizeof(**tables));
	(*tables)[n] = table_ref(table);
	return n + 1;
}

size_t catalog_streamed(struct catalog *catalog, const struct ns *ns, struct str name, struct arena *arena, struct table ***tables)
{
	bool is_one = ns && str_is_set(name), found;
	struct str key = ns ? catalog_key(arena, catalog, *ns, is_one ? name : STR("")) : STR("");
	size_t n = 0;

	*tables = NULL;
	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t i = catalog_position(catalog, key, &found); i < catalog->n && str_starts_with(catalog->entries[i].key, key); i++) {
		/* while a deleted table is still listed, its stream is the retired one's */
		if (catalog->entries[i].table->state.status != STATUS_DELETING)
			n = add_streamed(catalog, ns, name, catalog->entries[i].table, arena, tables, n);
		if (is_one)
			break;
	}
	for (size_t i = 0; i < catalog->retired.n; i++)
		n = add_streamed(catalog, ns, name, catalog->retired.tables[i], arena, tables, n);
	pthread_rwlock_unlock(&catalog->lock);
	return n;
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
		if (catalog_is_gone(catalog->entries[at].table, now_ms))
			continue;
		if (n == limit) {
			*more = true;
			break;
		}
		(*names)[n++] = str_copy(arena, catalog->entries[at].table->identity.name);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return n;
}

size_t catalog_with_ttl(struct catalog *catalog, struct arena *arena, struct table ***tables)
{
	size_t n = 0;

	pthread_rwlock_rdlock(&catalog->lock);
	*tables = ARENA_ARRAY(arena, struct table *, catalog->n);
	for (size_t i = 0; i < catalog->n; i++) {
		struct table *table = catalog->entries[i].table;

		if (table->ttl.is_enabled && table->state.status != STATUS_DELETING)
			(*tables)[n++] = table_ref(table);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return n;
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
		n += !catalog_is_gone(catalog->entries[at].table, now_ms);
	pthread_rwlock_unlock(&catalog->lock);
	arena_free(arena);
	return n;
}

struct elsewhere {
	const struct catalog *catalog;
	struct ns ns;
	const struct table *found;
};

static bool is_here_or_goes(void *context, struct str key)
{
	struct elsewhere *look = context;
	bool found;
	size_t at = catalog_position(look->catalog, key, &found);
	const struct table *table = look->catalog->entries[at].table;

	if (table->state.status == STATUS_DELETING || (str_eq(table->identity.account, look->ns.account) &&
						       str_eq(table->identity.region, look->ns.region)))
		return true;
	look->found = table;
	return false;
}

bool catalog_elsewhere(struct catalog *catalog, struct ns ns, struct str name, struct arena *arena, struct ns *where)
{
	struct elsewhere look = {.catalog = catalog, .ns = ns};

	pthread_rwlock_rdlock(&catalog->lock);
	name_index_walk(&catalog->by_name, name, is_here_or_goes, &look);
	if (look.found)
		*where = (struct ns){str_copy(arena, look.found->identity.account), str_copy(arena, look.found->identity.region)};
	pthread_rwlock_unlock(&catalog->lock);
	return look.found != NULL;
}
