#include "server/head.h"

#include <string.h>

#include "core/str.h"

#define LENGTH_DIGITS 9

static const struct str request_line = STR_INIT("POST / HTTP/1.1\r\n");

/* The characters of a token (RFC 9110, 5.6.2). */
static const unsigned char is_token[256] = {
	['!'] = 1, ['#'] = 1, ['$'] = 1, ['%'] = 1, ['&'] = 1, ['\''] = 1, ['*'] = 1, ['+'] = 1, ['-'] = 1, ['.'] = 1, ['^'] = 1, ['_'] = 1, ['`'] = 1,
	['|'] = 1, ['~'] = 1, ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1,
};

struct counts {
	unsigned hosts, lengths;
};

static bool begins(struct str name, struct str with)
{
	return name.n >= with.n && str_eq_nocase((struct str){name.p, with.n}, with);
}

/* Without a branch for each byte. */
static bool is_text(struct str value, unsigned char from)
{
	unsigned is_bad = 0;

	for (size_t i = 0; i < value.n; i++) {
		unsigned char c = (unsigned char)value.p[i];

		is_bad |= (unsigned)(c < from) | (unsigned)(c > '~');
	}
	return !is_bad;
}

static bool read_length(struct str value, struct usual_head *head, struct counts *counts)
{
	uint32_t number = 0;

	for (size_t i = 0; i < value.n; i++) {
		if (value.p[i] < '0' || value.p[i] > '9')
			return false;
		number = number * 10 + (uint32_t)(value.p[i] - '0');
	}
	head->body_n = number;
	counts->lengths++;
	return value.n > 0 && value.n <= LENGTH_DIGITS;
}

/* Whether a line of that name leaves the head a usual one. Names of which others are the beginning are never usual: see framing. */
static bool is_usual(struct str name, struct str value, struct usual_head *head, struct counts *counts)
{
	switch (name.p[0] | 0x20) {
	case 'h':
		if (!str_eq_nocase(name, STR("host")))
			return true;
		counts->hosts++;
		return is_text(value, '!');
	case 'c':
		if (begins(name, STR("content-length")))
			return name.n == 14 && read_length(value, head, counts);
		if (str_eq_nocase(name, STR("connection")))
			return str_eq_nocase(value, STR("keep-alive"));
		return !str_eq_nocase(name, STR("cookie"));
	case 't':
		return !begins(name, STR("transfer-encoding")) && !str_eq_nocase(name, STR("te")) && !str_eq_nocase(name, STR("trailer"));
	case 'e':
		return !str_eq_nocase(name, STR("expect"));
	case 'u':
		return !str_eq_nocase(name, STR("upgrade"));
	case 'o':
		return !str_eq_nocase(name, STR("origin"));
	case 's':
		return !begins(name, STR("sec-fetch-"));
	case 'p':
		return !str_eq_nocase(name, STR("proxy-connection"));
	case 'x':
		return !str_eq_nocase(name, STR("x-dynalith-explain"));
	default:
		return true;
	}
}

/* The line at `at`, which is moved behind its end. False where it is not whole, or not usual. */
static bool read_line(struct str text, size_t *at, struct usual_head *head, struct counts *counts)
{
	size_t begin = *at, i = begin;

	while (i < text.n && is_token[(unsigned char)text.p[i]])
		i++;
	if (i == begin || i == text.n || text.p[i] != ':' || head->line_count == HEAD_LINES)
		return false;
	struct str name = {text.p + begin, i - begin};
	for (i++; i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'); i++)
		;
	const char *end = memchr(text.p + i, '\r', text.n - i);
	if (!end || end + 1 == text.p + text.n || end[1] != '\n')
		return false;
	struct str value = {text.p + i, (size_t)(end - (text.p + i))};
	if (!is_text(value, ' ') || (value.n > 0 && value.p[value.n - 1] == ' ') || !is_usual(name, value, head, counts))
		return false;
	head->lines[head->line_count++] = (struct head_line){(uint16_t)begin, (uint16_t)name.n, (uint16_t)i, (uint16_t)value.n};
	*at = i + value.n + 2;
	return true;
}

bool head_read(const char *bytes, size_t n, struct usual_head *head)
{
	struct str text = {bytes, n < HEAD_TEXT ? n : HEAD_TEXT};
	struct counts counts = {0};
	size_t at = request_line.n;

	if (!str_starts_with(text, request_line))
		return false;
	head->line_count = 0;
	while (at < text.n && text.p[at] != '\r') {
		if (!read_line(text, &at, head, &counts))
			return false;
	}
	head->n = at + 2;
	return head->n <= text.n && text.p[at + 1] == '\n' && counts.hosts == 1 && counts.lengths == 1;
}

size_t head_shorten(const struct usual_head *head, char out[HEAD_SHORT])
{
	static const struct str begin = STR_INIT("POST / HTTP/1.1\r\nHost: " HEAD_HOST "\r\nContent-Length: ");
	char digits[LENGTH_DIGITS], *at = digits + LENGTH_DIGITS;
	uint32_t number = head->body_n;

	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	size_t n = (size_t)(digits + LENGTH_DIGITS - at);
	memcpy(out, begin.p, begin.n);
	memcpy(out + begin.n, at, n);
	memcpy(out + begin.n + n, "\r\n\r\n", 4);
	return begin.n + n + 4;
}
