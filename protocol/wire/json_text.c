#include "protocol/wire/json_text.h"

#include <stdint.h>

#define STEP JSON_TEXT_STEP

const unsigned short json_text_low_bits[STEP] = {
	0, 1, 3, 7, 0xF, 0x1F, 0x3F, 0x7F, 0xFF, 0x1FF, 0x3FF, 0x7FF, 0xFFF, 0x1FFF, 0x3FFF, 0x7FFF,
};

/* Bytes that JSON strings cannot hold as they are: the escape's letter, or 'u' for the long form; 0
 * for the others. */
static const char escapes[256] = {
	['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r',
	['\t'] = 't', [0] = 'u',     [1] = 'u',    [2] = 'u',    [3] = 'u',    [4] = 'u',
	[5] = 'u',    [6] = 'u',     [7] = 'u',    [11] = 'u',   [14] = 'u',   [15] = 'u',
	[16] = 'u',   [17] = 'u',    [18] = 'u',   [19] = 'u',   [20] = 'u',   [21] = 'u',
	[22] = 'u',   [23] = 'u',    [24] = 'u',   [25] = 'u',   [26] = 'u',   [27] = 'u',
	[28] = 'u',   [29] = 'u',    [30] = 'u',   [31] = 'u',
};

char *json_text_put_escaped(char *to, const char *p, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (!escapes[c]) {
			*to++ = (char)c;
			continue;
		}
		*to++ = '\\';
		*to++ = escapes[c];
		if (escapes[c] == 'u') {
			memcpy(to, c < 16 ? "000" : "001", 3);
			to[3] = "0123456789abcdef"[c & 15];
			to += 4;
		}
	}
	return to;
}

static uint64_t load(const char *p, size_t n)
{
	uint64_t v = 0;

	memcpy(&v, p, n);
	return v;
}

typedef uint64_t halves __attribute__((vector_size(STEP)));

/* A text shorter than a step: in two parts that overlap, where it has four bytes. They come
 * together in a register: by memory the load would wait. */
static char *put_short_escape(char *to, struct str s)
{
	if (s.n >= 8) {
		uint64_t first = load(s.p, 8), last = load(s.p + s.n - 8, 8);

		if (!json_text_is_plain(json_text_marks((json_lanes)(halves){first, last})))
			return json_text_put_escaped(to, s.p, s.n);
		memcpy(to, &first, 8);
		memcpy(to + s.n - 8, &last, 8);
		return to + s.n;
	}
	if (s.n < 4)
		return json_text_put_escaped(to, s.p, s.n);
	uint64_t first = load(s.p, 4), last = load(s.p + s.n - 4, 4), both = first | last << 32;
	if (!json_text_is_plain(json_text_marks((json_lanes)(halves){both, both})))
		return json_text_put_escaped(to, s.p, s.n);
	memcpy(to, &first, 4);
	memcpy(to + s.n - 4, &last, 4);
	return to + s.n;
}

#if defined(__x86_64__)
#include <immintrin.h>

#include "core/cpu.h"

#define WIDE 64 /* bytes */

static bool can_step_wide(size_t n)
{
	return n >= WIDE && CPU_HAS(AVX512BW) && CPU_HAS(AVX512F);
}

/* A bit per byte that needs an escape, see json_text_marks(). */
__attribute__((target("avx512f,avx512bw"))) static inline uint64_t wide_marks(__m512i v)
{
	return _mm512_cmple_epu8_mask(_mm512_xor_si512(v, _mm512_set1_epi8(2)),
				      _mm512_set1_epi8(' ')) |
	       _mm512_cmpeq_epi8_mask(v, _mm512_set1_epi8('\\'));
}

/* A text of WIDE bytes at least, up to the next escape a step. */
__attribute__((target("avx512f,avx512bw"))) static char *put_wide(char *to, struct str s)
{
	const char *p = s.p, *end = s.p + s.n;

	while (end - p >= WIDE) {
		__m512i v = _mm512_loadu_si512(p);
		uint64_t marks = wide_marks(v);

		_mm512_storeu_si512(to, v);
		if (marks == 0) {
			p += WIDE;
			to += WIDE;
			continue;
		}
		size_t n = (size_t)__builtin_ctzll(marks);
		to = json_text_put_escaped(to + n, p + n, 1);
		p += n + 1;
	}
	if (p == end)
		return to;
	/* what is left, with bytes before it that were written already: plain bytes are the same
	 * there and here */
	__m512i last = _mm512_loadu_si512(end - WIDE);
	if (wide_marks(last) != 0)
		return json_text_put(to, (struct str){p, (size_t)(end - p)});
	to += end - p;
	_mm512_storeu_si512(to - WIDE, last);
	return to;
}
#endif

/* Two steps a time where no escape is needed; the last step overlaps the one before. */
char *json_text_put(char *to, struct str s)
{
	if (s.n < STEP)
		return put_short_escape(to, s);
	const char *p = s.p, *end = s.p + s.n;
#if defined(__x86_64__)
	if (can_step_wide(s.n))
		return put_wide(to, s);
#endif
	for (; end - p >= 2 * STEP; p += 2 * STEP) {
		json_lanes a = json_text_load(p), b = json_text_load(p + STEP);

		if (json_text_is_plain(json_text_marks(a) | json_text_marks(b))) {
			memcpy(to, &a, STEP);
			memcpy(to + STEP, &b, STEP);
			to += 2 * STEP;
		} else {
			to = json_text_put_escaped(to, p, 2 * STEP);
		}
	}
	if (end - p >= STEP) {
		json_lanes v = json_text_load(p);

		if (!json_text_is_plain(json_text_marks(v)))
			return json_text_put_escaped(to, p, (size_t)(end - p));
		memcpy(to, &v, STEP);
		p += STEP;
		to += STEP;
	}
	/* what is left, with bytes before it that were written already: plain bytes are the same
	 * there and here */
	json_lanes last = json_text_load(end - STEP);

	if (!json_text_is_plain(json_text_marks(last)))
		return json_text_put_escaped(to, p, (size_t)(end - p));
	to += end - p;
	memcpy(to - STEP, &last, STEP);
	return to;
}
