#include <strings.h>

#include "core/expr_internal.h"

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
	return is_letter(c) || is_digit(c) || c == '_';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Bytes of the character at p, so that messages show whole characters. */
static size_t character_length(const char *p, size_t n)
{
	size_t length = 1;

	while (length < n && ((unsigned char)p[length] & 0xC0) == 0x80)
		length++;
	return length;
}

static enum keyword expr_keyword_of(const char *p, size_t n)
{
	static const struct {
		struct str text;
		enum keyword keyword;
	} keywords[] = {
		{STR_INIT("AND"), KEYWORD_AND},       {STR_INIT("OR"), KEYWORD_OR},
		{STR_INIT("NOT"), KEYWORD_NOT},       {STR_INIT("BETWEEN"), KEYWORD_BETWEEN},
		{STR_INIT("IN"), KEYWORD_IN},         {STR_INIT("SET"), KEYWORD_SET},
		{STR_INIT("REMOVE"), KEYWORD_REMOVE}, {STR_INIT("ADD"), KEYWORD_ADD},
		{STR_INIT("DELETE"), KEYWORD_DELETE},
	};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (keywords[i].text.n == n && strncasecmp(keywords[i].text.p, p, n) == 0)
			return keywords[i].keyword;
	}
	return KEYWORD_NONE;
}

static struct token word_token(enum token_kind kind, const char *p, size_t n, size_t from)
{
	while (from < n && is_word(p[from]))
		from++;
	return (struct token){
		kind, kind == TOKEN_WORD ? expr_keyword_of(p, from) : KEYWORD_NONE, {p, from}};
}

static struct token lex_token(const char *p, size_t n)
{
	size_t length = 1;

	if (is_letter(*p))
		return word_token(TOKEN_WORD, p, n, 1);
	if ((*p == '#' || *p == ':') && n > 1 && is_word(p[1]))
		return word_token(*p == '#' ? TOKEN_NAME : TOKEN_VALUE, p, n, 1);
	if (is_digit(*p)) {
		while (*p != '0' && length < n && is_digit(p[length]))
			length++;
		return (struct token){TOKEN_NUMBER, KEYWORD_NONE, {p, length}};
	}
	if (*p == '=' || *p == '<' || *p == '>') {
		bool is_double = n > 1 && *p != '=' && (p[1] == '=' || (*p == '<' && p[1] == '>'));

		return (struct token){TOKEN_OPERATOR, KEYWORD_NONE, {p, is_double ? 2 : 1}};
	}
	if (memchr("()[].,+-", *p, 8))
		return (struct token){TOKEN_CHARACTER, KEYWORD_NONE, {p, 1}};
	return (struct token){TOKEN_UNKNOWN, KEYWORD_NONE, {p, character_length(p, n)}};
}

struct token lexer_next(struct lexer *lexer)
{
	const struct str *text = &lexer->text;

	while (lexer->at < text->n && is_space(text->p[lexer->at]))
		lexer->at++;
	if (lexer->at >= text->n)
		return (struct token){TOKEN_END, KEYWORD_NONE, {text->p + text->n, 0}};
	struct token token = lex_token(text->p + lexer->at, text->n - lexer->at);
	lexer->at += token.text.n;
	return token;
}
