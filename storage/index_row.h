/*
 * index_row - an item's row in an index, of any kind: what writes keep, backfill adds, checks expect and repair makes again.
 */
#ifndef DYNALITH_STORAGE_INDEX_ROW_H
#define DYNALITH_STORAGE_INDEX_ROW_H

#include "storage/schema/schema.h"

struct index_row {
	struct str key;   /* absent: the item is not in the index */
	struct str value;
	size_t size;      /* bytes by DynamoDB's rules; 0 where it is absent */
};

/* The row of an item; `image` is the item's, absent where there is no item. */
struct index_row index_row_of(struct arena *arena, const struct table *table, const struct index *index, const struct value *item, struct str image);

/* The row of the item that replaces `old_item`, whose row is `before`. A key that both items share is not made again. Not of a vector index. */
struct index_row index_row_after(struct arena *arena, const struct table *table, const struct index *index, const struct index_row *before,
				 const struct value *old_item, const struct value *item, struct str image);

#endif
