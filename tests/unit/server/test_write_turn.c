/* Whose turn it is to write: one thread at a time, for as long as the turn lasts and no longer. */
#include "server/write_turn.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "tests/unit/test.h"

/* A turn of that many events with one small write, in a thread of its own. */
static void *write_once(void *context)
{
	const int *events = context;

	write_turn_begin(*events);
	write_turn_next(1, NULL);
	write_turn_end();
	return NULL;
}

static void run_other(int events)
{
	pthread_t other;

	CHECK_INT(pthread_create(&other, NULL, write_once, &events), 0);
	pthread_join(other, NULL);
}

/* Each of these would wait for ever if this thread still had the lock, or the other one asked for it. */
TEST(the_lock_is_let_go)
{
	run_other(2);
	write_turn_begin(2);
	write_turn_next(1, NULL);
	run_other(1);
	write_turn_next(0, NULL);
	run_other(2);
	write_turn_next(1, NULL);
	write_turn_end();
	run_other(2);
	write_turn_next(1, NULL); /* between two turns */
	run_other(2);
	write_turn_begin(1);
	write_turn_next(1, NULL);
	run_other(2);
	write_turn_end();
}

static void *write_and_end(void *unused)
{
	(void)unused;
	write_turn_begin(2);
	write_turn_next(1, NULL);
	return NULL;
}

TEST(a_thread_that_ends_lets_it_go)
{
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, write_and_end, NULL), 0);
	pthread_join(thread, NULL);
	run_other(2);
}

static atomic_bool is_in;

static void *wait_for_turn(void *unused)
{
	(void)unused;
	write_turn_begin(2);
	write_turn_next(1, NULL);
	atomic_store(&is_in, true);
	write_turn_end();
	return NULL;
}

TEST(a_thread_that_waits_is_the_next)
{
	pthread_t other;

	write_turn_begin(100);
	write_turn_next(WRITE_TURN_BYTES - 1, NULL);
	CHECK_INT(pthread_create(&other, NULL, wait_for_turn, NULL), 0);
	for (int i = 0; i < 100; i++)
		sched_yield();
	write_turn_next(1, NULL);
	CHECK(!atomic_load(&is_in));
	while (!atomic_load(&is_in)) /* once it waits, it is the next */
		write_turn_next(WRITE_TURN_BYTES, NULL);
	write_turn_end();
	pthread_join(other, NULL);
}

#define THREADS 4
#define TURNS (2000 / TEST_SLOWNESS)

static int writing; /* threads; not atomic: under ThreadSanitizer two of them would be a race */

static void *take_turns(void *context)
{
	const int *number = context;

	for (int i = 0; i < TURNS; i++) {
		write_turn_begin(2 + i % 3);
		for (int k = 0; k < 4 + (i + *number) % 5; k++) {
			write_turn_next(1, NULL);
			CHECK_INT(writing++, 0);
			if (i % 64 == 0)
				sched_yield();
			writing--;
		}
		write_turn_next(i % 2 == 0 ? WRITE_TURN_BYTES : 0, NULL);
		write_turn_end();
	}
	return NULL;
}

TEST(one_thread_at_a_time_writes)
{
	pthread_t threads[THREADS];
	int numbers[THREADS];

	for (int i = 0; i < THREADS; i++) {
		numbers[i] = i;
		CHECK_INT(pthread_create(&threads[i], NULL, take_turns, &numbers[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void alternate(int turns)
{
	for (int i = 0; i < turns; i++) {
		write_turn_begin(8);
		for (int k = 0; k < 4; k++) {
			write_turn_next(1, NULL);
			write_turn_next(0, NULL);
		}
		write_turn_end();
	}
}

/* It would wait for the other thread, and that one for this one's end. */
static void *write_among_reads(void *unused)
{
	(void)unused;
	alternate(20);
	write_turn_begin(8);
	write_turn_next(1, NULL);
	run_other(2);
	write_turn_end();
	return NULL;
}

static atomic_bool is_out;

static void *write_in_rows_again(void *unused)
{
	(void)unused;
	alternate(20);
	for (int i = 0; i < 40; i++) {
		write_turn_begin(8);
		for (int k = 0; k < 8; k++)
			write_turn_next(1, NULL);
		write_turn_end();
	}
	write_turn_begin(8);
	write_turn_next(1, NULL);
	atomic_store(&is_in, true);
	for (int i = 0; i < 100; i++)
		sched_yield();
	atomic_store(&is_out, true);
	write_turn_end();
	return NULL;
}

/* Threads of their own: what is usual is known per thread. */
TEST(writes_among_reads_take_no_lock)
{
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, write_among_reads, NULL), 0);
	pthread_join(thread, NULL);
}

TEST(writes_in_a_row_take_it_again)
{
	pthread_t thread;

	atomic_store(&is_in, false);
	CHECK_INT(pthread_create(&thread, NULL, write_in_rows_again, NULL), 0);
	while (!atomic_load(&is_in))
		sched_yield();
	run_other(2);
	CHECK(atomic_load(&is_out));
	pthread_join(thread, NULL);
}

TEST_MAIN(TEST_CASE(the_lock_is_let_go), TEST_CASE(a_thread_that_ends_lets_it_go), TEST_CASE(a_thread_that_waits_is_the_next),
	  TEST_CASE(one_thread_at_a_time_writes),
	  TEST_CASE(writes_among_reads_take_no_lock), TEST_CASE(writes_in_a_row_take_it_again))
