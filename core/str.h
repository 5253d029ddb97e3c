/*
 * str - a slice of bytes: a pointer and a length, no terminator promised.
 *
 * A slice does not own what it points to. A slice whose pointer is NULL means
 * "absent"; an empty but present string has a non-NULL pointer and length 0.
 */
#ifndef DYNALITH_CORE_STR_H
#define DYNALITH_CORE_STR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct arena;

struct str {
	const char *p;
	size_t n;
};

/* For printf: printf(STR_FMT, STR_ARG(s)). */
#define STR_FMT "%.*s"
#define STR_ARG(s) (int)(s).n, ((s).p ? (s).p : "")

/* A slice of a string literal. */
#define STR(literal) ((struct str){"" literal, sizeof(literal) - 1})
/* The same as a constant initialiser. */
#define STR_INIT(literal) {"" literal, sizeof(literal) - 1}
#define STR_ABSENT ((struct str){NULL, 0})

static inline bool str_is_set(struct str s)
{
	return s.p != NULL;
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts_with(struct str s, struct str prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

/* Whether it holds U+0000, where a C string would end. */
static inline bool str_has_zero(struct str s)
{
	return s.n > 0 && memchr(s.p, '\0', s.n) != NULL;
}

/* Byte order, a shorter prefix first: negative, 0 or positive. */
int str_cmp_whole(struct str a, struct str b);
/* Most names differ in their first byte already. */
static inline int str_cmp(struct str a, struct str b)
{
	if (a.n > 0 && b.n > 0 && a.p[0] != b.p[0])
		return (unsigned char)a.p[0] < (unsigned char)b.p[0] ? -1 : 1;
	return str_cmp_whole(a, b);
}

/*
 * Where the key stands among `n` rows of `size` bytes that begin with their struct str and lie in
 * the order of those, or where it would stand. Inline, so that the size is a constant.
 */
static inline size_t str_search(const void *rows, size_t n, size_t size, struct str key,
				bool *is_there)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(*(const struct str *)((const char *)rows + middle * size), key);

		if (order == 0) {
			*is_there = true;
			return middle;
		}
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	*is_there = false;
	return low;
}
/* The same for qsort and bsearch over struct str. */
int str_order(const void *a, const void *b);

/* 64 bits of a hash of the bytes, well mixed; not cryptographic. */
uint64_t str_hash(struct str bytes, uint64_t seed);

/* The big-endian number in the first `n` bytes at `p`, 8 at most: what buf_add_be32 and
 * buf_add_be64 wrote. */
static inline uint64_t str_be(const char *p, size_t n)
{
	uint64_t value = 0;

	for (size_t i = 0; i < n; i++)
		value = value << 8 | (unsigned char)p[i];
	return value;
}

/* Without the spaces and tabs around it. */
struct str str_trim(struct str s);

/* The part up to the separator, or all where there is none; *rest is what follows. */
struct str str_cut(struct str *rest, char separator);

/* The same letters, in ASCII's capitals or not. */
bool str_eq_nocase(struct str a, struct str b);

/* A slice of a C string; str_of(NULL) is absent. */
struct str str_of(const char *cstring);

/* A copy in the arena. The copy is followed by a NUL byte that does not count, so .p is also a C
 * string. */
struct str str_copy(struct arena *arena, struct str s);
/* A copy in no arena, for what outlives requests: its bytes are the caller's to free(). Of an
 * absent string, the same. */
struct str str_duplicate(struct str s);

/* Formats into the arena; the result is followed by a NUL byte that does not count. */
struct str str_printf(struct arena *arena, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
struct str str_vprintf(struct arena *arena, const char *format, va_list ap)
	__attribute__((format(printf, 2, 0)));

/* Whether `needle` occurs in `s`; an empty needle always does. */
bool str_contains(struct str s, struct str needle);

#endif
