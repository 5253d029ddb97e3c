/* The reading connections of a store: nobody shares one, and nobody waits while one is free. */
#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/sqlite/readers.h"
#include "tests/unit/test.h"

#define THREADS 6
#define CONNECTIONS 2
#define ROUNDS (40000 / TEST_SLOWNESS)

struct crowd {
	struct readers readers;
	atomic_uint users[CONNECTIONS];
	atomic_uint clashes, rounds;
};

static void open_crowd(struct crowd *crowd)
{
	const struct readers_options options = {
		.name = ":memory:",
		.flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
		.setup = "",
		.most = CONNECTIONS,
		.lock_fd = -1,
	};
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	*crowd = (struct crowd){.clashes = 0};
	readers_init(&crowd->readers);
	CHECK_INT(readers_open(&crowd->readers, &options, &err), OK);
	arena_free(arena);
}

static unsigned opened(struct crowd *crowd)
{
	return atomic_load(&crowd->readers.n);
}

static void *read_often(void *context)
{
	struct crowd *crowd = context;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct connection *connection =
			i % 16 == 0 ? readers_try(&crowd->readers) : readers_take(&crowd->readers);

		if (!connection)
			continue;
		atomic_uint *users = &crowd->users[connection - crowd->readers.v];
		if (atomic_fetch_add(users, 1) != 0)
			atomic_fetch_add(&crowd->clashes, 1);
		atomic_fetch_add(&crowd->rounds, 1);
		atomic_fetch_sub(users, 1);
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

	open_crowd(&crowd);
	for (unsigned i = 0; i < THREADS; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, read_often, &crowd), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(atomic_load(&crowd.clashes), 0);
	CHECK(atomic_load(&crowd.rounds) >= THREADS * (ROUNDS - ROUNDS / 16 - 1));
	while (readers_try(&crowd.readers))
		found++;
	CHECK_INT(found, opened(&crowd));
	readers_close(&crowd.readers);
}

/* One that is in use is not lent, and one that is free is. */
TEST(connections_are_opened_as_they_are_needed)
{
	static struct crowd crowd;

	open_crowd(&crowd);
	struct connection *first = readers_take(&crowd.readers);
	for (int i = 0; i < 3; i++) {
		readers_give(&crowd.readers, first);
		CHECK(readers_take(&crowd.readers) == first);
	}
	CHECK_INT(opened(&crowd), 1);
	CHECK(!readers_try(&crowd.readers));
	struct connection *second = readers_take(&crowd.readers);
	CHECK(second && second != first);
	CHECK_INT(opened(&crowd), 2);
	CHECK(!readers_try(&crowd.readers));
	readers_close(&crowd.readers);
}

static void *give(void *context)
{
	struct crowd *crowd = context;

	readers_give(&crowd->readers, &crowd->readers.v[0]);
	return NULL;
}

/* All are in use, and there may be no more. */
TEST(a_thread_waits_for_what_another_gives)
{
	static struct crowd crowd;
	pthread_t thread;

	open_crowd(&crowd);
	struct connection *first = readers_take(&crowd.readers);
	CHECK(first && readers_take(&crowd.readers));
	CHECK_INT(pthread_create(&thread, NULL, give, &crowd), 0);
	CHECK(readers_take(&crowd.readers) == first);
	pthread_join(thread, NULL);
	readers_close(&crowd.readers);
}

TEST_MAIN(TEST_CASE(connections_are_opened_as_they_are_needed),
	  TEST_CASE(a_crowd_shares_few_connections),
	  TEST_CASE(a_thread_waits_for_what_another_gives))
