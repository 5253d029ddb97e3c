#include "protocol/java_order.h"

#include "core/buf.h"

#define BUCKETS 16

/* One character of UTF-8 at *at, which moves behind it. */
static uint32_t next_character(struct str text, size_t *at)
{
	unsigned char first = (unsigned char)text.p[(*at)++];
	unsigned more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
	uint32_t character = more ? first & (0x3Fu >> more) : first;

	for (; more > 0 && *at < text.n; more--)
		character = character << 6 | ((unsigned char)text.p[(*at)++] & 0x3F);
	return character;
}

/* String.hashCode(), spread as HashMap does. */
static uint32_t hash(struct str name)
{
	uint32_t h = 0;

	for (size_t at = 0; at < name.n;) {
		uint32_t character = next_character(name, &at);

		if (character >= 0x10000) {
			h = h * 31 + (0xD800 + ((character - 0x10000) >> 10));
			character = 0xDC00 + ((character - 0x10000) & 0x3FF);
		}
		h = h * 31 + character;
	}
	return h ^ (h >> 16);
}

static size_t unique(struct arena *arena, const struct str *names, size_t n, struct str **out)
{
	size_t count = 0;

	*out = ARENA_ARRAY(arena, struct str, n + 1);
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < count && !str_eq((*out)[k], names[i]))
			k++;
		if (k == count)
			(*out)[count++] = names[i];
	}
	return count;
}

struct str java_order_list(struct arena *arena, const struct str *names, size_t n, bool is_sized)
{
	struct buf list = buf_in(arena);
	struct str *all;
	size_t count = unique(arena, names, n, &all), buckets = is_sized ? 1 : BUCKETS;

	while ((is_sized && buckets < count) || count * 4 > buckets * 3)
		buckets *= 2;
	for (size_t bucket = 0; bucket < buckets; bucket++) {
		for (size_t i = 0; i < count; i++) {
			if ((hash(all[i]) & (buckets - 1)) == bucket)
				buf_printf(&list, "%s" STR_FMT, list.n ? ", " : "", STR_ARG(all[i]));
		}
	}
	return buf_str(&list);
}
