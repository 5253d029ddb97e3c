#include "core/key.h"

/* Appends bytes with 00 written as 00 FF, without an end. */
static void add_escaped(struct buf *out, struct str bytes)
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
	add_escaped(out, value_str(value));
	buf_add(out, "\0\1", 2);
}

void key_add_prefix(struct buf *out, const struct value *value)
{
	add_escaped(out, value_str(value));
}

/* FNV-1a with a finaliser that spreads the low bits over all. */
uint32_t key_hash(struct str partition)
{
	uint64_t h = 0xCBF29CE484222325u;

	for (size_t i = 0; i < partition.n; i++)
		h = (h ^ (unsigned char)partition.p[i]) * 0x100000001B3u;
	h ^= h >> 33;
	h *= 0xFF51AFD7ED558CCDu;
	h ^= h >> 33;
	return (uint32_t)(h >> 16);
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

void key_segment(struct arena *arena, uint32_t k, uint32_t n, struct str *low, struct str *high)
{
	*low = hash_bound(arena, ((uint64_t)k << 32) / n);
	*high = hash_bound(arena, ((uint64_t)(k + 1) << 32) / n);
}
