#include "storage/store/sqlite/reader_pool.h"

void reader_pool_init(struct reader_pool *pool, reader_open *open, void *context)
{
	pool->open = open;
	pool->context = context;
	pthread_mutex_init(&pool->mutex, NULL);
	pthread_cond_init(&pool->is_given, NULL);
}

void reader_pool_destroy(struct reader_pool *pool)
{
	pthread_mutex_destroy(&pool->mutex);
	pthread_cond_destroy(&pool->is_given);
}

/* With the mutex held. */
static struct connection *pop(struct reader_pool *pool)
{
	struct connection *connection = pool->free;

	if (connection)
		pool->free = connection->next_free;
	return connection;
}

struct connection *reader_pool_take(struct reader_pool *pool)
{
	struct connection *connection;

	pthread_mutex_lock(&pool->mutex);
	while (!(connection = pop(pool)) && !(pool->open && (connection = pool->open(pool->context))))
		pthread_cond_wait(&pool->is_given, &pool->mutex);
	pthread_mutex_unlock(&pool->mutex);
	return connection;
}

struct connection *reader_pool_try(struct reader_pool *pool)
{
	pthread_mutex_lock(&pool->mutex);
	struct connection *connection = pop(pool);
	pthread_mutex_unlock(&pool->mutex);
	return connection;
}

void reader_pool_give(struct reader_pool *pool, struct connection *connection)
{
	pthread_mutex_lock(&pool->mutex);
	connection->next_free = pool->free;
	pool->free = connection;
	pthread_cond_signal(&pool->is_given);
	pthread_mutex_unlock(&pool->mutex);
}
