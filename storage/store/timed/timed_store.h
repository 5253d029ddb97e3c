/*
 * timed_store - a decorator around any backend that measures how long the two steps of a writing
 * transaction took at which writers wait.
 *
 * All other calls go to the backend directly, at no cost.
 */
#ifndef DYNALITH_STORAGE_TIMED_STORE_H
#define DYNALITH_STORAGE_TIMED_STORE_H

#include "storage/store/store.h"

enum timed_step {
	TIMED_BEGIN,  /* until the writer's turn came */
	TIMED_COMMIT, /* until it was done, or failed */
	TIMED_STEP_COUNT
};

/* Called in the transaction's thread, after the step; nanoseconds. */
typedef void timed_observe(void *context, enum timed_step step, uint64_t ns);

/* Wraps `inner`, whose transactions must carry its own table of calls; closing the wrapper closes
 * it too. */
struct store *timed_store_new(struct store *inner, timed_observe *observe, void *context);

#endif
