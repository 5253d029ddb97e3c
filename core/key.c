#include "core/key.h"

#include "core/be.h"
#include "core/md5.h"
#include "core/number.h"

#define SEGMENT_STEPS 4096

/* Appends bytes with 00 written as 00 FF, without an end. */
static void key_add_escaped(struct buf *out, struct str bytes)
{
	const char *p = bytes.p, *end = bytes.p + bytes.n;

	while (p < end) {
		const char *zero = memchr(p, 0, (size_t)(end - p));
		const char *stop = zero ? zero + 1 : end;

		buf_add(out, p, (size_t)(stop - p));
		if (zero)
			buf_add_byte(out, 0xFF);
		p = stop;
	}
}

void key_add(struct buf *out, const struct value *value)
{
	if (value->type == TYPE_N) {
		buf_add_str(out, value_str(value));
		return;
	}
	key_add_escaped(out, value_str(value));
	buf_add(out, "\0\1", 2);
}

void key_add_prefix(struct buf *out, const struct value *value)
{
	key_add_escaped(out, value_str(value));
}

/* FNV-1a with a finaliser that spreads the low bits over all. */
static uint32_t fnv_of(struct str elements)
{
	uint64_t h = 0xCBF29CE484222325u;

	for (size_t i = 0; i < elements.n; i++)
		h = (h ^ (unsigned char)elements.p[i]) * 0x100000001B3u;
	h ^= h >> 33;
	h *= 0xFF51AFD7ED558CCDu;
	h ^= h >> 33;
	return (uint32_t)(h >> 16);
}

static uint32_t hash_md5(const struct value *const *values, unsigned n)
{
	unsigned char number[NUMBER_BILLED_MAX], digest[MD5_SIZE];
	struct md5 md5;

	md5_begin(&md5);
	md5_add(&md5, "Outliers", 8);
	for (unsigned i = 0; i < n; i++) {
		struct str bytes = value_str(values[i]);

		if (values[i]->type == TYPE_N)
			md5_add(&md5, number, number_packed(bytes, number));
		else
			md5_add(&md5, bytes.p, bytes.n);
	}
	md5_end(&md5, digest);
	return (uint32_t)str_be((const char *)digest, KEY_HASH_SIZE);
}

void key_add_partition(struct buf *out, enum key_hash hash, const struct value *const *values,
		       unsigned n)
{
	size_t at = out->n;

	buf_add_be32(out, hash == KEY_HASH_MD5 && n > 0 ? hash_md5(values, n) : 0);
	for (unsigned i = 0; i < n; i++)
		key_add(out, values[i]);
	if (hash == KEY_HASH_FNV && n > 0) {
		uint32_t h = fnv_of(
			(struct str){out->p + at + KEY_HASH_SIZE, out->n - at - KEY_HASH_SIZE});

		put_be32(out->p + at, h);
	}
}

struct value key_read(struct arena *arena, enum type type, struct str *rest)
{
	const char *p = rest->p, *end = rest->p + rest->n;
	struct buf buf = buf_in(arena);

	if (type == TYPE_N) {
		struct str number = {p, number_length(p, rest->n)};

		*rest = (struct str){p + number.n, rest->n - number.n};
		return value_of_str(TYPE_N, number);
	}
	for (; p + 1 < end && (p[0] != 0 || p[1] != 1); p++) {
		buf_add_byte(&buf, (unsigned char)*p);
		p += *p == 0; /* 00 FF */
	}
	p = p + 1 < end ? p + 2 : end;
	*rest = (struct str){p, (size_t)(end - p)};
	return value_of_str(type, buf_str(&buf));
}

void key_skip(enum type type, struct str *rest)
{
	const char *p = rest->p, *end = rest->p + rest->n;

	if (type == TYPE_N) {
		p += number_length(p, rest->n);
	} else {
		while (p < end && (p = memchr(p, 0, (size_t)(end - p))) && p + 1 < end && p[1] != 1)
			p += 2; /* 00 FF */
		p = p && p + 1 < end ? p + 2 : end;
	}
	*rest = (struct str){p, (size_t)(end - p)};
}

void key_add_tie(struct buf *out, enum key_hash hash, const struct value *const *values, unsigned n)
{
	if (hash == KEY_HASH_MD5)
		buf_add_be32(out, hash_md5(values, n));
}

struct str key_after_prefix(struct arena *arena, struct str prefix)
{
	size_t n = prefix.n;

	while (n > 0 && (unsigned char)prefix.p[n - 1] == 0xFF)
		n--;
	if (n == 0)
		return STR_ABSENT;
	char *p = arena_bytes(arena, n);
	memcpy(p, prefix.p, n);
	p[n - 1]++;
	return (struct str){p, n};
}

static struct str hash_bound(struct arena *arena, uint64_t bound)
{
	struct buf buf = buf_in(arena);

	if (bound == 0 || bound > UINT32_MAX)
		return STR_ABSENT;
	buf_add_be32(&buf, (uint32_t)bound);
	return buf_str(&buf);
}

/* Where segment k of n begins. */
static uint64_t segment_begin(enum key_hash hash, uint64_t k, uint32_t n)
{
	if (hash == KEY_HASH_MD5)
		return (SEGMENT_STEPS * k + n - 1) / n * (((uint64_t)1 << 32) / SEGMENT_STEPS);
	return (k << 32) / n;
}

void key_segment(struct arena *arena, enum key_hash hash, uint32_t k, uint32_t n, struct str *low,
		 struct str *high)
{
	uint64_t begin = segment_begin(hash, k, n);

	*low = hash_bound(arena, begin);
	*high = hash_bound(arena, segment_begin(hash, (uint64_t)k + 1, n));
	if (begin > UINT32_MAX) /* behind all hashes: an empty range, since no bound at all would be
				   all of them */
		*low = *high = hash_bound(arena, UINT32_MAX);
}
