#include "server/mask/kind.h"

#include <string.h>

#include "server/mask/fake.h"

#define WORD_MAX 31

static const struct kind_row kind_rows[KIND_COUNT] = {
#define KIND(name, text, number, is_sure, shown) {text, number, is_sure, shown},
#include "server/mask/kinds.def"
};

static const struct {
	const char *word;
	enum kind kind;
} kind_words_known[] = {
#define WORD(word, kind) {word, KIND_##kind},
#include "server/mask/kinds.def"
};

static const char *const kind_tags[] = {
#define TAG(word) word,
#include "server/mask/kinds.def"
};

const struct kind_row *kind_row(enum kind kind)
{
	return &kind_rows[kind];
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Takes the next word: "userID", "user_id" and "USER-ID" have two. */
static bool next_word(struct str *rest, struct str *word)
{
	size_t i = 0;

	while (i < rest->n && !is_upper(rest->p[i]) && !is_lower(rest->p[i]) &&
	       !is_digit(rest->p[i]))
		i++;
	size_t start = i;
	while (i < rest->n &&
	       (is_upper(rest->p[i]) || is_lower(rest->p[i]) || is_digit(rest->p[i]))) {
		bool is_turn = i > start && is_upper(rest->p[i]) && !is_upper(rest->p[i - 1]);
		bool is_end = i > start && is_upper(rest->p[i]) && i + 1 < rest->n &&
			      is_lower(rest->p[i + 1]);

		if (is_turn || is_end)
			break;
		i++;
	}
	*word = (struct str){rest->p + start, i - start};
	*rest = (struct str){rest->p + i, rest->n - i};
	return word->n > 0;
}

/* Appends a word in lower case and in the singular. How many bytes `to` has then. */
static size_t add_word(char to[WORD_MAX + 1], size_t n, struct str word)
{
	bool is_plural = word.n > 3 && (word.p[word.n - 1] | 32) == 's' &&
			 (word.p[word.n - 2] | 32) != 's' && (word.p[word.n - 2] | 32) != 'u';

	for (size_t i = 0; i + is_plural < word.n && n < WORD_MAX; i++)
		to[n++] = (char)(is_upper(word.p[i]) ? word.p[i] | 32 : word.p[i]);
	return n;
}

bool kind_words(struct str name, bool (*each)(void *context, struct str word), void *context)
{
	struct str word;
	char text[WORD_MAX + 1];

	while (next_word(&name, &word)) {
		if (word.n <= WORD_MAX &&
		    each(context, (struct str){text, add_word(text, 0, word)}))
			return true;
	}
	return false;
}

static enum kind kind_of_word(struct str word)
{
	for (size_t i = 0; i < sizeof(kind_words_known) / sizeof(kind_words_known[0]); i++) {
		if (str_eq(word, str_of(kind_words_known[i].word)))
			return kind_words_known[i].kind;
	}
	return KIND_NONE;
}

bool kind_is_tag(struct str word)
{
	for (size_t i = 0; i < sizeof(kind_tags) / sizeof(kind_tags[0]); i++) {
		if (str_eq(word, str_of(kind_tags[i])))
			return true;
	}
	return kind_of_word(word) != KIND_NONE;
}

/* The last word that says something, with the one before it where both say something together. */
enum kind kind_of_name(struct str name)
{
	struct str word, before = STR("");
	char text[WORD_MAX + 1];
	enum kind found = KIND_NONE, kind;

	while (next_word(&name, &word)) {
		kind = KIND_NONE;
		if (before.n > 0)
			kind = kind_of_word((struct str){
				text, add_word(text, add_word(text, 0, before), word)});
		if (kind == KIND_NONE)
			kind = kind_of_word((struct str){text, add_word(text, 0, word)});
		found = kind == KIND_NONE ? found : kind;
		before = word;
	}
	return found;
}

/* How many bytes are of the class, and whether all are, or one of `others`. */
static bool is_made_of(struct str text, bool (*is_in)(char), const char *others, size_t *n)
{
	*n = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (is_in(text.p[i]))
			++*n;
		else if (!memchr(others, text.p[i], strlen(others)))
			return false;
	}
	return true;
}

static bool is_hexadecimal(char c)
{
	return is_digit(c) || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

static bool is_word_byte(char c)
{
	return is_upper(c) || is_lower(c) || is_digit(c);
}

static size_t count_byte(struct str text, char wanted)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == wanted;
	return n;
}

static bool is_network(struct str text)
{
	size_t n;

	if (count_byte(text, '.') == 3 && text.n >= 7 && text.n <= 18)
		return is_made_of(text, is_digit, "./", &n) && n >= 4;
	return count_byte(text, ':') >= 2 && text.n <= 43 &&
	       is_made_of(text, is_hexadecimal, ":./", &n) && n >= 4 && n <= 32;
}

static bool is_token(struct str text)
{
	size_t n, letters = 0, digits = 0;

	if (str_starts_with(text, STR("eyJ")) && count_byte(text, '.') == 2)
		return true;
	if (text.n < 32 || !is_made_of(text, is_word_byte, "-_=+/.", &n))
		return false;
	for (size_t i = 0; i < text.n; i++) {
		letters += is_upper(text.p[i]) || is_lower(text.p[i]);
		digits += is_digit(text.p[i]);
	}
	return digits >= 3 && letters >= 8 && n * 10 >= text.n * 9;
}

/* Of a phone: a plus, or signs between the digits. */
static bool is_phone(struct str text)
{
	size_t n;

	return text.n >= 7 && text.n <= 24 && is_made_of(text, is_digit, "+-() ./", &n) && n >= 7 &&
	       n <= 15 &&
	       (text.p[0] == '+' || text.p[0] == '(' || (n < text.n && text.p[0] == '0'));
}

static bool is_place(struct str text)
{
	size_t n;

	return count_byte(text, ',') == 1 && count_byte(text, '.') == 2 &&
	       is_made_of(text, is_digit, "-., ", &n) && n >= 4;
}

enum kind kind_of_text(struct str text)
{
	static const enum kind of_fakes[] = {[TEXT_PLAIN] = KIND_NONE,
					     [TEXT_CARD] = KIND_CARD,
					     [TEXT_IBAN] = KIND_IBAN,
					     [TEXT_MAIL] = KIND_MAIL,
					     [TEXT_DATE] = KIND_MOMENT};
	size_t n;

	if (str_starts_with(text, STR("http://")) || str_starts_with(text, STR("https://")))
		return KIND_LINK;
	if (text.n > 0 && fake_kind_of(text) != TEXT_PLAIN)
		return of_fakes[fake_kind_of(text)];
	if (is_network(text))
		return KIND_NETWORK;
	if (text.n == 36 && count_byte(text, '-') == 4 && is_made_of(text, is_hexadecimal, "-", &n))
		return KIND_ID;
	if (is_token(text))
		return KIND_SECRET;
	if (is_phone(text))
		return KIND_PHONE;
	if (is_place(text))
		return KIND_PLACE;
	return count_byte(text, ' ') >= 4 && text.n >= 30 ? KIND_TEXT : KIND_NONE;
}

bool kind_is_moment(struct str number)
{
	size_t n;

	return is_made_of(number, is_digit, "", &n) && n >= 9 && n <= 13;
}
