#include "core/md5.h"

#include <string.h>

#define LENGTH_AT (MD5_BLOCK - 8) /* the message's length in bits ends the last block */

static uint32_t little(const unsigned char *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static void put_little(unsigned char *p, uint64_t value, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(value >> (8 * i));
}

#define F(x, y, z) (z ^ (x & (y ^ z)))
#define G(x, y, z) (y ^ (z & (x ^ y)))
#define H(x, y, z) (x ^ y ^ z)
#define I(x, y, z) (y ^ (x | ~z))
#define STEP(f, a, b, c, d, k, s, t)          \
	do {                                  \
		a += f(b, c, d) + m[k] + (t); \
		a = (a << s | a >> (32 - s)) + b; \
	} while (0)
/* Four steps; their words k, l, o, p and shifts q, r, s, t. */
#define STEPS(f, k, l, o, p, q, r, s, t, t1, t2, t3, t4) \
	do {                                             \
		STEP(f, a, b, c, d, k, q, t1);           \
		STEP(f, d, a, b, c, l, r, t2);           \
		STEP(f, c, d, a, b, o, s, t3);           \
		STEP(f, b, c, d, a, p, t, t4);           \
	} while (0)

/* Unrolled: a key's hash is one block, in the way of every request. */
static void md5_add_block(uint32_t state[4], const unsigned char *block)
{
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3], m[16];

	for (int i = 0; i < 16; i++)
		m[i] = little(block + 4 * i);
	STEPS(F, 0, 1, 2, 3, 7, 12, 17, 22, 0xD76AA478, 0xE8C7B756, 0x242070DB, 0xC1BDCEEE);
	STEPS(F, 4, 5, 6, 7, 7, 12, 17, 22, 0xF57C0FAF, 0x4787C62A, 0xA8304613, 0xFD469501);
	STEPS(F, 8, 9, 10, 11, 7, 12, 17, 22, 0x698098D8, 0x8B44F7AF, 0xFFFF5BB1, 0x895CD7BE);
	STEPS(F, 12, 13, 14, 15, 7, 12, 17, 22, 0x6B901122, 0xFD987193, 0xA679438E, 0x49B40821);
	STEPS(G, 1, 6, 11, 0, 5, 9, 14, 20, 0xF61E2562, 0xC040B340, 0x265E5A51, 0xE9B6C7AA);
	STEPS(G, 5, 10, 15, 4, 5, 9, 14, 20, 0xD62F105D, 0x02441453, 0xD8A1E681, 0xE7D3FBC8);
	STEPS(G, 9, 14, 3, 8, 5, 9, 14, 20, 0x21E1CDE6, 0xC33707D6, 0xF4D50D87, 0x455A14ED);
	STEPS(G, 13, 2, 7, 12, 5, 9, 14, 20, 0xA9E3E905, 0xFCEFA3F8, 0x676F02D9, 0x8D2A4C8A);
	STEPS(H, 5, 8, 11, 14, 4, 11, 16, 23, 0xFFFA3942, 0x8771F681, 0x6D9D6122, 0xFDE5380C);
	STEPS(H, 1, 4, 7, 10, 4, 11, 16, 23, 0xA4BEEA44, 0x4BDECFA9, 0xF6BB4B60, 0xBEBFBC70);
	STEPS(H, 13, 0, 3, 6, 4, 11, 16, 23, 0x289B7EC6, 0xEAA127FA, 0xD4EF3085, 0x04881D05);
	STEPS(H, 9, 12, 15, 2, 4, 11, 16, 23, 0xD9D4D039, 0xE6DB99E5, 0x1FA27CF8, 0xC4AC5665);
	STEPS(I, 0, 7, 14, 5, 6, 10, 15, 21, 0xF4292244, 0x432AFF97, 0xAB9423A7, 0xFC93A039);
	STEPS(I, 12, 3, 10, 1, 6, 10, 15, 21, 0x655B59C3, 0x8F0CCC92, 0xFFEFF47D, 0x85845DD1);
	STEPS(I, 8, 15, 6, 13, 6, 10, 15, 21, 0x6FA87E4F, 0xFE2CE6E0, 0xA3014314, 0x4E0811A1);
	STEPS(I, 4, 11, 2, 9, 6, 10, 15, 21, 0xF7537E82, 0xBD3AF235, 0x2AD7D2BB, 0xEB86D391);
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void md5_begin(struct md5 *md5)
{
	static const uint32_t initial[4] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476};

	memcpy(md5->state, initial, sizeof(initial));
	md5->size = 0;
}

void md5_add(struct md5 *md5, const void *bytes, size_t n)
{
	const unsigned char *p = bytes;

	while (n > 0) {
		size_t at = md5->size % MD5_BLOCK, room = MD5_BLOCK - at,
		       part = n < room ? n : room;

		memcpy(md5->block + at, p, part);
		md5->size += part;
		p += part;
		n -= part;
		if (part == room)
			md5_add_block(md5->state, md5->block);
	}
}

void md5_end(struct md5 *md5, unsigned char digest[MD5_SIZE])
{
	size_t at = md5->size % MD5_BLOCK;

	md5->block[at++] = 0x80;
	if (at > LENGTH_AT) {
		memset(md5->block + at, 0, MD5_BLOCK - at);
		md5_add_block(md5->state, md5->block);
		at = 0;
	}
	memset(md5->block + at, 0, LENGTH_AT - at);
	put_little(md5->block + LENGTH_AT, 8 * md5->size, 8);
	md5_add_block(md5->state, md5->block);
	for (int i = 0; i < 4; i++)
		put_little(digest + 4 * i, md5->state[i], 4);
}

void md5_of(const void *bytes, size_t n, unsigned char digest[MD5_SIZE])
{
	struct md5 md5;

	md5_begin(&md5);
	md5_add(&md5, bytes, n);
	md5_end(&md5, digest);
}
