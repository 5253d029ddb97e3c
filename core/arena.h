/*
 * arena - request-scoped memory.
 *
 * All that is born in a request is allocated here and dies with arena_reset().
 * Nothing allocated from an arena is ever freed on its own, so there are no
 * clean-up ladders. Memory is handed out by bumping a pointer through chunks;
 * chunks survive a reset up to a bound, so a warm worker does not call malloc.
 *
 * Arenas can share a budget. One that would exceed the budget still gets its memory, and is "over"
 * from then on. Code that takes much memory checks for that between two steps and gives the request
 * up while nothing of it is written. So no function here returns NULL, and one step at most exceeds
 * the budget.
 *
 * A request can have a time limit too, by a clock that the caller lends. The arena reads the clock
 * at each new chunk, and once per ARENA_LOOK steps of loops that allocate little (arena_works).
 * Beyond the limit it is over.
 *
 * Running out of memory ends the process with one line on stderr: with a
 * budget this is the machine's failure, not the request's. An arena belongs to
 * one thread at a time.
 *
 * Under AddressSanitizer, memory not handed out is poisoned.
 */
#ifndef DYNALITH_CORE_ARENA_H
#define DYNALITH_CORE_ARENA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;

/* The bytes that arenas hold together. The first chunk of each, 16 KB, does not count. */
struct arena_budget {
	atomic_size_t held; /* bytes */
	size_t limit;
};

/* A new, empty arena that keeps at most `keep` bytes of chunks across resets. One that keeps less
 * than 16 KB begins with a chunk of that size. */
struct arena *arena_new(size_t keep);
/* The same within a budget, which must outlive it. */
struct arena *arena_new_within(size_t keep, struct arena_budget *budget);
void arena_free(struct arena *arena);

/* Forgets every allocation. Pointers into the arena are dead afterwards. */
void arena_reset(struct arena *arena);

/* The same, but a limit of time goes on. */
void arena_rewind(struct arena *arena);

/* `size` bytes aligned for any object, contents undefined; never NULL. size 0 gives a valid
 * pointer. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, returns_nonnull));

/* The same, zeroed, for `count` objects of `size` bytes; overflow of the product ends the process.
 */
void *arena_calloc(struct arena *arena, size_t count, size_t size)
	__attribute__((malloc, returns_nonnull));

/* Bytes with no alignment: for strings. */
char *arena_bytes(struct arena *arena, size_t size) __attribute__((malloc, returns_nonnull));

/*
 * Grows the allocation `old` of `old_size` bytes to `size`: in place when it is the arena's
 * latest and the chunk has room, otherwise by a copy. `old` may be NULL when old_size is 0.
 */
void *arena_grow(struct arena *arena, void *old, size_t old_size, size_t size)
	__attribute__((returns_nonnull));

/*
 * Room for one more element of `size` bytes behind the `n` of an array; gives the array, moved
 * where it had to grow. Room doubles at powers of two, so n alone says when it is full: every
 * element must have been added in this way. `array` may be NULL when n is 0.
 */
void *arena_room(struct arena *arena, void *array, size_t n, size_t size)
	__attribute__((returns_nonnull));

/*
 * Returns `memory` of malloc, for objects that outlive requests. Where it is NULL the process ends,
 * as when an arena's memory runs out.
 */
void *arena_checked(void *p) __attribute__((returns_nonnull));

#define ARENA_LOOK 4096 /* steps of work between two looks at the clock */

/*
 * Sets a time limit, until the reset: the arena is over once `clock` has advanced by `limit` since
 * its first reading. Small requests never read it. NULL removes the limit.
 */
void arena_limit_time(struct arena *arena, uint64_t (*clock)(void), uint64_t limit);

/*
 * Until the reset, asks `is_left` with each look whether nobody waits for the result any more: then
 * the arena is over, as where its time is up. For long work: a look costs a system call. NULL asks
 * nobody. Threads that share the request's work ask too.
 */
void arena_watch(struct arena *arena, bool (*is_left)(void *context), void *context);

/*
 * Whether the arena calls sched_yield() before it reads the clock of that limit, so that other
 * threads run first. Only for long work in a thread of its own, without a lock that others wait
 * for.
 */
void arena_yield(struct arena *arena, bool yields);

/*
 * Gives `arena` an n-th of the time that the other has left, for one of n threads that share a
 * request's work. No limit where the other has none.
 */
void arena_share_time(struct arena *arena, const struct arena *other, unsigned n);

/* Counts steps of a loop, each of about 10 ns. False where the arena is over: the loop may end, and
 * nobody uses its result. */
bool arena_works(struct arena *arena, size_t steps);

/* Bytes handed out since the last reset. */
size_t arena_used(const struct arena *arena);

/* Bytes of its budget that it holds now; 0 without one. */
size_t arena_held(const struct arena *arena);

/* Whether it exceeded its budget or its time since the last reset. Never once it is pardoned. */
bool arena_is_over(const struct arena *arena);

/* Whether it exceeded its time only: the request may run again with more time. */
bool arena_is_late(const struct arena *arena);

/* Its bytes count in another budget from now on. */
void arena_use_budget(struct arena *arena, struct arena_budget *budget);

/* The request cannot be given up any more: until the reset the arena is not over, however much it
 * takes. */
void arena_pardon(struct arena *arena);

/* One object / an array of n objects of a type, zeroed. */
#define ARENA_NEW(arena, type) ((type *)arena_calloc((arena), 1, sizeof(type)))
#define ARENA_ARRAY(arena, type, n) ((type *)arena_calloc((arena), (n), sizeof(type)))

#endif
