#include "server/http/delay.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/arena.h"
#include "server/platform/platform.h"
#include "storage/monotonic.h"

#define STACK ((size_t)256 * 1024)
#define SECOND_NS 1000000000u

struct delay {
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t wake;   /* by the monotonic clock */
	pthread_t thread;
	bool is_started, is_ending;
	struct delay_job *first; /* the earliest first */
};

struct delay *delay_new(void)
{
	struct delay *delay = arena_checked(calloc(1, sizeof(*delay)));

	pthread_mutex_init(&delay->mutex, NULL);
	platform_condition(&delay->wake);
	return delay;
}

static void wait_until(struct delay *delay, uint64_t due_ns)
{
	struct timespec until = {(time_t)(due_ns / SECOND_NS), (long)(due_ns % SECOND_NS)};

	platform_wait(&delay->wake, &delay->mutex, &until);
}

static void *delay_work(void *context)
{
	struct delay *delay = context;

	pthread_mutex_lock(&delay->mutex);
	while (delay->first || !delay->is_ending) {
		struct delay_job *job = delay->first;

		if (!job) {
			pthread_cond_wait(&delay->wake, &delay->mutex);
		} else if (!delay->is_ending && job->due_ns > monotonic_ns()) {
			wait_until(delay, job->due_ns);
		} else {
			delay->first = job->next;
			pthread_mutex_unlock(&delay->mutex);
			job->run(job);
			pthread_mutex_lock(&delay->mutex);
		}
	}
	pthread_mutex_unlock(&delay->mutex);
	return NULL;
}

/* The lock is held. */
static bool start_delay_thread(struct delay *delay)
{
	pthread_attr_t attributes;

	if (delay->is_started)
		return true;
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	delay->is_started = pthread_create(&delay->thread, &attributes, delay_work, delay) == 0;
	pthread_attr_destroy(&attributes);
	return delay->is_started;
}

bool delay_take(struct delay *delay, struct delay_job *job, uint64_t ms)
{
	struct delay_job **place = &delay->first;

	job->due_ns = monotonic_ns() + ms * 1000000;
	pthread_mutex_lock(&delay->mutex);
	bool is_taken = !delay->is_ending && start_delay_thread(delay);
	if (is_taken) {
		while (*place && (*place)->due_ns <= job->due_ns)
			place = &(*place)->next;
		job->next = *place;
		*place = job;
		pthread_cond_signal(&delay->wake);
	}
	pthread_mutex_unlock(&delay->mutex);
	return is_taken;
}

void delay_stop(struct delay *delay)
{
	pthread_mutex_lock(&delay->mutex);
	delay->is_ending = true;
	pthread_cond_broadcast(&delay->wake);
	pthread_mutex_unlock(&delay->mutex);
	if (delay->is_started)
		pthread_join(delay->thread, NULL);
	delay->is_started = false;
}

void delay_free(struct delay *delay)
{
	pthread_cond_destroy(&delay->wake);
	pthread_mutex_destroy(&delay->mutex);
	free(delay);
}
