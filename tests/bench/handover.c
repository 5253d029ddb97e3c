/*
 * handover - what it costs two cores to take the same lock in turns, for tests/bench/cores.
 *
 *     handover
 *
 * Two threads, each on a core of its own, take and release one lock without pause. Prints one JSON
 * line: nanoseconds per taking and releasing, of both together, by kind of lock; and of one thread
 * alone. The third kind is a mutex that is held for HELD_NS, so that the other thread sleeps and is
 * woken: what that adds to each hold. Windows are short, and those count in which either thread had
 * a fair part: in the others one of them did not run. The median of them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WINDOW_NS 300000
#define WINDOWS 1000
#define HELD_NS 8000
#define FAIR 5 /* one of so many */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void take_mutex(void)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
}

static void take_shared(void)
{
	pthread_rwlock_rdlock(&rwlock);
	pthread_rwlock_unlock(&rwlock);
}

static void spin(int64_t ns)
{
	for (int64_t end = now_ns() + ns; now_ns() < end;)
		;
}

static void take_long(void)
{
	pthread_mutex_lock(&mutex);
	spin(HELD_NS);
	pthread_mutex_unlock(&mutex);
	spin(HELD_NS / 2);
}

struct thread {
	_Alignas(128) atomic_ulong count;
	int core;
};

static struct thread threads[2];
static void (*take)(void);
static atomic_bool is_over;

static void *run(void *context)
{
	struct thread *thread = context;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)thread->core, &set);
	(void)pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
	while (!atomic_load_explicit(&is_over, memory_order_relaxed)) {
		take();
		atomic_store_explicit(&thread->count,
				      atomic_load_explicit(&thread->count, memory_order_relaxed) +
					      1,
				      memory_order_relaxed);
	}
	return NULL;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Nanoseconds per taking, by `n` threads together; 0 where no window was fair. */
static double measure(void (*what)(void), unsigned n)
{
	static double fair[WINDOWS];
	pthread_t ids[2];
	unsigned found = 0;

	take = what;
	atomic_store(&is_over, false);
	for (unsigned i = 0; i < n; i++) {
		threads[i].core = (int)i;
		if (pthread_create(&ids[i], NULL, run, &threads[i]) != 0)
			exit(1);
	}
	for (unsigned w = 0; w < WINDOWS; w++) {
		unsigned long before[2] = {0}, made[2] = {0}, all = 0;
		int64_t start = now_ns();

		for (unsigned i = 0; i < n; i++)
			before[i] = atomic_load(&threads[i].count);
		nanosleep(&(struct timespec){0, WINDOW_NS}, NULL);
		int64_t ns = now_ns() - start;
		bool is_fair = true;
		for (unsigned i = 0; i < n; i++) {
			made[i] = atomic_load(&threads[i].count) - before[i];
			all += made[i];
		}
		for (unsigned i = 0; i < n; i++)
			is_fair = is_fair && made[i] > 0 && made[i] * FAIR >= all;
		if (is_fair && ns < WINDOW_NS * 2)
			fair[found++] = (double)ns / (double)all;
	}
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	qsort(fair, found, sizeof(*fair), by_value);
	return found ? fair[found / 2] : 0;
}

int main(void)
{
	double mutex_one = measure(take_mutex, 1), mutex_two = measure(take_mutex, 2);
	double shared_one = measure(take_shared, 1), shared_two = measure(take_shared, 2);

	double long_two = measure(take_long, 2);

	printf("{\"mutex_one_ns\":%.1f,\"mutex_two_ns\":%.1f,\"shared_one_ns\":%.1f,\"shared_two_"
	       "ns\":%.1f,\"long_two_ns\":%.1f}\n",
	       mutex_one, mutex_two, shared_one, shared_two,
	       long_two > HELD_NS ? long_two - HELD_NS : 0);
	return 0;
}
