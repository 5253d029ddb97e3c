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

/* So often a thread borrows what another one keeps, before it gets a connection of its own. */
#define BORROWINGS 256

static _Thread_local unsigned borrowed;

static struct connection *open_one(struct reader_pool *pool)
{
	struct connection *connection = pool->open ? pool->open(pool->context) : NULL;

	if (connection)
		borrowed = 0;
	return connection;
}

/* With the mutex held: of the list, or of any thread. */
static struct connection *find(struct reader_pool *pool)
{
	struct connection *connection = pool->free;

	if (connection)
		pool->free = connection->next_free;
	return connection ? connection : idle_take_any(&pool->idle);
}

/* The same, or a new one. */
static struct connection *find_or_open(struct reader_pool *pool)
{
	struct connection *connection = borrowed < BORROWINGS ? NULL : open_one(pool);

	if (!connection)
		connection = find(pool);
	borrowed += connection != NULL;
	return connection ? connection : open_one(pool);
}

/*
 * Who waits is counted before it looks, and who keeps a connection looks for a waiting one
 * afterwards: either the one finds the connection, or the other finds the count.
 */
struct connection *reader_pool_take(struct reader_pool *pool)
{
	struct connection *connection = idle_take(&pool->idle);

	if (connection)
		return connection;
	pthread_mutex_lock(&pool->mutex);
	atomic_fetch_add(&pool->waiting, 1);
	while (!(connection = find_or_open(pool)))
		pthread_cond_wait(&pool->is_given, &pool->mutex);
	atomic_fetch_sub(&pool->waiting, 1);
	pthread_mutex_unlock(&pool->mutex);
	return connection;
}

struct connection *reader_pool_try(struct reader_pool *pool)
{
	struct connection *connection = idle_take(&pool->idle);

	if (connection)
		return connection;
	pthread_mutex_lock(&pool->mutex);
	connection = find(pool);
	pthread_mutex_unlock(&pool->mutex);
	return connection;
}

void reader_pool_give(struct reader_pool *pool, struct connection *connection)
{
	if (idle_keep(&pool->idle, connection)) {
		if (atomic_load(&pool->waiting) == 0)
			return;
		connection = idle_take(&pool->idle);
		if (!connection)
			return; /* the waiting one has it, or another */
	}
	pthread_mutex_lock(&pool->mutex);
	connection->next_free = pool->free;
	pool->free = connection;
	pthread_cond_signal(&pool->is_given);
	pthread_mutex_unlock(&pool->mutex);
}
