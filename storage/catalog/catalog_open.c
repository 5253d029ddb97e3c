#include <stdlib.h>

#include "storage/catalog/catalog_internal.h"
#include "storage/catalog/catalog_size.h"
#include "storage/catalog/size_rows.h"

/* What the store has from before: tables of older files, clocks, counts that were cut short. */
static enum code take_in(struct catalog *catalog, struct err *err)
{
	enum code code = table_rows_complete(catalog->store, catalog->options.settings,
					     catalog->options.is_shared, err);

	if (code != OK)
		return code;
	code = catalog_refresh(catalog, err);
	if (code != OK || catalog->options.has_peers)
		return code;
	return catalog_orphans_take(catalog, 0, err);
}

enum code catalog_open(struct store *store, const struct catalog_options *options,
		       struct catalog **out, struct err *err)
{
	struct catalog *catalog = arena_checked(calloc(1, sizeof(*catalog)));

	catalog->store = store;
	catalog->options = *options;
	if (!options->collection_max)
		catalog->options.collection_max = COLLECTION_SIZE_MAX;
	if (!options->drop_max)
		catalog->options.drop_max = DROP_ROWS_MAX;
	catalog->pace.rows_max = options->fill_max;
	catalog->vector_memory = vector_cache_memory_new(options->vector_memory_bytes,
							 options->search_threads);
	pthread_rwlock_init(&catalog->lock, NULL);
	catalog_sizes_open(catalog);
	enum code code = take_in(catalog, err);
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

	if (catalog_size_flush(catalog, &err) == OK && catalog->options.has_peers)
		(void)!size_rows_end_life(catalog->store, catalog->sizes.process, &err);
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
