/*
 * json_text - texts as JSON strings have them, with escapes, 16 bytes a step; long ones 64 where
 * the processor has AVX-512.
 *
 * The functions write to memory whose room the caller has made, and give where the text ends. They
 * add no quotes, and read nothing beyond the text unless they say so.
 */
#ifndef DYNALITH_PROTOCOL_JSON_TEXT_H
#define DYNALITH_PROTOCOL_JSON_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/str.h"

#define JSON_TEXT_MAX(n) ((n) * 6) /* bytes of n bytes with escapes */
#define JSON_TEXT_STEP 16

/* Byte by byte: for texts in which something needs an escape. */
char *json_text_put_escaped(char *to, const char *p, size_t n);
/* A text of any length. `to` has room for JSON_TEXT_MAX(n) bytes. */
char *json_text_put(char *to, struct str s);

typedef unsigned char json_lanes __attribute__((
	vector_size(JSON_TEXT_STEP))); /* one vector instruction each, where the machine has them */

/* Lanes that are not 0 where a byte needs an escape: a quote, a backslash, or below a blank. */
static inline json_lanes json_text_marks(json_lanes v)
{
	return (json_lanes)(((v ^ 2) <= ' ') | (v == '\\')); /* ^ 2 swaps quote and blank, and keeps
								what is below in its place */
}

/* A bit per lane that is not 0, the first lane's the lowest. */
static inline unsigned json_text_bits(json_lanes marks)
{
#ifdef __SSE2__
	return (unsigned)__builtin_ia32_pmovmskb128((char __attribute__((
		vector_size(JSON_TEXT_STEP))))marks); /* each is 0 or has its highest bit */
#else
	unsigned bits = 0;

	for (unsigned half = 0; half < 2; half++) {
		uint64_t lanes;

		memcpy(&lanes, (const char *)&marks + 8 * half,
		       8); /* the product gathers the highest bits of eight bytes in its highest
			      byte */
		bits |= (unsigned)(((lanes & 0x8080808080808080u) * 0x0002040810204081u) >> 56)
			<< 8 * half;
	}
	return bits;
#endif
}

static inline bool json_text_is_plain(json_lanes marks)
{
	return json_text_bits(marks) == 0;
}

static inline json_lanes json_text_load(const char *p)
{
	json_lanes v;

	memcpy(&v, p, JSON_TEXT_STEP);
	return v;
}

/* As many of 16 bits as a text has bytes. */
extern const unsigned short json_text_low_bits[JSON_TEXT_STEP];

/*
 * A text shorter than a step, or of one or two steps, checked and copied without a loop.
 * JSON_TEXT_STEP bytes can be read from its first on, and written beyond JSON_TEXT_MAX(n). Longer
 * ones go to json_text_put().
 */
static inline char *json_text_put_near(char *to, struct str s)
{
	json_lanes v = json_text_load(s.p);

	if (s.n < JSON_TEXT_STEP) {
		memcpy(to, &v, JSON_TEXT_STEP);
		return json_text_bits(json_text_marks(v)) & json_text_low_bits[s.n]
			       ? json_text_put_escaped(to, s.p, s.n)
			       : to + s.n;
	}
	if (s.n > 2 * JSON_TEXT_STEP)
		return json_text_put(to, s);
	json_lanes last = json_text_load(s.p + s.n - JSON_TEXT_STEP);

	memcpy(to, &v, JSON_TEXT_STEP);
	memcpy(to + s.n - JSON_TEXT_STEP, &last, JSON_TEXT_STEP);
	return json_text_is_plain(json_text_marks(v) | json_text_marks(last))
		       ? to + s.n
		       : json_text_put_escaped(to, s.p, s.n);
}

#endif
