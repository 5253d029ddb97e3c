#include "core/seen.h"

struct seen seen_new(struct arena *arena, size_t capacity)
{
	size_t size = 4;

	while (size < capacity * 2)
		size *= 2;
	return (struct seen){ARENA_ARRAY(arena, struct str, size), size - 1};
}

bool seen_add(struct seen *seen, struct str bytes)
{
	size_t slot = (size_t)str_hash(bytes, 0) & seen->mask;

	for (; str_is_set(seen->slots[slot]); slot = (slot + 1) & seen->mask)
		if (str_eq(seen->slots[slot], bytes))
			return false;
	seen->slots[slot] = bytes;
	return true;
}
