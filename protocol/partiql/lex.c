#include <strings.h>

#include "protocol/partiql/messages.h"
#include "protocol/partiql/syntax.h"
#include "protocol/wire/java_number.h"

/* Words that are no names. SQL-92's and PartiQL's; in byte order. Source: the PartiQL
 * specification's grammar. */
static const struct {
	struct str word;
	enum pq_keyword keyword;
} keywords[] = {
#define KEYWORD(word, keyword) {STR_INIT(word), keyword},
#include "protocol/partiql/keywords.def"
#undef KEYWORD
};

#define KEYWORD_COUNT (sizeof(keywords) / sizeof(keywords[0]))
#define KEYWORD_SIZE_MAX 20

struct lexing {
	struct arena *arena;
	struct str text;
	size_t at;
	unsigned line, column; /* of the character at `at`, from 1 */
	struct pq_tokens tokens;
	struct err *err;
};

static enum pq_keyword keyword_of(struct str word)
{
	size_t low = 0, high = KEYWORD_COUNT;
	char lower[KEYWORD_SIZE_MAX];

	if (word.n > sizeof(lower))
		return PK_NONE;
	for (size_t i = 0; i < word.n; i++)
		lower[i] =
			(char)(word.p[i] >= 'A' && word.p[i] <= 'Z' ? word.p[i] + 32 : word.p[i]);
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = str_cmp(keywords[middle].word, (struct str){lower, word.n});

		if (order == 0)
			return keywords[middle].keyword;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return PK_NONE;
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

static char look(const struct lexing *lexing, size_t ahead)
{
	return lexing->at + ahead < lexing->text.n ? lexing->text.p[lexing->at + ahead] : '\0';
}

/* Moves over n bytes; columns count characters, not the bytes that continue one. */
static void move(struct lexing *lexing, size_t n)
{
	for (size_t i = 0; i < n && lexing->at < lexing->text.n; i++) {
		char c = lexing->text.p[lexing->at++];

		if (c == '\n') {
			lexing->line++;
			lexing->column = 1;
		} else if (((unsigned char)c & 0xC0) != 0x80) {
			lexing->column++;
		}
	}
}

static struct pq_token *add(struct lexing *lexing, enum pq_token_kind kind)
{
	lexing->tokens.v = arena_room(lexing->arena, lexing->tokens.v, lexing->tokens.n,
				      sizeof(struct pq_token));
	struct pq_token *token = &lexing->tokens.v[lexing->tokens.n++];
	*token = (struct pq_token){.kind = kind, .line = lexing->line, .column = lexing->column};
	return token;
}

/* Moves over the token's bytes, which become its text. */
static void take(struct lexing *lexing, struct pq_token *token, size_t n)
{
	token->text = (struct str){lexing->text.p + lexing->at, n};
	for (size_t i = 0; i < n; i++)
		token->length += ((unsigned char)token->text.p[i] & 0xC0) != 0x80;
	move(lexing, n);
}

static enum code error(struct lexing *lexing)
{
	return err_set(lexing->err, MSG_PARTIQL_SYNTAX, PARTIQL_LEXICAL);
}

static void lex_word(struct lexing *lexing)
{
	struct pq_token *token = add(lexing, PQ_IDENTIFIER);
	size_t n = 1;

	while (is_letter(look(lexing, n)) || is_digit(look(lexing, n)))
		n++;
	take(lexing, token, n);
	token->keyword = keyword_of(token->text);
	if (token->keyword != PK_NONE)
		token->kind = PQ_KEYWORD;
}

static enum code lex_number(struct lexing *lexing)
{
	struct pq_token *token = add(lexing, PQ_NUMBER);
	size_t n = 0;

	while (is_digit(look(lexing, n)))
		n++;
	if (look(lexing, n) == '.') {
		n++;
		while (is_digit(look(lexing, n)))
			n++;
	}
	if (look(lexing, n) == 'e' || look(lexing, n) == 'E') {
		n++;
		if (look(lexing, n) == '+' || look(lexing, n) == '-')
			n++;
		if (!is_digit(look(lexing, n)))
			return error(lexing);
		while (is_digit(look(lexing, n)))
			n++;
	}
	take(lexing, token, n);
	return java_number_read(token->text).fits ? OK : error(lexing);
}

/* Whether Ion reads a text that begins with two braces: base64 or a text in quotes, then two braces
 * that close. */
static bool ion_lob_closes(struct str text)
{
	static const struct str others = STR_INIT("+/= \t\r\n");

	if (text.n < 4 || memcmp(text.p + text.n - 2, "}}", 2) != 0)
		return false;
	for (size_t i = 2; i < text.n - 2; i++) {
		char c = text.p[i];

		if (c == '"' || c == '\'')
			return true;
		if (!is_digit(c) && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !memchr(others.p, c, others.n))
			return false;
	}
	return true;
}

/* To Ion the spaces around a value are nothing. */
static struct str ion_trim(struct str text)
{
	while (text.n > 0 && is_space(text.p[0])) {
		text.p++;
		text.n--;
	}
	while (text.n > 0 && is_space(text.p[text.n - 1]))
		text.n--;
	return text;
}

/* A text in quotes; a pair of them within means one. */
static enum code lex_quoted(struct lexing *lexing, char quote)
{
	struct pq_token *token = add(lexing, quote == '\''  ? PQ_STRING
					     : quote == '"' ? PQ_IDENTIFIER
							    : PQ_ION);
	struct buf buf = buf_in(lexing->arena);
	size_t from = lexing->at + 1, n = 1;

	for (; lexing->at + n < lexing->text.n; n++) {
		if (look(lexing, n) != quote)
			continue;
		if (look(lexing, n + 1) != quote || quote == '`')
			break;
		buf_add(&buf, lexing->text.p + from, lexing->at + n + 1 - from);
		from = lexing->at + n + 2;
		n++;
	}
	if (lexing->at + n >= lexing->text.n)
		return error(lexing);
	struct str last = {lexing->text.p + from, lexing->at + n - from};

	if (quote == '`')
		last = ion_trim(last);
	if (quote == '`' && str_starts_with(last, STR("{{")) && !ion_lob_closes(last))
		return error(lexing);
	take(lexing, token, n + 1);
	token->is_quoted = quote == '"';
	token->text = last;
	if (buf.n > 0) {
		buf_add_str(&buf, last);
		token->text = buf_str(&buf);
	}
	return OK;
}

/* Moves over spaces and comments. */
static enum code skip(struct lexing *lexing)
{
	while (lexing->at < lexing->text.n) {
		if (is_space(look(lexing, 0))) {
			move(lexing, 1);
		} else if (look(lexing, 0) == '-' && look(lexing, 1) == '-') {
			while (lexing->at < lexing->text.n && look(lexing, 0) != '\n')
				move(lexing, 1);
		} else if (look(lexing, 0) == '/' && look(lexing, 1) == '*') {
			move(lexing, 2);
			while (lexing->at < lexing->text.n &&
			       !(look(lexing, 0) == '*' && look(lexing, 1) == '/'))
				move(lexing, 1);
			if (lexing->at >= lexing->text.n)
				return error(lexing);
			move(lexing, 2);
		} else {
			return OK;
		}
	}
	return OK;
}

static enum code lex_sign(struct lexing *lexing)
{
	static const struct {
		struct str text;
		enum pq_token_kind kind;
		char sign;
	} signs[] = {
		/* the longer first */
		{STR_INIT("<<"), PQ_SIGN, PQ_BAG_OPEN}, {STR_INIT(">>"), PQ_SIGN, PQ_BAG_CLOSE},
		{STR_INIT("<="), PQ_OPERATOR, '<'},     {STR_INIT(">="), PQ_OPERATOR, '>'},
		{STR_INIT("<>"), PQ_OPERATOR, '<'},     {STR_INIT("!="), PQ_OPERATOR, '!'},
		{STR_INIT("||"), PQ_OPERATOR, '|'},
	};
	static const struct str single_signs = STR_INIT("()[]{}:,*;?."),
				single_operators = STR_INIT("=<>+-/%@^&~");
	char c = look(lexing, 0);

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (look(lexing, 0) == signs[i].text.p[0] &&
		    look(lexing, 1) == signs[i].text.p[1]) {
			struct pq_token *token = add(lexing, signs[i].kind);

			token->sign = signs[i].sign;
			take(lexing, token, 2);
			return OK;
		}
	}
	bool is_sign = c && memchr(single_signs.p, c, single_signs.n);
	if (!is_sign && !(c && memchr(single_operators.p, c, single_operators.n)))
		return error(lexing);
	struct pq_token *token = add(lexing, is_sign ? PQ_SIGN : PQ_OPERATOR);
	token->sign = c;
	take(lexing, token, 1);
	return OK;
}

enum code partiql_lex(struct arena *arena, struct str text, struct pq_tokens *out, struct err *err)
{
	struct lexing lexing = {.arena = arena, .text = text, .line = 1, .column = 1, .err = err};
	enum code code = skip(&lexing);

	while (code == OK && lexing.at < text.n) {
		char c = look(&lexing, 0);

		if (is_letter(c))
			lex_word(&lexing);
		else if (is_digit(c) || (c == '.' && is_digit(look(&lexing, 1))))
			code = lex_number(&lexing);
		else if (c == '\'' || c == '"' || c == '`')
			code = lex_quoted(&lexing, c);
		else
			code = lex_sign(&lexing);
		if (code != OK)
			break;
		code = skip(&lexing);
	}
	add(&lexing, PQ_END)->text = STR("");
	return RESULT(code, out, lexing.tokens);
}
