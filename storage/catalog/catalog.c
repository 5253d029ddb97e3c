#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/retired.h"
#include "storage/schema/currency.h"

struct store *catalog_store(struct catalog *catalog)
{
	return catalog->store;
}

const struct catalog_options *catalog_options(const struct catalog *catalog)
{
	return &catalog->options;
}

struct pace *catalog_pace(struct catalog *catalog)
{
	return &catalog->pace;
}

struct vector_memory *catalog_vector_memory(struct catalog *catalog)
{
	return catalog->vector_memory;
}

uint32_t catalog_stream_shards(const struct catalog *catalog, const struct table *table)
{
	bool is_logged = table_is_global(table) ||
			 (table->log.reasons & ~(unsigned)LOG_COPY); /* a copy does not last */

	return is_logged ? 0 : catalog->options.stream_shards;
}

enum code catalog_refresh(struct catalog *catalog, struct err *err)
{
	atomic_fetch_add(&catalog->generation, 1);
	return clocks_refresh(catalog->options.clocks, err);
}

/* A table that is looked up is NULL where that fails: callers drop their reference in any case. */
static enum code give_table(enum code code, struct table **out, struct table *table)
{
	*out = code == OK ? table : NULL;
	return code;
}

static enum code read_current_in(struct catalog *catalog, struct store_txn *txn, struct str key,
				 const struct table *known, bool *is_known, bool *is_whole,
				 struct table **table, struct err *err)
{
	struct table *stored;
	enum code code = known ? currency_is_exact(txn, known, is_known, err) : OK;

	if (code != OK || *is_known)
		return code;
	code = catalog_stored(catalog, txn, key, &stored, err);
	if (code != OK)
		return code;
	*table = stored;
	if (!*table || catalog->options.has_peers || retired_is_key(key))
		return code;
	return currency_is_exact(txn, *table, is_whole, err);
}

/* What the store has under the key, with a reference: `known`, which may be NULL, where that is
 * current; NULL where it has nothing. */
static enum code read_current(struct catalog *catalog, struct str key, const struct table *known,
			      bool *is_known, bool *is_whole, struct table **out, struct err *err)
{
	struct store_txn *txn;
	struct table *table = NULL;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return give_table(code, out, NULL);
	*is_known = false;
	code = read_current_in(catalog, txn, key, known, is_known, is_whole, &table, err);
	store_abort(txn);
	if (code != OK)
		table_unref(table);
	return give_table(code, out, table);
}

/* The same, and a record that 0.1.0 wrote to a newer file gets its rows. */
static enum code read_whole(struct catalog *catalog, struct str key, const struct table *known,
			    bool *is_known, struct table **out, struct err *err)
{
	bool is_whole = true;
	enum code code = read_current(catalog, key, known, is_known, &is_whole, out, err);

	if (code != OK || is_whole)
		return code;
	table_unref(*out);
	code = table_rows_mend(catalog->store, catalog->options.settings, table_rows_space(key),
			       key, err);
	if (code != OK)
		return give_table(code, out, NULL);
	return read_current(catalog, key, known, is_known, &is_whole, out, err);
}

/* The table under the key as the store has it, with a reference; NULL where there is none. Takes
 * over the reference to what is in memory (or NULL). */
static enum code load_table(struct catalog *catalog, struct str key, struct table *known,
			    struct table **out, struct err *err)
{
	unsigned generation = atomic_load(&catalog->generation);
	bool is_known;
	struct table *table;
	enum code code = read_whole(catalog, key, known, &is_known, &table, err);

	if (code == OK && is_known) {
		catalog_check(catalog, key, known, generation);
		return give_table(code, out, known);
	}
	if (code == OK && table) {
		table = catalog_install(catalog, key, table, generation);
	} else if (code == OK && known) {
		catalog_forget_entry(catalog, key, known->identity.number, known->currency.version);
		catalog_drop_vectors(catalog, known, NULL);
	}
	table_unref(known);
	return give_table(code, out, table);
}

static enum code look_table_up(struct catalog *catalog, struct str key, bool is_current,
			       int64_t now_ms, struct table **out, struct err *err)
{
	bool is_checked = false;
	enum code code = OK;
	struct table *table = catalog_cached(catalog, key, &is_checked);

	if (!table || is_current || !is_checked)
		code = load_table(catalog, key, table, &table, err);
	if (code == OK && table && !catalog_is_gone(table, now_ms)) {
		table = catalog_settle(catalog, key, table, now_ms);
	} else if (code == OK) {
		table_unref(table);
		code = err_default(err, ERR_RESOURCE_NOT_FOUND);
	}
	return give_table(code, out, table);
}

enum code catalog_get(struct catalog *catalog, struct ns ns, struct str name, int64_t now_ms,
		      struct table **out, struct err *err)
{
	return look_table_up(catalog, catalog_key(err->arena, catalog, ns, name), false, now_ms,
			     out, err);
}

enum code catalog_get_current(struct catalog *catalog, struct ns ns, struct str name,
			      int64_t now_ms, struct table **out, struct err *err)
{
	return look_table_up(catalog, catalog_key(err->arena, catalog, ns, name), true, now_ms, out,
			     err);
}

/* A retired table never changes, and nobody asks for it often. */
enum code catalog_marked(struct catalog *catalog, const struct mark *mark, struct table **out,
			 struct err *err)
{
	bool is_checked, is_retired = retired_is_key(mark->record);
	struct table *known =
			     is_retired ? NULL : catalog_cached(catalog, mark->record, &is_checked),
		     *table;
	enum code code;

	if (is_retired)
		code = read_whole(catalog, mark->record, NULL, &is_checked, &table, err);
	else
		code = load_table(catalog, mark->record, known, &table, err);
	if (code == OK && table &&
	    table->identity.number != mark->number) { /* another table has the name by now */
		table_unref(table);
		table = NULL;
	}
	return give_table(code, out, table);
}

static enum code read_is_exact(struct catalog *catalog, const struct table *table, bool *is_exact,
			       struct err *err)
{
	struct store_txn *txn;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, err);

	if (code != OK)
		return code;
	code = currency_is_exact(txn, table, is_exact, err);
	store_abort(txn);
	return code;
}

bool catalog_holds(struct catalog *catalog, const struct table *table)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	bool is_exact = true;
	enum code code = read_is_exact(catalog, table, &is_exact, &err);

	if (code == OK && !is_exact)
		catalog_forget_entry(catalog, catalog_key_of(arena, catalog, table),
				     table->identity.number, table->currency.version);
	arena_free(arena);
	return code != OK || is_exact;
}

struct str catalog_progress_key(struct arena *arena, const struct table *table,
				const struct index *index)
{
	return str_printf(arena, "backfill/%llu/%u", (unsigned long long)table->identity.number,
			  (unsigned)index->number);
}

struct str catalog_expiry_progress_key(struct arena *arena, const struct table *table)
{
	return str_printf(arena, "backfill/%llu/expiry",
			  (unsigned long long)table->identity.number);
}
