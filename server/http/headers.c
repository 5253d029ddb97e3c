#include "server/http/headers.h"

#include "core/buf.h"

#define LINES_AT_FIRST 16 /* SDKs send 8 to 14 */

void headers_add(struct headers *headers, struct arena *arena, struct str name, struct str value)
{
	if (headers->n == headers->cap) {
		size_t cap = headers->cap ? headers->cap * 2 : LINES_AT_FIRST;

		headers->v = arena_grow(arena, headers->v, headers->n * sizeof(*headers->v),
					cap * sizeof(*headers->v));
		headers->cap = cap;
	}
	headers->v[headers->n++] = (struct header){name, value};
}

/* The next line of that name from `from` on; NULL where there is none. */
static const struct header *next_line(const struct headers *headers, size_t from, struct str name)
{
	for (size_t i = from; i < headers->n; i++) {
		const struct header *line = &headers->v[i];

		if (line->name.n == name.n && str_eq_nocase(line->name, name))
			return line;
	}
	return NULL;
}

struct str headers_first(const struct headers *headers, struct str name)
{
	const struct header *line = next_line(headers, 0, name);

	return line ? line->value : STR_ABSENT;
}

struct str headers_joined(const struct headers *headers, struct arena *arena, struct str name)
{
	const struct header *first = next_line(headers, 0, name);
	const struct header *second =
		first ? next_line(headers, (size_t)(first - headers->v) + 1, name) : NULL;
	struct buf joined;

	if (!second)
		return first ? first->value : STR_ABSENT;
	joined = buf_in(arena);
	buf_add_str(&joined, str_trim(first->value));
	for (const struct header *line = second; line;
	     line = next_line(headers, (size_t)(line - headers->v) + 1, name)) {
		buf_add_byte(&joined, ',');
		buf_add_str(&joined, str_trim(line->value));
	}
	return buf_str(&joined);
}
