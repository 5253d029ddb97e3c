/*
 * item_key - from items and key parameters to row keys, with DynamoDB's checks and messages.
 */
#ifndef DYNALITH_STORAGE_ITEM_KEY_H
#define DYNALITH_STORAGE_ITEM_KEY_H

#include "core/err.h"
#include "core/value.h"
#include "storage/schema/schema.h"

/*
 * The row key of a Key parameter: exactly the table's key attributes, of the right types, not
 * empty, within size limits. ERR_VALIDATION: "The provided key element does not match the schema"
 * and the texts for empty and oversized keys.
 */
enum code item_key_of_key(struct arena *arena, const struct table *table, const struct value *key,
			  struct str *row_key, struct err *err) WARN_UNUSED;

/*
 * The row key of an item to be written; checks the table's key attributes and the attributes that
 * are keys of its indexes (type, emptiness, size). What the item is for decides the words: PutItem
 * names the key that is missing or mistyped, BatchWriteItem names that the key does not match the
 * schema, and an empty index key of an update has words of its own. AWS: recorded answers.
 */
enum item_use {
	ITEM_PUT, ITEM_BATCH_PUT, ITEM_UPDATE,
};
struct item_words {
	enum item_use use;
	bool is_global_first; /* of two indexes that refuse an attribute the global one is named, in
				 batches and transactions */
};
/* `row_key` may be NULL: then the item is only checked. */
enum code item_key_of_item(struct arena *arena, const struct table *table, const struct value *item,
			   struct item_words words, struct str *row_key,
			   struct err *err) WARN_UNUSED;

/*
 * The row key of an item in an index, or absent where the item is not in it: an attribute is
 * missing, or, of an item older than the index, of another type, empty or too large. AWS: Developer
 * Guide, "Detecting and correcting index key violations".
 */
struct str item_key_in_index(struct arena *arena, const struct table *table,
			     const struct index *index, const struct value *item);

/* Whether two versions of an item that is in the index have one row key there: the index's key
 * attributes have the same values. */
bool item_key_is_kept(const struct index *index, const struct value *before,
		      const struct value *after);

/* The image stored in an index: the projected attributes; for PROJECT_ALL the item's own image. */
struct str item_index_image(struct arena *arena, const struct index *index,
			    const struct value *item, struct str image);

/* The row key of a start key or an index row's item: `index` NULL for the table. The key attributes
 * must be there. */
struct str item_key_of_row(struct arena *arena, const struct table *table,
			   const struct index *index, const struct value *item);

/* The map of key attributes from which item_key_of_row() made a row key: the way back. */
struct value item_key_attributes_of_row(struct arena *arena, const struct table *table,
					const struct index *index, struct str row_key);

/* The row key of the item that an index row stands for, by the index row's own key. */
struct str item_key_behind(struct arena *arena, const struct table *table,
			   const struct index *index, struct str row_key);
/* Whether `item_key` is that. */
bool item_key_is_behind(const struct table *table, const struct index *index, struct str row_key,
			struct str item_key);

/* A map of the key attributes of the table, and of the index where one is given, taken from an
 * item's image: LastEvaluatedKey. */
struct value item_key_attributes(struct arena *arena, const struct table *table,
				 const struct index *index, struct str image);

#endif
