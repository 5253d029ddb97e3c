#include "protocol/iam/pattern.h"

#include <ctype.h>

#include "core/buf.h"

#define ARN_PARTS 6
#define STEPS_PER_LOOK 8 /* bytes that a step of arena_works() compares */

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
	struct iam_part *parts =
		arena_room(arena, (void *)pattern->parts, pattern->n, sizeof(*parts));

	parts[pattern->n++] = part;
	pattern->parts = parts;
}

struct iam_pattern iam_pattern_read(struct arena *arena, struct str source, unsigned forms)
{
	struct iam_pattern pattern = {.source = source, .text = source};
	struct buf buf = buf_in(arena);

	if ((!(forms & IAM_WILD) ||
	     (!memchr(source.p, '*', source.n) && !memchr(source.p, '?', source.n))) &&
	    (!(forms & IAM_VARIABLES) || !memchr(source.p, '$', source.n)))
		return pattern;
	for (size_t i = 0; i < source.n; i++) {
		char c = source.p[i];
		struct str rest = {source.p + i + 2, source.n - i > 2 ? source.n - i - 2 : 0};
		const char *end =
			(forms & IAM_VARIABLES) && c == '$' && rest.n > 0 && source.p[i + 1] == '{'
				? memchr(rest.p, '}', rest.n)
				: NULL;

		if (end && end == rest.p + 1 &&
		    (rest.p[0] == '*' || rest.p[0] == '?' || rest.p[0] == '$')) {
			buf_add_byte(&buf, rest.p[0]);
		} else if (end) {
			if (buf.n > 0)
				add_part(arena, &pattern,
					 (struct iam_part){.text = buf_str(&buf),
							   .variable = STR_ABSENT});
			buf = buf_in(arena);
			add_part(arena, &pattern,
				 read_variable((struct str){rest.p, (size_t)(end - rest.p)}));
		} else {
			buf_add_byte(&buf, (forms & IAM_WILD) && c == '*'   ? IAM_ANY
					   : (forms & IAM_WILD) && c == '?' ? IAM_ONE
									    : c);
		}
		if (end)
			i = (size_t)(end - source.p);
	}
	if (pattern.n > 0 && buf.n > 0)
		add_part(arena, &pattern,
			 (struct iam_part){.text = buf_str(&buf), .variable = STR_ABSENT});
	pattern.text = buf_str(&buf);
	return pattern;
}

bool iam_pattern_fill(const struct iam_pattern *pattern, const struct iam_context *context,
		      struct arena *arena, struct str *text)
{
	struct buf buf = buf_in(arena);

	*text = pattern->text;
	if (pattern->n == 0)
		return true;
	for (size_t i = 0; i < pattern->n; i++) {
		const struct iam_part *part = &pattern->parts[i];
		const struct iam_key *key = str_is_set(part->variable)
						    ? iam_context_find(context, part->variable)
						    : NULL;

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

/* The bytes at the beginning of the text that a piece without IAM_ANY takes; SIZE_MAX where it does
 * not fit there. *steps counts the comparisons. */
static size_t take_piece(struct str piece, struct str text, bool ignores_case, size_t *steps)
{
	size_t i = 0;

	for (size_t at = 0; at < piece.n; at++, ++*steps) {
		if (i == text.n ||
		    (piece.p[at] != IAM_ONE && !is_same(piece.p[at], text.p[i], ignores_case)))
			return SIZE_MAX;
		i += piece.p[at] == IAM_ONE ? character(text, i) : 1;
	}
	return i;
}

/* Where a piece first ends in the text; SIZE_MAX: it is not there, or the arena is over. */
static size_t find_piece(struct arena *arena, struct str piece, struct str text, bool ignores_case)
{
	size_t steps = 0;

	if (piece.n == 0)
		return 0;
	if (!ignores_case && !memchr(piece.p, IAM_ONE, piece.n)) {
		const char *found =
			text.n > 0 ? memmem(text.p, text.n, piece.p, piece.n) : NULL; /* linear */

		return found ? (size_t)(found - text.p) + piece.n : SIZE_MAX;
	}
	for (size_t from = 0; from < text.n && arena_works(arena, 1 + steps / STEPS_PER_LOOK);
	     from += character(text, from)) {
		steps = 0;
		size_t taken = take_piece(piece, (struct str){text.p + from, text.n - from},
					  ignores_case, &steps);
		if (taken != SIZE_MAX)
			return from + taken;
	}
	return SIZE_MAX;
}

/* Whether the piece is the text's end. */
static bool ends_with_piece(struct str piece, struct str text, bool ignores_case)
{
	size_t from = text.n, steps = 0;

	for (size_t i = piece.n; i > 0; i--) { /* as many characters, and for each byte that is none
						  of a character's beginning a byte */
		if (from == 0)
			return false;
		from--;
		while (piece.p[i - 1] == IAM_ONE && from > 0 &&
		       ((unsigned char)text.p[from] & 0xC0) == 0x80)
			from--;
	}
	return take_piece(piece, (struct str){text.p + from, text.n - from}, ignores_case,
			  &steps) == text.n - from;
}

static struct str next_piece(struct str *pattern, bool *is_last)
{
	const char *any = pattern->n > 0 ? memchr(pattern->p, IAM_ANY, pattern->n) : NULL;
	struct str piece = {pattern->p, any ? (size_t)(any - pattern->p) : pattern->n};

	*is_last = !any;
	*pattern = any ? (struct str){any + 1, pattern->n - piece.n - 1} : STR("");
	return piece;
}

bool iam_pattern_fits(struct arena *arena, struct str pattern, struct str text, bool ignores_case)
{
	bool is_last;
	struct str piece = next_piece(&pattern, &is_last);
	size_t steps = 0, taken = take_piece(piece, text, ignores_case, &steps);

	if (!arena_works(arena, 1 + (pattern.n + text.n) / STEPS_PER_LOOK) || taken == SIZE_MAX)
		return false;
	while (!is_last) {
		text = (struct str){text.p + taken, text.n - taken};
		piece = next_piece(&pattern, &is_last);
		if (is_last)
			return ends_with_piece(piece, text, ignores_case);
		taken = find_piece(arena, piece, text, ignores_case);
		if (taken == SIZE_MAX)
			return false;
	}
	return taken == text.n;
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

bool iam_pattern_fits_arn(struct arena *arena, struct str pattern, struct str arn)
{
	struct str wanted[ARN_PARTS], parts[ARN_PARTS];

	size_t n = split(pattern, ARN_PARTS, wanted);

	if (split(arn, n, parts) < n)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!iam_pattern_fits(arena, wanted[i], parts[i], false))
			return false;
	}
	return true;
}
