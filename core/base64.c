#include "core/base64.h"

#include <stdint.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_put(struct str bytes, char *to)
{
	const unsigned char *p = (const unsigned char *)bytes.p;
	size_t i = 0;

	for (; i + 3 <= bytes.n; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16 | (uint32_t)p[i + 1] << 8 | p[i + 2];

		*to++ = alphabet[v >> 18];
		*to++ = alphabet[v >> 12 & 63];
		*to++ = alphabet[v >> 6 & 63];
		*to++ = alphabet[v & 63];
	}
	if (i < bytes.n) {
		bool has_two = i + 2 == bytes.n;
		uint32_t v = (uint32_t)p[i] << 16 | (has_two ? (uint32_t)p[i + 1] << 8 : 0);

		*to++ = alphabet[v >> 18];
		*to++ = alphabet[v >> 12 & 63];
		*to++ = has_two ? alphabet[v >> 6 & 63] : '=';
		*to++ = '=';
	}
	return to;
}

void base64_encode(struct str bytes, struct buf *out)
{
	char *start = buf_reserve(out, (bytes.n + 2) / 3 * 4);

	out->n += (size_t)(base64_put(bytes, start) - start);
}

/* The six bits of a character, or -1. */
static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode(struct arena *arena, struct str text, struct str *out)
{
	if (text.n % 4 != 0)
		return false;
	size_t padding = 0;
	while (padding < 2 && padding < text.n && text.p[text.n - 1 - padding] == '=')
		padding++;
	char *to = arena_bytes(arena, text.n / 4 * 3 + 1);
	size_t n = 0;
	uint32_t bits = 0;
	for (size_t i = 0; i < text.n - padding; i++) {
		int d = digit(text.p[i]);

		if (d < 0)
			return false;
		bits = bits << 6 | (uint32_t)d;
		if (i % 4 == 3) {
			to[n++] = (char)(bits >> 16);
			to[n++] = (char)(bits >> 8);
			to[n++] = (char)bits;
		}
	}
	if (padding == 1) {
		to[n++] = (char)(bits >> 10);
		to[n++] = (char)(bits >> 2);
	} else if (padding == 2) {
		to[n++] = (char)(bits >> 4);
	}
	*out = (struct str){to, n};
	return true;
}
