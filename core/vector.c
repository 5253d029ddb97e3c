#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/number.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF /* gcc keeps products and sums apart in ISO mode */
#endif

#define LANES 16 /* sums kept side by side; four vector registers of four doubles */

/* The lanes' sum, always in the same order. */
static double add_up(const double *lanes)
{
	double sums[4];

	for (int i = 0; i < 4; i++)
		sums[i] = (lanes[i] + lanes[4 + i]) + (lanes[8 + i] + lanes[12 + i]);
	return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

/* The rest after whole rounds of LANES. */
static double rest_of_dot(const float *a, const double *b, size_t from, size_t n)
{
	double sum = 0;

	for (size_t i = from; i < n; i++)
		sum += (double)a[i] * b[i];
	return sum;
}

static double rest_of_distance(const float *a, const double *b, size_t from, size_t n)
{
	double sum = 0;

	for (size_t i = from; i < n; i++)
		sum += ((double)a[i] - b[i]) * ((double)a[i] - b[i]);
	return sum;
}

/* Plain C; compilers make vector instructions of the inner loops. */
static double dot_portable(const float *a, const double *b, size_t n)
{
	double lanes[LANES] = {0};
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		for (int k = 0; k < LANES; k++)
			lanes[k] += (double)a[i + (size_t)k] * b[i + (size_t)k];
	}
	return add_up(lanes) + rest_of_dot(a, b, i, n);
}

static double distance_portable(const float *a, const double *b, size_t n)
{
	double lanes[LANES] = {0};
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		for (int k = 0; k < LANES; k++) {
			double difference = (double)a[i + (size_t)k] - b[i + (size_t)k];

			lanes[k] += difference * difference;
		}
	}
	return add_up(lanes) + rest_of_distance(a, b, i, n);
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

#include "core/cpu.h"

/* The same sums in the same order with 256-bit registers. A fused multiply-add of exact products
 * rounds as the sum alone does. */
__attribute__((target("avx,fma"))) static double dot_avx(const float *a, const double *b, size_t n)
{
	__m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
	double lanes[LANES];
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		s0 = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i)), _mm256_loadu_pd(b + i),
				     s0);
		s1 = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 4)),
				     _mm256_loadu_pd(b + i + 4), s1);
		s2 = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 8)),
				     _mm256_loadu_pd(b + i + 8), s2);
		s3 = _mm256_fmadd_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 12)),
				     _mm256_loadu_pd(b + i + 12), s3);
	}
	_mm256_storeu_pd(lanes, s0);
	_mm256_storeu_pd(lanes + 4, s1);
	_mm256_storeu_pd(lanes + 8, s2);
	_mm256_storeu_pd(lanes + 12, s3);
	return add_up(lanes) + rest_of_dot(a, b, i, n);
}

/* Squares of differences are not exact: no fused operation, lest the bits differ from machine to
 * machine. */
__attribute__((target("avx,fma"))) static double distance_avx(const float *a, const double *b,
							      size_t n)
{
	__m256d s0 = _mm256_setzero_pd(), s1 = s0, s2 = s0, s3 = s0;
	double lanes[LANES];
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		__m256d d0 =
			_mm256_sub_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i)), _mm256_loadu_pd(b + i));
		__m256d d1 = _mm256_sub_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 4)),
					   _mm256_loadu_pd(b + i + 4));
		__m256d d2 = _mm256_sub_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 8)),
					   _mm256_loadu_pd(b + i + 8));
		__m256d d3 = _mm256_sub_pd(_mm256_cvtps_pd(_mm_loadu_ps(a + i + 12)),
					   _mm256_loadu_pd(b + i + 12));

		s0 = _mm256_add_pd(s0, _mm256_mul_pd(d0, d0));
		s1 = _mm256_add_pd(s1, _mm256_mul_pd(d1, d1));
		s2 = _mm256_add_pd(s2, _mm256_mul_pd(d2, d2));
		s3 = _mm256_add_pd(s3, _mm256_mul_pd(d3, d3));
	}
	_mm256_storeu_pd(lanes, s0);
	_mm256_storeu_pd(lanes + 4, s1);
	_mm256_storeu_pd(lanes + 8, s2);
	_mm256_storeu_pd(lanes + 12, s3);
	return add_up(lanes) + rest_of_distance(a, b, i, n);
}

static bool has_avx(void)
{
	return CPU_HAS(FMA) && CPU_HAS(AVX);
}
#else
#define dot_avx dot_portable
#define distance_avx distance_portable
static bool has_avx(void)
{
	return false;
}
#endif

double vector_dot(const float *a, const double *b, size_t n)
{
	return has_avx() ? dot_avx(a, b, n) : dot_portable(a, b, n);
}

double vector_square_distance(const float *a, const double *b, size_t n)
{
	return has_avx() ? distance_avx(a, b, n) : distance_portable(a, b, n);
}

double vector_widen(const float *a, size_t n, double *values)
{
	for (size_t i = 0; i < n; i++)
		values[i] = a[i];
	return vector_dot(a, values, n);
}

/* As vector_dot(a, a) adds up, so that the cosine of a vector with itself is exactly 1. */
double vector_square(const float *a, size_t n)
{
	double lanes[LANES] = {0}, rest = 0;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		for (int k = 0; k < LANES; k++)
			lanes[k] += (double)a[i + (size_t)k] * (double)a[i + (size_t)k];
	}
	for (; i < n; i++)
		rest += (double)a[i] * (double)a[i];
	return add_up(lanes) + rest;
}

/* The root of the product, not the product of the roots: it is exact where both squares are the
 * same. */
static double cosine_score(double dot, double square, double query_square)
{
	double lengths = sqrt(square * query_square);
	double cosine = lengths > 0 ? dot / lengths : 0;

	return 1 - (cosine > 1 ? 1 : cosine < -1 ? -1 : cosine);
}

static float within_range(double score)
{
	return score > (double)FLT_MAX    ? FLT_MAX
	       : score < -(double)FLT_MAX ? -FLT_MAX
					  : (float)score;
}

float vector_score(enum vector_distance distance, const float *a, double square,
		   const double *query, double query_square, size_t n)
{
	if (distance == DISTANCE_EUCLIDEAN)
		return within_range(sqrt(vector_square_distance(a, query, n)));
	if (distance == DISTANCE_DOT_PRODUCT)
		return within_range(vector_dot(a, query, n));
	return within_range(cosine_score(vector_dot(a, query, n), square, query_square));
}

bool vector_of_number(struct str number, float *out)
{
	*out = number_to_float(number);
	return isfinite(*out);
}

bool vector_of_list(const struct value *list, float *out)
{
	for (uint32_t i = 0; i < list->n; i++) {
		if (list->elements[i].type != TYPE_N ||
		    !vector_of_number(value_str(&list->elements[i]), &out[i]))
			return false;
	}
	return true;
}

/* Digits and decimal exponent of the shortest text that reads back as the float: value = 0.DIGITS *
 * 10^exponent. */
static int shortest(float value, char digits[16], int *exponent)
{
	char text[32];
	int n = 0;

	for (int precision = 0; precision <= 8; precision++) {
		snprintf(text, sizeof(text), "%.*e", precision, (double)value);
		if (strtof(text, NULL) == value)
			break;
	}
	for (const char *p = text; *p && *p != 'e'; p++) {
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	}
	*exponent = (int)strtol(strchr(text, 'e') + 1, NULL, 10) + 1;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	digits[n] = '\0';
	return n;
}

void vector_format(float value, struct buf *out)
{
	char digits[16];
	int exponent, n;

	if (value == 0) {
		buf_add_lit(out, "0.0");
		return;
	}
	if (value < 0)
		buf_add_byte(out, '-');
	n = shortest(fabsf(value), digits, &exponent);
	if (exponent < -2 || exponent > 16) {
		buf_printf(out, "%c.%sE%d", digits[0], n > 1 ? digits + 1 : "0", exponent - 1);
	} else if (exponent <= 0) {
		buf_printf(out, "0.%.*s%s", -exponent, "00000000", digits);
	} else {
		for (int i = 0; i < exponent || i < n; i++) {
			if (i == exponent)
				buf_add_byte(out, '.');
			buf_add_byte(out, i < n ? digits[i] : '0');
		}
		if (n <= exponent)
			buf_add_lit(out, ".0");
	}
}
