#include "storage/vector/vector_cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/image.h"
#include "storage/store/row.h"
#include "storage/store/walk.h"
#include "storage/vector/vector_row.h"

#define JOURNAL_SIZE                                                                               \
	4096 /* versions that a matrix may lag behind; beyond that it is filled again */
#define ROW_ALIGNMENT 64
#define ROWS_AT_ONCE 64   /* read to bring a matrix up to date */
#define HUGE_PAGE (2u << 20)

struct note {
	struct vector_version version;
	struct str key; /* malloced */
};

struct vector_cache {
	struct vector_cache *next;
	struct vector_memory *memory;
	struct keyspace keyspace;
	unsigned refs;          /* guarded by the memory's lock, as are the next two */
	uint64_t used;          /* when it was last searched */
	size_t bytes;

	pthread_mutex_t journal_lock;
	struct note *journal;   /* JOURNAL_SIZE of them; version v at v modulo that */

	pthread_rwlock_t lock;  /* guards what follows */
	bool is_filled;
	struct vector_version version;
	size_t dimensions;
	size_t n, capacity;
	float *matrix;
	struct vector_slot *slots;
	uint32_t *order;
	size_t text_bytes;      /* of keys and filters */
};

struct vector_memory {
	pthread_mutex_t lock;
	size_t bytes_max, bytes;
	unsigned threads; /* of a large search */
	uint64_t clock;
	uint64_t seed;  /* of chains: this process's own */
	uint64_t drops; /* of indexes: see vector_cache_mark() */
	struct vector_cache *caches;
};

struct vector_memory *vector_cache_memory_new(size_t bytes_max, unsigned threads)
{
	struct vector_memory *memory = arena_checked(calloc(1, sizeof(*memory)));

	memory->bytes_max = bytes_max;
	memory->threads = threads;
	if (getentropy(&memory->seed, sizeof(memory->seed)) != 0)
		memory->seed = (uint64_t)(uintptr_t)memory;
	pthread_mutex_init(&memory->lock, NULL);
	return memory;
}

unsigned vector_cache_threads(const struct vector_memory *memory)
{
	return memory->threads;
}

uint64_t vector_cache_seed(const struct vector_memory *memory)
{
	return memory->seed;
}

size_t vector_cache_memory_used(struct vector_memory *memory)
{
	pthread_mutex_lock(&memory->lock);
	size_t bytes = memory->bytes;
	pthread_mutex_unlock(&memory->lock);
	return bytes;
}

/* Forgets all rows. The cache's lock is held for writing, or nobody else has the cache. */
static void clear_vectors(struct vector_cache *cache)
{
	for (size_t i = 0; i < cache->n; i++)
		free((void *)(uintptr_t)cache->slots[i].key.p);
	free(cache->matrix);
	free(cache->slots);
	free(cache->order);
	cache->matrix = NULL;
	cache->slots = NULL;
	cache->order = NULL;
	cache->n = cache->capacity = cache->text_bytes = 0;
	cache->is_filled = false;
}

/* The memory's lock is held. */
static void unref_cache(struct vector_cache *cache)
{
	if (--cache->refs > 0)
		return;
	cache->memory->bytes -= cache->bytes;
	clear_vectors(cache);
	for (size_t i = 0; i < JOURNAL_SIZE; i++)
		free((void *)(uintptr_t)cache->journal[i].key.p);
	free(cache->journal);
	pthread_mutex_destroy(&cache->journal_lock);
	pthread_rwlock_destroy(&cache->lock);
	free(cache);
}

void vector_cache_memory_free(struct vector_memory *memory)
{
	if (!memory)
		return;
	while (memory->caches) {
		struct vector_cache *cache = memory->caches;

		memory->caches = cache->next;
		unref_cache(cache);
	}
	pthread_mutex_destroy(&memory->lock);
	free(memory);
}

/*
 * The cache with a reference, or NULL; made where it is missing and a mark is given with the
 * index's dimensions. Not where an index was dropped since the mark: it may be this one, and what
 * is made after vector_cache_drop() would stay for good.
 */
static struct vector_cache *acquire(struct vector_memory *memory, struct keyspace keyspace,
				    const uint64_t *mark, size_t dimensions)
{
	pthread_mutex_lock(&memory->lock);
	struct vector_cache *cache = memory->caches;
	while (cache && !keyspace_is_same(cache->keyspace, keyspace))
		cache = cache->next;
	if (!cache && mark && *mark == memory->drops) {
		cache = arena_checked(calloc(1, sizeof(*cache)));
		cache->journal = arena_checked(calloc(JOURNAL_SIZE, sizeof(*cache->journal)));
		cache->memory = memory;
		cache->keyspace = keyspace;
		cache->dimensions = dimensions;
		cache->refs = 1; /* the list's */
		pthread_mutex_init(&cache->journal_lock, NULL);
		pthread_rwlock_init(&cache->lock, NULL);
		cache->next = memory->caches;
		memory->caches = cache;
	}
	if (cache) {
		cache->refs++;
		cache->used = ++memory->clock;
	}
	pthread_mutex_unlock(&memory->lock);
	return cache;
}

static void release(struct vector_cache *cache)
{
	struct vector_memory *memory = cache->memory;

	pthread_mutex_lock(&memory->lock);
	unref_cache(cache);
	pthread_mutex_unlock(&memory->lock);
}

uint64_t vector_cache_mark(struct vector_memory *memory)
{
	pthread_mutex_lock(&memory->lock);
	uint64_t mark = memory->drops;
	pthread_mutex_unlock(&memory->lock);
	return mark;
}

void vector_cache_drop(struct vector_memory *memory, struct keyspace keyspace)
{
	pthread_mutex_lock(&memory->lock);
	memory->drops++;
	for (struct vector_cache **at = &memory->caches; *at; at = &(*at)->next) {
		struct vector_cache *cache = *at;

		if (!keyspace_is_same(cache->keyspace, keyspace))
			continue;
		*at = cache->next;
		unref_cache(cache);
		break;
	}
	pthread_mutex_unlock(&memory->lock);
}

void vector_cache_note(struct vector_memory *memory, struct keyspace keyspace,
		       const struct vector_version *version, struct str key)
{
	struct vector_cache *cache = acquire(memory, keyspace, NULL, 0);

	if (!cache)
		return;
	pthread_mutex_lock(&cache->journal_lock);
	struct note *note = &cache->journal[version->number % JOURNAL_SIZE];
	free((void *)(uintptr_t)note->key.p);
	*note = (struct note){*version, str_duplicate(key)};
	pthread_mutex_unlock(&cache->journal_lock);
	release(cache);
}

size_t vector_cache_position(const struct vector_view *view, struct str key)
{
	size_t low = 0, high = view->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (str_cmp(view->slots[view->order[middle]].key, key) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct vector_view view_of(struct vector_cache *cache)
{
	return (struct vector_view){cache,        false,        cache->n,     cache->dimensions,
				    cache->order, cache->slots, cache->matrix};
}

/* In huge pages where it is large: reading it through then takes a quarter less time. */
static float *new_matrix(size_t bytes)
{
	bool is_huge = bytes >= 2 * (size_t)HUGE_PAGE;
	void *matrix = NULL;

	if (posix_memalign(&matrix, is_huge ? HUGE_PAGE : ROW_ALIGNMENT, bytes) != 0)
		matrix = arena_checked(NULL);
#ifdef MADV_HUGEPAGE
	if (is_huge)
		(void)madvise(matrix, bytes & ~(size_t)(HUGE_PAGE - 1), MADV_HUGEPAGE);
#endif
	return matrix;
}

/* Room for `capacity` rows. */
static void grow_vectors(struct vector_cache *cache, size_t capacity)
{
	float *matrix = new_matrix(capacity * cache->dimensions * sizeof(float));

	if (cache->n)
		memcpy(matrix, cache->matrix, cache->n * cache->dimensions * sizeof(float));
	free(cache->matrix);
	cache->matrix = matrix;
	cache->slots = arena_checked(realloc(cache->slots, capacity * sizeof(*cache->slots)));
	cache->order = arena_checked(realloc(cache->order, capacity * sizeof(*cache->order)));
	cache->capacity = capacity;
}

static size_t bytes_of(size_t rows, size_t dimensions)
{
	return rows * (dimensions * sizeof(float) + sizeof(struct vector_slot) + sizeof(uint32_t));
}

/* What a condition can ask for. */
static bool make_filter(struct arena *arena, const struct vector_spec *spec, struct str image,
			struct buf *out)
{
	struct member *members = ARENA_ARRAY(arena, struct member, spec->schema_count);
	struct value map = {.type = TYPE_M, .members = members};

	for (size_t i = 0; i < spec->schema_count; i++) {
		struct member *member = &members[map.n];

		member->name = spec->schema[i].attribute.name;
		if (!image_get(arena, image, member->name, &member->value))
			return false;
		map.n += value_is_set(&member->value);
	}
	value_sort_members(members, map.n, NULL);
	image_encode(&map, out);
	return true;
}

/* Fills a slot's text and vector from a row. */
static bool set_slot(struct vector_cache *cache, struct arena *arena, const struct index *index,
		     size_t slot, struct str key, struct str value)
{
	struct str image = vector_row_image(index, value);
	struct buf filter = buf_in(arena);
	float *floats = cache->matrix + slot * cache->dimensions;

	if (!str_is_set(image) || !make_filter(arena, index->vector, image, &filter))
		return false;
	vector_row_floats(index, value, floats);
	char *text = arena_checked(malloc(key.n + filter.n + 1));
	memcpy(text, key.p, key.n);
	memcpy(text + key.n, filter.p, filter.n);
	cache->slots[slot] = (struct vector_slot){{text, key.n},
						  {text + key.n, filter.n},
						  vector_square(floats, cache->dimensions),
						  vector_row_size(index, image)};
	cache->text_bytes += key.n + filter.n;
	return true;
}

static void free_text(struct vector_cache *cache, size_t slot)
{
	cache->text_bytes -= cache->slots[slot].key.n + cache->slots[slot].filter.n;
	free((void *)(uintptr_t)cache->slots[slot].key.p);
}

/* Takes the row at a position of the order out; the last slot moves into its place. */
static void remove_vector_at(struct vector_cache *cache, size_t at)
{
	struct vector_view view = view_of(cache);
	uint32_t slot = cache->order[at], last = (uint32_t)cache->n - 1;
	size_t of_last = vector_cache_position(&view, cache->slots[last].key);

	free_text(cache, slot);
	if (slot != last) {
		cache->slots[slot] = cache->slots[last];
		memcpy(cache->matrix + slot * cache->dimensions,
		       cache->matrix + last * cache->dimensions, cache->dimensions * sizeof(float));
		cache->order[of_last] = slot;
	}
	memmove(&cache->order[at], &cache->order[at + 1],
		(cache->n - at - 1) * sizeof(*cache->order));
	cache->n--;
}

/* Brings one row to what the store has; `value` is absent where that is nothing. */
static enum code apply_vector_row(struct vector_cache *cache, struct arena *arena,
				  const struct index *index, struct str key, struct str value,
				  struct err *err)
{
	struct vector_view view = view_of(cache);
	size_t at = vector_cache_position(&view, key);
	bool is_there = at < cache->n && str_eq(cache->slots[cache->order[at]].key, key);

	if (!str_is_set(value)) {
		if (is_there)
			remove_vector_at(cache, at);
		return OK;
	}
	if (is_there) {
		free_text(cache, cache->order[at]);
		cache->slots[cache->order[at]].key = (struct str){NULL, 0};
		return set_slot(cache, arena, index, cache->order[at], key, value)
			       ? OK
			       : row_malformed(err, cache->keyspace, key);
	}
	if (cache->n == cache->capacity)
		grow_vectors(cache, cache->capacity + cache->capacity / 4 + 16);
	if (!set_slot(cache, arena, index, cache->n, key, value))
		return row_malformed(err, cache->keyspace, key);
	memmove(&cache->order[at + 1], &cache->order[at], (cache->n - at) * sizeof(*cache->order));
	cache->order[at] = (uint32_t)cache->n++;
	return OK;
}

/* The keys of the rows changed since the cache's version; false where the journal does not reach
 * back so far. */
static bool read_journal(struct vector_cache *cache, struct arena *arena,
			 const struct vector_version *version, struct str **keys)
{
	uint64_t n = version->number - cache->version.number, chain = cache->version.chain;
	bool is_complete = n <= JOURNAL_SIZE;

	if (!is_complete)
		return false;
	*keys = ARENA_ARRAY(arena, struct str, n);
	pthread_mutex_lock(&cache->journal_lock);
	for (uint64_t i = 0; i < n && is_complete; i++) {
		uint64_t number = cache->version.number + 1 + i;
		const struct note *note = &cache->journal[number % JOURNAL_SIZE];

		is_complete = note->version.number == number && note->key.p;
		if (!is_complete)
			break;
		(*keys)[i] = str_copy(arena, note->key);
		chain = vector_row_chain(chain, cache->memory->seed, note->key);
	}
	pthread_mutex_unlock(&cache->journal_lock);
	return is_complete && chain == version->chain;
}

/* Brings the rows of these keys to what the store has. */
static enum code apply_all(struct vector_cache *cache, struct store_txn *txn,
			   const struct index *index, const struct str *keys, uint64_t n,
			   struct err *err)
{
	struct arena *scratch = arena_new(1 << 16);
	struct store_key wanted[ROWS_AT_ONCE];
	struct str values[ROWS_AT_ONCE];
	enum code code = OK;

	for (uint64_t at = 0; at < n && code == OK; at += ROWS_AT_ONCE) {
		size_t some = n - at < ROWS_AT_ONCE ? (size_t)(n - at) : ROWS_AT_ONCE;

		for (size_t i = 0; i < some; i++)
			wanted[i] = (struct store_key){cache->keyspace, keys[at + i]};
		code = store_get_many(txn, wanted, some, scratch, values, err);
		for (size_t i = 0; i < some && code == OK; i++)
			code = apply_vector_row(cache, scratch, index, keys[at + i], values[i],
						err);
		arena_reset(scratch);
	}
	arena_free(scratch);
	return code;
}

static enum code fill_cache(struct vector_cache *cache, struct store_txn *txn,
			    const struct index *index, size_t rows, struct err *err)
{
	struct arena *scratch = arena_new(1 << 16);
	struct store_range range = vector_row_range();
	struct store_row row;
	enum code code = OK;

	clear_vectors(cache);
	grow_vectors(cache, rows + rows / 16 + 16);
	struct walk walk = walk_begin(txn, cache->keyspace, &range, err);
	while (code == OK && walk_next(&walk, &row)) {
		if (cache->n == cache->capacity)
			grow_vectors(cache, cache->capacity + cache->capacity / 4 + 16);
		if (set_slot(cache, scratch, index, cache->n, row.key, row.value)) {
			cache->order[cache->n] = (uint32_t)cache->n;
			cache->n++;
		} else {
			code = row_malformed(err, cache->keyspace, row.key);
		}
		arena_reset(scratch);
	}
	arena_free(scratch);
	enum code read = walk_end(&walk);
	return code != OK ? code : read;
}

/* Whether `bytes` for this cache find room; searched least recently, searched no more. */
static bool make_vector_room(struct vector_cache *cache, size_t bytes)
{
	struct vector_memory *memory = cache->memory;
	bool has_room;

	pthread_mutex_lock(&memory->lock);
	while (bytes <= memory->bytes_max &&
	       memory->bytes - cache->bytes + bytes > memory->bytes_max) {
		struct vector_cache *oldest = NULL;

		for (struct vector_cache *other = memory->caches; other; other = other->next) {
			if (other != cache && other->bytes > 0 &&
			    (!oldest || other->used < oldest->used))
				oldest = other;
		}
		if (!oldest || pthread_rwlock_trywrlock(&oldest->lock) != 0)
			break;
		clear_vectors(oldest);
		memory->bytes -= oldest->bytes;
		oldest->bytes = 0;
		pthread_rwlock_unlock(&oldest->lock);
	}
	has_room = memory->bytes - cache->bytes + bytes <= memory->bytes_max;
	pthread_mutex_unlock(&memory->lock);
	return has_room;
}

static void account(struct vector_cache *cache)
{
	size_t bytes = bytes_of(cache->capacity, cache->dimensions) + cache->text_bytes;

	pthread_mutex_lock(&cache->memory->lock);
	cache->memory->bytes = cache->memory->bytes - cache->bytes + bytes;
	cache->bytes = bytes;
	pthread_mutex_unlock(&cache->memory->lock);
}

/* *has_room false: the cache is as it was. */
static enum code fill_anew(struct vector_cache *cache, struct store_txn *txn,
			   const struct index *index, bool *has_room, struct err *err)
{
	struct store_stat stat;
	enum code code = store_stat(txn, cache->keyspace, &stat, err);

	if (code != OK)
		return code;
	*has_room = make_vector_room(cache,
				     bytes_of(stat.rows + stat.rows / 16 + 16, cache->dimensions));
	return *has_room ? fill_cache(cache, txn, index, stat.rows, err) : OK;
}

/* Brings the matrix to `version`, which the transaction sees. The lock is held for writing. Leaves
 * it empty where memory does not suffice. */
static enum code bring_up(struct vector_cache *cache, struct store_txn *txn, struct arena *arena,
			  const struct index *index, const struct vector_version *version,
			  struct err *err)
{
	bool has_room = true;
	struct str *keys;
	enum code code = OK;

	if (cache->is_filled && cache->version.number >= version->number)
		return OK;
	if (cache->is_filled && read_journal(cache, arena, version, &keys)) {
		code = apply_all(cache, txn, index, keys, version->number - cache->version.number,
				 err);
	} else {
		code = fill_anew(cache, txn, index, &has_room, err);
		if (!has_room) {
			clear_vectors(cache);
			account(cache);
			return OK;
		}
	}
	cache->is_filled = code == OK;
	cache->version = *version;
	if (code != OK || !make_vector_room(cache, bytes_of(cache->capacity, cache->dimensions) +
							   cache->text_bytes))
		clear_vectors(cache);
	account(cache);
	return code;
}

enum code vector_cache_open(struct vector_memory *memory, struct store_txn *txn,
			    struct arena *arena, uint64_t mark, const struct vector_source *source,
			    struct vector_view *view, struct err *err)
{
	const struct index *index = source->index;
	const struct vector_version *version = &source->version;
	struct vector_cache *cache = acquire(memory, index_keyspace(source->table, index), &mark,
					     index->vector->dimensions);
	enum code code = OK;

	*view = (struct vector_view){0};
	if (!cache)
		return OK;
	pthread_rwlock_rdlock(&cache->lock);
	if (!cache->is_filled || cache->version.number < version->number) {
		pthread_rwlock_unlock(&cache->lock);
		pthread_rwlock_wrlock(&cache->lock);
		code = bring_up(cache, txn, arena, index, version, err);
		pthread_rwlock_unlock(&cache->lock);
		pthread_rwlock_rdlock(&cache->lock);
	}
	if (code == OK && cache->is_filled && cache->version.number == version->number) {
		*view = view_of(cache);
		return OK;
	}
	view->is_ahead = cache->is_filled && cache->version.number > version->number;
	pthread_rwlock_unlock(&cache->lock);
	release(cache);
	return code;
}

void vector_cache_close(struct vector_view *view)
{
	if (!view->cache)
		return;
	pthread_rwlock_unlock(&view->cache->lock);
	release(view->cache);
	*view = (struct vector_view){0};
}
