/*
 * reader_pool - the connections that read, and who uses them; internal to storage/store/sqlite.
 *
 * A thread gets the connection that it had before, with its statements and pages in the core's cache, as long as no other thread waits for one.
 */
#ifndef DYNALITH_STORAGE_SQLITE_READER_POOL_H
#define DYNALITH_STORAGE_SQLITE_READER_POOL_H

#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/idle.h"
#include "storage/store/sqlite/connection.h"

struct reader_pool {
	pthread_mutex_t mutex;
	pthread_cond_t is_given;
	struct connection *free; /* beside those that threads keep; under the mutex */
	atomic_uint waiting;     /* threads that look for one of any place */
	struct idle idle;
};

void reader_pool_init(struct reader_pool *pool);
/* Closes no connection. */
void reader_pool_destroy(struct reader_pool *pool);

/* A connection that no transaction uses; waits until there is one. */
struct connection *reader_pool_take(struct reader_pool *pool);

/* The same, or NULL where all are in use. */
struct connection *reader_pool_try(struct reader_pool *pool);

/* Gives it back, or for the first time. */
void reader_pool_give(struct reader_pool *pool, struct connection *connection);

#endif
