#include "protocol/iam/pattern.h"

#include <ctype.h>

#include "core/buf.h"

#define ARN_PARTS 6

const struct iam_key *iam_context_find(const struct iam_context *context, struct str name)
{
	for (size_t i = 0; i < context->n; i++) {
		if (context->keys[i].name.n == name.n && str_eq_nocase(context->keys[i].name, name))
			return &context->keys[i];
	}
	return NULL;
}

/* "key" or "key, 'text'", the text between ${ and }. */
static struct iam_part read_variable(struct str inner)
{
	struct iam_part part = {.text = STR_ABSENT, .otherwise = STR_ABSENT};
	struct str rest = inner, other;

	part.variable = str_trim(str_cut(&rest, ','));
	other = str_trim(rest);
	if (other.n >= 2 && other.p[0] == '\'' && other.p[other.n - 1] == '\'')
		part.otherwise = (struct str){other.p + 1, other.n - 2};
	return part;
}

static void add_part(struct arena *arena, struct iam_pattern *pattern, struct iam_part part)
{
	struct iam_part *parts = arena_room(arena, (void *)pattern->parts, pattern->n, sizeof(*parts));

	parts[pattern->n++] = part;
	pattern->parts = parts;
}

struct iam_pattern iam_pattern_read(struct arena *arena, struct str source, unsigned forms)
{
	struct iam_pattern pattern = {.source = source, .text = source};
	struct buf buf = buf_in(arena);

	if ((!(forms & IAM_WILD) || (!memchr(source.p, '*', source.n) && !memchr(source.p, '?', source.n))) &&
	    (!(forms & IAM_VARIABLES) || !memchr(source.p, '$', source.n)))
		return pattern;
	for (size_t i = 0; i < source.n; i++) {
		char c = source.p[i];
		struct str rest = {source.p + i + 2, source.n - i > 2 ? source.n - i - 2 : 0};
		const char *end = (forms & IAM_VARIABLES) && c == '$' && rest.n > 0 && source.p[i + 1] == '{' ? memchr(rest.p, '}', rest.n) : NULL;

		if (end && end == rest.p + 1 && (rest.p[0] == '*' || rest.p[0] == '?' || rest.p[0] == '$')) {
			buf_add_byte(&buf, rest.p[0]);
		} else if (end) {
			if (buf.n > 0)
				add_part(arena, &pattern, (struct iam_part){.text = buf_str(&buf), .variable = STR_ABSENT});
			buf = buf_in(arena);
			add_part(arena, &pattern, read_variable((struct str){rest.p, (size_t)(end - rest.p)}));
		} else {
			buf_add_byte(&buf, (forms & IAM_WILD) && c == '*' ? IAM_ANY : (forms & IAM_WILD) && c == '?' ? IAM_ONE : c);
		}
		if (end)
			i = (size_t)(end - source.p);
	}
	if (pattern.n > 0 && buf.n > 0)
		add_part(arena, &pattern, (struct iam_part){.text = buf_str(&buf), .variable = STR_ABSENT});
	pattern.text = buf_str(&buf);
	return pattern;
}

bool iam_pattern_fill(const struct iam_pattern *pattern, const struct iam_context *context, struct arena *arena, struct str *text)
{
	struct buf buf = buf_in(arena);

	*text = pattern->text;
	if (pattern->n == 0)
		return true;
	for (size_t i = 0; i < pattern->n; i++) {
		const struct iam_part *part = &pattern->parts[i];
		const struct iam_key *key = str_is_set(part->variable) ? iam_context_find(context, part->variable) : NULL;

		if (!str_is_set(part->variable))
			buf_add_str(&buf, part->text);
		else if (key && !key->is_many && key->n == 1)
			buf_add_str(&buf, key->values[0]);
		else if (str_is_set(part->otherwise))
			buf_add_str(&buf, part->otherwise);
		else
			return false;
	}
	*text = buf_str(&buf);
	return true;
}

static bool is_same(char a, char b, bool ignores_case)
{
	return a == b || (ignores_case && tolower((unsigned char)a) == tolower((unsigned char)b));
}

/* The bytes of the character at `i`. */
static size_t character(struct str text, size_t i)
{
	size_t n = 1;

	while (i + n < text.n && ((unsigned char)text.p[i + n] & 0xC0) == 0x80)
		n++;
	return n;
}

bool iam_pattern_fits(struct str pattern, struct str text, bool ignores_case)
{
	size_t at = 0, star = SIZE_MAX, from = 0, i = 0;

	while (i < text.n) {
		if (at < pattern.n && pattern.p[at] == IAM_ANY) {
			star = at++;
			from = i;
		} else if (at < pattern.n && pattern.p[at] == IAM_ONE) {
			at++;
			i += character(text, i);
		} else if (at < pattern.n && is_same(pattern.p[at], text.p[i], ignores_case)) {
			at++;
			i++;
		} else if (star != SIZE_MAX) {
			at = star + 1;
			from += character(text, from);
			i = from;
		} else {
			return false;
		}
	}
	while (at < pattern.n && pattern.p[at] == IAM_ANY)
		at++;
	return at == pattern.n;
}

/* `most` parts of an ARN; the last has all colons that are left. Their number. */
static size_t split(struct str arn, size_t most, struct str parts[ARN_PARTS])
{
	size_t n = 0;

	while (n + 1 < most) {
		const char *colon = arn.n > 0 ? memchr(arn.p, ':', arn.n) : NULL;

		if (!colon)
			break;
		parts[n++] = (struct str){arn.p, (size_t)(colon - arn.p)};
		arn = (struct str){colon + 1, arn.n - parts[n - 1].n - 1};
	}
	parts[n++] = arn;
	return n;
}

bool iam_pattern_fits_arn(struct str pattern, struct str arn)
{
	struct str wanted[ARN_PARTS], parts[ARN_PARTS];

	size_t n = split(pattern, ARN_PARTS, wanted);

	if (split(arn, n, parts) < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!iam_pattern_fits(wanted[i], parts[i], false))
			return false;
	}
	return true;
}
