#include "core/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "core/arena.h"

int str_cmp_whole(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

int str_order(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str str_trim(struct str s)
{
	while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t'))
		s.n--;
	return s;
}

struct str str_cut(struct str *rest, char separator)
{
	if (rest->n == 0) /* also where there is none: no arithmetic on NULL */
		return *rest;
	const char *at = memchr(rest->p, separator, rest->n);
	struct str part = {rest->p, at ? (size_t)(at - rest->p) : rest->n};

	rest->p += part.n + (at != NULL);
	rest->n -= part.n + (at != NULL);
	return part;
}

bool str_eq_nocase(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

struct str str_of(const char *cstring)
{
	return cstring ? (struct str){cstring, strlen(cstring)} : STR_ABSENT;
}

struct str str_duplicate(struct str s)
{
	if (!str_is_set(s))
		return s;
	char *p = arena_checked(malloc(s.n + 1));
	if (s.n)
		memcpy(p, s.p, s.n);
	return (struct str){p, s.n};
}

struct str str_copy(struct arena *arena, struct str s)
{
	if (!str_is_set(s))
		return s;
	char *p = arena_bytes(arena, s.n + 1);
	if (s.n)
		memcpy(p, s.p, s.n);
	p[s.n] = '\0';
	return (struct str){p, s.n};
}

struct str str_vprintf(struct arena *arena, const char *format, va_list ap)
{
	char small[256];
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(small, sizeof(small), format, ap);
	if (n < 0)
		n = 0;
	char *p = arena_bytes(arena, (size_t)n + 1);
	if ((size_t)n < sizeof(small))
		memcpy(p, small, (size_t)n + 1);
	else
		vsnprintf(p, (size_t)n + 1, format, again);
	va_end(again);
	return (struct str){p, (size_t)n};
}

struct str str_printf(struct arena *arena, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	struct str s = str_vprintf(arena, format, ap);
	va_end(ap);
	return s;
}

bool str_contains(struct str s, struct str needle)
{
	return needle.n == 0 || (s.n >= needle.n && memmem(s.p, s.n, needle.p, needle.n) != NULL);
}

uint64_t str_hash(struct str bytes, uint64_t seed)
{
	uint64_t hash = seed ^ (bytes.n * 0x9e3779b97f4a7c15u);

	for (size_t i = 0; i < bytes.n; i += 8) {
		uint64_t word = 0;

		memcpy(&word, bytes.p + i, bytes.n - i < 8 ? bytes.n - i : 8);
		hash = (hash ^ word) * 0xd6e8feb86659fd93u;
		hash ^= hash >> 32;
	}
	hash *= 0xd6e8feb86659fd93u;
	return hash ^ hash >> 32;
}
