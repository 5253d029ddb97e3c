#include "storage/store/postgresql/long_key.h"

#include "core/buf.h"
#include "core/sha256.h"
#include "storage/store/row.h"

struct long_key long_key_split(struct arena *arena, struct str key)
{
	if (!long_key_is(key))
		return (struct long_key){{key.p ? key.p : "", key.n}, STR_ABSENT};
	struct str rest = long_key_rest(key);
	unsigned char digest[SHA256_SIZE];
	struct buf k = buf_in(arena);

	sha256_of(rest, digest);
	buf_add_str(&k, row_first(key, LONG_KEY_PREFIX));
	buf_add(&k, digest, sizeof(digest));
	return (struct long_key){buf_str(&k), rest};
}

struct str long_key_join(struct arena *arena, struct long_key columns)
{
	if (!str_is_set(columns.t))
		return str_copy(arena, columns.k);
	struct buf key = buf_in(arena);

	buf_add_str(&key, row_first(columns.k, LONG_KEY_PREFIX));
	buf_add_str(&key, columns.t);
	return buf_str(&key);
}

/* The first bytes of a key and `n` times the same byte. */
static struct str filled(struct arena *arena, struct str key, int byte, size_t n)
{
	struct buf k = buf_in(arena);

	buf_add_str(&k, row_first(key, LONG_KEY_PREFIX));
	while (n-- > 0)
		buf_add_byte(&k, byte);
	return buf_str(&k);
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
	return row_behind(key, LONG_KEY_PREFIX);
}
