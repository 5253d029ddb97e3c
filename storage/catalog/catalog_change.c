#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/retired.h"
#include "storage/catalog/size_rows.h"
#include "storage/expiry.h"
#include "storage/index_row.h"
#include "storage/schema/currency.h"
#include "storage/store/journal.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"
#include "storage/uuid.h"

/* What a change does in its transaction, which may be run again from the start. */
typedef enum code apply_change(struct catalog *catalog, struct store_txn *txn, void *context,
			       struct err *err);

/* A change of a table. */
struct change {
	apply_change *apply;
	void *context;
	const struct table *table; /* whose namespace's version rises; NULL: apply() sees to that */
};

static enum code apply_and_raise(struct catalog *catalog, struct store_txn *txn,
				 const struct change *change, struct err *err)
{
	enum code code = change->apply(catalog, txn, change->context, err);

	if (code != OK || !change->table)
		return code;
	return currency_raise(txn, catalog_space(err->arena, catalog, change->table), err);
}

static enum code run_change_once(struct catalog *catalog, const struct change *change,
				 struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_WRITE, &txn, err);

	if (code != OK)
		return code;
	return store_end_for_good(txn, apply_and_raise(catalog, txn, change, err), err);
}

/* Makes the change of the table in the store. */
static enum code run_change(struct catalog *catalog, const struct table *table, apply_change *apply,
			    void *context, struct err *err)
{
	const struct change change = {apply, context, table};
	struct retry retry = {0};
	enum code code;

	do {
		code = run_change_once(catalog, &change, err);
	} while (retry_again(&retry, code));
	return retry_code(code, err);
}

/* Puts or deletes (NULL) the record of a table, which lies under `key`. */
static enum code put_record(const struct catalog *catalog, struct store_txn *txn, struct str key,
			    const struct table *table, const struct table *next, struct err *err)
{
	return table_rows_put(txn, catalog->options.settings,
			      catalog_space(err->arena, catalog, table), key, next, err);
}

enum code catalog_arm(const struct catalog *catalog, struct store_txn *txn, struct ns ns,
		      struct err *err)
{
	return currency_arm(txn, catalog_key(err->arena, catalog, ns, STR("")), err);
}

enum code catalog_inherit_lag(const struct catalog *catalog, struct store_txn *txn, struct ns ns,
			      struct str key, uint64_t number, struct err *err)
{
	return lag_inherit(txn, key, catalog_key(err->arena, catalog, ns, STR("")).n, number, err);
}

/* The counter is a decimal text. */
enum code catalog_next_number(struct store_txn *txn, struct arena *arena, uint64_t *number,
			      struct err *err)
{
	struct str key = STR("table"), value;
	enum code code = store_get(txn, counters_keyspace, key, arena, &value, err);

	if (code != OK)
		return code;
	if (!row_is_decimal(value, number))
		return row_malformed(err, counters_keyspace, key);
	++*number;
	return journal_put_for_good(txn, counters_keyspace, key,
				    str_printf(arena, "%llu", (unsigned long long)*number), err);
}

/* The rows that go with a table: of its version and of its numbers. */
static enum code forget_rows(struct store_txn *txn, const struct table *table, struct err *err)
{
	enum code code = currency_del(txn, table, err);

	return code == OK ? size_rows_drop(txn, table->identity.number, err) : code;
}

/* The index's keyspace. The kind of its rows is decided here, before the first one, and never
 * changes. */
static enum code create_index(const struct catalog *catalog, struct store_txn *txn,
			      const struct table *table, struct index *index, struct err *err)
{
	index->is_by_reference =
		index->projection == PROJECT_ALL && !index->vector && store_refers(catalog->store);
	return index_row_create(txn, table, index, err);
}

static enum code create_in_store(const struct catalog *catalog, struct store_txn *txn,
				 struct arena *arena, struct str key, struct table *table,
				 struct err *err)
{
	struct table *known;
	enum code code = catalog_stored(catalog, txn, key, &known, err);

	if (code != OK)
		return code;
	if (known) /* the remains of a deleted one go */
		code = catalog_is_gone(known, table->identity.created_ms)
			       ? forget_rows(txn, known, err)
			       : err_default(err, ERR_RESOURCE_IN_USE);
	table_unref(known);
	if (code != OK)
		return code;
	code = catalog_next_number(txn, arena, &table->identity.number, err);
	if (code != OK)
		return code;
	code = store_create(txn, table_items(table), err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(table); i++) {
		code = create_index(catalog, txn, table, table_index_at(table, i), err);
		if (code != OK)
			return code;
	}
	if (table_is_global(table))
		code = store_create(txn, table_replication(table), err);
	if (code != OK)
		return code;
	if (table->ttl.is_enabled)
		code = store_create(txn, table_expiry(table), err);
	if (code != OK)
		return code;
	code = stream_change_table(txn, arena, NULL, table, err);
	if (code != OK)
		return code;
	code = currency_put(txn, table, COUNT_OF(1, 0),
			    err); /* nothing is in it, and it is counted */
	if (code != OK)
		return code;
	code = catalog_inherit_lag(catalog, txn, catalog_ns_of(table), key, table->identity.number,
				   err);
	return code == OK ? put_record(catalog, txn, key, table, table, err) : code;
}

static void fill_new(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms)
{
	int64_t transient = catalog->options.transient_status_ms;
	int64_t settles_ms = table->state.settles_ms > now_ms ? table->state.settles_ms
			     : transient > 0                  ? now_ms + transient
							      : 0;

	table->identity.account = str_copy(table->arena, ns.account);
	table->identity.region = str_copy(table->arena, ns.region);
	if (!str_is_set(
		    table->identity.id)) /* else the caller has answered a client with it already */
		table->identity.id = uuid_new(table->arena);
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
	catalog_with *with; /* or NULL */
	void *context;
};

static enum code apply_creation(struct catalog *catalog, struct store_txn *txn, void *context,
				struct err *err)
{
	struct creation *creation = context;
	enum code code = catalog_arm(catalog, txn, catalog_ns_of(creation->table), err);

	if (code != OK)
		return code;
	code = create_in_store(catalog, txn, err->arena, creation->key, creation->table, err);
	return code == OK && creation->with ? creation->with(txn, creation->context, err) : code;
}

enum code catalog_create(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms,
			 struct table **out, struct err *err)
{
	return catalog_create_with(catalog, ns, table, now_ms, NULL, NULL, out, err);
}

enum code catalog_create_with(struct catalog *catalog, struct ns ns, struct table *table,
			      int64_t now_ms, catalog_with *with, void *context, struct table **out,
			      struct err *err)
{
	struct creation creation = {catalog_key(err->arena, catalog, ns, table->identity.name),
				    table, with, context};

	fill_new(catalog, ns, table, now_ms);
	enum code code = run_change(catalog, table, apply_creation, &creation, err);
	if (code != OK) {
		table_unref(table);
		return code;
	}
	*out = table_ref(table);
	catalog_show(catalog, creation.key, table);
	return OK;
}

/* Creates and drops index keyspaces so that the store has what `next` says. */
static enum code change_index_keyspaces(const struct catalog *catalog, struct store_txn *txn,
					struct arena *arena, const struct table *current,
					struct table *next, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < table_index_total(current); i++) {
		const struct index *index = table_index_at(current, i),
				   *after = table_index_numbered(next, index->number);

		if (!after)
			code = store_drop(txn, index_keyspace(current, index), err);
		if (code != OK)
			return code;
		if (index->is_backfilling && !(after && after->is_backfilling))
			code = store_del(txn, counters_keyspace,
					 catalog_progress_key(arena, current, index), err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < table_index_total(next); i++) {
		struct index *index = table_index_at(next, i);

		if (table_index_numbered(current, index->number))
			continue;
		index->status = STATUS_CREATING;
		index->is_backfilling = true;
		code = create_index(catalog, txn, next, index, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The rows of the items that there are, but not of so many that others would wait long. */
static enum code fill_expiry_now(struct catalog *catalog, struct store_txn *txn,
				 struct arena *arena, struct table *next, struct err *err)
{
	struct str from = STR_ABSENT;
	size_t most = catalog->options.fill_max;
	enum code code = expiry_fill(txn, arena, next, most > 0 ? most : EXPIRY_FILL_ROWS, &from,
				     &next->ttl.is_filling, err);

	if (code != OK || !next->ttl.is_filling)
		return code;
	return store_put(txn, counters_keyspace, catalog_expiry_progress_key(arena, next), from,
			 err);
}

/* The same for the expiry keyspace. */
static enum code change_expiry(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			       const struct table *current, struct table *next, struct err *err)
{
	bool is_kept = current->ttl.is_enabled && next->ttl.is_enabled &&
		       str_eq(current->ttl.attribute, next->ttl.attribute);
	enum code code = OK;

	if (current->ttl.is_filling && !(is_kept && next->ttl.is_filling))
		code = store_del(txn, counters_keyspace,
				 catalog_expiry_progress_key(arena, current), err);
	if (is_kept)
		return code;
	next->ttl.is_filling = false;
	if (code != OK)
		return code;
	if (current->ttl.is_enabled)
		code = store_drop(txn, table_expiry(current), err);
	if (code != OK)
		return code;
	if (next->ttl.is_enabled)
		code = store_create(txn, table_expiry(next), err);
	return code == OK && next->ttl.is_enabled ? fill_expiry_now(catalog, txn, arena, next, err)
						  : code;
}

/* The same for what replication keeps of the items. */
static enum code change_group(struct store_txn *txn, const struct table *current,
			      const struct table *next, struct err *err)
{
	if (table_is_global(current) == table_is_global(next))
		return OK;
	return table_is_global(next) ? store_create(txn, table_replication(next), err)
				     : store_drop(txn, table_replication(current), err);
}

struct replacement {
	struct str key;
	const struct table *current;
	struct table *next;
};

static enum code apply_replacement(struct catalog *catalog, struct store_txn *txn, void *context,
				   struct err *err)
{
	const struct replacement *replacement = context;
	const struct table *current = replacement->current;
	struct table *next = replacement->next;
	uint64_t count = 0;
	enum code code = currency_check_version(txn, current, &count, err);

	if (code != OK)
		return code;
	code = change_index_keyspaces(catalog, txn, err->arena, current, next, err);
	if (code != OK)
		return code;
	code = change_expiry(catalog, txn, err->arena, current, next, err);
	if (code != OK)
		return code;
	code = change_group(txn, current, next, err);
	if (code != OK)
		return code;
	code = stream_change_table(txn, err->arena, current, next, err);
	if (code != OK)
		return code;
	currency_follow(current, next);
	code = currency_put(txn, next, count, err);
	if (code != OK)
		return code;
	code = catalog_size_change(catalog, txn, current, next, count, err);
	return code == OK ? put_record(catalog, txn, replacement->key, next, next, err) : code;
}

enum code catalog_replace(struct catalog *catalog, struct table *current, struct table *next,
			  struct err *err)
{
	struct replacement replacement = {catalog_key_of(err->arena, catalog, current), current,
					  next};
	enum code code = run_change(catalog, current, apply_replacement, &replacement, err);

	if (code != OK) {
		table_unref(next);
		return code;
	}
	table_ref(current); /* the entry's own reference may be the last one, and next may be no
			       entry */
	table_ref(next);
	catalog_show(catalog, replacement.key, next);
	catalog_drop_vectors(catalog, current, next);
	table_unref(next);
	table_unref(current);
	return OK;
}

/* Closes the stream of a table that is deleted and keeps the record, or, where `kept` is NULL,
 * drops the stream. */
static enum code retire(const struct catalog *catalog, struct store_txn *txn,
			const struct table *table, const struct table *kept, struct err *err)
{
	if (!kept)
		return table_has_log(table) ? store_drop(txn, stream_keyspace(table), err) : OK;
	enum code code = stream_change_table(txn, err->arena, table, kept, err);
	return code == OK ? put_record(catalog, txn, retired_key(err->arena, kept->identity.number),
				       kept, kept, err)
			  : code;
}

struct deletion {
	struct str key;
	const struct table *table, *kept;
	const struct table *
		deleting; /* what stays of the table until its status is over; NULL: nothing does */
	catalog_keep *keep;           /* or NULL */
	void *context;
};

static enum code delete_in_store(const struct catalog *catalog, struct store_txn *txn,
				 const struct deletion *deletion, struct err *err)
{
	const struct table *table = deletion->table, *kept = deletion->kept,
			   *deleting = deletion->deleting;
	struct str key = deletion->key;
	bool keeps_items = false;
	uint64_t count = 0;
	enum code code = currency_check_version(txn, table, &count, err);

	if (code != OK)
		return code;
	if (deletion->keep)
		code = deletion->keep(txn, table, deletion->context, &keeps_items, err);
	if (code != OK)
		return code;
	if (!keeps_items)
		code = store_drop(txn, table_items(table), err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);

		code = store_drop(txn, index_keyspace(table, index), err);
		if (code != OK)
			return code;
		if (index->is_backfilling)
			code = store_del(txn, counters_keyspace,
					 catalog_progress_key(err->arena, table, index), err);
		if (code != OK)
			return code;
	}
	if (table->ttl.is_filling)
		code = store_del(txn, counters_keyspace,
				 catalog_expiry_progress_key(err->arena, table), err);
	if (code != OK)
		return code;
	if (table->ttl.is_enabled)
		code = store_drop(txn, table_expiry(table), err);
	if (code != OK)
		return code;
	if (table_is_global(table))
		code = store_drop(txn, table_replication(table), err);
	if (code != OK)
		return code;
	code = deleting ? currency_put(txn, deleting, count, err) : forget_rows(txn, table, err);
	if (code != OK)
		return code;
	code = put_record(catalog, txn, key, table, deleting, err);
	return code == OK ? retire(catalog, txn, table, kept, err)
			  : code; /* last: the stream's mark becomes the retired record's */
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

static enum code apply_deletion(struct catalog *catalog, struct store_txn *txn, void *context,
				struct err *err)
{
	const struct deletion *deletion = context;

	return delete_in_store(catalog, txn, deletion, err);
}

enum code catalog_delete(struct catalog *catalog, struct table *table, int64_t now_ms,
			 struct err *err)
{
	return catalog_delete_keeping(catalog, table, now_ms, NULL, NULL, err);
}

enum code catalog_delete_keeping(struct catalog *catalog, struct table *table, int64_t now_ms,
				 catalog_keep *keep, void *context, struct err *err)
{
	int64_t transient = catalog->options.transient_status_ms;
	struct table *kept = retired_of(table, now_ms),
		     *deleting = transient > 0 ? deleting_of(table, now_ms + transient) : NULL;
	struct deletion deletion = {
		catalog_key_of(err->arena, catalog, table), table, kept, deleting, keep, context};
	enum code code = run_change(catalog, table, apply_deletion, &deletion, err);

	table_unref(kept);
	if (code != OK) {
		table_unref(deleting);
		return code;
	}
	table_ref(table);
	if (deleting)
		catalog_show(catalog, deletion.key, deleting);
	else
		catalog_forget_entry(catalog, deletion.key, table->identity.number,
				     table->currency.version);
	catalog_drop_vectors(catalog, table, NULL);
	table_unref(table);
	return OK;
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

static enum code apply_part(struct catalog *catalog, struct store_txn *txn,
			    const struct change_part *part, struct err *err)
{
	const struct catalog_change *change = part->change;

	if (!change->current)
		return apply_creation(catalog, txn,
				      &(struct creation){.key = part->key, .table = change->next},
				      err);
	if (!change->next)
		return delete_in_store(catalog, txn,
				       &(struct deletion){part->key, change->current, part->kept,
							  part->deleting, change->keep,
							  change->context},
				       err);
	bool is_kept;
	enum code code =
		change->keep ? change->keep(txn, change->current, change->context, &is_kept, err)
			     : OK;
	return code == OK ? apply_replacement(
				    catalog, txn,
				    &(struct replacement){part->key, change->current, change->next},
				    err)
			  : code;
}

static enum code apply_parts(struct catalog *catalog, struct store_txn *txn, void *context,
			     struct err *err)
{
	const struct change_parts *parts = context;

	for (size_t i = 0; i < parts->n; i++) {
		const struct catalog_change *change = parts->v[i].change;
		enum code code = apply_part(catalog, txn, &parts->v[i], err);

		if (code != OK)
			return code;
		code = currency_raise(txn,
				      catalog_space(err->arena, catalog,
						    change->next ? change->next : change->current),
				      err);
		if (code != OK)
			return code;
		journal_disarm(txn); /* the next one is of another namespace */
	}
	return OK;
}

static void prepare_part(struct catalog *catalog, struct change_part *part, struct arena *arena)
{
	const struct catalog_change *change = part->change;
	int64_t transient = catalog->options.transient_status_ms;
	const struct table *table = change->current ? change->current : change->next;

	part->key = catalog_key_of(arena, catalog, table);
	if (!change->current)
		fill_new(catalog, catalog_ns_of(table), change->next, change->now_ms);
	if (change->next)
		return;
	part->kept = retired_of(change->current, change->now_ms);
	part->deleting =
		transient > 0 ? deleting_of(change->current, change->now_ms + transient) : NULL;
}

/* The references to what is shown pass to the cache. */
static void show_part(struct catalog *catalog, const struct change_part *part)
{
	struct table *current = part->change->current;
	struct table *shown = part->change->next ? table_ref(part->change->next) : part->deleting;

	if (current)
		table_ref(current); /* the entry's own reference may be the last one */
	if (shown)
		catalog_show(catalog, part->key, shown);
	else
		catalog_forget_entry(catalog, part->key, current->identity.number,
				     current->currency.version);
	if (current)
		catalog_drop_vectors(catalog, current, part->change->next);
	table_unref(current);
}

enum code catalog_change_all(struct catalog *catalog, const struct catalog_change *changes,
			     size_t n, struct err *err)
{
	struct change_parts parts = {ARENA_ARRAY(err->arena, struct change_part, n), n};

	for (size_t i = 0; i < n; i++) {
		parts.v[i].change = &changes[i];
		prepare_part(catalog, &parts.v[i], err->arena);
	}
	enum code code = run_change(catalog, NULL, apply_parts, &parts, err);
	for (size_t i = 0; i < n; i++) {
		if (code == OK)
			show_part(catalog, &parts.v[i]);
		else
			table_unref(parts.v[i].deleting);
		table_unref(parts.v[i].kept);
		table_unref(changes[i].next);
	}
	return code;
}

/* A new table of the name may be there already. */
static enum code apply_burial(struct catalog *catalog, struct store_txn *txn, void *context,
			      struct err *err)
{
	const struct deletion *burial = context;
	struct table *known;
	enum code code = catalog_arm(catalog, txn, catalog_ns_of(burial->table), err);

	if (code != OK)
		return code;
	code = catalog_stored(catalog, txn, burial->key, &known, err);
	if (code != OK)
		return code;
	if (known && known->identity.number == burial->table->identity.number)
		code = put_record(catalog, txn, burial->key, burial->table, NULL, err);
	table_unref(known);
	return code == OK ? forget_rows(txn, burial->table, err) : code;
}

enum code catalog_bury(struct catalog *catalog, struct table *table, struct err *err)
{
	struct deletion burial = {.key = catalog_key_of(err->arena, catalog, table),
				  .table = table};
	enum code code = run_change(catalog, table, apply_burial, &burial, err);

	if (code == OK)
		catalog_forget_entry(catalog, burial.key, table->identity.number, UINT64_MAX);
	return code;
}

static enum code apply_forgetting(struct catalog *catalog, struct store_txn *txn, void *context,
				  struct err *err)
{
	const struct table *table = context;
	struct str key = retired_key(err->arena, table->identity.number), record;
	enum code code = catalog_arm(catalog, txn, catalog_ns_of(table), err);

	if (code != OK)
		return code;
	code = store_get(txn, tables_keyspace, key, err->arena, &record, err);
	if (code != OK || !str_is_set(record)) /* another process dropped it */
		return code;
	code = store_drop(txn, stream_keyspace(table), err);
	return code == OK ? put_record(catalog, txn, key, table, NULL, err) : code;
}

enum code catalog_forget(struct catalog *catalog, struct table *table, struct err *err)
{
	return run_change(catalog, table, apply_forgetting, table, err);
}
