#include "storage/index_row.h"

#include "core/image.h"
#include "storage/item_key.h"
#include "storage/vector/vector_row.h"

static struct index_row ordinary(struct arena *arena, const struct index *index, struct str key, const struct value *item, struct str image)
{
	struct str value = str_is_set(key) ? item_index_image(arena, index, item, image) : STR_ABSENT;

	return (struct index_row){key, value, str_is_set(key) ? image_item_size(value) : 0};
}

struct index_row index_row_of(struct arena *arena, const struct table *table, const struct index *index, const struct value *item, struct str image)
{
	if (index->vector) {
		struct vector_row row = vector_row_of(arena, table, index, item);

		return (struct index_row){row.key, row.value, row.size};
	}
	return ordinary(arena, index, str_is_set(image) ? item_key_in_index(arena, table, index, item) : STR_ABSENT, item, image);
}

struct index_row index_row_after(struct arena *arena, const struct table *table, const struct index *index, const struct index_row *before,
				 const struct value *old_item, const struct value *item, struct str image)
{
	if (!str_is_set(before->key) || !str_is_set(image) || !item_key_is_kept(index, old_item, item))
		return index_row_of(arena, table, index, item, image);
	return ordinary(arena, index, before->key, item, image);
}
