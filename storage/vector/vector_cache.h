/*
 * vector_cache - the rows of vector indexes held in memory as matrices, so that a search need not
 * read them from the store.
 *
 * One matrix per index, filled by its first search and brought up to date by later ones: the write
 * path notes which rows each version of the index changed, and a search whose snapshot is some
 * versions on reads just these. The caller that opens a view names the version that its transaction
 * sees, and gets exactly that or nothing; so what is in memory is never an answer by itself, and an
 * aborted transaction needs no undoing.
 *
 * Memory is bounded: an index that does not fit is not held, and the index least recently searched
 * makes room. Thread-safe.
 */
#ifndef DYNALITH_STORAGE_VECTOR_CACHE_H
#define DYNALITH_STORAGE_VECTOR_CACHE_H

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"
#include "storage/vector/vector_row.h"

struct vector_memory; /* the matrices of all indexes */
struct vector_cache;  /* the matrix of one */

/* `threads` may work on a large search; 0: one. */
struct vector_memory *vector_cache_memory_new(size_t bytes_max, unsigned threads);
void vector_cache_memory_free(struct vector_memory *memory);

unsigned vector_cache_threads(const struct vector_memory *memory);

/* Bytes held now. */
size_t vector_cache_memory_used(struct vector_memory *memory);

/* This process's seed of vector_row_chain(). */
uint64_t vector_cache_seed(const struct vector_memory *memory);

/* This process is about to commit a version of an index: which row it puts or deletes. No call need
 * follow when the commit fails. */
void vector_cache_note(struct vector_memory *memory, struct keyspace keyspace,
		       const struct vector_version *version, struct str key);

/*
 * To be asked before a transaction that checks the table's snapshot (schema/currency.h) and then
 * opens a view: where an index was dropped in between, no matrix is made for it.
 */
uint64_t vector_cache_mark(struct vector_memory *memory);

/* The index is gone, and the snapshots that had it are not current. */
void vector_cache_drop(struct vector_memory *memory, struct keyspace keyspace);

/* What is kept of a row beside its vector. */
struct vector_slot {
	struct str key;
	struct str filter;  /* an image of the SearchSchema's attributes */
	double square;      /* vector_square() */
	size_t size;        /* vector_row_size() */
};

/* All rows of an index, held still while the view is open. */
struct vector_view {
	struct vector_cache
		*cache; /* NULL: not held in memory; the rows must be read from the store, */
	bool is_ahead; /* unless the matrix is at a later version: a new transaction would see it */
	size_t n;
	size_t dimensions;
	const uint32_t *order;           /* slots in the order of their keys */
	const struct vector_slot *slots;
	const float *matrix;             /* slot i from i * dimensions */
};

/* An index, and the version of it that a transaction sees. */
struct vector_source {
	const struct table *table;
	const struct index *index;
	struct vector_version version;
};

/*
 * The rows that the read transaction sees. Fills or updates the matrix where needed. Where memory
 * does not suffice, others have moved the matrix on to a later version than the transaction sees,
 * or nothing is held yet and an index was dropped since the mark, view->cache is NULL.
 */
enum code vector_cache_open(struct vector_memory *memory, struct store_txn *txn,
			    struct arena *arena, uint64_t mark, const struct vector_source *source,
			    struct vector_view *view, struct err *err) WARN_UNUSED;
void vector_cache_close(struct vector_view *view);

/* The first position in view->order whose key is not below `key`. */
size_t vector_cache_position(const struct vector_view *view, struct str key);

#endif
