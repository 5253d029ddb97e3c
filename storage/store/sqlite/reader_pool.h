/*
 * reader_pool - the connections that read and that no transaction uses; internal to storage/store/sqlite.
 *
 * The one that was given back last is lent first: its statements and pages are in the cores' caches. Another is opened only
 * where all are lent.
 */
#ifndef DYNALITH_STORAGE_SQLITE_READER_POOL_H
#define DYNALITH_STORAGE_SQLITE_READER_POOL_H

#include <pthread.h>

#include "storage/store/sqlite/connection.h"

/* Opens one more connection, with the pool's mutex held; NULL where there are enough, or it fails. */
typedef struct connection *reader_open(void *context);

struct reader_pool {
	reader_open *open; /* may be NULL */
	void *context;
	pthread_mutex_t mutex;
	pthread_cond_t is_given;
	struct connection *free; /* a stack; under the mutex */
};

void reader_pool_init(struct reader_pool *pool, reader_open *open, void *context);
/* Closes no connection. */
void reader_pool_destroy(struct reader_pool *pool);

/* A connection that no transaction uses; waits until there is one where none is and none can be opened. */
struct connection *reader_pool_take(struct reader_pool *pool);

/* The same, or NULL where all are in use; opens none. */
struct connection *reader_pool_try(struct reader_pool *pool);

/* Gives it back, or for the first time. */
void reader_pool_give(struct reader_pool *pool, struct connection *connection);

#endif
