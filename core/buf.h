/*
 * buf - growable output in an arena.
 *
 * A buffer never shrinks and is never freed: it dies with its arena. What
 * buf_str() returns stays valid until the next append.
 */
#ifndef DYNALITH_CORE_BUF_H
#define DYNALITH_CORE_BUF_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/arena.h"
#include "core/str.h"

struct buf {
	struct arena *arena;
	char *p;
	size_t n;
	size_t cap;
};

static inline struct buf buf_in(struct arena *arena)
{
	return (struct buf){arena, NULL, 0, 0};
}

/* Makes room for `n` more bytes; the slow path of buf_reserve. */
void buf_grow(struct buf *buf, size_t n);

/* Room for `n` more bytes, and a pointer to where they go, never NULL; add to buf->n what was used.
 */
static inline __attribute__((returns_nonnull)) char *buf_reserve(struct buf *buf, size_t n)
{
	if (buf->cap - buf->n <= n) /* also when empty and n is 0: no arithmetic on NULL */
		buf_grow(buf, n);
	assert(buf->p);
	return buf->p + buf->n;
}

static inline void buf_add(struct buf *buf, const void *bytes, size_t n)
{
	char *to = buf_reserve(buf, n);

	if (n > 0)
		memcpy(to, bytes, n);
	buf->n += n;
}

/* Brackets and commas of every value: worth its place wherever it is called. */
static inline __attribute__((always_inline)) void buf_add_byte(struct buf *buf, int byte)
{
	*buf_reserve(buf, 1) = (char)byte;
	buf->n++;
}

static inline void buf_add_str(struct buf *buf, struct str s)
{
	buf_add(buf, s.p, s.n);
}

#define buf_add_lit(buf, literal) buf_add((buf), "" literal, sizeof(literal) - 1)

void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Two hexadecimal digits, in lower case, of each byte. */
void buf_add_hex(struct buf *buf, const void *bytes, size_t n);

/* Unsigned integers: LEB128, and big-endian of fixed width (byte order is numeric order). */
void buf_add_varint(struct buf *buf, uint64_t value);
void buf_add_be32(struct buf *buf, uint32_t value);
void buf_add_be64(struct buf *buf, uint64_t value);

static inline struct str buf_str(const struct buf *buf)
{
	return (struct str){buf->p ? buf->p : "", buf->n};
}

#endif
