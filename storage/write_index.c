#include "core/capacity.h"
#include "core/image.h"
#include "storage/item_key.h"
#include "storage/write_internal.h"

/* An item's row in an index; key absent where it has none. */
struct row {
	struct str key;
	struct str image;
};

static struct row row_of(struct write_step *step, const struct index *index, const struct value *item, struct str image)
{
	struct row row = {STR_ABSENT, STR_ABSENT};

	if (!str_is_set(image))
		return row;
	row.key = item_key_in_index(step->arena, step->write->table, index, item);
	if (str_is_set(row.key))
		row.image = item_index_image(step->arena, index, item, image);
	return row;
}

/* Put and delete are billed each, by the size of the index's row; AWS: once also in a transaction, whose factor is the table's alone. */
static double units_of(size_t old_size, size_t new_size)
{
	return capacity_write(old_size, new_size, false);
}

static enum code write_index(struct write_step *step, size_t i, struct err *err)
{
	struct write *write = step->write;
	const struct index *index = &write->table->indexes[i];
	struct keyspace keyspace = index_keyspace(write->table, index);
	struct row before = row_of(step, index, &write->old_item, write->old_image);
	struct row after = row_of(step, index, &write->new_item, write->new_image);
	size_t old_size = str_is_set(before.key) ? image_item_size(before.image) : 0;
	size_t new_size = str_is_set(after.key) ? image_item_size(after.image) : 0;
	bool same_key = str_is_set(before.key) && str_is_set(after.key) && str_eq(before.key, after.key);
	double units = 0;
	enum code code = OK;

	if (!index_is_kept(index) || (same_key && str_eq(before.image, after.image)))
		return OK;
	if (same_key) {
		units = units_of(old_size, new_size);
	} else {
		units += str_is_set(before.key) ? units_of(old_size, 0) : 0;
		units += str_is_set(after.key) ? units_of(0, new_size) : 0;
	}
	if (index->is_backfilling && str_is_set(before.key)) {
		/* the filling may not have come to the item yet; then there is nothing to take out, nor out of the count */
		struct str known;

		code = store_get(step->txn, keyspace, before.key, step->arena, &known, err);
		if (code != OK)
			return code;
		if (!str_is_set(known)) {
			before.key = STR_ABSENT;
			old_size = 0;
		}
	}
	if (str_is_set(before.key) && !same_key)
		code = store_del(step->txn, keyspace, before.key, err);
	if (code == OK && str_is_set(after.key))
		code = store_put(step->txn, keyspace, after.key, after.image, err);
	write->cost.index[i].write += units;
	write->cost.index_is_touched[i] = units > 0;
	step->sizes[1 + i].items += str_is_set(after.key) - str_is_set(before.key);
	step->sizes[1 + i].bytes += (long long)new_size - (long long)old_size;
	return code;
}

enum code write_indexes(struct write_step *step, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < step->write->table->index_count && code == OK; i++)
		code = write_index(step, i, err);
	return code;
}
