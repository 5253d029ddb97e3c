/* The reading connections of a store: nobody shares one, and nobody waits while one is free. */
#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/sqlite/readers.h"
#include "tests/unit/test.h"

#define THREADS 6
#define CONNECTIONS 2
#define ROUNDS (40000 / TEST_SLOWNESS)

static void *on_a_thread(void *(*run)(void *), void *context)
{
	pthread_t thread;
	void *result = NULL;

	CHECK_INT(pthread_create(&thread, NULL, run, context), 0);
	pthread_join(thread, &result);
	return result;
}

struct crowd {
	struct readers readers; /* first */
	struct connection connections[CONNECTIONS];
	unsigned opened;
	atomic_uint users[CONNECTIONS];
	atomic_uint clashes, rounds;
};

static struct connection *open_next(struct readers *readers)
{
	struct crowd *crowd = (struct crowd *)readers;

	return crowd->opened < CONNECTIONS ? &crowd->connections[crowd->opened++] : NULL;
}

static void *read_often(void *context)
{
	struct crowd *crowd = context;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct connection *connection =
			i % 16 == 0 ? readers_try(&crowd->readers) : readers_take(&crowd->readers);

		if (!connection)
			continue;
		if (atomic_fetch_add(&crowd->users[connection - crowd->connections], 1) != 0)
			atomic_fetch_add(&crowd->clashes, 1);
		atomic_fetch_add(&crowd->rounds, 1);
		atomic_fetch_sub(&crowd->users[connection - crowd->connections], 1);
		readers_give(&crowd->readers, connection);
	}
	return NULL;
}

/* More threads than connections: a wake-up that is lost would leave a thread waiting for ever. */
TEST(a_crowd_shares_few_connections)
{
	static struct crowd crowd;
	pthread_t threads[THREADS];
	unsigned found = 0;

	readers_init(&crowd.readers);
	crowd.readers.open = open_next;
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, read_often, &crowd), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(atomic_load(&crowd.clashes), 0);
	CHECK(atomic_load(&crowd.rounds) >= THREADS * (ROUNDS - ROUNDS / 16 - 1));
	while (readers_try(&crowd.readers))
		found++;
	CHECK_INT(found, crowd.opened);
	readers_close(&crowd.readers);
}

static void *give_both(void *context)
{
	struct crowd *crowd = context;

	for (unsigned i = 0; i < CONNECTIONS; i++)
		readers_give(&crowd->readers, &crowd->connections[i]);
	return NULL;
}

TEST(a_thread_takes_what_another_kept)
{
	static struct crowd crowd = {.opened = CONNECTIONS};

	readers_init(&crowd.readers);
	crowd.readers.open = open_next;
	on_a_thread(give_both, &crowd);
	CHECK(readers_take(&crowd.readers) && readers_take(&crowd.readers));
	CHECK(!readers_try(&crowd.readers));
	readers_close(&crowd.readers);
}

static void *borrow(void *context)
{
	struct crowd *crowd = context;
	struct connection *connection = readers_take(&crowd->readers);

	readers_give(&crowd->readers, connection);
	return connection;
}

/* One that is in use is not lent, and one that is free is. */
TEST(connections_are_opened_as_they_are_needed)
{
	static struct crowd crowd;

	readers_init(&crowd.readers);
	crowd.readers.open = open_next;
	CHECK(!readers_try(&crowd.readers));
	struct connection *first = readers_take(&crowd.readers);
	CHECK(first == &crowd.connections[0]);
	CHECK(readers_take(&crowd.readers) == &crowd.connections[1]);
	readers_close(&crowd.readers);

	crowd = (struct crowd){.opened = 0};
	readers_init(&crowd.readers);
	crowd.readers.open = open_next;
	for (int i = 0; i < 3; i++)
		CHECK(on_a_thread(borrow, &crowd) == first);
	CHECK_INT(crowd.opened, 1);
	readers_close(&crowd.readers);
}

TEST_MAIN(TEST_CASE(connections_are_opened_as_they_are_needed),
	  TEST_CASE(a_crowd_shares_few_connections), TEST_CASE(a_thread_takes_what_another_kept))
