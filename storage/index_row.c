#include "storage/index_row.h"

#include "core/image.h"
#include "storage/item_key.h"
#include "storage/vector/vector_row.h"

static struct index_row ordinary(struct arena *arena, const struct index *index, struct str key,
				 const struct value *item, struct str image)
{
	struct str value =
		str_is_set(key) ? item_index_image(arena, index, item, image) : STR_ABSENT;

	return (struct index_row){key, value, str_is_set(key) ? image_item_size(value) : 0};
}

struct index_row index_row_of(struct arena *arena, const struct table *table,
			      const struct index *index, const struct value *item, struct str image)
{
	if (index->vector) {
		struct vector_row row = vector_row_of(arena, table, index, item);

		return (struct index_row){row.key, row.value, row.size};
	}
	return ordinary(arena, index,
			str_is_set(image) ? item_key_in_index(arena, table, index, item)
					  : STR_ABSENT,
			item, image);
}

struct index_row index_row_after(struct arena *arena, const struct table *table,
				 const struct index *index, const struct index_row *before,
				 const struct value *old_item, const struct value *item,
				 struct str image)
{
	if (!str_is_set(before->key) || !str_is_set(image) ||
	    !item_key_is_kept(index, old_item, item))
		return index_row_of(arena, table, index, item, image);
	return ordinary(arena, index, before->key, item, image);
}

enum code index_row_create(struct store_txn *txn, const struct table *table,
			   const struct index *index, struct err *err)
{
	struct keyspace keyspace = index_keyspace(table, index);
	bool is_small = index->is_by_reference ||
			(!index->vector && index->projection == PROJECT_KEYS_ONLY);

	return is_small ? store_create_small(txn, keyspace, err) : store_create(txn, keyspace, err);
}

enum code index_row_put(struct store_txn *txn, const struct table *table, const struct index *index,
			struct str item_key, const struct index_row *row, struct err *err)
{
	struct store_key item = {table_items(table), item_key};

	return index->is_by_reference
		       ? store_refer(txn, index_keyspace(table, index), row->key, &item, err)
		       : store_put(txn, index_keyspace(table, index), row->key, row->value, err);
}

static bool is_of(const void *context, struct str key, struct str item_key)
{
	const struct index_row_reference *reference = context;

	return item_key_is_behind(reference->table, reference->index, key, item_key);
}

static struct str key_of(const void *context, struct arena *arena, struct str key)
{
	const struct index_row_reference *reference = context;

	return item_key_behind(arena, reference->table, reference->index, key);
}

const struct store_reference *index_row_reference(const struct table *table,
						  const struct index *index,
						  struct index_row_reference *room)
{
	if (!index || !index->is_by_reference)
		return NULL;
	*room = (struct index_row_reference){
		{table_items(table), is_of, key_of, room}, table, index};
	return &room->base;
}
