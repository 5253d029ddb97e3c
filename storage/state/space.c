#include "storage/state/space.h"

#include "core/key.h"
#include "storage/catalog/retired.h"
#include "storage/catalog/size_rows.h"
#include "storage/index_row.h"
#include "storage/schema/currency.h"
#include "storage/store/retry.h"
#include "storage/store/row.h"
#include "storage/store/walk.h"
#include "storage/write/write.h"

#define MARKS_PER_PAGE 500

static const struct keyspace tables_keyspace = {0, SYSTEM_TABLES};
static const struct keyspace counters_keyspace = {0, SYSTEM_COUNTERS};
const struct keyspace space_token_keyspaces[SPACE_TOKEN_KEYSPACES] = {{0, SYSTEM_TOKENS},
								      {0, SYSTEM_TOKEN_EXPIRY}};

struct str space_prefix(const struct space *space)
{
	return catalog_key(space->arena, space->catalog, space->ns, STR(""));
}

static enum code apply_in(struct space *space, unsigned way, space_apply *apply, void *context,
			  struct err *err)
{
	enum code code =
		way & SPACE_BARE ? OK : catalog_arm(space->catalog, space->txn, space->ns, err);

	if (code != OK)
		return code;
	code = apply(space, context, err);
	if (code != OK)
		return code;
	if (!(way & SPACE_QUIET))
		code = currency_raise(space->txn, space_prefix(space), err);
	return code == OK ? err_if_over(space->arena, err) : code;
}

static enum code run_space_once(struct space *space, unsigned way, space_apply *apply,
				void *context, struct err *err)
{
	enum code code = store_begin(catalog_store(space->catalog), STORE_WRITE, &space->txn, err);

	if (code != OK)
		return code;
	code = apply_in(space, way, apply, context, err);
	return store_end_for_good(space->txn, code, err);
}

enum code space_change(struct catalog *catalog, struct ns ns, unsigned way, space_apply *apply,
		       void *context, struct err *err)
{
	struct space space = {.catalog = catalog, .ns = ns, .arena = err->arena};
	struct retry retry = {0};
	enum code code;

	do {
		code = run_space_once(&space, way, apply, context, err);
	} while (retry_again(&retry, code));
	if (code == OK && !(way & SPACE_QUIET))
		return catalog_refresh(catalog, err);
	return retry_code(code, err);
}

static void add(const struct space *space, struct space_records *records, struct space_record found)
{
	records->v = arena_room(space->arena, records->v, records->n, sizeof(*records->v));
	records->v[records->n++] = found;
}

/* With --shared-db the keys of tables begin as those of retired ones do. */
static enum code find_tables(const struct space *space, struct space_records *records,
			     struct err *err)
{
	struct arena *arena = space->arena;
	struct str prefix = space_prefix(space);
	struct store_range range = {prefix, key_after_prefix(arena, prefix), false};
	struct walk walk = walk_begin(space->txn, tables_keyspace, &range, err);
	struct store_row row;

	while (walk_next(&walk, &row)) {
		struct space_record found = {.key = str_copy(arena, row.key),
					     .record = str_copy(arena, row.value)};

		found.name = row_behind(found.key, prefix.n);
		if (!retired_is_key(row.key))
			add(space, records, found);
	}
	return walk_end(&walk);
}

static bool is_there(const struct space_records *records, struct str key)
{
	for (size_t i = records->n; i > 0 && records->v[i - 1].is_retired; i--) {
		if (str_eq(records->v[i - 1].key, key))
			return true;
	}
	return false;
}

/* Those of deleted tables, by the marks of their streams; a table may have several. */
static enum code find_retired(const struct space *space, struct space_records *records,
			      struct err *err)
{
	struct marks streams = {.kind = MARK_STREAM,
				.within = space_prefix(space),
				.limit = MARKS_PER_PAGE,
				.is_more = true};

	while (streams.is_more) {
		enum code code = table_rows_marks(space->txn, space->arena, &streams, err);
		if (code != OK)
			return code;
		for (size_t i = 0; i < streams.n; i++) {
			struct space_record found = {.key = streams.v[i].record,
						     .name = streams.v[i].name,
						     .is_retired = true};

			if (!streams.v[i].is_deleted || is_there(records, found.key))
				continue;
			code = store_get(space->txn, tables_keyspace, found.key, space->arena,
					 &found.record, err);
			if (code != OK)
				return code;
			if (str_is_set(found.record))
				add(space, records, found);
		}
	}
	return OK;
}

enum code space_records(const struct space *space, struct space_records *records, struct err *err)
{
	*records = (struct space_records){0};
	enum code code = find_tables(space, records, err);

	return code == OK ? find_retired(space, records, err) : code;
}

enum code space_decode(const struct space *space, const struct space_record *record,
		       struct table **table, struct err *err)
{
	return table_decode(record->record, catalog_options(space->catalog)->settings, table, err);
}

enum code space_number(const struct space *space, const struct space_record *record,
		       uint64_t *number, struct err *err)
{
	struct table *table;
	uint64_t version;

	if (table_record_version(record->record, number, &version))
		return OK;
	enum code code = space_decode(space, record, &table, err);
	if (code == OK) {
		*number = table->identity.number;
		table_unref(table);
	}
	return code;
}

static enum code drop_index(struct space *space, const struct table *table,
			    const struct index *index, struct err *err)
{
	enum code code = store_drop(space->txn, index_keyspace(table, index), err);

	if (code != OK)
		return code;
	if (index->is_backfilling)
		code = store_del(space->txn, counters_keyspace,
				 catalog_progress_key(space->arena, table, index), err);
	return code;
}

/* Items, and what follows from them. */
static enum code drop_rows(struct space *space, const struct table *table, struct err *err)
{
	enum code code = store_drop(space->txn, table_items(table), err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(table); i++) {
		code = drop_index(space, table, table_index_at(table, i), err);
		if (code != OK)
			return code;
	}
	if (table->ttl.is_enabled)
		code = store_drop(space->txn, table_expiry(table), err);
	if (code != OK)
		return code;
	return table_is_global(table) ? store_drop(space->txn, table_replication(table), err) : OK;
}

enum code space_drop(struct space *space, const struct space_record *record,
		     const struct table *table, struct err *err)
{
	/* of a deleted table that is still shown, and of a retired one, only the stream is left,
	 * which is the retired one's */
	bool is_deleted = table->state.status == STATUS_DELETING;
	enum code code = is_deleted ? OK : drop_rows(space, table, err);

	if (code != OK)
		return code;
	if (table_has_log(table) && is_deleted == record->is_retired)
		code = store_drop(space->txn, stream_keyspace(table), err);
	if (code != OK || record->is_retired)
		return code;
	code = size_rows_drop(space->txn, table->identity.number, err);
	return code == OK ? currency_del(space->txn, table, err) : code;
}

enum code space_put_record(struct space *space, struct str key, const struct table *table,
			   const struct table *next, struct err *err)
{
	struct str prefix =
		catalog_key(space->arena, space->catalog,
			    (struct ns){table->identity.account, table->identity.region}, STR(""));

	return table_rows_put(space->txn, catalog_options(space->catalog)->settings, prefix, key,
			      next, err);
}

enum code space_create(struct space *space, struct str key, struct table *table, struct err *err)
{
	struct store_txn *txn = space->txn;
	enum code code = catalog_next_number(txn, space->arena, &table->identity.number, err);

	if (code != OK)
		return code;
	currency_follow(NULL, table);
	code = store_create(txn, table_items(table), err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(table); i++) {
		code = index_row_create(txn, table, table_index_at(table, i), err);
		if (code != OK)
			return code;
	}
	if (table->ttl.is_enabled)
		code = store_create(txn, table_expiry(table), err);
	if (code != OK)
		return code;
	if (table_is_global(table))
		code = store_create(txn, table_replication(table), err);
	if (code != OK)
		return code;
	if (table_has_log(table) && !table_logs(table))
		code = store_create(txn, stream_keyspace(table), err);
	if (code != OK)
		return code;
	code = stream_change_table(txn, space->arena, NULL, table, err);
	if (code != OK)
		return code;
	code = currency_put(txn, table, 0,
			    err); /* its items are counted when somebody wants to know */
	if (code != OK)
		return code;
	code = catalog_inherit_lag(space->catalog, txn, space->ns, key, table->identity.number,
				   err);
	return code == OK ? space_put_record(space, key, table, table, err) : code;
}

struct store_range space_token_range(const struct space *space)
{
	struct str prefix = write_token_space(space->arena, space->ns);

	if (catalog_options(space->catalog)->is_shared) /* all namespaces are one */
		return (struct store_range){STR_ABSENT, STR_ABSENT, false};
	return (struct store_range){prefix, key_after_prefix(space->arena, prefix), false};
}

enum code space_drop_tokens(struct space *space, struct err *err)
{
	struct store_range range = space_token_range(space);

	for (size_t k = 0; k < SPACE_TOKEN_KEYSPACES; k++) {
		enum code code = store_del_range(space->txn, space_token_keyspaces[k], &range, err);
		if (code != OK)
			return code;
	}
	return OK;
}

struct job_txn space_jobs(const struct space *space)
{
	return (struct job_txn){space->catalog, space->ns, space->txn, space->arena};
}

enum code space_drop_jobs(struct space *space, struct err *err)
{
	struct job_txn txn = space_jobs(space);

	return job_remove_all(&txn, err);
}

static enum code remove_space_table(struct space *space, const struct space_record *record,
				    struct err *err)
{
	struct table *table;
	enum code code = space_decode(space, record, &table, err);

	if (code != OK)
		return code;
	code = space_drop(space, record, table, err);
	code = code == OK ? space_put_record(space, record->key, table, NULL, err) : code;
	table_unref(table);
	return code;
}

enum code space_clear(struct space *space, struct err *err)
{
	struct space_records records;
	enum code code = space_records(space, &records, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < records.n; i++) {
		code = remove_space_table(space, &records.v[i], err);
		if (code != OK)
			return code;
	}
	code = space_drop_jobs(space, err);
	return code == OK ? space_drop_tokens(space, err) : code;
}
