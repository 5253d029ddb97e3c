#include "core/crc32.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int k = 0; k < 8; k++)
			c = c & 1 ? c >> 1 ^ 0xEDB88320u : c >> 1;
		tables[0][i] = c;
	}
	for (uint32_t i = 0; i < 256; i++) {
		for (int k = 1; k < 8; k++)
			tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
	}
}

/* Eight bytes a step, each by its own table. */
static uint32_t by_tables(uint32_t c, const unsigned char *p, size_t n)
{
	pthread_once(&tables_once, make_tables);
	for (; n >= 8; n -= 8, p += 8) {
		uint32_t a = c ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
				  (uint32_t)p[3] << 24);

		c = tables[7][a & 255] ^ tables[6][a >> 8 & 255] ^ tables[5][a >> 16 & 255] ^
		    tables[4][a >> 24] ^ tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
		    tables[0][p[7]];
	}
	for (; n > 0; n--, p++)
		c = c >> 8 ^ tables[0][(c ^ *p) & 255];
	return c;
}

#if defined(__x86_64__)
#include <immintrin.h>

#include "core/cpu.h"

#define FOLD_MIN 64       /* bytes */
#define FOLD_WIDE_MIN 512 /* bytes; for fewer, four lanes take no longer */
#define BY_512 0x1C6E41596, 0x154442BD4 /* the constants of a step over 512 bits */

/*
 * One step of folding: what is 128 bits behind `x` absorbs it. The constants are powers of x modulo
 * the polynomial, bits reflected. Source: Gopal et al., "Fast CRC Computation for Generic
 * Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
 */
__attribute__((target("pclmul,sse4.1"))) static inline __m128i fold(__m128i x, __m128i by,
								    __m128i next)
{
	__m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);

	return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* From 128 bits to 32. */
__attribute__((target("pclmul,sse4.1"))) static inline uint32_t reduce(__m128i x)
{
	const __m128i by_128 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0),
		      by_64 = _mm_set_epi64x(0, 0x163CD6124);
	const __m128i polynomial = _mm_set_epi64x(0x1F7011641, 0x1DB710641),
		      mask = _mm_set_epi32(0, -1, 0, -1);
	__m128i t = _mm_clmulepi64_si128(x, by_128, 0x10);

	x = _mm_xor_si128(_mm_srli_si128(x, 8), t);
	t = _mm_srli_si128(x, 4);
	x = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(x, mask), by_64, 0x00), t);
	t = _mm_and_si128(_mm_clmulepi64_si128(_mm_and_si128(x, mask), polynomial, 0x10), mask);
	return (uint32_t)_mm_extract_epi32(
		_mm_xor_si128(x, _mm_clmulepi64_si128(t, polynomial, 0x00)), 1);
}

/* fold() for four lanes at once. */
__attribute__((target("avx512f,vpclmulqdq"))) static inline __m512i fold_four(__m512i x, __m512i by,
									      __m512i next)
{
	__m512i low = _mm512_clmulepi64_epi128(x, by, 0x00),
		high = _mm512_clmulepi64_epi128(x, by, 0x11);

	return _mm512_ternarylogic_epi64(low, high, next, 0x96); /* x ^ y ^ z */
}

/* Folds sixteen lanes a step and writes the last four, which absorbed the others, to `lanes`. `n`
 * is FOLD_WIDE_MIN at least. Returns the bytes folded. */
__attribute__((target("avx512f,vpclmulqdq"))) static size_t
by_wide_folding(__m128i lanes[4], uint32_t c, const unsigned char *p, size_t n)
{
	const __m512i by_2048 = _mm512_broadcast_i32x4(_mm_set_epi64x(0x1322D1430, 0x11542778A)),
		      by_512 = _mm512_broadcast_i32x4(_mm_set_epi64x(BY_512));
	const unsigned char *at = p;
	__m512i fours[4];

	for (int i = 0; i < 4; i++, at += 64)
		fours[i] = _mm512_loadu_si512(at);
	fours[0] = _mm512_xor_si512(fours[0], _mm512_zextsi128_si512(_mm_cvtsi32_si128((int)c)));
	for (; n - (size_t)(at - p) >= 256; at += 256) {
		for (int i = 0; i < 4; i++)
			fours[i] = fold_four(fours[i], by_2048,
					     _mm512_loadu_si512(at + (size_t)i * 64));
	}
	for (int i = 1; i < 4; i++)
		fours[i] = fold_four(fours[i - 1], by_512, fours[i]);
	_mm512_storeu_si512(lanes, fours[3]);
	return (size_t)(at - p);
}

static bool can_fold_wide(size_t n)
{
	return n >= FOLD_WIDE_MIN && CPU_HAS(VPCLMULQDQ) && CPU_HAS(AVX512F);
}

/* Four lanes of 128 bits a step. `n` is a multiple of 16, FOLD_MIN at least. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t
by_folding(uint32_t c, const unsigned char *p, size_t n)
{
	const __m128i by_512 = _mm_set_epi64x(BY_512),
		      by_128 = _mm_set_epi64x(0x0CCAA009E, 0x1751997D0);
	const __m128i *block = (const __m128i *)(const void *)p, *end = block + n / 16;
	__m128i lanes[4];

	if (can_fold_wide(n)) {
		block += by_wide_folding(lanes, c, p, n) / sizeof(*block);
	} else {
		for (int i = 0; i < 4; i++)
			lanes[i] = _mm_loadu_si128(block++);
		lanes[0] = _mm_xor_si128(lanes[0], _mm_cvtsi32_si128((int)c));
	}
	for (; end - block >= 4; block += 4) {
		for (int i = 0; i < 4; i++)
			lanes[i] = fold(lanes[i], by_512, _mm_loadu_si128(block + i));
	}
	for (int i = 1; i < 4; i++)
		lanes[0] = fold(lanes[0], by_128, lanes[i]);
	for (; block < end; block++)
		lanes[0] = fold(lanes[0], by_128, _mm_loadu_si128(block));
	return reduce(lanes[0]);
}

static bool can_fold(size_t n)
{
	return n >= FOLD_MIN && CPU_HAS(PCLMULQDQ) && CPU_HAS(SSE4_1);
}
#else
#define by_folding by_tables
static bool can_fold(size_t n)
{
	return n == SIZE_MAX; /* never: other machines go by tables */
}
#endif

uint32_t crc32_of(const void *bytes, size_t n)
{
	const unsigned char *p = bytes;
	size_t folded = can_fold(n) ? n & ~(size_t)15 : 0;
	uint32_t c = 0xFFFFFFFFu;

	if (folded > 0)
		c = by_folding(c, p, folded);
	return by_tables(c, p + folded, n - folded) ^ 0xFFFFFFFFu;
}

/* The register before the step over a zero byte that gave `c`. There is one, since the tables' high
 * bytes all differ. */
static uint32_t step_back(const unsigned char *by_high_byte, uint32_t c)
{
	uint32_t low = by_high_byte[c >> 24];

	return (c ^ tables[0][low]) << 8 | low;
}

bool crc32_find_byte(uint32_t difference, size_t n, size_t *at, unsigned char *change)
{
	unsigned char by_high_byte[256];
	unsigned found = 0;

	pthread_once(&tables_once, make_tables);
	for (unsigned i = 0; i < 256; i++)
		by_high_byte[tables[0][i] >> 24] = (unsigned char)i;
	for (size_t i = n; i-- > 0 && difference;) {
		unsigned char byte = by_high_byte[difference >> 24];

		if (tables[0][byte] == difference) {
			*at = i;
			*change = byte;
			found++;
		}
		difference = step_back(by_high_byte, difference);
	}
	return found == 1;
}
