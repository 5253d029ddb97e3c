#include "storage/catalog.h"

#include "core/image.h"
#include "storage/vector_row.h"

static bool add_size(void *context, struct str key, struct str image)
{
	uint64_t *sums = context;

	(void)key;
	sums[0]++;
	sums[1] += image_item_size(image);
	return true;
}

enum code catalog_size_in(struct store_txn *txn, struct table *table, const struct index *index, struct err *err)
{
	struct size_counter *counter = index ? index->size : table->size;
	struct store_range all = index && index->vector ? vector_row_range() : (struct store_range){STR_ABSENT, STR_ABSENT, false};
	uint64_t sums[2] = {0, 0};
	enum code code = store_scan(txn, index ? index_keyspace(table, index) : table_items(table), &all, add_size, sums, err);

	if (index && index->vector) /* what an image does not tell of its row */
		sums[1] += sums[0] * vector_row_size(index, STR_ABSENT);
	if (code == OK && !atomic_load(&counter->is_counted)) {
		atomic_store(&counter->items, (long long)sums[0]);
		atomic_store(&counter->bytes, (long long)sums[1]);
		atomic_store(&counter->is_counted, true);
	}
	return code;
}

enum code catalog_size(struct catalog *catalog, struct table *table, const struct index *index, uint64_t *items, uint64_t *bytes, struct err *err)
{
	struct size_counter *counter = index ? index->size : table->size;
	struct store_txn *txn;

	if (!atomic_load(&counter->is_counted)) {
		/* a write transaction keeps writers out while we count, so that no change is missed or counted twice */
		enum code code = store_begin(catalog_store(catalog), STORE_WRITE, &txn, err);

		if (code != OK)
			return code;
		code = catalog_size_in(txn, table, index, err);
		store_abort(txn);
		if (code != OK)
			return code;
	}
	*items = (uint64_t)atomic_load(&counter->items);
	*bytes = (uint64_t)atomic_load(&counter->bytes);
	return OK;
}
