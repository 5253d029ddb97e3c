#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/retired.h"
#include "storage/catalog/size_rows.h"
#include "storage/schema/currency.h"

uint64_t catalog_collection_max(const struct catalog *catalog)
{
	return catalog->options.collection_max ? catalog->options.collection_max
					       : COLLECTION_SIZE_MAX;
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

size_t catalog_piece(const struct catalog *catalog, size_t most)
{
	return catalog_is_crowded(catalog) && most > CATALOG_CROWDED_PART
		       ? most / CATALOG_CROWDED_PART
		       : most;
}

size_t catalog_piece_rows(const struct catalog *catalog, size_t most)
{
	size_t limit = catalog_fill_max(catalog), rows = catalog_piece(catalog, most);

	return limit > 0 && limit < rows ? limit : rows;
}

bool catalog_next_piece(const struct catalog *catalog, uint64_t *left)
{
	uint64_t size = catalog_is_crowded(catalog) ? 1 : CATALOG_CROWDED_PART;
	bool is_left = *left > 0;

	*left -= *left < size ? *left : size;
	return is_left;
}

void catalog_crowd(struct catalog *catalog, bool is_crowded)
{
	atomic_store_explicit(&catalog->is_crowded, is_crowded, memory_order_relaxed);
}

bool catalog_is_crowded(const struct catalog *catalog)
{
	return atomic_load_explicit(&catalog->is_crowded, memory_order_relaxed);
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

const struct lag *catalog_lag(const struct catalog *catalog)
{
	return &catalog->options.lag;
}

uint32_t catalog_stream_shards(const struct catalog *catalog, const struct table *table)
{
	bool is_logged = table_is_global(table) ||
			 (table->log.reasons & ~(unsigned)LOG_COPY); /* a copy does not last */

	return is_logged ? 0 : catalog->options.stream_shards;
}

const struct stream_rotation *catalog_rotation(const struct catalog *catalog)
{
	return &catalog->options.rotation;
}

struct str catalog_key(struct arena *arena, const struct catalog *catalog, struct ns ns,
		       struct str name)
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

struct str catalog_space(struct arena *arena, const struct catalog *catalog,
			 const struct table *table)
{
	return catalog_key(arena, catalog, catalog_ns_of(table), STR(""));
}

struct str catalog_key_of(struct arena *arena, const struct catalog *catalog,
			  const struct table *table)
{
	return catalog_key(arena, catalog, catalog_ns_of(table), table->identity.name);
}

enum code catalog_open(struct store *store, const struct catalog_options *options,
		       struct catalog **out, struct err *err)
{
	struct catalog *catalog = arena_checked(calloc(1, sizeof(*catalog)));

	catalog->store = store;
	catalog->options = *options;
	catalog->vector_memory = vector_cache_memory_new(options->vector_memory_bytes);
	pthread_rwlock_init(&catalog->lock, NULL);
	catalog_sizes_open(catalog);
	enum code code = table_rows_complete(store, options->settings, options->is_shared, err);
	if (code == OK)
		code = catalog_refresh(catalog, err);
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

	enum code code = catalog_size_flush(catalog, &err);
	if (code == OK && catalog->options.has_peers)
		code = size_rows_end_life(catalog->store, catalog->sizes.process, &err);
	(void)code;
	arena_free(arena);
}

void catalog_close(struct catalog *catalog)
{
	if (!catalog)
		return;
	flush_at_the_end(catalog);
	catalog_sizes_close(catalog);
	catalog_clear(catalog);
	vector_cache_memory_free(catalog->vector_memory);
	pthread_rwlock_destroy(&catalog->lock);
	free(catalog);
}

enum code catalog_refresh_clocks(struct catalog *catalog, struct err *err)
{
	return catalog->options.clocks ? clocks_refresh(catalog->options.clocks, err) : OK;
}

enum code catalog_refresh(struct catalog *catalog, struct err *err)
{
	atomic_fetch_add(&catalog->generation, 1);
	return catalog_refresh_clocks(catalog, err);
}

/* A table that is looked up is NULL where that fails: callers drop their reference in any case. */
static enum code give_table(enum code code, struct table **out, struct table *table)
{
	*out = code == OK ? table : NULL;
	return code;
}

enum code catalog_stored(const struct catalog *catalog, struct store_txn *txn, struct str key,
			 struct table **out, struct err *err)
{
	struct str record;
	struct table *table = NULL;
	enum code code = store_get(txn, tables_keyspace, key, err->arena, &record, err);

	if (code == OK && str_is_set(record))
		code = table_decode(record, catalog->options.settings, &table, err);
	return give_table(code, out, table);
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
	if (known)
		code = currency_is_exact(txn, known, is_known, err);
	if (code == OK && !*is_known)
		code = catalog_stored(catalog, txn, key, &table, err);
	bool is_read = code == OK && table;
	if (is_read && !catalog->options.has_peers && !retired_is_key(key))
		code = currency_is_exact(txn, table, is_whole, err);
	store_abort(txn);
	if (code != OK && is_read)
		table_unref(table);
	return give_table(code, out, table);
}

/* The same, and a record that 0.1.0 wrote to a newer file gets its rows. */
static enum code read_whole(struct catalog *catalog, struct str key, const struct table *known,
			    bool *is_known, struct table **out, struct err *err)
{
	bool is_whole = true;
	struct table *table;
	enum code code = read_current(catalog, key, known, is_known, &is_whole, &table, err);

	if (code == OK && !is_whole) {
		table_unref(table);
		code = table_rows_mend(catalog->store, catalog->options.settings,
				       table_rows_space(key), key, err);
		if (code == OK)
			code = read_current(catalog, key, known, is_known, &is_whole, &table, err);
	}
	return give_table(code, out, table);
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

bool catalog_holds(struct catalog *catalog, const struct table *table)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct store_txn *txn;
	bool is_exact = true;
	enum code code = store_begin(catalog->store, STORE_READ, &txn, &err);

	if (code == OK) {
		code = currency_is_exact(txn, table, &is_exact, &err);
		store_abort(txn);
	}
	if (code == OK && !is_exact)
		catalog_forget_entry(catalog, catalog_key_of(arena, catalog, table),
				     table->identity.number, table->currency.version);
	arena_free(arena);
	return code != OK || is_exact;
}

struct str catalog_uuid(struct arena *arena)
{
	unsigned char b[16];

	if (getentropy(b, sizeof(b)) != 0)
		memset(b, 0, sizeof(b));
	b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
	return str_printf(arena,
			  "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			  b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11],
			  b[12], b[13], b[14], b[15]);
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

int64_t catalog_replication_lag_ms(const struct catalog *catalog)
{
	return catalog->options.replication_lag_ms;
}

int64_t catalog_transient_ms(const struct catalog *catalog)
{
	return catalog->options.transient_status_ms;
}
