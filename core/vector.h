/*
 * vector - arithmetic over vectors of 32-bit floating point numbers, for similarity search.
 *
 * Vectors are packed float32; sums are kept in double precision, in which products of two floats
 * are exact, in a fixed number of lanes and added up in a fixed order. So the results are the same
 * bits on every machine, whether vector instructions were there or not, and a search is
 * deterministic.
 *
 * Source of the rules: AWS: Developer Guide, "Using vector indexes in DynamoDB", Distance
 * functions, and recorded answers.
 */
#ifndef DYNALITH_CORE_VECTOR_H
#define DYNALITH_CORE_VECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include "core/buf.h"
#include "core/value.h"

#define VECTOR_DIMENSIONS_MAX 4096 /* AWS: Quotas, "Vector indexes" */

/* On disk in table records: never renumber. */
enum vector_distance { DISTANCE_COSINE = 0, DISTANCE_EUCLIDEAN = 1, DISTANCE_DOT_PRODUCT = 2 };

/* a . b; `b` holds floats widened to double, as the query of a search is. */
double vector_dot(const float *a, const double *b, size_t n);

/* The square of the distance between a and b, likewise. */
double vector_square_distance(const float *a, const double *b, size_t n);

/* a . a */
double vector_square(const float *a, size_t n);

/* A query as the two above want it, with its square. `values` has room for n. */
double vector_widen(const float *a, size_t n, double *values);

/*
 * The score of a vector: COSINE is 1 minus the cosine of the angle, 0 to 2, and 1 where a vector is
 * zero; EUCLIDEAN the distance; DOT_PRODUCT the product. Rounded to float32 and kept within its
 * range, as AWS gives it. `square` is the vector's own vector_square(), `query_square` the query's;
 * both only matter for COSINE.
 */
float vector_score(enum vector_distance distance, const float *a, double square,
		   const double *query, double query_square, size_t n);

/* Whether the higher of two scores is the better one. */
static inline bool vector_higher_is_better(enum vector_distance distance)
{
	return distance == DISTANCE_DOT_PRODUCT;
}

/*
 * A number as the nearest float32; false where it is outside of float32's range. Sixteen digits and
 * more are rounded once more on the way, which shows in one number of 2^40.
 */
bool vector_of_number(struct str number, float *out);

/* A list of numbers as packed floats; `out` has room for list->n. False where an element is not a
 * number or out of range. */
bool vector_of_list(const struct value *list, float *out);

/* The shortest decimal that names the float, as AWS writes the elements of an index's vectors:
 * "1.0", "0.1", "1.0E-12". */
void vector_format(float value, struct buf *out);

#endif
