#include "protocol/wire/number_order.h"

#include <string.h>

#include "core/str.h"

#define BUCKETS_MIN 16
#define BUCKETS_TREE 64 /* a table with fewer grows where a bucket would become a tree */
#define BUCKET_LONG 9

__extension__ typedef unsigned __int128 digits;

/* BigDecimal.hashCode() of the number without trailing zeros. 38 digits take less than 128 bits. */
static uint32_t decimal_hash(struct str number)
{
	bool is_negative = number.p[0] == '-', is_fraction = false;
	digits unscaled = 0;
	int scale = 0, zeros = 0;

	for (size_t i = is_negative; i < number.n; i++) {
		if (number.p[i] == '.') {
			is_fraction = true;
			continue;
		}
		scale += is_fraction;
		zeros++;
		if (number.p[i] == '0')
			continue;
		for (; zeros > 0 && unscaled > 0; zeros--)
			unscaled *= 10u;
		unscaled += (unsigned)(number.p[i] - '0');
		zeros = 0;
	}
	if (unscaled == 0)
		return 0;
	uint32_t hash = 0;
	for (int word = 3; word >= 0; word--) /* those of a number that fits a long are two, the
						 higher one first, as are a BigInteger's */
		hash = hash * 31 + (uint32_t)(unscaled >> (32 * word));
	return (is_negative ? 0 - hash : hash) * 31 + (uint32_t)(scale - zeros);
}

/* Members as texts, each with its quotes, and their hashes. */
struct members {
	size_t n;
	struct str *texts;
	uint32_t *hashes;
};

static struct members read_set_members(struct arena *arena, char *text, size_t n)
{
	struct members members = {.n = n > 0};
	const char *copy = str_copy(arena, (struct str){text, n}).p, *end = copy + n;

	for (size_t i = 0; i < n; i++)
		members.n += text[i] == ',';
	members.texts = ARENA_ARRAY(arena, struct str, members.n);
	members.hashes = ARENA_ARRAY(arena, uint32_t, members.n);
	for (size_t i = 0; i < members.n; i++) {
		const char *comma = memchr(copy, ',', (size_t)(end - copy));
		struct str member = {copy, (size_t)((comma ? comma : end) - copy)};
		uint32_t hash = decimal_hash((struct str){member.p + 1, member.n - 2});

		members.texts[i] = member;
		members.hashes[i] = hash ^ hash >> 16; /* as HashMap spreads it */
		copy += member.n + 1;
	}
	return members;
}

/* How many members of the first `n` each bucket has. */
static uint32_t *count_buckets(struct arena *arena, const struct members *members, size_t n,
			       size_t buckets)
{
	uint32_t *counts = ARENA_ARRAY(arena, uint32_t, buckets);

	for (size_t i = 0; i < n; i++)
		counts[members->hashes[i] & (buckets - 1)]++;
	return counts;
}

/* The buckets that the table has when all members are in: HashMap.putVal() and resize(). */
static size_t java_bucket_count(struct arena *arena, const struct members *members,
				uint32_t **counts)
{
	size_t buckets = BUCKETS_MIN;

	*counts = ARENA_ARRAY(arena, uint32_t, buckets);
	for (size_t i = 0; i < members->n; i++) {
		bool is_long = ++(*counts)[members->hashes[i] & (buckets - 1)] >= BUCKET_LONG &&
			       buckets < BUCKETS_TREE;
		bool is_full = i + 1 > (is_long ? 2 * buckets : buckets) / 4 * 3;

		if (!is_long && !is_full)
			continue;
		buckets *= is_long && is_full ? 4 : 2;
		*counts = count_buckets(arena, members, i + 1, buckets);
	}
	return buckets;
}

void number_order(struct arena *arena, char *text, size_t n)
{
	struct members members = read_set_members(arena, text, n);
	uint32_t *counts;

	if (members.n < 2 || !arena_works(arena, members.n))
		return;
	size_t buckets = java_bucket_count(arena, &members, &counts), at = 0;
	struct str *ordered = ARENA_ARRAY(arena, struct str, members.n);
	for (size_t i = 0; i < buckets; i++) { /* where each bucket begins */
		size_t size = counts[i];

		counts[i] = (uint32_t)at;
		at += size;
	}
	for (size_t i = 0; i < members.n; i++)
		ordered[counts[members.hashes[i] & (buckets - 1)]++] = members.texts[i];
	for (size_t i = 0; i < members.n; i++) {
		memcpy(text, ordered[i].p, ordered[i].n);
		text += ordered[i].n;
		if (i + 1 < members.n)
			*text++ = ',';
	}
}
