/*
 * vector_row - an item's row in a vector index.
 *
 * The key is that of any index row: hash | HASH element | table's key elements, with a zero hash
 * where the SearchSchema has no HASH, so that a partition is one range. The value is the image of
 * the projected attributes without the vector attribute, and behind it the vector as packed
 * float32.
 *
 * Beside its rows the keyspace holds a version, which grows by one with each row put or deleted, in
 * the same transaction. By it a reader knows whether what it keeps in memory is what its snapshot
 * holds (see vector_cache.h).
 */
#ifndef DYNALITH_STORAGE_VECTOR_ROW_H
#define DYNALITH_STORAGE_VECTOR_ROW_H

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

struct vector_row {
	struct str key;   /* absent: the item is not in the index */
	struct str value;
	size_t size;      /* bytes by DynamoDB's rules; 0 where it is absent */
};

/*
 * The row of an item; none where it lacks the vector or the HASH attribute, or, of an item older
 * than the index, where an attribute is not what the index demands. `item` may be VALUE_NONE.
 */
struct vector_row vector_row_of(struct arena *arena, const struct table *table,
				const struct index *index, const struct value *item);

/*
 * Whether an item to be written fits the table's vector indexes: the vector attribute a list of so
 * many numbers within the range of float32, the attributes of the SearchSchema of their types, the
 * HASH not empty. An attribute that an update leaves as `old` (NULL: there is none, or the item is
 * put) has it is not judged again. ERR_VALIDATION.
 */
enum code vector_row_check(const struct table *table, const struct value *item,
			   const struct value *old, bool is_update, struct err *err) WARN_UNUSED;

/* The parts of a row's value. The image is absent where the value is malformed. */
struct str vector_row_image(const struct index *index, struct str value);
void vector_row_floats(const struct index *index, struct str value, float *out);

/* Bytes by DynamoDB's rules of a row with this image: four per dimension, the vector attribute's
 * name, the other attributes. */
size_t vector_row_size(const struct index *index, struct str image);

/*
 * The bytes that a write of the item is billed for, and that the table's size counts; `size` is its
 * size. A vector that an index reads counts four bytes per dimension, whatever its numbers. Source:
 * recorded answers of AWS (the limit of 400 KB counts the numbers).
 */
size_t vector_row_billed_size(const struct table *table, const struct value *item, size_t size);

/* The same of an item's image, for a read of the table; `scratch` may be reset behind it. AWS:
 * since 22 October 2026. */
size_t vector_row_read_size(const struct table *table, struct arena *scratch, struct str image);

/* All rows of a vector index's keyspace; the rows of one HASH value. */
struct store_range vector_row_range(void);
struct store_range vector_row_partition(struct arena *arena, const struct table *table,
					const struct value *hash);

/*
 * The version of a vector index: a number, which rises by one with each row that is put or deleted,
 * and what it came by: a hash over the rows' keys and the processes that wrote them. Of two commits
 * that take the same number, in one process or in two, one is refused; the hash tells which of them
 * was done.
 */
struct vector_version {
	uint64_t number, chain;
};

/* The chain after a change of the row, by the process with the seed. */
uint64_t vector_row_chain(uint64_t chain, uint64_t seed, struct str key);

/* Whether a row of the keyspace is its version. */
bool vector_row_is_version(struct str key);

/* The keyspace's version as the transaction sees it; the one after a change of the row, set in the
 * transaction. */
enum code vector_row_version(struct store_txn *txn, struct arena *arena, struct keyspace keyspace,
			     struct vector_version *version, struct err *err) WARN_UNUSED;
enum code vector_row_next_version(struct store_txn *txn, struct arena *arena,
				  struct keyspace keyspace, uint64_t seed, struct str key,
				  struct vector_version *version, struct err *err) WARN_UNUSED;

#endif
