#include "storage/store/postgresql/long_key.h"

#include "core/sha256.h"

struct long_key long_key_split(struct arena *arena, struct str key)
{
	if (!long_key_is(key))
		return (struct long_key){{key.p ? key.p : "", key.n}, STR_ABSENT};
	char *k = arena_bytes(arena, LONG_KEY_PREFIX + SHA256_SIZE);
	struct str rest = long_key_rest(key);

	memcpy(k, key.p, LONG_KEY_PREFIX);
	sha256_of(rest, (unsigned char *)k + LONG_KEY_PREFIX);
	return (struct long_key){{k, LONG_KEY_PREFIX + SHA256_SIZE}, rest};
}

struct str long_key_join(struct arena *arena, struct long_key columns)
{
	if (!str_is_set(columns.t))
		return str_copy(arena, columns.k);
	char *key = arena_bytes(arena, LONG_KEY_PREFIX + columns.t.n);

	memcpy(key, columns.k.p, LONG_KEY_PREFIX);
	memcpy(key + LONG_KEY_PREFIX, columns.t.p, columns.t.n);
	return (struct str){key, LONG_KEY_PREFIX + columns.t.n};
}

/* The first bytes of a key and `n` times the same byte. */
static struct str filled(struct arena *arena, struct str key, int byte, size_t n)
{
	char *k = arena_bytes(arena, LONG_KEY_PREFIX + n);

	memcpy(k, key.p, LONG_KEY_PREFIX);
	memset(k + LONG_KEY_PREFIX, byte, n);
	return (struct str){k, LONG_KEY_PREFIX + n};
}

struct str long_key_family(struct arena *arena, struct str key)
{
	return filled(arena, key, 0, 1);
}

struct str long_key_behind(struct arena *arena, struct str key)
{
	return filled(arena, key, 0xFF, SHA256_SIZE + 1);
}

struct str long_key_rest(struct str key)
{
	return (struct str){key.p + LONG_KEY_PREFIX, key.n - LONG_KEY_PREFIX};
}
