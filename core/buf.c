#include "core/buf.h"

#include <stdarg.h>
#include <stdio.h>

#include "core/be.h"

void buf_grow(struct buf *buf, size_t n)
{
	size_t cap = buf->cap ? buf->cap * 2 : 256;

	if (cap < buf->n + n)
		cap = buf->n + n;
	buf->p = arena_grow(buf->arena, buf->p, buf->n, cap);
	buf->cap = cap;
}

void buf_printf(struct buf *buf, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	struct str s = str_vprintf(buf->arena, format, ap);
	va_end(ap);
	buf_add_str(buf, s);
}

void buf_add_hex(struct buf *buf, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *from = bytes;
	char *to = buf_reserve(buf, 2 * n);

	for (size_t i = 0; i < n; i++) {
		*to++ = digits[from[i] >> 4];
		*to++ = digits[from[i] & 15];
	}
	buf->n += 2 * n;
}

void buf_add_varint(struct buf *buf, uint64_t value)
{
	char *p = buf_reserve(buf, 10);
	size_t n = 0;

	for (; value >= 0x80; value >>= 7)
		p[n++] = (char)(value | 0x80);
	p[n++] = (char)value;
	buf->n += n;
}

void buf_add_be32(struct buf *buf, uint32_t value)
{
	put_be32(buf_reserve(buf, 4), value);
	buf->n += 4;
}

void buf_add_be64(struct buf *buf, uint64_t value)
{
	put_be64(buf_reserve(buf, 8), value);
	buf->n += 8;
}
