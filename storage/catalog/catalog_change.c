#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/size_rows.h"
#include "storage/expiry.h"
#include "storage/schema/currency.h"
#include "storage/store/journal.h"
#include "storage/store/retry.h"

/* What a change does in its transaction, which may be run again from the start. */
typedef enum code apply_change(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err);

static enum code run_once(struct catalog *catalog, apply_change *apply, void *context, uint64_t *version, struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	code = apply(catalog, txn, context, err);
	if (code == OK)
		code = currency_raise_catalog(txn, version, err);
	if (code == OK)
		return store_commit_for_good(txn, err);
	store_abort(txn);
	return code;
}

/* Makes the change in the store; *version is the catalog's from then on. */
static enum code run_change(struct catalog *catalog, apply_change *apply, void *context, uint64_t *version, struct err *err)
{
	struct retry retry = {0};
	enum code code;

	do {
		code = run_once(catalog, apply, context, version, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

/* The changes that show already, behind one that does not yet. */
static void close_gap(struct catalog *catalog)
{
	for (; catalog->ahead & 1; catalog->ahead >>= 1)
		catalog->version++;
}

void catalog_advance(struct catalog *catalog, uint64_t version)
{
	bool is_unknown = catalog->version == CATALOG_UNKNOWN;
	uint64_t gap = version - catalog->version;

	if (!is_unknown && version <= catalog->version)
		return;
	catalog->ahead = !is_unknown && gap < 64 ? catalog->ahead >> gap : 0;
	catalog->version = version;
	close_gap(catalog);
}

/* Whether a committed change is still to be shown: not so where a refresh took it in. Notes that it shows, maybe before one that was committed before. */
static bool is_news(struct catalog *catalog, uint64_t version)
{
	if (catalog->version == CATALOG_UNKNOWN || version <= catalog->version)
		return false;
	uint64_t distance = version - catalog->version - 1;
	if (distance < 64)
		catalog->ahead |= (uint64_t)1 << distance;
	close_gap(catalog);
	return true;
}

/* Shows in the entries what was committed: `next` under the key, or nothing (NULL). `is_new` is what is_news() says of the version. */
static void show_one(struct catalog *catalog, struct str key, struct table *next, uint64_t version, bool is_new)
{
	bool found;
	size_t at = catalog_position(catalog, key, &found);

	if (!is_new || (found && catalog->entries[at].stamp >= version))
		table_unref(next);
	else if (next)
		catalog_put(catalog, key, next, version);
	else if (found)
		catalog_remove_at(catalog, at);
}

static void show(struct catalog *catalog, struct str key, struct table *next, uint64_t version)
{
	show_one(catalog, key, next, version, is_news(catalog, version));
}

enum code catalog_arm(const struct catalog *catalog, struct store_txn *txn, struct ns ns, struct err *err)
{
	return currency_arm(txn, catalog_key(err->arena, catalog, ns, STR("")), err);
}

enum code catalog_inherit_lag(const struct catalog *catalog, struct store_txn *txn, struct ns ns, struct str key, uint64_t number, struct err *err)
{
	return lag_inherit(txn, key, catalog_key(err->arena, catalog, ns, STR("")).n, number, err);
}

static struct ns ns_of(const struct table *table)
{
	return (struct ns){table->identity.account, table->identity.region};
}

/* The counter is a decimal text. */
enum code catalog_next_number(struct store_txn *txn, struct arena *arena, uint64_t *number, struct err *err)
{
	struct str key = STR("table"), value;
	enum code code = store_get(txn, counters_keyspace, key, arena, &value, err);

	if (code != OK)
		return code;
	*number = (str_is_set(value) ? strtoull(value.p, NULL, 10) : 0) + 1;
	return journal_put_for_good(txn, counters_keyspace, key, str_printf(arena, "%llu", (unsigned long long)*number), err);
}

enum code catalog_stored(const struct catalog *catalog, struct store_txn *txn, struct str key, struct table **out, struct err *err)
{
	struct str record;
	enum code code = store_get(txn, tables_keyspace, key, err->arena, &record, err);

	*out = NULL;
	return code == OK && str_is_set(record) ? table_decode(record, catalog->options.settings, out, err) : code;
}

/* The rows that go with a table: of its version and of its numbers. */
static enum code forget_rows(struct store_txn *txn, const struct table *table, struct err *err)
{
	enum code code = currency_del(txn, table, err);

	return code == OK ? size_rows_drop(txn, table->identity.number, err) : code;
}

static enum code create_in_store(const struct catalog *catalog, struct store_txn *txn, struct arena *arena, struct str key, struct table *table,
				 struct err *err)
{
	struct table *known;
	enum code code = catalog_stored(catalog, txn, key, &known, err);

	if (code == OK && known && !catalog_is_gone(known, table->identity.created_ms))
		code = err_default(err, ERR_RESOURCE_IN_USE);
	if (code == OK && known) /* the remains of a deleted one */
		code = forget_rows(txn, known, err);
	table_unref(known);
	if (code == OK)
		code = catalog_next_number(txn, arena, &table->identity.number, err);
	if (code == OK)
		code = store_create(txn, table_items(table), err);
	for (size_t i = 0; i < table_index_total(table) && code == OK; i++)
		code = store_create(txn, index_keyspace(table, table_index_at(table, i)), err);
	if (code == OK && table_is_global(table))
		code = store_create(txn, table_replication(table), err);
	if (code == OK && table->ttl.is_enabled)
		code = store_create(txn, table_expiry(table), err);
	if (code == OK)
		code = stream_change_table(txn, arena, NULL, table, err);
	if (code == OK)
		code = currency_put(txn, table, COUNT_OF(1, 0), err); /* nothing is in it, and it is counted */
	if (code == OK)
		code = catalog_inherit_lag(catalog, txn, ns_of(table), key, table->identity.number, err);
	return code == OK ? store_put(txn, tables_keyspace, key, table_encode(arena, table), err) : code;
}

static void fill_new(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms)
{
	int64_t transient = catalog->options.transient_status_ms;
	int64_t settles_ms = table->state.settles_ms > now_ms ? table->state.settles_ms : transient > 0 ? now_ms + transient : 0;

	table->identity.account = str_copy(table->arena, ns.account);
	table->identity.region = str_copy(table->arena, ns.region);
	table->identity.id = catalog_uuid(table->arena);
	table->identity.created_ms = now_ms;
	table->state.status = settles_ms > 0 ? STATUS_CREATING : STATUS_ACTIVE;
	table->state.settles_ms = settles_ms;
	table->indexes.next = (uint32_t)table_index_total(table);
	if (!table_is_global(table)) /* replicas have the same rows */
		table->hash = KEY_HASH_MD5;
	for (size_t i = 0; i < table_index_total(table); i++) {
		struct index *index = table_index_at(table, i);

		index->number = (uint32_t)i;
		index->status = table->state.status;
		table_index_derive(table, index);
	}
	currency_follow(NULL, table);
	tally_know(table->tally, 1, 0);
}

struct creation {
	struct str key;
	struct table *table;
};

static enum code apply_creation(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err)
{
	struct creation *creation = context;
	enum code code = catalog_arm(catalog, txn, ns_of(creation->table), err);

	return code != OK ? code : create_in_store(catalog, txn, err->arena, creation->key, creation->table, err);
}

enum code catalog_create(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms, struct table **out, struct err *err)
{
	struct creation creation = {catalog_key(err->arena, catalog, ns, table->identity.name), table};
	uint64_t version;

	fill_new(catalog, ns, table, now_ms);
	enum code code = run_change(catalog, apply_creation, &creation, &version, err);
	if (code == OK) {
		pthread_rwlock_wrlock(&catalog->lock);
		*out = table_ref(table);
		show(catalog, creation.key, table, version);
		pthread_rwlock_unlock(&catalog->lock);
	} else {
		table_unref(table);
	}
	return code;
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
		code = store_create(txn, index_keyspace(next, index), err);
	}
	return code;
}

/* The rows of the items that there are, but not of so many that others would wait long. */
static enum code fill_expiry(struct catalog *catalog, struct store_txn *txn, struct arena *arena, struct table *next, struct err *err)
{
	struct str from = STR_ABSENT;
	size_t most = catalog_fill_max(catalog);
	enum code code = expiry_fill(txn, arena, next, most > 0 ? most : EXPIRY_FILL_ROWS, &from, &next->ttl.is_filling, err);

	if (code != OK || !next->ttl.is_filling)
		return code;
	return store_put(txn, counters_keyspace, catalog_expiry_progress_key(arena, next), from, err);
}

/* The same for the expiry keyspace. */
static enum code change_expiry(struct catalog *catalog, struct store_txn *txn, struct arena *arena, const struct table *current, struct table *next,
			       struct err *err)
{
	bool is_kept = current->ttl.is_enabled && next->ttl.is_enabled && str_eq(current->ttl.attribute, next->ttl.attribute);
	enum code code = OK;

	if (current->ttl.is_filling && !(is_kept && next->ttl.is_filling))
		code = store_del(txn, counters_keyspace, catalog_expiry_progress_key(arena, current), err);
	if (is_kept)
		return code;
	next->ttl.is_filling = false;
	if (code == OK && current->ttl.is_enabled)
		code = store_drop(txn, table_expiry(current), err);
	if (code == OK && next->ttl.is_enabled)
		code = store_create(txn, table_expiry(next), err);
	return code == OK && next->ttl.is_enabled ? fill_expiry(catalog, txn, arena, next, err) : code;
}

/* The same for what replication keeps of the items. */
static enum code change_group(struct store_txn *txn, const struct table *current, const struct table *next, struct err *err)
{
	if (table_is_global(current) == table_is_global(next))
		return OK;
	return table_is_global(next) ? store_create(txn, table_replication(next), err) : store_drop(txn, table_replication(current), err);
}

struct replacement {
	struct str key;
	const struct table *current;
	struct table *next;
};

static enum code apply_replacement(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err)
{
	const struct replacement *replacement = context;
	const struct table *current = replacement->current;
	struct table *next = replacement->next;
	uint64_t count = 0;
	enum code code = currency_check_version(txn, current, &count, err);

	if (code == OK)
		code = change_indexes(txn, err->arena, current, next, err);
	if (code == OK)
		code = change_expiry(catalog, txn, err->arena, current, next, err);
	if (code == OK)
		code = change_group(txn, current, next, err);
	if (code == OK)
		code = stream_change_table(txn, err->arena, current, next, err);
	currency_follow(current, next);
	if (code == OK)
		code = currency_put(txn, next, count, err);
	if (code == OK)
		code = catalog_size_change(catalog, txn, current, next, count, err);
	return code == OK ? store_put(txn, tables_keyspace, replacement->key, table_encode(err->arena, next), err) : code;
}

enum code catalog_replace(struct catalog *catalog, struct table *current, struct table *next, struct err *err)
{
	struct replacement replacement = {catalog_key(err->arena, catalog, (struct ns){current->identity.account, current->identity.region},
						      current->identity.name), current, next};
	uint64_t version;

	enum code code = run_change(catalog, apply_replacement, &replacement, &version, err);
	if (code == OK) {
		table_ref(current); /* the entry's own reference may be the last one, and next may be no entry */
		table_ref(next);
		pthread_rwlock_wrlock(&catalog->lock);
		show(catalog, replacement.key, next, version);
		pthread_rwlock_unlock(&catalog->lock);
		catalog_drop_vectors(catalog, current, next);
		table_unref(next);
		table_unref(current);
	} else {
		table_unref(next);
	}
	return code;
}

struct deletion {
	struct str key;
	const struct table *table, *kept;
	const struct table *deleting; /* what stays of the table until its status is over; NULL: nothing does */
	catalog_keep *keep;           /* or NULL */
	void *context;
};

static enum code delete_in_store(struct store_txn *txn, const struct deletion *deletion, struct err *err)
{
	const struct table *table = deletion->table, *kept = deletion->kept, *deleting = deletion->deleting;
	struct str key = deletion->key;
	bool keeps_items = false;
	uint64_t count = 0;
	enum code code = currency_check_version(txn, table, &count, err);

	if (code == OK && deletion->keep)
		code = deletion->keep(txn, table, deletion->context, &keeps_items, err);
	if (code == OK && !keeps_items)
		code = store_drop(txn, table_items(table), err);
	for (size_t i = 0; i < table_index_total(table) && code == OK; i++) {
		const struct index *index = table_index_at(table, i);

		code = store_drop(txn, index_keyspace(table, index), err);
		if (code == OK && index->is_backfilling)
			code = store_del(txn, counters_keyspace, catalog_progress_key(err->arena, table, index), err);
	}
	if (code == OK && table->ttl.is_filling)
		code = store_del(txn, counters_keyspace, catalog_expiry_progress_key(err->arena, table), err);
	if (code == OK && table->ttl.is_enabled)
		code = store_drop(txn, table_expiry(table), err);
	if (code == OK && table_is_global(table))
		code = store_drop(txn, table_replication(table), err);
	if (code == OK)
		code = retired_store(txn, table, kept, err);
	if (code == OK)
		code = deleting ? currency_put(txn, deleting, count, err) : forget_rows(txn, table, err);
	if (code != OK)
		return code;
	return deleting ? store_put(txn, tables_keyspace, key, table_encode(err->arena, deleting), err) : store_del(txn, tables_keyspace, key, err);
}

static struct table *deleting_of(const struct table *table, int64_t settles_ms)
{
	struct table *deleting = table_clone(table);

	deleting->state.status = STATUS_DELETING;
	deleting->state.settles_ms = settles_ms;
	deleting->log = (struct table_log){0};
	deleting->currency.version = deleting->currency.layout = table->currency.version + 1;
	return deleting;
}

static enum code apply_deletion(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err)
{
	const struct deletion *deletion = context;

	(void)catalog;
	return delete_in_store(txn, deletion, err);
}

enum code catalog_delete(struct catalog *catalog, struct table *table, int64_t now_ms, struct err *err)
{
	return catalog_delete_keeping(catalog, table, now_ms, NULL, NULL, err);
}

enum code catalog_delete_keeping(struct catalog *catalog, struct table *table, int64_t now_ms, catalog_keep *keep, void *context, struct err *err)
{
	int64_t transient = catalog->options.transient_status_ms;
	struct table *kept = retired_of(table, now_ms), *deleting = transient > 0 ? deleting_of(table, now_ms + transient) : NULL;
	struct deletion deletion = {catalog_key(err->arena, catalog, (struct ns){table->identity.account, table->identity.region},
						table->identity.name), table, kept, deleting, keep, context};
	uint64_t version;

	enum code code = run_change(catalog, apply_deletion, &deletion, &version, err);
	if (code == OK) {
		table_ref(table);
		pthread_rwlock_wrlock(&catalog->lock);
		if (kept)
			retired_put(&catalog->retired, kept);
		if (kept && catalog->retired_stamp < version)
			catalog->retired_stamp = version;
		show(catalog, deletion.key, deleting, version);
		pthread_rwlock_unlock(&catalog->lock);
		catalog_drop_vectors(catalog, table, NULL);
		table_unref(table);
	} else {
		table_unref(kept);
		table_unref(deleting);
	}
	return code;
}

/* What becomes of one table in a change of several. */
struct change_part {
	const struct catalog_change *change;
	struct str key;
	struct table *kept, *deleting; /* of a deleted one */
};

struct change_parts {
	struct change_part *v;
	size_t n;
};

static enum code apply_part(struct catalog *catalog, struct store_txn *txn, const struct change_part *part, struct err *err)
{
	const struct catalog_change *change = part->change;

	if (!change->current)
		return apply_creation(catalog, txn, &(struct creation){part->key, change->next}, err);
	if (!change->next)
		return delete_in_store(txn, &(struct deletion){part->key, change->current, part->kept, part->deleting, change->keep, change->context}, err);
	return apply_replacement(catalog, txn, &(struct replacement){part->key, change->current, change->next}, err);
}

static enum code apply_parts(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err)
{
	const struct change_parts *parts = context;
	enum code code = OK;

	for (size_t i = 0; i < parts->n && code == OK; i++) {
		code = apply_part(catalog, txn, &parts->v[i], err);
		journal_disarm(txn); /* the next one is of another namespace */
	}
	return code;
}

static void prepare_part(struct catalog *catalog, struct change_part *part, struct arena *arena)
{
	const struct catalog_change *change = part->change;
	int64_t transient = catalog->options.transient_status_ms;
	const struct table *table = change->current ? change->current : change->next;

	part->key = catalog_key(arena, catalog, ns_of(table), table->identity.name);
	if (!change->current)
		fill_new(catalog, ns_of(table), change->next, change->now_ms);
	if (change->next)
		return;
	part->kept = retired_of(change->current, change->now_ms);
	part->deleting = transient > 0 ? deleting_of(change->current, change->now_ms + transient) : NULL;
}

/* The references to what is shown pass to the entries. The lock is held. */
static void show_part(struct catalog *catalog, const struct change_part *part, uint64_t version, bool is_new)
{
	if (part->kept)
		retired_put(&catalog->retired, part->kept);
	if (part->kept && catalog->retired_stamp < version)
		catalog->retired_stamp = version;
	show_one(catalog, part->key, part->change->next ? part->change->next : part->deleting, version, is_new);
}

enum code catalog_change_all(struct catalog *catalog, const struct catalog_change *changes, size_t n, struct err *err)
{
	struct change_parts parts = {ARENA_ARRAY(err->arena, struct change_part, n), n};
	uint64_t version;

	for (size_t i = 0; i < n; i++) {
		parts.v[i].change = &changes[i];
		prepare_part(catalog, &parts.v[i], err->arena);
	}
	enum code code = run_change(catalog, apply_parts, &parts, &version, err);
	if (code == OK) {
		for (size_t i = 0; i < n; i++) {
			if (changes[i].current) /* the entry's own reference may be the last one */
				table_ref(changes[i].current);
			if (changes[i].next)
				table_ref(changes[i].next);
		}
		pthread_rwlock_wrlock(&catalog->lock);
		bool is_new = is_news(catalog, version);
		for (size_t i = 0; i < n; i++)
			show_part(catalog, &parts.v[i], version, is_new);
		pthread_rwlock_unlock(&catalog->lock);
	}
	for (size_t i = 0; i < n; i++) {
		if (code == OK && changes[i].current)
			catalog_drop_vectors(catalog, changes[i].current, changes[i].next);
		if (code == OK)
			table_unref(changes[i].current);
		table_unref(changes[i].next);
		if (code == OK)
			continue;
		table_unref(parts.v[i].kept);
		table_unref(parts.v[i].deleting);
	}
	return code;
}

/* A new table of the name may be there already. */
static enum code apply_burial(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err)
{
	const struct deletion *burial = context;
	struct table *known = NULL;
	enum code code = catalog_arm(catalog, txn, ns_of(burial->table), err);

	if (code == OK)
		code = catalog_stored(catalog, txn, burial->key, &known, err);
	if (code == OK && known && known->identity.number == burial->table->identity.number)
		code = store_del(txn, tables_keyspace, burial->key, err);
	table_unref(known);
	return code == OK ? forget_rows(txn, burial->table, err) : code;
}

enum code catalog_bury(struct catalog *catalog, struct table *table, struct err *err)
{
	struct deletion burial = {.key = catalog_key(err->arena, catalog, (struct ns){table->identity.account, table->identity.region},
						     table->identity.name), .table = table};
	uint64_t version;
	bool found;

	enum code code = run_change(catalog, apply_burial, &burial, &version, err);
	if (code == OK) {
		pthread_rwlock_wrlock(&catalog->lock);
		size_t at = catalog_position(catalog, burial.key, &found);
		if (found && catalog->entries[at].brief.number != table->identity.number)
			(void)is_news(catalog, version); /* of a new table of the name */
		else
			show(catalog, burial.key, NULL, version);
		pthread_rwlock_unlock(&catalog->lock);
	}
	return code;
}

static enum code apply_forgetting(struct catalog *catalog, struct store_txn *txn, void *context, struct err *err)
{
	const struct table *table = context;
	enum code code = catalog_arm(catalog, txn, ns_of(table), err);

	return code != OK ? code : retired_drop(txn, table, err);
}

enum code catalog_forget(struct catalog *catalog, struct table *table, struct err *err)
{
	uint64_t version;

	enum code code = run_change(catalog, apply_forgetting, table, &version, err);
	if (code == OK) {
		pthread_rwlock_wrlock(&catalog->lock);
		retired_remove(&catalog->retired, table->identity.number);
		if (catalog->retired_stamp < version)
			catalog->retired_stamp = version;
		(void)is_news(catalog, version);
		pthread_rwlock_unlock(&catalog->lock);
	}
	return code;
}
