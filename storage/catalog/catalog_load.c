#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/schema/currency.h"
#include "storage/store/walk.h"

/* A record that the store has. */
struct found {
	struct str key;
	bool is_known;       /* the entry is the same already */
	struct table *table; /* decoded where the entry has an older snapshot; or NULL */
	struct table_brief brief;
};

struct reload {
	struct catalog *catalog;
	struct arena *arena;
	size_t n;
	struct found *found; /* in the order of keys, which is that of the entries */
	struct retired retired;
};

/* Whether the entry of the key has the number and the version of the record: then it is the same. Else whether it has a snapshot. */
static bool is_known(struct catalog *catalog, const struct found *found, bool *has_snapshot)
{
	bool is_there;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = catalog_position(catalog, found->key, &is_there);
	const struct entry *entry = is_there ? &catalog->entries[at] : NULL;
	bool is_same = entry && entry->brief.number == found->brief.number && entry->brief.version == found->brief.version;
	*has_snapshot = entry && entry->table;
	pthread_rwlock_unlock(&catalog->lock);
	return is_same;
}

/* What a snapshot remembers goes on in the next one; a record that is not brief enough is decoded too. */
static enum code reload_table(struct reload *reload, struct found *found, struct str record, struct err *err)
{
	bool is_brief = table_record_brief(record, &found->brief), has_snapshot = false;

	if (is_brief)
		found->is_known = is_known(reload->catalog, found, &has_snapshot);
	if (found->is_known || (is_brief && !has_snapshot))
		return OK;
	enum code code = table_decode(record, reload->catalog->options.settings, &found->table, err);
	if (code != OK)
		return code;
	found->brief = table_brief_of(found->table);
	found->is_known = is_known(reload->catalog, found, &has_snapshot);
	if (!found->is_known && has_snapshot)
		return OK;
	table_unref(found->table);
	found->table = NULL;
	return OK;
}

static enum code reload_record(struct reload *reload, struct str key, struct str record, struct err *err)
{
	struct found found = {.key = str_copy(reload->arena, key)};
	struct table *table;
	enum code code;

	if (retired_is_key(key)) {
		code = table_decode(record, reload->catalog->options.settings, &table, err);
		if (code == OK)
			retired_put(&reload->retired, table);
		return code;
	}
	code = reload_table(reload, &found, record, err);
	if (code != OK)
		return code;
	reload->found = arena_room(reload->arena, reload->found, reload->n, sizeof(*reload->found));
	reload->found[reload->n++] = found;
	return OK;
}

/* The lock is held for writing. */
static void merge_retired(struct catalog *catalog, struct reload *reload, uint64_t version)
{
	if (catalog->retired_stamp > version && catalog->version != CATALOG_UNKNOWN)
		return;
	retired_take(&catalog->retired, &reload->retired);
}

/* One that was found, and that is not as the entry has it. */
static void merge_found(struct catalog *catalog, const struct found *found, uint64_t version)
{
	bool is_there;
	size_t at = catalog_position(catalog, found->key, &is_there);
	struct table *current = is_there ? catalog->entries[at].table : NULL;

	if (found->is_known || (is_there && catalog->entries[at].stamp > version))
		return;
	if (!found->table) {
		catalog_put_brief(catalog, found->key, &found->brief, version);
		return;
	}
	if (current && current->identity.number == found->table->identity.number)
		table_adopt(found->table, current);
	if (current)
		catalog_drop_vectors(catalog, current, found->table);
	catalog_put(catalog, found->key, table_ref(found->table), version);
}

/* Brings the entries to what was found at the version. Those that are from a later one stay. */
static void merge(struct catalog *catalog, struct reload *reload, uint64_t version)
{
	pthread_rwlock_wrlock(&catalog->lock);
	/* with what was committed meanwhile the entries may be complete for a later version already */
	bool is_late = catalog->version != CATALOG_UNKNOWN && catalog->version > version;
	for (size_t at = is_late ? 0 : catalog->n, left = reload->n; at-- > 0;) {
		while (left > 0 && str_cmp(reload->found[left - 1].key, catalog->entries[at].key) > 0)
			left--;
		bool is_there = left > 0 && str_eq(reload->found[left - 1].key, catalog->entries[at].key);
		if (is_there || catalog->entries[at].stamp > version)
			continue;
		if (catalog->entries[at].table)
			catalog_drop_vectors(catalog, catalog->entries[at].table, NULL);
		catalog_remove_at(catalog, at);
	}
	for (size_t i = 0; i < reload->n && !is_late; i++)
		merge_found(catalog, &reload->found[i], version);
	if (!is_late)
		merge_retired(catalog, reload, version);
	catalog_advance(catalog, version);
	pthread_rwlock_unlock(&catalog->lock);
}

static enum code reload(struct catalog *catalog, struct store_txn *txn, uint64_t version, struct err *err)
{
	struct reload reload = {.catalog = catalog, .arena = arena_new(0)};
	const struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct walk walk = walk_begin(txn, tables_keyspace, &all, err);
	struct store_row row;
	enum code code = OK;

	while (code == OK && walk_next(&walk, &row))
		code = reload_record(&reload, row.key, row.value, err);
	enum code read = walk_end(&walk);
	if (code == OK)
		code = read;
	if (code == OK)
		merge(catalog, &reload, version);
	for (size_t i = 0; i < reload.n; i++)
		table_unref(reload.found[i].table);
	retired_clear(&reload.retired);
	arena_free(reload.arena);
	return code;
}

enum code catalog_refresh(struct catalog *catalog, struct err *err)
{
	struct store_txn *txn;
	uint64_t version;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = currency_catalog(txn, &version, err);
	if (code == OK)
		code = clocks_refresh_in(catalog->options.clocks, txn, err);
	pthread_rwlock_rdlock(&catalog->lock);
	bool is_complete = catalog->version != CATALOG_UNKNOWN && catalog->version >= version;
	pthread_rwlock_unlock(&catalog->lock);
	if (code == OK && !is_complete)
		code = reload(catalog, txn, version, err);
	store_abort(txn);
	return code;
}

/* Whether each table's row says what the table does. */
static enum code are_exact(struct catalog *catalog, bool *are_exact, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	*are_exact = true;
	if (code != OK)
		return code;
	for (size_t i = 0; i < catalog->n && code == OK && *are_exact; i++)
		code = currency_is_exact(txn, &catalog->entries[i].brief, are_exact, err);
	store_abort(txn);
	return code;
}

static enum code mend(struct catalog *catalog, struct store_txn *txn, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < catalog->n && code == OK; i++) {
		struct table *table;

		code = catalog_stored(catalog, txn, catalog->entries[i].key, &table, err);
		if (code == OK && table)
			code = currency_put(txn, table, 0, err); /* its numbers may be wrong */
		table_unref(table);
	}
	return code;
}

enum code catalog_mend_versions(struct catalog *catalog, struct err *err)
{
	struct store_txn *txn;
	bool is_fine;
	enum code code = are_exact(catalog, &is_fine, err);

	if (code != OK || is_fine)
		return code;
	code = store_begin(catalog->store, STORE_WRITE, &txn, err);
	if (code != OK)
		return code;
	code = mend(catalog, txn, err);
	if (code == OK)
		return store_commit(txn, err);
	store_abort(txn);
	return code;
}
