#include "server/mask/hashes.h"

#include <stdlib.h>

#include "core/arena.h"

/* Where the hash is, or would be. */
static size_t hashes_place(const struct hashes *hashes, uint64_t hash)
{
	size_t at = hash & (hashes->size - 1);

	while (hashes->places[at] != 0 && hashes->places[at] != hash)
		at = (at + 1) & (hashes->size - 1);
	return at;
}

static void hashes_grow(struct hashes *hashes)
{
	struct hashes larger = {.size = hashes->size > 0 ? hashes->size * 2 : 1024, .n = hashes->n};

	larger.places = arena_checked(calloc(larger.size, sizeof(*larger.places)));
	for (size_t i = 0; i < hashes->size; i++) {
		if (hashes->places[i] != 0)
			larger.places[hashes_place(&larger, hashes->places[i])] = hashes->places[i];
	}
	free(hashes->places);
	*hashes = larger;
}

static uint64_t hashes_of(struct str text)
{
	return str_hash(text, 0) | 1;
}

bool hashes_add(struct hashes *hashes, struct str text)
{
	if (hashes->n * 2 >= hashes->size)
		hashes_grow(hashes);
	size_t at = hashes_place(hashes, hashes_of(text));
	bool is_new = hashes->places[at] == 0;

	hashes->places[at] = hashes_of(text);
	hashes->n += is_new;
	return is_new;
}

bool hashes_have(const struct hashes *hashes, struct str text)
{
	return hashes->size > 0 && hashes->places[hashes_place(hashes, hashes_of(text))] != 0;
}

void hashes_free(struct hashes *hashes)
{
	free(hashes->places);
}
