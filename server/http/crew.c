#include "server/http/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "core/arena.h"
#include "server/platform/platform.h"
#include "storage/monotonic.h"

#define STACK ((size_t)2 * 1024 * 1024)
#define SECOND_NS 1000000000u

struct crew {
	unsigned most; /* threads */
	bool is_timed;
	pthread_mutex_t mutex; /* of all below */
	pthread_cond_t wake;   /* by the monotonic clock */
	unsigned started, idle;
	unsigned busy; /* threads with a long job */
	bool is_ending;
	struct crew_job *first; /* the earliest first */
	pthread_t threads[];
};

struct crew *crew_new(unsigned threads, bool is_timed)
{
	struct crew *crew =
		arena_checked(calloc(1, sizeof(*crew) + threads * sizeof(crew->threads[0])));

	crew->most = threads;
	crew->is_timed = is_timed;
	pthread_mutex_init(&crew->mutex, NULL);
	platform_condition(&crew->wake);
	return crew;
}

/* Where the next job is that may run; NULL there: there is none. */
static struct crew_job **next_job(struct crew *crew)
{
	struct crew_job **at = &crew->first;

	while (*at && (*at)->is_long && crew->busy >= crew->most - 1 && !crew->is_ending)
		at = &(*at)->next;
	return at;
}

/* Waits for a job, or until `job` is due. */
static void wait_for_job(struct crew *crew, const struct crew_job *job)
{
	crew->idle++;
	if (job)
		platform_wait(&crew->wake, &crew->mutex,
			      &(struct timespec){(time_t)(job->due_ns / SECOND_NS),
						 (long)(job->due_ns % SECOND_NS)});
	else
		pthread_cond_wait(&crew->wake, &crew->mutex);
	crew->idle--;
}

static void *crew_work(void *context)
{
	struct crew *crew = context;

	pthread_mutex_lock(&crew->mutex);
	while (crew->first || !crew->is_ending) {
		struct crew_job **at = next_job(crew), *job = *at;

		if (!job || (crew->is_timed && !crew->is_ending && job->due_ns > monotonic_ns())) {
			wait_for_job(crew, job);
			continue;
		}
		*at = job->next;
		bool is_late = crew->is_ending, is_long = job->is_long;
		crew->busy += is_long;
		pthread_mutex_unlock(&crew->mutex);
		job->run(job, is_late);
		pthread_mutex_lock(&crew->mutex);
		crew->busy -= is_long;
	}
	pthread_mutex_unlock(&crew->mutex);
	return NULL;
}

/* Whether there is a thread now. */
static bool start_thread(struct crew *crew)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK);
	if (pthread_create(&crew->threads[crew->started], &attributes, crew_work, crew) == 0)
		crew->started++;
	pthread_attr_destroy(&attributes);
	return crew->started > 0;
}

static bool take_due(struct crew *crew, struct crew_job *job, uint64_t wait_ns)
{
	struct crew_job **place = &crew->first;

	job->due_ns = monotonic_ns() + wait_ns;
	pthread_mutex_lock(&crew->mutex);
	bool is_taken = !crew->is_ending;
	if (is_taken && crew->started < crew->most && (crew->idle == 0 || crew->first))
		is_taken = start_thread(crew);
	if (is_taken) {
		while (*place && (*place)->due_ns <= job->due_ns)
			place = &(*place)->next;
		job->next = *place;
		*place = job;
		pthread_cond_signal(&crew->wake);
	}
	pthread_mutex_unlock(&crew->mutex);
	if (!is_taken)
		job->run(job, true);
	return is_taken;
}

bool crew_take(struct crew *crew, struct crew_job *job, uint64_t cost_ns)
{
	job->is_long = cost_ns >= CREW_LONG_NS;
	return take_due(crew, job, cost_ns * CREW_PATIENCE);
}

bool crew_take_in(struct crew *crew, struct crew_job *job, uint64_t ms)
{
	job->is_long = false;
	return take_due(crew, job, ms * 1000000);
}

void crew_stop(struct crew *crew)
{
	pthread_mutex_lock(&crew->mutex);
	crew->is_ending = true;
	pthread_cond_broadcast(&crew->wake);
	pthread_mutex_unlock(&crew->mutex);
	for (unsigned i = 0; i < crew->started; i++)
		pthread_join(crew->threads[i], NULL);
	crew->started = 0;
}

void crew_free(struct crew *crew)
{
	pthread_cond_destroy(&crew->wake);
	pthread_mutex_destroy(&crew->mutex);
	free(crew);
}
