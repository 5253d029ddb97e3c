#include "storage/store/postgresql/own_rows.h"

#include <stdlib.h>

static size_t own_row_position(const struct own_rows *rows, int64_t ks, struct str key)
{
	size_t low = 0, high = rows->n;

	/* rows mostly come in order */
	if (rows->n > 0 &&
	    (rows->v[rows->n - 1].ks < ks ||
	     (rows->v[rows->n - 1].ks == ks && str_cmp(rows->v[rows->n - 1].key, key) < 0)))
		return rows->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct own_row *row = &rows->v[middle];

		if (row->ks < ks || (row->ks == ks && str_cmp(row->key, key) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct own_row *own_rows_find(const struct own_rows *rows, int64_t ks, struct str key)
{
	size_t at = own_row_position(rows, ks, key);

	return at < rows->n && rows->v[at].ks == ks && str_eq(rows->v[at].key, key) ? &rows->v[at]
										    : NULL;
}

struct own_row *own_rows_place(struct own_rows *rows, struct arena *arena, int64_t ks,
			       struct str key)
{
	size_t at = own_row_position(rows, ks, key);

	if (at < rows->n && rows->v[at].ks == ks && str_eq(rows->v[at].key, key))
		return &rows->v[at];
	if (rows->n == rows->capacity) {
		rows->capacity = rows->capacity ? rows->capacity * 2 : 16;
		rows->v = arena_checked(realloc(rows->v, rows->capacity * sizeof(*rows->v)));
	}
	memmove(&rows->v[at + 1], &rows->v[at], (rows->n - at) * sizeof(*rows->v));
	rows->n++;
	rows->v[at] =
		(struct own_row){.ks = ks,
				 .key = str_copy(arena, (struct str){key.p ? key.p : "", key.n}),
				 .value = STR_ABSENT};
	return &rows->v[at];
}

size_t own_rows_count(const struct own_rows *rows, int64_t ks, struct str low, struct str high)
{
	size_t count = 0;

	for (size_t i = own_row_position(rows, ks, low); i < rows->n && rows->v[i].ks == ks; i++) {
		if (str_is_set(high) && str_cmp(rows->v[i].key, high) >= 0)
			break;
		count += str_is_set(rows->v[i].value);
	}
	return count;
}

size_t own_rows_first(const struct own_rows *rows, int64_t ks)
{
	return own_row_position(rows, ks, STR(""));
}
