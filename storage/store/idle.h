/*
 * idle - objects that wait for their next use, one of them apart for each thread.
 *
 * A list that all threads share hands an object to another thread than the one that used it last,
 * and its memory then comes from the cache of another core. So a thread first takes what it kept
 * itself. What its place has no room for belongs into a list of the caller's, and who finds nothing
 * there may take what other threads kept.
 *
 * Places belong to no thread: one that ends leaves its object to the next thread with its number.
 * Threads beyond IDLE_PLACES share them.
 */
#ifndef DYNALITH_STORAGE_STORE_IDLE_H
#define DYNALITH_STORAGE_STORE_IDLE_H

#include <stdbool.h>

#define IDLE_PLACES 64
#define IDLE_LINE 64 /* bytes of a line of a core's cache: no two places lie in one */

/* All zero: empty. */
struct idle {
	union {
		void *_Atomic kept;
		char line[IDLE_LINE];
	} places[IDLE_PLACES];
};

/* Without a lock, as all that follow. What the calling thread kept, or NULL. */
void *idle_take(struct idle *idle);

/* False where the thread's place is taken: the object stays the caller's. */
bool idle_keep(struct idle *idle, void *object);

/* What the calling thread or any other kept, or NULL. */
void *idle_take_any(struct idle *idle);

#endif
