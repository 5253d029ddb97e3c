#include "core/image.h"
#include "storage/catalog/catalog.h"
#include "storage/messages.h"
#include "storage/vector/vector_row.h"

/* A count under way. */
struct sum {
	const struct table *table; /* whose items they are; NULL: rows of an index */
	struct arena *row;         /* for one item at a time; NULL: the images tell their sizes */
	uint64_t items, bytes;
	bool is_malformed;
};

static bool add_size(void *context, struct str key, struct str image)
{
	struct sum *sum = context;
	size_t size = image_item_size(image);
	struct value item;

	(void)key;
	if (sum->row && !image_decode(sum->row, image, &item)) {
		sum->is_malformed = true;
		return false;
	}
	if (sum->row) {
		size = vector_row_billed_size(sum->table, &item, size);
		arena_reset(sum->row);
	}
	sum->items++;
	sum->bytes += size;
	return true;
}

enum code catalog_size_in(struct store_txn *txn, struct table *table, const struct index *index, struct err *err)
{
	struct size_counter *counter = index ? index->size : table->size;
	struct store_range all = index && index->vector ? vector_row_range() : (struct store_range){STR_ABSENT, STR_ABSENT, false};
	struct sum sum = {.table = table, .row = !index && table->indexes.vector_n ? arena_new(0) : NULL};
	enum code code = store_scan(txn, index ? index_keyspace(table, index) : table_items(table), &all, add_size, &sum, err);

	if (sum.row)
		arena_free(sum.row);
	if (code == OK && sum.is_malformed)
		return err_set(err, MSG_ROW_MALFORMED);
	if (index && index->vector) /* what an image does not tell of its row */
		sum.bytes += sum.items * vector_row_size(index, STR_ABSENT);
	if (code == OK && !atomic_load(&counter->is_counted)) {
		atomic_store(&counter->items, (long long)sum.items);
		atomic_store(&counter->bytes, (long long)sum.bytes);
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

/* Whether the table has the vector index, by which its items are sized. */
static bool is_sized_by(const struct table *table, const struct index *vector)
{
	const struct index *own = table_vector(table, vector->name);

	return own && own->number == vector->number && index_is_kept(own) == index_is_kept(vector);
}

void catalog_size_follow(const struct table *current, struct table *next)
{
	bool is_alike = current->indexes.vector_n == next->indexes.vector_n;

	for (size_t i = 0; i < next->indexes.vector_n && is_alike; i++)
		is_alike = is_sized_by(current, &next->indexes.vectors[i]);
	if (is_alike)
		return;
	size_counter_unref(next->size);
	next->size = size_counter_new();
}
