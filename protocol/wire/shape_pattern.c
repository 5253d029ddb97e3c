#include "protocol/wire/shape_pattern.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_MAX 200000 /* backtracking ends there; texts of the API's lengths stay far below */

struct matching {
	const char *end; /* of the text */
	unsigned steps;
};

/* Behind the atom: a class, a group, an escape or a character. */
static const char *atom_end(const char *p)
{
	if (*p == '\\')
		return p + 2;
	if (*p != '[' && *p != '(')
		return p + 1;
	char close = *p == '[' ? ']' : ')';
	for (p++; *p && *p != close; p++)
		p += *p == '\\';
	return p + 1;
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_';
}

/* The character that stands at *p, which is moved to its last byte: itself, or an escape: \t, \x7E,
 * \-. */
static unsigned char pattern_character(const char **p)
{
	char hex[3] = "";

	if (**p != '\\')
		return (unsigned char)**p;
	(*p)++;
	if (**p == 't')
		return '\t';
	if (**p != 'x')
		return (unsigned char)**p;
	memcpy(hex, *p + 1, 2);
	*p += 2;
	return (unsigned char)strtoul(hex, NULL, 16);
}

static bool escape_has(const char *p, char c)
{
	return p[1] == 'w' ? is_word(c) : pattern_character(&p) == (unsigned char)c;
}

static bool class_has(const char *p, char c)
{
	bool is_negated = p[1] == '^', found = false;

	for (p += 1 + is_negated; *p && *p != ']' && !found; p++) {
		if (*p == '\\' && p[1] == 'w') {
			found = is_word(c);
			p++;
			continue;
		}
		unsigned char low = pattern_character(&p), high = low;
		if (p[1] == '-' && p[2] != ']') {
			p += 2;
			high = pattern_character(&p);
		}
		found = (unsigned char)c >= low && (unsigned char)c <= high;
	}
	return found != is_negated;
}

static bool atom_has(const char *p, char c)
{
	return *p == '[' ? class_has(p, c) : *p == '\\' ? escape_has(p, c) : *p == c;
}

/* Passes over a repetition: how often the atom stands. */
static const char *repetition(const char *p, unsigned long *least, unsigned long *most)
{
	char *end;

	*least = *p == '*' ? 0 : 1;
	*most = *p == '*' || *p == '+' ? SIZE_MAX : 1;
	if (*p != '{')
		return p + (*p == '*' || *p == '+');
	*least = *most = strtoul(p + 1, &end, 10);
	return end + 1;
}

static bool match(struct matching *m, const char *p, const char *p_end, const char *s);

/* The group's inside `least` times or more, which is of one length, then the rest. */
static bool match_group(struct matching *m, const char *p, const char *atom_e, const char *rest,
			const char *p_end, unsigned long least, const char *s)
{
	for (unsigned long n = 0;; n++) {
		const char *to = s;

		if (n >= least && match(m, rest, p_end, s))
			return true;
		do {
			struct matching inner = {to, m->steps};

			if (to > s && match(&inner, p + 1, atom_e - 1, s))
				break;
		} while (to++ < m->end);
		if (to > m->end || ++m->steps > STEPS_MAX)
			return false;
		s = to;
	}
}

static bool match(struct matching *m, const char *p, const char *p_end, const char *s)
{
	unsigned long least, most, n = 0;

	if (p == p_end)
		return s == m->end;
	const char *atom_e = atom_end(p), *rest = repetition(atom_e, &least, &most);
	if (*p == '(')
		return match_group(m, p, atom_e, rest, p_end, least, s);
	while (n < most && s + n < m->end && atom_has(p, s[n]))
		n++;
	for (; n + 1 > least; n--) {
		if (++m->steps > STEPS_MAX)
			return false;
		if (match(m, rest, p_end, s + n))
			return true;
		if (n == 0)
			break;
	}
	return false;
}

/* Of names of tables and indexes, which every request has. */
static const char name_pattern[] = "[a-zA-Z0-9_.-]+";

static bool is_name(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (!is_word(text.p[i]) && text.p[i] != '.' && text.p[i] != '-')
			return false;
	}
	return text.n > 0;
}

bool shape_pattern_matches(const char *pattern, struct str text)
{
	if (strcmp(pattern, name_pattern) == 0)
		return is_name(text);
	struct matching m = {text.p + text.n, 0};
	size_t n = strlen(pattern);

	if (pattern[0] == '^') {
		pattern++;
		n--;
	}
	if (n > 0 && pattern[n - 1] == '$')
		n--;
	return text.n > 0 && match(&m, pattern, pattern + n, text.p);
}
