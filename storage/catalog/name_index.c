#include "storage/catalog/name_index.h"

#include <stdlib.h>

#include "core/arena.h"

static struct str name_of(struct str key)
{
	size_t at = key.n;

	while (at > 0 && key.p[at - 1] != 0)
		at--;
	return (struct str){key.p + at, key.n - at};
}

/* Where the key of that name stands or would stand; the empty key comes before all others of its name. */
static size_t place(const struct name_index *index, struct str name, struct str key)
{
	size_t low = 0, high = index->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(name_of(index->keys[middle]), name);

		if (order == 0)
			order = str_cmp(index->keys[middle], key);
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void name_index_free(struct name_index *index)
{
	free(index->keys);
	*index = (struct name_index){0};
}

void name_index_add(struct name_index *index, struct str key)
{
	size_t at = place(index, name_of(key), key);

	if (index->n == index->capacity) {
		index->capacity = index->capacity ? index->capacity * 2 : 16;
		index->keys = arena_checked(realloc(index->keys, index->capacity * sizeof(*index->keys)));
	}
	memmove(&index->keys[at + 1], &index->keys[at], (index->n - at) * sizeof(*index->keys));
	index->keys[at] = key;
	index->n++;
}

void name_index_remove(struct name_index *index, struct str key)
{
	size_t at = place(index, name_of(key), key);

	if (at == index->n || !str_eq(index->keys[at], key))
		return;
	index->n--;
	memmove(&index->keys[at], &index->keys[at + 1], (index->n - at) * sizeof(*index->keys));
}

void name_index_walk(const struct name_index *index, struct str name, name_visit *visit, void *context)
{
	for (size_t at = place(index, name, STR("")); at < index->n && str_eq(name_of(index->keys[at]), name); at++) {
		if (!visit(context, index->keys[at]))
			return;
	}
}
