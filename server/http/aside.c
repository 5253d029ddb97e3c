#include "server/http/aside.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/arena.h"
#include "storage/monotonic.h"

#define STACK ((size_t)2 * 1024 * 1024)

struct aside {
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t wake;
	pthread_t threads[ASIDE_THREADS];
	unsigned started, idle;
	unsigned busy; /* threads with a long job */
	bool is_ending;
	struct aside_job *first; /* the earliest first */
};

struct aside *aside_new(void)
{
	struct aside *aside = arena_checked(calloc(1, sizeof(*aside)));

	pthread_mutex_init(&aside->mutex, NULL);
	pthread_cond_init(&aside->wake, NULL);
	return aside;
}

/* The next job that may run now, or NULL. */
static struct aside_job *take_next(struct aside *aside)
{
	struct aside_job **at = &aside->first;

	while (*at && (*at)->is_long && aside->busy >= ASIDE_THREADS - 1 && !aside->is_ending)
		at = &(*at)->next;
	struct aside_job *job = *at;
	if (job)
		*at = job->next;
	return job;
}

static void *aside_work(void *context)
{
	struct aside *aside = context;
	struct aside_job *job;

	pthread_mutex_lock(&aside->mutex);
	for (;;) {
		while (!(job = take_next(aside)) && !aside->is_ending) {
			aside->idle++;
			pthread_cond_wait(&aside->wake, &aside->mutex);
			aside->idle--;
		}
		if (!job)
			break;
		bool is_late = aside->is_ending, is_long = job->is_long;
		aside->busy += is_long;
		pthread_mutex_unlock(&aside->mutex);
		job->run(job, is_late);
		pthread_mutex_lock(&aside->mutex);
		aside->busy -= is_long;
	}
	pthread_mutex_unlock(&aside->mutex);
	return NULL;
}

/* Whether there is a thread now. */
static bool start_thread(struct aside *aside)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&aside->threads[aside->started], &attributes, aside_work, aside) == 0)
		aside->started++;
	pthread_attr_destroy(&attributes);
	return aside->started > 0;
}

bool aside_take(struct aside *aside, struct aside_job *job, uint64_t cost_ns)
{
	struct aside_job **place = &aside->first;

	job->due_ns = monotonic_ns() + cost_ns * ASIDE_PATIENCE;
	job->is_long = cost_ns >= ASIDE_LONG_NS;
	pthread_mutex_lock(&aside->mutex);
	bool is_taken = !aside->is_ending;
	if (is_taken && aside->started < ASIDE_THREADS && (aside->idle == 0 || aside->first))
		is_taken = start_thread(aside);
	if (is_taken) {
		while (*place && (*place)->due_ns <= job->due_ns)
			place = &(*place)->next;
		job->next = *place;
		*place = job;
		pthread_cond_signal(&aside->wake);
	}
	pthread_mutex_unlock(&aside->mutex);
	return is_taken;
}

void aside_stop(struct aside *aside)
{
	pthread_mutex_lock(&aside->mutex);
	aside->is_ending = true;
	pthread_cond_broadcast(&aside->wake);
	pthread_mutex_unlock(&aside->mutex);
	for (unsigned i = 0; i < aside->started; i++)
		pthread_join(aside->threads[i], NULL);
}

void aside_free(struct aside *aside)
{
	pthread_cond_destroy(&aside->wake);
	pthread_mutex_destroy(&aside->mutex);
	free(aside);
}
