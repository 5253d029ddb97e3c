/* json_same - whether two readers made the same tree of a text, down to the NUL behind each name
 * and string. */
#ifndef DYNALITH_TESTS_JSON_SAME_H
#define DYNALITH_TESTS_JSON_SAME_H

#include <string.h>

#include "protocol/wire/json_internal.h"

/* Down to the levels that the quick reader keeps. */
static inline bool json_is_same_from(const struct json *a, const struct json *b, unsigned level)
{
	if (a->type != b->type || !str_eq(a->name, b->name) || a->name.p[a->name.n] != '\0')
		return false;
	switch (a->type) {
	case JSON_NULL:
		return true;
	case JSON_BOOLEAN:
		return a->boolean == b->boolean;
	case JSON_NUMBER:
		return memcmp(&a->number, &b->number, sizeof(a->number)) == 0;
	case JSON_STRING:
		return str_eq(a->text, b->text) && a->text.p[a->text.n] == '\0';
	case JSON_ARRAY:
	case JSON_OBJECT:
		if (level == JSON_DEPTH_KEPT)
			return true;
		break;
	}
	const struct json *p = json_first(a), *q = json_first(b);

	for (; p && q; p = json_next(p), q = json_next(q)) {
		if (!json_is_same_from(p, q, level + 1))
			return false;
	}
	return !p && !q;
}

static inline bool json_is_same(const struct json *a, const struct json *b)
{
	return json_is_same_from(a, b, 0);
}

#endif
