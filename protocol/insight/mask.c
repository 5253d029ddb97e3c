#include "protocol/insight/mask.h"

#define WORD_MAX 32
#define HEX_MIN 8   /* so many hexadecimal digits in a row, some of them decimal, are no word */
#define ULID_SIZE 26
#define HEAD_MIN 3    /* letters before a number: fewer are a country, or chance */

enum { LETTER = 1, DIGIT = 2, MARK = 4 };

#define FOUR(first, class)                                                                         \
	[first] = class, [first + 1] = class, [first + 2] = class, [first + 3] = class
#define ALPHABET(a)                                                                                \
	FOUR(a, LETTER), FOUR(a + 4, LETTER), FOUR(a + 8, LETTER), FOUR(a + 12, LETTER),           \
		FOUR(a + 16, LETTER), FOUR(a + 20, LETTER), [a + 24] = LETTER, [a + 25] = LETTER
static const unsigned char classes[256] = {
	ALPHABET('A'),    ALPHABET('a'), ['_'] = LETTER, FOUR('0', DIGIT),
	FOUR('4', DIGIT), ['8'] = DIGIT, ['9'] = DIGIT,  ['#'] = MARK,
	['|'] = MARK,     [':'] = MARK,  ['/'] = MARK,   ['~'] = MARK, /* ends an entity's name */
};

static unsigned class_of(char c)
{
	return classes[(unsigned char)c];
}

static bool is_letter(char c)
{
	return class_of(c) == LETTER;
}

static bool is_digit(char c)
{
	return class_of(c) == DIGIT;
}

static bool is_hex(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* A UUID, a digest, a ULID or the like, from the start of the text. */
static bool is_random(struct str text)
{
	size_t hex = 0, digits = 0, word = 0;

	while (hex < text.n && is_hex(text.p[hex]))
		digits += is_digit(text.p[hex++]);
	if (hex >= HEX_MIN && digits > 0)
		return true;
	for (digits = 0; word < text.n && (is_digit(text.p[word]) || is_letter(text.p[word]));
	     word++)
		digits += is_digit(text.p[word]);
	return word >= ULID_SIZE && digits > 2;
}

bool mask_is_capitals(struct str word)
{
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] >= 'a' && word.p[i] <= 'z')
			return false;
	}
	return true;
}

static struct str behind(struct str text, size_t n)
{
	return n < text.n ? (struct str){text.p + n, text.n - n} : STR("");
}

/* Digits, or a date and a time of them. */
static bool is_number(struct str text)
{
	size_t i = 0;

	while (i < text.n &&
	       (is_digit(text.p[i]) || (i > 0 && text.p[i] && strchr("-.:TZ", text.p[i]))))
		i++;
	return text.n > 0 && is_digit(text.p[0]) && i == text.n;
}

struct mask mask_text(struct str text)
{
	static const struct mask nothing = {STR_INIT(""), false};
	size_t n = 0, most = text.n <= WORD_MAX ? text.n : WORD_MAX + 1;

	while (n < most && is_letter(text.p[n]))
		n++;
	if (n == 0 || n > WORD_MAX)
		return nothing;
	if (n < text.n && is_digit(text.p[n]) &&
	    is_random(text)) /* others have no digit in their first run */
		return nothing;
	if (n == text.n)
		return mask_is_capitals(text) ? (struct mask){text, true} : nothing;
	if (class_of(text.p[n]) == MARK &&
	    (text.p[n] != '/' ||
	     mask_is_capitals((struct str){text.p, n}))) /* folders have names */
		return (struct mask){{text.p, n + 1}, n + 1 == text.n};
	if (n >= HEAD_MIN && is_number(behind(text, n)))
		return (struct mask){{text.p, n}, false};
	if (n >= HEAD_MIN && text.p[n] == '-' && is_number(behind(text, n + 1)))
		return (struct mask){{text.p, n + 1}, false};
	return nothing;
}

bool mask_is_identifier(struct str prefix, struct str rest)
{
	bool has_digit = false;

	for (size_t i = 0; i < rest.n; i++)
		has_digit = has_digit || is_digit(rest.p[i]) || rest.p[i] == '@';
	return rest.n > 0 && (has_digit || rest.n >= ULID_SIZE || mask_is_capitals(prefix));
}

struct mask mask_of(const struct value *value)
{
	return mask_text(value->type == TYPE_S ? value_str(value) : STR(""));
}

bool mask_is_word(struct str name)
{
	size_t n = 0;

	while (n < name.n && (is_letter(name.p[n]) || name.p[n] == '-'))
		n++;
	return n == name.n && n <= WORD_MAX;
}
