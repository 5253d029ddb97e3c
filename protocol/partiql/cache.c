#include "protocol/partiql/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/arena.h"

#define BYTE_STEPS 2 /* of work for a byte of text, as arena_works() counts them */

struct partiql_kept {
	atomic_uint refs;
	struct arena *arena; /* of the text and the tree */
	struct str text;
	struct partiql_tree tree;
};

struct partiql_cache {
	pthread_mutex_t mutex;
	struct partiql_kept *places[PARTIQL_CACHE_PLACES];
};

struct partiql_cache *partiql_cache_new(void)
{
	struct partiql_cache *cache = arena_checked(calloc(1, sizeof(*cache)));

	if (pthread_mutex_init(&cache->mutex, NULL) != 0)
		abort();
	return cache;
}

void partiql_kept_unref(struct partiql_kept *kept)
{
	if (!kept || atomic_fetch_sub_explicit(&kept->refs, 1, memory_order_acq_rel) != 1)
		return;
	arena_free(kept->arena);
	free(kept);
}

void partiql_cache_free(struct partiql_cache *cache)
{
	if (!cache)
		return;
	for (size_t i = 0; i < PARTIQL_CACHE_PLACES; i++)
		partiql_kept_unref(cache->places[i]);
	pthread_mutex_destroy(&cache->mutex);
	free(cache);
}

static struct partiql_kept **place_of(struct partiql_cache *cache, struct str text)
{
	return &cache->places[str_hash(text, 0) % PARTIQL_CACHE_PLACES];
}

/* The tree kept of the text with a reference for the caller, or NULL. */
static struct partiql_kept *find(struct partiql_cache *cache, struct str text)
{
	struct partiql_kept *kept;

	pthread_mutex_lock(&cache->mutex);
	kept = *place_of(cache, text);
	if (kept && str_eq(kept->text, text))
		atomic_fetch_add_explicit(&kept->refs, 1, memory_order_relaxed);
	else
		kept = NULL;
	pthread_mutex_unlock(&cache->mutex);
	return kept;
}

static void keep(struct partiql_cache *cache, struct partiql_kept *kept)
{
	struct partiql_kept **place = place_of(cache, kept->text), *before;

	atomic_fetch_add_explicit(&kept->refs, 1, memory_order_relaxed);
	pthread_mutex_lock(&cache->mutex);
	before = *place;
	*place = kept;
	pthread_mutex_unlock(&cache->mutex);
	partiql_kept_unref(before);
}

/* A tree with one reference. */
static enum code parse(struct str text, struct partiql_kept **out, struct err *err)
{
	struct partiql_kept *kept = arena_checked(calloc(1, sizeof(*kept)));

	atomic_init(&kept->refs, 1);
	kept->arena = arena_new(0);
	kept->text = str_copy(kept->arena, text);
	enum code code = partiql_parse_text(kept->arena, kept->text, &kept->tree, err);
	if (code != OK)
		partiql_kept_unref(kept);
	return RESULT(code, out, kept);
}

/* The call holds the reference from here on. */
static void hold(struct call *call, struct partiql_kept *kept)
{
	call->statements.v = arena_room(call->arena, call->statements.v, call->statements.n,
					sizeof(*call->statements.v));
	call->statements.v[call->statements.n++] = kept;
}

enum code partiql_cache_parse(struct call *call, struct str text, struct partiql_tree *out,
			      struct err *err)
{
	struct partiql_cache *cache = call->service->statements;
	struct partiql_kept *kept;

	(void)arena_works(call->arena, text.n * BYTE_STEPS);
	if (!cache || text.n > PARTIQL_CACHE_TEXT_MAX)
		return partiql_parse_text(call->arena, text, out, err);
	kept = find(cache, text);
	if (!kept) {
		enum code code = parse(text, &kept, err);

		if (code != OK)
			return code;
		keep(cache, kept);
	}
	hold(call, kept);
	*out = kept->tree;
	return OK;
}
