#include "storage/catalog/catalog.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "storage/expiry.h"
#include "storage/messages.h"
#include "storage/catalog/name_index.h"
#include "storage/catalog/retired.h"

/* The snapshots, in byte order of their keys: account NUL region NUL name. */
struct entry {
	struct str key; /* malloced */
	struct table *table;
};

struct catalog {
	struct store *store;
	struct vector_memory *vector_memory;
	struct catalog_options options;
	pthread_rwlock_t lock;
	size_t n, capacity;
	struct entry *entries;
	struct name_index by_name;
	struct retired retired; /* deleted tables whose streams are kept */
};

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};

uint64_t catalog_collection_max(const struct catalog *catalog)
{
	return catalog->options.collection_max ? catalog->options.collection_max : COLLECTION_SIZE_MAX;
}

struct store *catalog_store(struct catalog *catalog)
{
	return catalog->store;
}

struct vector_memory *catalog_vector_memory(struct catalog *catalog)
{
	return catalog->vector_memory;
}

unsigned catalog_search_threads(const struct catalog *catalog)
{
	return catalog->options.search_threads;
}

uint64_t catalog_drop_max(const struct catalog *catalog)
{
	return catalog->options.drop_max ? catalog->options.drop_max : DROP_ROWS_MAX;
}

bool catalog_is_shared(const struct catalog *catalog)
{
	return catalog->options.is_shared;
}

const struct stream_rotation *catalog_rotation(const struct catalog *catalog)
{
	return &catalog->options.rotation;
}

static struct str key_of(struct arena *arena, const struct catalog *catalog, struct ns ns, struct str name)
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

/* Position of the key, or where it would stand. */
static size_t position(const struct catalog *catalog, struct str key, bool *found)
{
	size_t low = 0, high = catalog->n;

	*found = false;
	while (low < high && !*found) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(catalog->entries[middle].key, key);

		if (order == 0) {
			*found = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void insert(struct catalog *catalog, struct str key, struct table *table)
{
	bool found;
	size_t at = position(catalog, key, &found);

	if (catalog->n == catalog->capacity) {
		catalog->capacity = catalog->capacity ? catalog->capacity * 2 : 16;
		catalog->entries = arena_checked(realloc(catalog->entries, catalog->capacity * sizeof(*catalog->entries)));
	}
	char *copy = arena_checked(malloc(key.n));

	memcpy(copy, key.p, key.n);
	memmove(&catalog->entries[at + 1], &catalog->entries[at], (catalog->n - at) * sizeof(*catalog->entries));
	catalog->entries[at] = (struct entry){{copy, key.n}, table};
	catalog->n++;
	name_index_add(&catalog->by_name, catalog->entries[at].key);
}

static void remove_at(struct catalog *catalog, size_t at)
{
	name_index_remove(&catalog->by_name, catalog->entries[at].key);
	free((void *)(uintptr_t)catalog->entries[at].key.p);
	table_unref(catalog->entries[at].table);
	catalog->n--;
	memmove(&catalog->entries[at], &catalog->entries[at + 1], (catalog->n - at) * sizeof(*catalog->entries));
}

struct load {
	struct catalog *catalog;
	struct err *err;
	enum code code;
};

/* There is nothing in it: yet, or any more. */
static void count_nothing(struct table *table)
{
	atomic_store(&table->size->is_counted, true);
	for (size_t i = 0; i < table_index_total(table); i++)
		atomic_store(&table_index_at(table, i)->size->is_counted, true);
}

static bool load_table(void *context, struct str key, struct str record)
{
	struct load *load = context;
	struct table *table;

	load->code = table_decode(record, load->catalog->options.settings, &table, load->err);
	if (load->code == OK && table->status == STATUS_DELETING)
		count_nothing(table);
	if (load->code == OK && retired_is_key(key))
		retired_add(&load->catalog->retired, table);
	else if (load->code == OK)
		insert(load->catalog, key, table);
	return load->code == OK;
}

enum code catalog_open(struct store *store, const struct catalog_options *options, struct catalog **out, struct err *err)
{
	struct catalog *catalog = arena_checked(calloc(1, sizeof(*catalog)));
	struct store_range all = {{NULL, 0}, {NULL, 0}, false};
	struct load load = {catalog, err, OK};
	struct store_txn *txn;

	catalog->store = store;
	catalog->options = *options;
	catalog->vector_memory = vector_cache_memory_new(options->vector_memory_bytes);
	pthread_rwlock_init(&catalog->lock, NULL);
	enum code code = store_begin(store, STORE_READ, &txn, err);
	if (code == OK) {
		code = store_scan(txn, tables_keyspace, &all, load_table, &load, err);
		store_abort(txn);
	}
	if (code == OK)
		code = load.code;
	if (code != OK) {
		catalog_close(catalog);
		return code;
	}
	*out = catalog;
	return OK;
}

void catalog_close(struct catalog *catalog)
{
	if (!catalog)
		return;
	while (catalog->n > 0)
		remove_at(catalog, catalog->n - 1);
	free(catalog->entries);
	name_index_free(&catalog->by_name);
	retired_clear(&catalog->retired);
	vector_cache_memory_free(catalog->vector_memory);
	pthread_rwlock_destroy(&catalog->lock);
	free(catalog);
}

/* A deleted table stays listed until its transient status is over; what is left of it then is nothing to those who look. */
static bool is_gone(const struct table *table, int64_t now_ms)
{
	return table->status == STATUS_DELETING && table->settles_ms <= now_ms;
}

static bool is_due(const struct table *table, int64_t now_ms)
{
	return table->settles_ms > 0 && table->settles_ms <= now_ms && table->status != STATUS_DELETING;
}

/* Puts what a transient status turned into in place of it. Called with the lock held for writing. */
static void settle_at(struct catalog *catalog, size_t at)
{
	struct table *table = catalog->entries[at].table;
	struct table *settled = table_clone(table);
	settled->status = STATUS_ACTIVE;
	settled->settles_ms = 0;
	for (size_t i = 0; i < table_index_total(settled); i++) {
		struct index *index = table_index_at(settled, i);

		/* those of a live table settle when their work is done */
		if (!index->is_backfilling && index->status != STATUS_DELETING)
			index->status = STATUS_ACTIVE;
	}
	table_join(settled, table);
	catalog->entries[at].table = settled;
	table_unref(table);
}

enum code catalog_get(struct catalog *catalog, struct ns ns, struct str name, int64_t now_ms, struct table **out, struct err *err)
{
	struct str key = key_of(err->arena, catalog, ns, name);
	bool found, settles;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	found = found && !is_gone(catalog->entries[at].table, now_ms);
	settles = found && is_due(catalog->entries[at].table, now_ms);
	if (found && !settles)
		*out = table_ref(catalog->entries[at].table);
	pthread_rwlock_unlock(&catalog->lock);
	if (settles) {
		pthread_rwlock_wrlock(&catalog->lock);
		at = position(catalog, key, &found);
		if (found && is_due(catalog->entries[at].table, now_ms))
			settle_at(catalog, at);
		pthread_rwlock_unlock(&catalog->lock);
		return catalog_get(catalog, ns, name, now_ms, out, err);
	}
	return found ? OK : err_default(err, ERR_RESOURCE_NOT_FOUND);
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

/* The next table number; the counter is a decimal text. */
static enum code next_number(struct store_txn *txn, struct arena *arena, uint64_t *number, struct err *err)
{
	struct str key = STR("table"), value;
	enum code code = store_get(txn, counters_keyspace, key, arena, &value, err);

	if (code != OK)
		return code;
	*number = (str_is_set(value) ? strtoull(value.p, NULL, 10) : 0) + 1;
	return store_put(txn, counters_keyspace, key, str_printf(arena, "%llu", (unsigned long long)*number), err);
}

/* The table that the store has under the key, with a reference for the caller; NULL where there is none. */
static enum code stored(const struct catalog *catalog, struct store_txn *txn, struct str key, struct table **out, struct err *err)
{
	struct str record;
	enum code code = store_get(txn, tables_keyspace, key, err->arena, &record, err);

	*out = NULL;
	return code == OK && str_is_set(record) ? table_decode(record, catalog->options.settings, out, err) : code;
}

static enum code create_in_store(const struct catalog *catalog, struct store_txn *txn, struct arena *arena, struct str key, struct table *table,
				 struct err *err)
{
	struct table *known;
	/* the store knows of a creation that is committed and not yet published */
	enum code code = stored(catalog, txn, key, &known, err);

	if (code == OK && known && !is_gone(known, table->created_ms))
		code = err_default(err, ERR_RESOURCE_IN_USE);
	table_unref(known);
	if (code == OK)
		code = next_number(txn, arena, &table->number, err);
	if (code == OK)
		code = store_create(txn, table_items(table), err);
	for (size_t i = 0; i < table_index_total(table) && code == OK; i++)
		code = store_create(txn, index_keyspace(table, table_index_at(table, i)), err);
	if (code == OK)
		code = stream_change_table(txn, arena, NULL, table, err);
	return code == OK ? store_put(txn, tables_keyspace, key, table_encode(arena, table), err) : code;
}

static void fill_new(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms)
{
	int64_t transient = catalog->options.transient_status_ms;
	int64_t settles_ms = table->settles_ms > now_ms ? table->settles_ms : transient > 0 ? now_ms + transient : 0;

	table->account = str_copy(table->arena, ns.account);
	table->region = str_copy(table->arena, ns.region);
	table->id = catalog_uuid(table->arena);
	table->created_ms = now_ms;
	table->status = settles_ms > 0 ? STATUS_CREATING : STATUS_ACTIVE;
	table->settles_ms = settles_ms;
	table->next_index = (uint32_t)table_index_total(table);
	table->hash = KEY_HASH_MD5;
	for (size_t i = 0; i < table_index_total(table); i++) {
		struct index *index = table_index_at(table, i);

		index->number = (uint32_t)i;
		index->status = table->status;
		if (!index->size)
			index->size = size_counter_new();
		table_index_settle(table, index);
	}
	count_nothing(table);
}

enum code catalog_create(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms, struct table **out, struct err *err)
{
	struct arena *arena = err->arena;
	struct str key = key_of(arena, catalog, ns, table->name);
	struct store_txn *txn;
	bool found;

	fill_new(catalog, ns, table, now_ms);
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);
	if (code != OK) {
		table_unref(table);
		return code;
	}
	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = position(catalog, key, &found);
	found = found && !is_gone(catalog->entries[at].table, now_ms);
	pthread_rwlock_unlock(&catalog->lock);
	code = found ? err_default(err, ERR_RESOURCE_IN_USE) : create_in_store(catalog, txn, arena, key, table, err);
	if (code != OK) {
		store_abort(txn);
		table_unref(table);
		return code;
	}
	code = store_commit_for_good(txn, err);
	if (code != OK) {
		table_unref(table);
		return code;
	}
	pthread_rwlock_wrlock(&catalog->lock);
	at = position(catalog, key, &found);
	if (found) /* the remains of a deleted one */
		remove_at(catalog, at);
	insert(catalog, key, table);
	*out = table_ref(table);
	pthread_rwlock_unlock(&catalog->lock);
	return OK;
}

/* Whether `table` is the snapshot in place; *at is where. The lock must be held. */
static bool is_current(const struct catalog *catalog, struct str key, const struct table *table, size_t *at)
{
	bool found;

	*at = position(catalog, key, &found);
	return found && catalog->entries[*at].table == table;
}

/* The same before a change is worked out, which may take a while: readers must not wait for it. */
static enum code check_current(struct catalog *catalog, struct str key, const struct table *table, struct err *err)
{
	size_t at;

	pthread_rwlock_rdlock(&catalog->lock);
	bool is_fine = is_current(catalog, key, table, &at);
	pthread_rwlock_unlock(&catalog->lock);
	return is_fine ? OK : err_default(err, ERR_CONFLICT);
}

struct str catalog_progress_key(struct arena *arena, const struct table *table, const struct index *index)
{
	return str_printf(arena, "backfill/%llu/%u", (unsigned long long)table->number, (unsigned)index->number);
}

/* When the work on the table's indexes begins, or what is left of a deleted table is to go; INT64_MAX where there is none. */
static int64_t work_begins(const struct table *table)
{
	int64_t begins = table->status == STATUS_DELETING ? table->settles_ms : INT64_MAX;

	for (size_t i = 0; i < table_index_total(table) && table->status != STATUS_DELETING; i++) {
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

/* Creates and drops index keyspaces so that the store has what `next` says. */
static enum code change_indexes(struct store_txn *txn, struct arena *arena, const struct table *current, struct table *next,
				struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < table_index_total(current) && code == OK; i++) {
		const struct index *index = table_index_at(current, i), *after = table_index_numbered(next, index->number);

		if (!after)
			code = store_drop(txn, index_keyspace(current, index), err);
		if (code == OK && index->is_backfilling && !(after && after->is_backfilling))
			code = store_del(txn, counters_keyspace, catalog_progress_key(arena, current, index), err);
	}
	for (size_t i = 0; i < table_index_total(next) && code == OK; i++) {
		struct index *index = table_index_at(next, i);

		if (table_index_numbered(current, index->number))
			continue;
		index->status = STATUS_CREATING;
		index->is_backfilling = true;
		atomic_store(&index->size->is_counted, true); /* nothing in it yet */
		code = store_create(txn, index_keyspace(next, index), err);
	}
	return code;
}

/* The same for the expiry keyspace. */
static enum code change_expiry(struct store_txn *txn, struct arena *arena, const struct table *current, const struct table *next, struct err *err)
{
	enum code code = OK;

	if (current->is_ttl_enabled && next->is_ttl_enabled && str_eq(current->ttl_attribute, next->ttl_attribute))
		return OK;
	if (current->is_ttl_enabled)
		code = store_drop(txn, table_expiry(current), err);
	if (code == OK && next->is_ttl_enabled)
		code = store_create(txn, table_expiry(next), err);
	return code == OK && next->is_ttl_enabled ? expiry_fill(txn, arena, next, err) : code;
}

/* What is in memory of vector indexes that `next` (NULL: no table) has no more. */
static void drop_vectors(struct catalog *catalog, const struct table *current, const struct table *next)
{
	for (size_t i = 0; i < current->vector_count; i++) {
		const struct index *after = next ? table_index_numbered(next, current->vectors[i].number) : NULL;

		if (!after || !index_is_kept(after))
			vector_cache_drop(catalog->vector_memory, index_keyspace(current, &current->vectors[i]));
	}
}

/*
 * Commits what takes the place of `current`, which is at *at then: `next`, or nothing (NULL). Ends the transaction in any case. The lock is
 * held for writing.
 */
static enum code commit_over(struct catalog *catalog, struct store_txn *txn, struct str key, struct table *current, struct table *next, size_t *at,
			     struct err *err)
{
	bool is_alike = next && table_is_alike(current, next); /* writers need not come again for a tag */

	if (!is_current(catalog, key, current, at)) {
		store_abort(txn);
		return err_default(err, ERR_CONFLICT);
	}
	/* before the commit ends the wait of other writers: they see it when their transaction begins */
	atomic_store(&current->supersession->is_set, !is_alike);
	enum code code = store_commit_for_good(txn, err);
	if (code != OK)
		atomic_store(&current->supersession->is_set, false);
	else if (is_alike)
		table_join(next, current);
	return code;
}

/* Commits and puts `next` in place of `current`; ends the transaction in any case. */
static enum code publish(struct catalog *catalog, struct store_txn *txn, struct str key, struct table *current, struct table *next,
			 struct err *err)
{
	size_t at;

	pthread_rwlock_wrlock(&catalog->lock);
	enum code code = commit_over(catalog, txn, key, current, next, &at, err);
	if (code == OK) {
		drop_vectors(catalog, current, next);
		catalog->entries[at].table = next;
		table_unref(current);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return code;
}

enum code catalog_replace(struct catalog *catalog, struct table *current, struct table *next, struct err *err)
{
	struct str key = key_of(err->arena, catalog, (struct ns){current->account, current->region}, current->name);
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK) {
		table_unref(next);
		return code;
	}
	code = check_current(catalog, key, current, err);
	if (code == OK)
		code = change_indexes(txn, err->arena, current, next, err);
	if (code == OK)
		code = change_expiry(txn, err->arena, current, next, err);
	if (code == OK)
		code = stream_change_table(txn, err->arena, current, next, err);
	if (code == OK)
		code = store_put(txn, tables_keyspace, key, table_encode(err->arena, next), err);
	if (code == OK)
		catalog_size_follow(current, next);
	if (code == OK)
		code = publish(catalog, txn, key, current, next, err);
	else
		store_abort(txn);
	if (code != OK)
		table_unref(next);
	return code;
}

/* `deleting` is what stays of the table until its status is over; NULL: nothing does. */
static enum code delete_in_store(struct store_txn *txn, struct str key, const struct table *table, const struct table *kept,
				 const struct table *deleting, struct err *err)
{
	enum code code = store_drop(txn, table_items(table), err);

	for (size_t i = 0; i < table_index_total(table) && code == OK; i++) {
		const struct index *index = table_index_at(table, i);

		code = store_drop(txn, index_keyspace(table, index), err);
		if (code == OK && index->is_backfilling)
			code = store_del(txn, counters_keyspace, catalog_progress_key(err->arena, table, index), err);
	}
	if (code == OK && table->is_ttl_enabled)
		code = store_drop(txn, table_expiry(table), err);
	if (code == OK)
		code = retired_store(txn, table, kept, err);
	if (code != OK)
		return code;
	return deleting ? store_put(txn, tables_keyspace, key, table_encode(err->arena, deleting), err) : store_del(txn, tables_keyspace, key, err);
}

static struct table *deleting_of(const struct table *table, int64_t settles_ms)
{
	struct table *deleting = table_clone(table);

	deleting->status = STATUS_DELETING;
	deleting->settles_ms = settles_ms;
	return deleting;
}

/* Puts `next` in place of the entry, or nothing (NULL). The lock is held for writing. */
static void put_at(struct catalog *catalog, size_t at, struct table *next)
{
	if (!next) {
		remove_at(catalog, at);
		return;
	}
	table_unref(catalog->entries[at].table);
	catalog->entries[at].table = next;
}

enum code catalog_delete(struct catalog *catalog, struct table *table, int64_t now_ms, struct err *err)
{
	struct str key = key_of(err->arena, catalog, (struct ns){table->account, table->region}, table->name);
	int64_t transient = catalog->options.transient_status_ms;
	struct store_txn *txn;
	size_t at;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	struct table *kept = retired_of(table, now_ms), *deleting = transient > 0 ? deleting_of(table, now_ms + transient) : NULL;
	code = check_current(catalog, key, table, err);
	if (code == OK)
		code = delete_in_store(txn, key, table, kept, deleting, err);
	if (code != OK) {
		store_abort(txn);
		table_unref(kept);
		table_unref(deleting);
		return code;
	}
	pthread_rwlock_wrlock(&catalog->lock);
	code = commit_over(catalog, txn, key, table, NULL, &at, err);
	if (code == OK && kept)
		retired_add(&catalog->retired, kept);
	else
		table_unref(kept);
	if (code == OK) {
		drop_vectors(catalog, table, NULL);
		put_at(catalog, at, deleting);
	} else {
		table_unref(deleting);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return code;
}

enum code catalog_bury(struct catalog *catalog, struct table *table, struct err *err)
{
	struct str key = key_of(err->arena, catalog, (struct ns){table->account, table->region}, table->name);
	struct table *known = NULL;
	struct store_txn *txn;
	size_t at;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = stored(catalog, txn, key, &known, err);
	/* a new table of the name may be there already, not yet published */
	if (code == OK && known && known->number == table->number)
		code = store_del(txn, tables_keyspace, key, err);
	table_unref(known);
	if (code == OK)
		code = store_commit_for_good(txn, err);
	else
		store_abort(txn);
	pthread_rwlock_wrlock(&catalog->lock);
	if (code == OK && is_current(catalog, key, table, &at))
		remove_at(catalog, at);
	pthread_rwlock_unlock(&catalog->lock);
	return code;
}

static bool is_wanted(const struct catalog *catalog, const struct table *table, const struct ns *ns, struct str name)
{
	return table->stream_count > 0 && (!str_is_set(name) || str_eq(table->name, name)) &&
	       (!ns || catalog->options.is_shared || (str_eq(table->account, ns->account) && str_eq(table->region, ns->region)));
}

size_t catalog_streamed(struct catalog *catalog, const struct ns *ns, struct str name, struct arena *arena, struct table ***tables)
{
	size_t n = 0;

	pthread_rwlock_rdlock(&catalog->lock);
	*tables = ARENA_ARRAY(arena, struct table *, catalog->n + catalog->retired.n);
	for (size_t i = 0; i < catalog->n + catalog->retired.n; i++) {
		struct table *table = i < catalog->n ? catalog->entries[i].table : catalog->retired.tables[i - catalog->n];

		/* while a deleted table is still listed, its stream is the retired one's */
		if (is_wanted(catalog, table, ns, name) && (i >= catalog->n || table->status != STATUS_DELETING))
			(*tables)[n++] = table_ref(table);
	}
	pthread_rwlock_unlock(&catalog->lock);
	return n;
}

enum code catalog_forget(struct catalog *catalog, struct table *table, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	pthread_rwlock_wrlock(&catalog->lock);
	bool is_found = retired_remove(&catalog->retired, table);
	pthread_rwlock_unlock(&catalog->lock);
	if (!is_found) {
		store_abort(txn);
		return OK;
	}
	code = retired_drop(txn, table, err);
	if (code == OK)
		code = store_commit(txn, err);
	else
		store_abort(txn);
	/* what could not be dropped is found again when the store is opened */
	table_unref(table);
	return code;
}

size_t catalog_list(struct catalog *catalog, struct ns ns, struct str after, size_t limit, int64_t now_ms, struct arena *arena, struct str **names,
		    bool *more)
{
	struct str prefix = key_of(arena, catalog, ns, STR("")), from = key_of(arena, catalog, ns, after);
	size_t n = 0;
	bool found;

	*more = false;
	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = position(catalog, from, &found);
	if (found)
		at++;
	*names = ARENA_ARRAY(arena, struct str, limit < catalog->n ? limit : catalog->n);
	for (; at < catalog->n && str_starts_with(catalog->entries[at].key, prefix); at++) {
		if (is_gone(catalog->entries[at].table, now_ms))
			continue;
		if (n == limit) {
			*more = true;
			break;
		}
		(*names)[n++] = str_copy(arena, catalog->entries[at].table->name);
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

		if (table->is_ttl_enabled && table->status != STATUS_DELETING)
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
	struct str prefix = key_of(arena, catalog, ns, STR(""));
	size_t n = 0;
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	for (size_t at = position(catalog, prefix, &found); at < catalog->n && str_starts_with(catalog->entries[at].key, prefix); at++)
		n += !is_gone(catalog->entries[at].table, now_ms);
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
	size_t at = position(look->catalog, key, &found);
	const struct table *table = look->catalog->entries[at].table;

	if (table->status == STATUS_DELETING || (str_eq(table->account, look->ns.account) && str_eq(table->region, look->ns.region)))
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
		*where = (struct ns){str_copy(arena, look.found->account), str_copy(arena, look.found->region)};
	pthread_rwlock_unlock(&catalog->lock);
	return look.found != NULL;
}
