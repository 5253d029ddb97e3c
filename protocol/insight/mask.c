#include "protocol/insight/mask.h"

#define WORD_MAX 32
#define HEX_MIN 8   /* so many hexadecimal digits in a row, some of them decimal, are no word */
#define ULID_SIZE 26

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
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
	for (digits = 0; word < text.n && (is_digit(text.p[word]) || is_letter(text.p[word])); word++)
		digits += is_digit(text.p[word]);
	return word >= ULID_SIZE && digits > 2;
}

static bool is_capitals(struct str word)
{
	for (size_t i = 0; i < word.n; i++) {
		if (word.p[i] >= 'a' && word.p[i] <= 'z')
			return false;
	}
	return true;
}

struct mask mask_text(struct str text)
{
	static const struct mask nothing = {STR_INIT(""), false};
	size_t n = 0;

	while (n < text.n && n <= WORD_MAX && is_letter(text.p[n]))
		n++;
	if (n == 0 || n > WORD_MAX || is_random(text))
		return nothing;
	if (n == text.n)
		return is_capitals(text) ? (struct mask){text, true} : nothing;
	if (memchr("#|:/~", text.p[n], 5))
		return (struct mask){{text.p, n + 1}, n + 1 == text.n};
	if (is_digit(text.p[n]) && n > 1)
		return (struct mask){{text.p, n}, false};
	if (text.p[n] == '-' && n + 1 < text.n && is_digit(text.p[n + 1]))
		return (struct mask){{text.p, n + 1}, false};
	return nothing;
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
