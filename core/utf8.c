#include "core/utf8.h"

#include <stdint.h>

/* Bytes of the sequence that starts at p, or 0 when it is not well-formed. */
static size_t sequence_length(const unsigned char *p, size_t n)
{
	unsigned char c = p[0];
	unsigned char low = 0x80, high = 0xBF; /* bounds of the second byte: no overlong forms,
						  surrogates, > U+10FFFF */
	size_t length;

	if (c < 0x80)
		return 1;
	if (c >= 0xC2 && c <= 0xDF) {
		length = 2;
	} else if (c >= 0xE0 && c <= 0xEF) {
		length = 3;
		low = c == 0xE0 ? 0xA0 : low;
		high = c == 0xED ? 0x9F : high;
	} else if (c >= 0xF0 && c <= 0xF4) {
		length = 4;
		low = c == 0xF0 ? 0x90 : low;
		high = c == 0xF4 ? 0x8F : high;
	} else {
		return 0;
	}
	if (n < length || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < length; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	}
	return length;
}

bool utf8_is_valid(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	while (i < s.n) {
		uint64_t eight;

		if (s.n - i >= 8) {
			memcpy(&eight, p + i, 8);
			if ((eight & 0x8080808080808080u) == 0) {
				i += 8;
				continue;
			}
		}
		size_t length = sequence_length(p + i, s.n - i);
		if (length == 0)
			return false;
		i += length;
	}
	return true;
}

struct str utf8_printable(struct arena *arena, struct str s)
{
	size_t n;

	if (utf8_is_valid(s))
		return s;
	char *out = arena_bytes(arena, s.n);
	memcpy(out, s.p, s.n);
	for (size_t i = 0; i < s.n; i += n ? n : 1) {
		n = sequence_length((const unsigned char *)s.p + i, s.n - i);
		if (n == 0)
			out[i] = '?';
	}
	return (struct str){out, s.n};
}

size_t utf8_length(struct str s)
{
	size_t count = 0;

	for (size_t i = 0; i < s.n; i++)
		count += ((unsigned char)s.p[i] & 0xC0) != 0x80;
	return count;
}

size_t utf8_utf16_length(struct str s)
{
	size_t units = 0;

	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		units += (c & 0xC0) != 0x80;
		units += c >= 0xF0;
	}
	return units;
}
