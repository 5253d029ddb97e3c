#include "protocol/wire/java_order.h"

#include "core/buf.h"
#include "core/seen.h"

#define BUCKETS 16
#define NAME_STEPS 16 /* of work for a name, as arena_works() counts them */

/* One character of UTF-8 at *at, which moves behind it. */
static uint32_t next_utf16_character(struct str text, size_t *at)
{
	unsigned char first = (unsigned char)text.p[(*at)++];
	unsigned more = first < 0xC0 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
	uint32_t character = more ? first & (0x3Fu >> more) : first;

	for (; more > 0 && *at < text.n; more--)
		character = character << 6 | ((unsigned char)text.p[(*at)++] & 0x3F);
	return character;
}

/* String.hashCode(), spread as HashMap does. */
static uint32_t java_hash(struct str name)
{
	uint32_t h = 0;

	for (size_t at = 0; at < name.n;) {
		uint32_t character = next_utf16_character(name, &at);

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
	struct seen seen = seen_new(arena, n);
	size_t count = 0;

	*out = ARENA_ARRAY(arena, struct str, n + 1);
	for (size_t i = 0; i < n && arena_works(arena, NAME_STEPS); i++) {
		if (seen_add(&seen, names[i]))
			(*out)[count++] = names[i];
	}
	return count;
}

/* The names by bucket; those of one bucket stay in their order. */
static struct str *by_bucket(struct arena *arena, const struct str *names, size_t n, size_t buckets)
{
	struct str *sorted = ARENA_ARRAY(arena, struct str, n + 1);
	size_t *at =
		ARENA_ARRAY(arena, size_t, buckets + 1); /* where the bucket's next name goes */

	for (size_t i = 0; i < n; i++)
		at[(java_hash(names[i]) & (buckets - 1)) + 1]++;
	for (size_t i = 1; i <= buckets; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < n; i++)
		sorted[at[java_hash(names[i]) & (buckets - 1)]++] = names[i];
	return sorted;
}

struct str *java_order(struct arena *arena, const struct str *names, size_t n, bool is_sized,
		       size_t *count)
{
	struct str *all;
	size_t buckets = is_sized ? 1 : BUCKETS;

	*count = unique(arena, names, n, &all);
	while ((is_sized && buckets < *count) || *count * 4 > buckets * 3)
		buckets *= 2;
	return by_bucket(arena, all, *count, buckets);
}

struct str java_order_list(struct arena *arena, const struct str *names, size_t n, bool is_sized)
{
	struct buf list = buf_in(arena);
	size_t count;
	const struct str *sorted = java_order(arena, names, n, is_sized, &count);

	for (size_t i = 0; i < count && arena_works(arena, NAME_STEPS); i++)
		buf_printf(&list, "%s" STR_FMT, i > 0 ? ", " : "", STR_ARG(sorted[i]));
	return buf_str(&list);
}
