#include "core/arena.h"

#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/poison.h"
#include "core/spare.h"

#ifdef HAS_ASAN
#define RED_ZONE 16 /* poisoned bytes after each allocation */
#else
#define RED_ZONE 0
#endif

#define ALIGNMENT 16
#define YIELD_NS 500000u /* of the clock, between two calls of sched_yield() */
#define CHUNK_MIN (16 * 1024)
#define CHUNK_USUAL (1024 * 1024)      /* up to which each is twice as large as the one before */
#define CHUNK_LARGE                                                                                \
	(4 * 1024 * 1024) /* the size of those of an arena that has taken twice as much */
#define CHUNK_MAPPED                                                                               \
	CHUNK_LARGE /* from which they go back to the system when they are freed; malloc may keep  \
		       what it was given */

struct chunk {
	struct chunk *next;
	size_t size;
	char *data;
};

struct arena {
	char *at;             /* where the next allocation goes */
	char *end;            /* end of the current chunk */
	char *latest;         /* start of the latest allocation */
	struct chunk *first;  /* chunks in the order of use */
	struct chunk *current;
	size_t keep;
	size_t used;
	struct arena_budget *budget; /* or NULL */
	size_t held;                 /* of it */
	bool is_over, is_pardoned;
	struct {
		uint64_t (*clock)(void); /* or NULL */
		uint64_t limit, end;     /* end 0: not looked at yet */
		uint64_t yielded;        /* when it last called sched_yield() */
		size_t steps;            /* since the last look */
		bool is_up, yields;
	} time;
	bool (*is_left)(void *context); /* or NULL */
	void *is_left_context;
};

static void out_of_memory(size_t size)
{
	fprintf(stderr, "dynalith: out of memory (%zu bytes asked for)\n", size);
	abort();
}

void *arena_checked(void *p)
{
	if (!p) {
		fprintf(stderr, "dynalith: out of memory\n");
		abort();
	}
	return p;
}

/* A kept block may be larger: *size is then its size. */
static void *take(size_t *size)
{
	if (*size < CHUNK_MAPPED) {
		void *kept = spare_take(size);

		return kept ? kept : malloc(*size);
	}
	void *pages = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return pages == MAP_FAILED ? NULL : pages;
}

static struct chunk *chunk_new(size_t size)
{
	struct chunk *chunk = malloc(sizeof(*chunk));
	char *data = take(&size);

	if (!chunk || !data)
		out_of_memory(size);
	*chunk = (struct chunk){NULL, size, data};
	POISON(data, size);
	return chunk;
}

static void chunk_free(struct chunk *chunk)
{
	UNPOISON(chunk->data, chunk->size);
	if (chunk->size >= CHUNK_MAPPED)
		munmap(chunk->data, chunk->size);
	else if (!spare_keep(chunk->data, chunk->size))
		free(chunk->data);
	free(chunk);
}

struct arena *arena_new(size_t keep)
{
	struct arena *arena = calloc(1, sizeof(*arena));

	if (!arena)
		out_of_memory(sizeof(*arena));
	arena->keep = keep;
	return arena;
}

struct arena *arena_new_within(size_t keep, struct arena_budget *budget)
{
	struct arena *arena = arena_new(keep);

	arena->budget = budget;
	return arena;
}

static void arena_charge(struct arena *arena, size_t size)
{
	if (!arena->budget)
		return;
	size_t before = atomic_fetch_add_explicit(&arena->budget->held, size, memory_order_relaxed);
	arena->held += size;
	arena->is_over = arena->is_over || before > arena->budget->limit ||
			 arena->budget->limit - before < size;
}

void arena_use_budget(struct arena *arena, struct arena_budget *budget)
{
	size_t held = arena->held;

	if (arena->budget == budget)
		return;
	if (held > 0)
		atomic_fetch_sub_explicit(&arena->budget->held, held, memory_order_relaxed);
	arena->budget = budget;
	arena->held = 0;
	if (held > 0)
		arena_charge(arena, held);
}

void arena_limit_time(struct arena *arena, uint64_t (*clock)(void), uint64_t limit)
{
	arena->time.clock = clock;
	arena->time.limit = limit;
	arena->time.end = 0;
	arena->time.steps = 0;
	arena->time.is_up = arena->time.yields = false;
}

void arena_watch(struct arena *arena, bool (*is_left)(void *context), void *context)
{
	arena->is_left = is_left;
	arena->is_left_context = context;
}

void arena_yield(struct arena *arena, bool yields)
{
	arena->time.yields = yields;
}

void arena_share_time(struct arena *arena, const struct arena *other, unsigned n)
{
	uint64_t left = other->time.limit;

	arena_watch(arena, other->is_left, other->is_left_context);
	if (!other->time.clock)
		return;
	if (other->time.end > 0) {
		uint64_t now = other->time.clock();

		left = now < other->time.end ? other->time.end - now : 0;
	}
	arena_limit_time(arena, other->time.clock, left / n);
}

static void arena_look(struct arena *arena)
{
	arena->time.steps = 0;
	if (arena->is_left && arena->is_left(arena->is_left_context))
		arena->time.is_up = true;
	if (!arena->time.clock)
		return;
	uint64_t now = arena->time.clock();

	if (arena->time.yields && now - arena->time.yielded >= YIELD_NS) {
		sched_yield(); /* on a busy machine it is some milliseconds until this returns */
		arena->time.yielded = now;
	}
	if (arena->time.end == 0)
		arena->time.end = now + arena->time.limit;
	arena->time.is_up = arena->time.is_up || now >= arena->time.end;
}

bool arena_works(struct arena *arena, size_t steps)
{
	arena->time.steps += steps;
	if (arena->time.steps >= ARENA_LOOK)
		arena_look(arena);
	return !arena_is_over(arena);
}

/* Called after the memory is freed, so that the budget never promises memory that is still in use.
 */
static void arena_discharge(struct arena *arena)
{
	if (arena->held > 0)
		atomic_fetch_sub_explicit(&arena->budget->held, arena->held, memory_order_relaxed);
	arena->held = 0;
	arena->is_over = arena->is_pardoned = false;
}

void arena_free(struct arena *arena)
{
	if (!arena)
		return;
	for (struct chunk *chunk = arena->first, *next; chunk; chunk = next) {
		next = chunk->next;
		chunk_free(chunk);
	}
	arena_discharge(arena);
	free(arena);
}

static void arena_enter(struct arena *arena, struct chunk *chunk)
{
	arena->current = chunk;
	arena->at = chunk->data;
	arena->end = chunk->data + chunk->size;
}

void arena_rewind(struct arena *arena)
{
	struct chunk **link = &arena->first;
	size_t kept = 0;

	while (*link) {
		struct chunk *chunk = *link;

		if (kept + chunk->size > arena->keep) {
			*link = chunk->next;
			chunk_free(chunk);
			continue;
		}
		kept += chunk->size;
		POISON(chunk->data, chunk->size);
		link = &chunk->next;
	}
	arena->at = arena->end = arena->latest = NULL;
	arena->current = NULL;
	arena->used = 0;
	arena_discharge(arena);
	if (arena->first)
		arena_enter(arena, arena->first);
}

void arena_reset(struct arena *arena)
{
	arena_rewind(arena);
	arena_limit_time(arena, NULL, 0);
	arena_watch(arena, NULL, NULL);
}

/* The first is always small: it does not count, and must not let a large allocation go uncounted.
 */
static void arena_first_chunk(struct arena *arena)
{
	arena->first =
		chunk_new(arena->keep > 0 && arena->keep < CHUNK_MIN ? arena->keep : CHUNK_MIN);
	arena_enter(arena, arena->first);
}

/* Moves on to a chunk with room for `size` bytes. */
static void arena_next_chunk(struct arena *arena, size_t size)
{
	struct chunk *current = arena->current;

	if (!current->next || current->next->size < size) {
		size_t usual = current->size < CHUNK_USUAL ? current->size * 2 : CHUNK_USUAL;
		size_t want = arena->used < 2 * CHUNK_LARGE ? usual : CHUNK_LARGE;
		struct chunk *chunk = chunk_new(want < size ? size : want);

		chunk->next = current->next;
		current->next = chunk;
	}
	arena_charge(arena, current->next->size);
	arena_look(arena);
	arena_enter(arena, current->next);
}

static void *arena_take(struct arena *arena, size_t size, size_t alignment)
{
	if (size > SIZE_MAX / 2)
		out_of_memory(size);
	if (!arena->current)
		arena_first_chunk(arena);
	size_t pad = (size_t)(-(uintptr_t)arena->at) & (alignment - 1);
	if ((size_t)(arena->end - arena->at) < pad + size + RED_ZONE) {
		arena_next_chunk(arena, size + RED_ZONE + ALIGNMENT);
		pad = (size_t)(-(uintptr_t)arena->at) & (alignment - 1);
	}
	char *p = arena->at + pad;
	UNPOISON(p, size);
	arena->latest = p;
	arena->at = p + size + RED_ZONE;
	arena->used += size;
	return p;
}

void *arena_alloc(struct arena *arena, size_t size)
{
	return arena_take(arena, size, ALIGNMENT);
}

char *arena_bytes(struct arena *arena, size_t size)
{
	return arena_take(arena, size, 1);
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		out_of_memory(SIZE_MAX);
	void *p = arena_alloc(arena, count * size);
	memset(p, 0, count * size);
	return p;
}

void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t size)
{
	if (old && old == arena->latest && size >= old_size &&
	    (size_t)(arena->end - arena->latest) >= size + RED_ZONE) {
		UNPOISON(old, size);
		arena->at = arena->latest + size + RED_ZONE;
		arena->used += size - old_size;
		return old;
	}
	void *p = arena_alloc(arena, size);
	if (old)
		memcpy(p, old, old_size < size ? old_size : size);
	return p;
}

void *arena_room(struct arena *arena, void *array, size_t n, size_t size)
{
	if ((n & (n - 1)) != 0)
		return array;
	return arena_grow(arena, array, n * size, (n ? 2 * n : 1) * size);
}

size_t arena_used(const struct arena *arena)
{
	return arena->used;
}

size_t arena_held(const struct arena *arena)
{
	return arena->held;
}

bool arena_is_over(const struct arena *arena)
{
	return (arena->is_over || arena->time.is_up) && !arena->is_pardoned;
}

bool arena_is_late(const struct arena *arena)
{
	return arena->time.is_up && !arena->is_over && !arena->is_pardoned;
}

void arena_pardon(struct arena *arena)
{
	arena->is_pardoned = true;
}
