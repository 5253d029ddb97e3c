/*
 * vector - the only path by which items are found by similarity.
 *
 * A search is exact: every vector of the index, or of one partition of it, is scored. The order is
 * by score, then by key, so it is the same every time. The vectors come from memory where they fit
 * (vector_cache.h), else from the store; the answer is the same. Large searches are shared among
 * threads.
 *
 * The shelf storage/vector/ holds all that knows a vector index: its rows, its matrices in memory,
 * the search.
 */
#ifndef DYNALITH_STORAGE_VECTOR_H
#define DYNALITH_STORAGE_VECTOR_H

#include "core/err.h"
#include "core/expr.h"
#include "storage/vector/vector_cache.h"

#define VECTOR_TOP_MAX 100 /* AWS: API Reference, SearchVectors, TopK */

struct vector_hit {
	float score;
	struct str image;   /* the projected attributes, without the vector */
	const float *floats;
};

struct vector_search {
	/* where to look */
	struct store *store;
	struct vector_memory *memory;    /* for matrices; says how many threads may search */

	/* what to find */
	struct table *table;
	const struct index *index;       /* a vector index */
	const float *query;              /* as many as the index has dimensions */
	unsigned top;                    /* 1 to VECTOR_TOP_MAX */
	const struct node *condition;    /* on attributes of the SearchSchema, or NULL */
	const struct value *hash;        /* the partition; NULL: all of them */

	/* what was found, in the arena, the best first */
	size_t n;
	struct vector_hit *hits;
	size_t rows, bytes;              /* rows examined, and their bytes by DynamoDB's rules */
};

enum code vector_search(struct arena *arena, struct vector_search *search,
			struct err *err) WARN_UNUSED;

#endif
