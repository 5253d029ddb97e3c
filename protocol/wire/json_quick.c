#include "protocol/wire/json_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX 15     /* of an integer that a double holds */
#define NUMBER_MAX 63     /* bytes of a number; cJSON takes no longer ones */
#define NODES_FIRST 16
#define NODES_MORE 64
#define STEP 16
typedef unsigned char lanes __attribute__((
	vector_size(STEP))); /* one vector instruction each, where the machine has them */

/* A text on its way. It lies in memory of ours, STEP bytes longer, so that strings end with NULs
 * where their quotes were. */
struct reader {
	struct arena *arena;
	char *at, *end;
	struct json *nodes; /* free ones */
	size_t left;
};

static struct json *add_quick_node(struct reader *reader)
{
	if (reader->left == 0) {
		reader->left = reader->nodes ? NODES_MORE : NODES_FIRST;
		reader->nodes =
			arena_is_over(reader->arena)
				? NULL
				: arena_alloc(reader->arena, reader->left * sizeof(*reader->nodes));
	}
	reader->left--;
	return reader->nodes ? reader->nodes++ : NULL;
}

/* cJSON skips other control bytes too. */
static bool is_blank(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* The next byte that is no white space; 0 at the end. */
static char skip_blanks(struct reader *reader)
{
	while (is_blank(*reader->at)) /* behind the end there are NULs */
		reader->at++;
	return *reader->at;
}

/* Of STEP bytes: the place of the first that is marked, or STEP. */
static size_t quick_first_of(lanes marks)
{
	uint64_t halves[2];

	memcpy(halves, &marks, STEP);
	if ((halves[0] | halves[1]) == 0)
		return STEP;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return (size_t)(halves[0] ? __builtin_ctzll(halves[0]) : 64 + __builtin_ctzll(halves[1])) /
	       8;
#else
	size_t i = 0;
	while (!marks[i])
		i++;
	return i;
#endif
}

/* The first quote, backslash or control byte from `p` on, or `end`. Behind the end there are STEP
 * bytes of memory. */
static char *find_mark(char *p, const char *end)
{
	lanes v;
	size_t i = STEP;

	for (; p < end && i == STEP; p += i) {
		memcpy(&v, p, STEP);
		i = quick_first_of((lanes)((v == '"') | (v == '\\') | (v < 0x20)));
	}
	return p < end ? p : (char *)(uintptr_t)end;
}

/* Four hexadecimal digits; false where they are not there. */
static bool read_hex(const char *p, const char *end, uint32_t *unit)
{
	*unit = 0;
	for (int i = 0; i < 4; i++) {
		char c = p + i < end ? p[i] : '\0', small = (char)(c | 0x20);

		if (c >= '0' && c <= '9')
			*unit = *unit << 4 | (uint32_t)(c - '0');
		else if (small >= 'a' && small <= 'f')
			*unit = *unit << 4 | (uint32_t)(small - 'a' + 10);
		else
			return false;
	}
	return true;
}

static char *put_code_point(char *to, uint32_t code)
{
	if (code < 0x80) {
		*to++ = (char)code;
		return to;
	}
	if (code < 0x800) {
		*to++ = (char)(0xC0 | code >> 6);
	} else {
		if (code < 0x10000) {
			*to++ = (char)(0xE0 | code >> 12);
		} else {
			*to++ = (char)(0xF0 | code >> 18);
			*to++ = (char)(0x80 | (code >> 12 & 0x3F));
		}
		*to++ = (char)(0x80 | (code >> 6 & 0x3F));
	}
	*to++ = (char)(0x80 | (code & 0x3F));
	return to;
}

/* \uXXXX or a pair of them, `at` behind the u; never longer than what it stands for. False where
 * cJSON decides. */
static bool read_unicode(struct reader *reader, char **to)
{
	uint32_t code, low;

	if (!read_hex(reader->at, reader->end, &code) || (code >= 0xDC00 && code < 0xE000))
		return false;
	reader->at += 4;
	if (code >= 0xD800 && code < 0xDC00) {
		if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u' ||
		    !read_hex(reader->at + 2, reader->end, &low) || low < 0xDC00 || low >= 0xE000)
			return false;
		reader->at += 6;
		code = 0x10000 + ((code & 0x3FF) << 10 | (low & 0x3FF));
	}
	*to = put_code_point(*to, code);
	return true;
}

/* The rest of a string with escapes, in its place: `at` is at the first backslash. */
static bool read_escaped(struct reader *reader, struct str *out)
{
	static const char letters[256] = {['"'] = '"',  ['\\'] = '\\', ['/'] = '/',  ['b'] = '\b',
					  ['f'] = '\f', ['n'] = '\n',  ['r'] = '\r', ['t'] = '\t'};
	char *to = reader->at;

	while (reader->at < reader->end && *reader->at != '"') {
		char *next = find_mark(reader->at, reader->end);

		memmove(to, reader->at, (size_t)(next - reader->at));
		to += next - reader->at;
		reader->at = next;
		if (reader->at >= reader->end || *reader->at == '"')
			continue;
		if (*reader->at != '\\')
			return false;
		unsigned char letter =
			(unsigned char)reader->at[1]; /* behind the text there is a NUL */
		reader->at += 2;
		if (letters[letter])
			*to++ = letters[letter];
		else if (letter != 'u' || !read_unicode(reader, &to))
			return false;
	}
	if (reader->at >= reader->end)
		return false;
	*to = '\0';
	out->n = (size_t)(to - out->p);
	reader->at++;
	return true;
}

/* `at` is at the first quote, and comes behind the last one. */
static bool read_string(struct reader *reader, struct str *out)
{
	char *start = reader->at + 1;

	reader->at = find_mark(start, reader->end);
	*out = (struct str){start, (size_t)(reader->at - start)};
	if (reader->at >= reader->end)
		return false;
	if (*reader->at == '\\')
		return read_escaped(reader, out);
	if (*reader->at != '"')
		return false;
	*reader->at++ = '\0';
	return true;
}

static const char *skip_digits(const char *p)
{
	while (isdigit((unsigned char)*p))
		p++;
	return p;
}

/* Any number of RFC 8259. */
static bool read_long_number(struct reader *reader, struct json *node)
{
	const char *first = reader->at + (*reader->at == '-'), *p = skip_digits(first);

	if (p == first || (*first == '0' && p - first > 1))
		return false;
	node->is_decimal = *p == '.' || *p == 'e' || *p == 'E';
	if (*p == '.' && !isdigit((unsigned char)*++p))
		return false;
	p = skip_digits(p);
	if (*p == 'e' || *p == 'E') {
		p += p[1] == '+' || p[1] == '-' ? 2 : 1;
		if (!isdigit((unsigned char)*p))
			return false;
		p = skip_digits(p);
	}
	if (p - reader->at > NUMBER_MAX)
		return false;
	node->number = strtod(reader->at, &reader->at);
	return reader->at == p;
}

/* Short integers, as clients write them, without the library's help. */
static bool read_quick_number(struct reader *reader, struct json *node)
{
	bool is_negative = *reader->at == '-';
	const char *first = reader->at + is_negative, *p = first;
	int64_t number = 0;

	node->type = JSON_NUMBER;
	node->is_decimal = false;
	while (*p >= '0' && *p <= '9' && p - first <= DIGITS_MAX)
		number = number * 10 + (*p++ - '0');
	if (p == first || p - first > DIGITS_MAX || *first == '0' || *p == '.' || *p == 'e' ||
	    *p == 'E')
		return read_long_number(reader, node);
	if (*p == '+' || *p == '-')
		return false;
	reader->at += p - reader->at;
	node->number = (double)(is_negative ? -number : number);
	return true;
}

static bool read_quick_word(struct reader *reader, struct json *node)
{
	static const struct {
		struct str word;
		enum json_type type;
		bool boolean;
	} words[] = {{STR_INIT("true"), JSON_BOOLEAN, true},
		     {STR_INIT("false"), JSON_BOOLEAN, false},
		     {STR_INIT("null"), JSON_NULL, false}};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!str_starts_with((struct str){reader->at, (size_t)(reader->end - reader->at)},
				     words[i].word))
			continue;
		reader->at += words[i].word.n;
		node->type = words[i].type;
		node->boolean = words[i].boolean;
		return true;
	}
	return false;
}

/* A value that holds no others. */
static bool read_quick_plain(struct reader *reader, struct json *node)
{
	switch (*reader->at) {
	case '"':
		node->type = JSON_STRING;
		return read_string(reader, &node->text);
	case 't':
	case 'f':
	case 'n':
		return read_quick_word(reader, node);
	default:
		return read_quick_number(reader, node);
	}
}

static bool read_name(struct reader *reader, struct json *node)
{
	if (*reader->at != '"' || !read_string(reader, &node->name) || skip_blanks(reader) != ':')
		return false;
	reader->at++;
	skip_blanks(reader);
	return true;
}

/* The containers that are open, and where the next child of each is linked. */
struct open {
	struct json **link[JSON_DEPTH_KEPT];
	bool is_array[JSON_DEPTH_MAX];
	size_t n;
};

static void link_child(struct open *open, struct json *node)
{
	size_t parent = open->n - 1;

	if (parent >= JSON_DEPTH_KEPT)
		return;
	*open->link[parent] = node;
	if (node)
		open->link[parent] = &node->next;
}

/* Ends containers as long as they end here. Then `at` is at the next child, or behind the root. */
static bool close_all_nodes(struct reader *reader, struct open *open)
{
	while (open->n > 0) {
		char c = skip_blanks(reader);

		reader->at++;
		if (c == ',') {
			skip_blanks(reader);
			return true;
		}
		if (c != (open->is_array[open->n - 1] ? ']' : '}'))
			return false;
		link_child(open, NULL);
		open->n--;
	}
	return true;
}

/* Begins the container at `at`; true where it is empty, and `at` at its end; else `at` is at its
 * first child. */
static bool begin(struct reader *reader, struct open *open, struct json *node)
{
	bool is_array = *reader->at++ == '[';

	node->type = is_array ? JSON_ARRAY : JSON_OBJECT;
	node->child = NULL;
	if (open->n < JSON_DEPTH_KEPT)
		open->link[open->n] = &node->child;
	open->is_array[open->n++] = is_array;
	return skip_blanks(reader) == (is_array ? ']' : '}');
}

static struct json *read_quick_tree(struct reader *reader)
{
	struct open open;
	struct json *root = NULL;

	open.n = 0;
	do {
		struct json *node = add_quick_node(reader);

		if (!node)
			return NULL;
		if (!root) {
			root = node;
			node->next = NULL;
			node->name = (struct str){"", 0};
		} else {
			link_child(&open, node);
			if (open.is_array[open.n - 1])
				node->name = (struct str){"", 0};
			else if (!read_name(reader, node))
				return NULL;
		}
		bool is_container = *reader->at == '{' || *reader->at == '[';
		if (is_container && open.n == JSON_DEPTH_MAX)
			return NULL;
		if (is_container && !begin(reader, &open, node))
			continue;
		if ((!is_container && !read_quick_plain(reader, node)) ||
		    !close_all_nodes(reader, &open))
			return NULL;
	} while (open.n > 0);
	return root;
}

struct json *json_quickly(struct arena *arena, struct str text)
{
	size_t blanks = 0;

	while (blanks < text.n && is_blank(text.p[blanks]))
		blanks++;
	if (blanks == text.n ||
	    text.p[blanks] != '{') /* a long body that is none takes no memory */
		return NULL;
	size_t n = text.n - blanks;
	char *copy = arena_bytes(arena, n + STEP);
	struct reader reader = {arena, copy, copy + n, NULL, 0};

	memcpy(copy, text.p + blanks, n);
	memset(copy + n, 0, STEP);
	struct json *root = arena_is_over(arena) ? NULL : read_quick_tree(&reader);
	if (root)
		skip_blanks(&reader);
	return reader.at == reader.end ? root : NULL;
}
