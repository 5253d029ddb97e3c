/*
 * reader_pool - the connections that read, and who uses them; internal to storage/store/sqlite.
 *
 * A thread gets the connection that it had before, with its statements and pages in the core's
 * cache, as long as no other thread waits for one. One more is opened when all are in use, and for
 * a thread that had to borrow what others keep many times: not for one that reads now and then.
 */
#ifndef DYNALITH_STORAGE_SQLITE_READER_POOL_H
#define DYNALITH_STORAGE_SQLITE_READER_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/idle.h"
#include "storage/store/sqlite/connection.h"

/* Opens one more connection, with the pool's mutex held; NULL where there are enough, or it fails.
 */
typedef struct connection *reader_open(void *context);

struct reader_pool {
	reader_open *open; /* may be NULL */
	void *context;
	pthread_mutex_t mutex;
	pthread_cond_t is_given;
	struct connection *free; /* beside those that threads keep; under the mutex */
	atomic_uint waiting;     /* threads that look for one of any place */
	struct idle idle;
};

void reader_pool_init(struct reader_pool *pool, reader_open *open, void *context);
/* Closes no connection. */
void reader_pool_destroy(struct reader_pool *pool);

/* A connection that no transaction uses; waits until there is one where none is and none can be
 * opened. */
struct connection *reader_pool_take(struct reader_pool *pool);

/* The same, or NULL where all are in use; opens none. */
struct connection *reader_pool_try(struct reader_pool *pool);

/* Gives it back, or for the first time. */
void reader_pool_give(struct reader_pool *pool, struct connection *connection);

#endif
