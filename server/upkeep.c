#include "server/upkeep.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "server/log.h"
#include "storage/ttl.h"

struct upkeep {
	struct upkeep_options options;
	pthread_t thread;
	bool has_thread;
	atomic_bool is_ending;
	pthread_mutex_t round;  /* held by the one who does a round */
	pthread_mutex_t mutex;  /* of the thread's sleep */
	pthread_cond_t wake;
};

#define PAUSE_NS 200000 /* between two steps: whoever waits for the store's lock does not get it from one who takes it again at once */

/* Steps are short, so that neither requests nor the end wait for a long backlog. */
static enum code expire_items(struct upkeep *upkeep, int64_t now_ms, uint64_t *expired, struct err *err)
{
	bool more = true;
	enum code code = OK;

	while (more && code == OK && !atomic_load(&upkeep->is_ending)) {
		code = ttl_sweep(upkeep->options.catalog, now_ms, upkeep->options.ttl_delay_ms, expired, &more, err);
		if (more && code == OK)
			nanosleep(&(struct timespec){0, PAUSE_NS}, NULL);
	}
	return code;
}

enum code upkeep_run(struct upkeep *upkeep, uint64_t *expired, struct err *err)
{
	*expired = 0;
	pthread_mutex_lock(&upkeep->round);
	enum code code = expire_items(upkeep, clock_now_ms(upkeep->options.clock), expired, err);
	pthread_mutex_unlock(&upkeep->round);
	return code;
}

/* Sleeps a period, by a clock that nobody turns. False when it is time to end. */
static bool sleep_period(struct upkeep *upkeep)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += upkeep->options.period_ms / 1000;
	until.tv_nsec += upkeep->options.period_ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	pthread_mutex_lock(&upkeep->mutex);
	while (!atomic_load(&upkeep->is_ending)) {
		if (pthread_cond_timedwait(&upkeep->wake, &upkeep->mutex, &until) != 0)
			break;
	}
	pthread_mutex_unlock(&upkeep->mutex);
	return !atomic_load(&upkeep->is_ending);
}

static void *work(void *context)
{
	struct upkeep *upkeep = context;
	struct arena *arena = arena_new(64 * 1024);

	while (sleep_period(upkeep)) {
		struct err err = err_in(arena);
		uint64_t expired;

		if (upkeep_run(upkeep, &expired, &err) != OK)
			log_line(LOG_ERROR, "upkeep: " STR_FMT, STR_ARG(err.message));
		if (expired > 0)
			log_line(LOG_DEBUG, "upkeep: %llu items expired", (unsigned long long)expired);
		arena_reset(arena);
	}
	arena_free(arena);
	return NULL;
}

struct upkeep *upkeep_start(const struct upkeep_options *options)
{
	struct upkeep *upkeep = calloc(1, sizeof(*upkeep));
	pthread_condattr_t attributes;

	if (!upkeep)
		return NULL;
	upkeep->options = *options;
	pthread_mutex_init(&upkeep->round, NULL);
	pthread_mutex_init(&upkeep->mutex, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&upkeep->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	upkeep->has_thread = options->period_ms > 0 && pthread_create(&upkeep->thread, NULL, work, upkeep) == 0;
	if (options->period_ms > 0 && !upkeep->has_thread) {
		upkeep_stop(upkeep);
		return NULL;
	}
	return upkeep;
}

void upkeep_stop(struct upkeep *upkeep)
{
	if (!upkeep)
		return;
	pthread_mutex_lock(&upkeep->mutex);
	atomic_store(&upkeep->is_ending, true);
	pthread_cond_signal(&upkeep->wake);
	pthread_mutex_unlock(&upkeep->mutex);
	if (upkeep->has_thread)
		pthread_join(upkeep->thread, NULL);
	pthread_cond_destroy(&upkeep->wake);
	pthread_mutex_destroy(&upkeep->mutex);
	pthread_mutex_destroy(&upkeep->round);
	free(upkeep);
}
