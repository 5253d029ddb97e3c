#include "server/http/aside.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/arena.h"

#define STACK ((size_t)2 * 1024 * 1024)

struct aside {
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t wake;
	pthread_t threads[ASIDE_THREADS];
	unsigned started, idle;
	bool is_ending;
	struct aside_job *first, **end;
};

struct aside *aside_new(void)
{
	struct aside *aside = arena_checked(calloc(1, sizeof(*aside)));

	pthread_mutex_init(&aside->mutex, NULL);
	pthread_cond_init(&aside->wake, NULL);
	aside->end = &aside->first;
	return aside;
}

static void *work(void *context)
{
	struct aside *aside = context;

	pthread_mutex_lock(&aside->mutex);
	for (;;) {
		while (!aside->first && !aside->is_ending) {
			aside->idle++;
			pthread_cond_wait(&aside->wake, &aside->mutex);
			aside->idle--;
		}
		struct aside_job *job = aside->first;
		if (!job)
			break;
		bool is_late = aside->is_ending;
		aside->first = job->next;
		if (!aside->first)
			aside->end = &aside->first;
		pthread_mutex_unlock(&aside->mutex);
		job->run(job, is_late);
		pthread_mutex_lock(&aside->mutex);
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
	if (pthread_create(&aside->threads[aside->started], &attributes, work, aside) == 0)
		aside->started++;
	pthread_attr_destroy(&attributes);
	return aside->started > 0;
}

bool aside_take(struct aside *aside, struct aside_job *job)
{
	pthread_mutex_lock(&aside->mutex);
	bool is_taken = !aside->is_ending;
	if (is_taken && aside->started < ASIDE_THREADS && (aside->idle == 0 || aside->first))
		is_taken = start_thread(aside);
	if (is_taken) {
		job->next = NULL;
		*aside->end = job;
		aside->end = &job->next;
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
