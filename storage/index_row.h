/*
 * index_row - an item's row in an index, of any kind: what writes keep, backfill adds, checks
 * expect and repair makes again.
 *
 * An index that projects all attributes may be by reference (struct index): then its rows have keys
 * only and stand for the items. Their images are the items' own, so that a write which leaves the
 * index's keys as they are does not touch them.
 */
#ifndef DYNALITH_STORAGE_INDEX_ROW_H
#define DYNALITH_STORAGE_INDEX_ROW_H

#include "storage/schema/schema.h"

struct index_row {
	struct str key;   /* absent: the item is not in the index */
	struct str value; /* also where the row is by reference: what a reader finds */
	size_t size;      /* bytes by DynamoDB's rules; 0 where it is absent */
};

/* The row of an item; `image` is the item's, absent where there is no item. */
struct index_row index_row_of(struct arena *arena, const struct table *table,
			      const struct index *index, const struct value *item,
			      struct str image);

/* The row of the item that replaces `old_item`, whose row is `before`. A key that both items share
 * is not made again. Not of a vector index. */
struct index_row index_row_after(struct arena *arena, const struct table *table,
				 const struct index *index, const struct index_row *before,
				 const struct value *old_item, const struct value *item,
				 struct str image);

/* The index's keyspace, without rows. */
enum code index_row_create(struct store_txn *txn, const struct table *table,
			   const struct index *index, struct err *err) WARN_UNUSED;

/* Puts the row of an item, whose own row is put before. */
enum code index_row_put(struct store_txn *txn, const struct table *table, const struct index *index,
			struct str item_key, const struct index_row *row,
			struct err *err) WARN_UNUSED;

/* The value that the row has in the store. */
static inline struct str index_row_stored(const struct index *index, const struct index_row *row)
{
	return index->is_by_reference ? STORE_REFERENCE : row->value;
}

/* What an index's rows stand for: for store_page_of() and its like. */
struct index_row_reference {
	struct store_reference base;
	const struct table *table;
	const struct index *index;
};
/* NULL where its rows have values of their own, or `index` is NULL; else in *room, which stays. */
const struct store_reference *index_row_reference(const struct table *table,
						  const struct index *index,
						  struct index_row_reference *room);

#endif
