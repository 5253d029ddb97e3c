/*
 * tiny_store - a backend in memory that is small enough to be read at once: an example of how a
 * store is written, and a test of what store.c does where a backend has no call of its own.
 *
 * All rows lie in one sorted array. A transaction reads the array that was current when it began;
 * one that writes makes its changes in a copy, which its commit puts in the place of the current
 * one. Writers wait for each other, readers for nobody. A commit is O(rows): it is no store for
 * much data.
 */
#ifndef DYNALITH_TESTS_TINY_STORE_H
#define DYNALITH_TESTS_TINY_STORE_H

#include "storage/store/store.h"

/* An empty store of its own. */
struct store *tiny_store_new(void);

#endif
