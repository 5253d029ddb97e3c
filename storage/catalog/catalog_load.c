#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/schema/currency.h"
#include "storage/store/walk.h"

/* A record that the store has: decoded, or the entry that is the same already. */
struct found {
	struct str key;
	struct table *table; /* NULL: as the entry has it */
};

struct reload {
	struct catalog *catalog;
	struct arena *arena;
	size_t n;
	struct found *found; /* in the order of keys, which is that of the entries */
	struct retired retired;
};

/* Whether the entry of the key, or a retired table, has the number and the version of the record: then it is the same. */
static bool is_known(struct catalog *catalog, struct str key, uint64_t number, uint64_t version)
{
	const struct table *table = NULL;
	bool found;

	pthread_rwlock_rdlock(&catalog->lock);
	size_t at = catalog_position(catalog, key, &found);
	if (found)
		table = catalog->entries[at].table;
	found = table && table->identity.number == number && table->currency.version == version;
	pthread_rwlock_unlock(&catalog->lock);
	return found;
}

static enum code reload_record(struct reload *reload, struct str key, struct str record, struct err *err)
{
	struct table *table = NULL;
	uint64_t number, version;
	enum code code = OK;

	if (!table_record_version(record, &number, &version) || !is_known(reload->catalog, key, number, version))
		code = table_decode(record, reload->catalog->options.settings, &table, err);
	if (code != OK)
		return code;
	if (retired_is_key(key)) {
		retired_add(&reload->retired, table);
		return OK;
	}
	reload->found = arena_room(reload->arena, reload->found, reload->n, sizeof(*reload->found));
	reload->found[reload->n++] = (struct found){str_copy(reload->arena, key), table};
	return OK;
}

/* Retired tables are few, and none changes but by going: those that are known stay, for who holds them. The lock is held for writing. */
static void merge_retired(struct catalog *catalog, struct reload *reload, uint64_t version)
{
	if (catalog->retired_stamp > version && catalog->version != CATALOG_UNKNOWN)
		return;
	for (size_t i = 0; i < reload->retired.n; i++) {
		for (size_t k = 0; k < catalog->retired.n; k++) {
			if (catalog->retired.tables[k]->identity.number != reload->retired.tables[i]->identity.number)
				continue;
			table_unref(reload->retired.tables[i]);
			reload->retired.tables[i] = table_ref(catalog->retired.tables[k]);
		}
	}
	retired_clear(&catalog->retired);
	catalog->retired = reload->retired;
	reload->retired = (struct retired){0, NULL};
}

/* Brings the entries to what was found at the version. Those that are from a later one stay. */
static void merge(struct catalog *catalog, struct reload *reload, uint64_t version)
{
	pthread_rwlock_wrlock(&catalog->lock);
	for (size_t at = catalog->n, left = reload->n; at-- > 0;) {
		while (left > 0 && str_cmp(reload->found[left - 1].key, catalog->entries[at].key) > 0)
			left--;
		bool is_there = left > 0 && str_eq(reload->found[left - 1].key, catalog->entries[at].key);
		if (is_there || catalog->entries[at].stamp > version)
			continue;
		catalog_drop_vectors(catalog, catalog->entries[at].table, NULL);
		catalog_remove_at(catalog, at);
	}
	for (size_t i = 0; i < reload->n; i++) {
		struct found *found = &reload->found[i];
		bool is_there;
		size_t at = catalog_position(catalog, found->key, &is_there);

		if (!found->table || (is_there && catalog->entries[at].stamp > version))
			continue;
		if (is_there && catalog->entries[at].table->identity.number == found->table->identity.number)
			table_adopt(found->table, catalog->entries[at].table);
		if (is_there)
			catalog_drop_vectors(catalog, catalog->entries[at].table, found->table);
		catalog_put(catalog, found->key, table_ref(found->table), version);
	}
	merge_retired(catalog, reload, version);
	if (catalog->version == CATALOG_UNKNOWN || catalog->version < version)
		catalog->version = version;
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
		code = currency_is_exact(txn, catalog->entries[i].table, are_exact, err);
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
