#include "core/image.h"
#include "core/key.h"
#include "storage/catalog/catalog_size.h"
#include "storage/index_row.h"
#include "storage/store/walk.h"
#include "storage/write/write_internal.h"

/* What the writes of one transaction can add to a table at most and its counters do not know yet.
 */
#define UNCOUNTED_MAX (100ll * ITEM_SIZE_MAX * (1 + LOCAL_INDEXES_MAX))
#define COLLECTION_STEP (1ll << 30)

/* Adds the bytes of a range's rows, of the table or an index, until there are more than enough. */
static enum code add_row_bytes(struct store_txn *txn, const struct table *table,
			       const struct index *index, const struct store_range *range,
			       uint64_t enough, uint64_t *bytes, struct err *err)
{
	struct walk walk = walk_begin(
		txn, index ? index_keyspace(table, index) : table_items(table), range, err);
	struct index_row_reference reference;
	struct store_row row;

	walk.reference = index_row_reference(table, index, &reference);
	while (*bytes <= enough && walk_next(&walk, &row))
		*bytes += image_item_size(row.value);
	return walk_end(&walk);
}

/* The bytes of the write's collection, items and local index rows; counts no further than `enough`.
 */
static enum code collection_bytes(struct store_txn *txn, struct arena *arena,
				  const struct write *write, uint64_t enough, uint64_t *bytes,
				  struct err *err)
{
	const struct table *table = write->table;
	const struct value *key = value_member(write->kind == WRITE_PUT ? write->item : write->key,
					       table->keys.attributes[0].name);
	struct buf partition = buf_in(arena);

	buf_add(&partition, write->row_key.p, KEY_HASH_SIZE);
	key_add(&partition, key);
	struct store_range range = {buf_str(&partition),
				    key_after_prefix(arena, buf_str(&partition)), false};
	*bytes = 0;
	enum code code = add_row_bytes(txn, table, NULL, &range, enough, bytes, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < table->indexes.n && *bytes <= enough; i++) {
		if (table->indexes.v[i].is_local)
			code = add_row_bytes(txn, table, &table->indexes.v[i], &range, enough,
					     bytes, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* Only a table that is large enough as a whole may have a collection beyond the limit. */
enum code write_check_collection(struct write_step *step, struct err *err)
{
	const struct table *table = step->write->table;
	long long total, growth = step->sizes[0].bytes;
	uint64_t bytes;

	if (!table_has_collections(table))
		return OK;
	for (size_t i = 0; i < table->indexes.n && table->indexes.v[i].is_local; i++)
		growth += step->sizes[1 + i].bytes;
	/* AWS: what shrinks a collection is let through, also beyond the limit */
	if (growth <= 0)
		return OK;
	enum code code =
		catalog_size_most(step->catalog, step->txn, table, step->scope, &total, err);
	if (code != OK || (uint64_t)(total + UNCOUNTED_MAX) <= step->collection_max)
		return code;
	code = collection_bytes(step->txn, step->arena, step->write, step->collection_max, &bytes,
				err);
	if (code != OK)
		return code;
	if (bytes > step->collection_max)
		return err_default(err, ERR_ITEM_COLLECTION_SIZE);
	return OK;
}

/* SizeEstimateRangeGB is in whole gigabytes: where all of the table is smaller, nothing need be
 * read. */
enum code write_size_collection(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
				struct write *write, const struct size_scope *scope,
				struct err *err)
{
	long long total;
	enum code code = catalog_size_most(catalog, txn, write->table, scope, &total, err);

	write->collection_bytes = 0;
	if (code != OK || total + UNCOUNTED_MAX < COLLECTION_STEP)
		return code;
	return collection_bytes(txn, arena, write, UINT64_MAX, &write->collection_bytes, err);
}
