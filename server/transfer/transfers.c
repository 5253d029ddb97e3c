#include "server/transfer/transfers.h"

#include <pthread.h>
#include <stdlib.h>

#include "server/crash.h"
#include "server/log.h"
#include "server/platform/platform.h"
#include "server/transfer/exporting.h"
#include "server/transfer/importing.h"
#include "storage/job/job_run.h"
#include "storage/monotonic.h"

#define LOOK_MS 5000   /* between two looks for jobs that nobody woke the thread for */
#define RETRY_MS 1000

struct transfers {
	struct transfers_options options;
	struct s3 *s3;
	struct job_run *jobs;
	struct importing *importing;
	pthread_t thread;
	bool has_thread;
	atomic_bool is_ending;
	pthread_mutex_t mutex; /* of the sleep */
	pthread_cond_t wake;
	bool is_woken;
	struct arena *arena; /* of the work */
	int64_t due_ms;      /* of transfers_tick(), in monotonic ms */
};

/* False when it is time to end. */
static bool sleep_for(struct transfers *transfers, int64_t wait_ms)
{
	int64_t until_ms = monotonic_ms() + wait_ms;
	struct timespec until = {until_ms / 1000, until_ms % 1000 * 1000000};

	pthread_mutex_lock(&transfers->mutex);
	while (wait_ms > 0 && !atomic_load(&transfers->is_ending) && !transfers->is_woken) {
		if (platform_wait(&transfers->wake, &transfers->mutex, &until) != 0)
			break;
	}
	transfers->is_woken = false;
	pthread_mutex_unlock(&transfers->mutex);
	return !atomic_load(&transfers->is_ending);
}

static enum code step_jobs_once(struct transfers *transfers, const struct times *times,
				int64_t *wait_ms, struct err *err)
{
	enum code code = catalog_refresh(transfers->options.catalog, err);

	if (code != OK)
		return code;
	return job_run_step(transfers->jobs, times, wait_ms, err);
}

/* A piece of a job; the ms until the next one. */
static int64_t do_transfers_piece(struct transfers *transfers)
{
	const struct times times = {clock_tell, transfers->options.clock,
				    transfers->options.leases};
	struct err err = err_in(transfers->arena);
	int64_t wait_ms = LOOK_MS;
	enum code code = step_jobs_once(transfers, &times, &wait_ms, &err);

	if (code != OK) {
		log_line(LOG_ERROR, "exports and imports wait for the next try: " STR_FMT,
			 STR_ARG(err.message));
		wait_ms = RETRY_MS;
	}
	arena_reset(transfers->arena);
	return wait_ms < LOOK_MS ? wait_ms : LOOK_MS;
}

static void *work_on_transfers(void *context)
{
	struct transfers *transfers = context;
	int64_t wait_ms = JOB_FIRST_MS;

	crash_request(NULL);
	while (sleep_for(transfers, wait_ms))
		wait_ms = do_transfers_piece(transfers);
	return NULL;
}

int64_t transfers_tick(struct transfers *transfers)
{
	if (transfers->is_woken || monotonic_ms() >= transfers->due_ms) {
		transfers->is_woken = false;
		transfers->due_ms = monotonic_ms() + do_transfers_piece(transfers);
	}
	int64_t wait_ms = transfers->due_ms - monotonic_ms();
	return transfers->is_woken || wait_ms < 0 ? 0 : wait_ms;
}

struct transfers *transfers_new(const struct transfers_options *options)
{
	struct transfers *transfers = arena_checked(calloc(1, sizeof(*transfers)));

	transfers->options = *options;
	transfers->arena = arena_new(64 * 1024);
	transfers->options.s3.stopping = &transfers->is_ending;
	transfers->s3 = s3_new(&transfers->options.s3);
	transfers->importing = importing_new(transfers->s3, options->faults);
	transfers->jobs = job_run_new(options->catalog, options->leases);
	exporting_register(transfers->jobs, transfers->s3);
	importing_register(transfers->jobs, transfers->importing);
	pthread_mutex_init(&transfers->mutex, NULL);
	platform_condition(&transfers->wake);
	return transfers;
}

bool transfers_start(struct transfers *transfers)
{
	transfers->has_thread = log_thread(&transfers->thread, work_on_transfers, transfers) == 0;
	return transfers->has_thread;
}

void transfers_wake(void *context)
{
	struct transfers *transfers = context;

	if (!transfers)
		return;
	pthread_mutex_lock(&transfers->mutex);
	transfers->is_woken = true;
	pthread_cond_signal(&transfers->wake);
	pthread_mutex_unlock(&transfers->mutex);
}

void transfers_stop(struct transfers *transfers)
{
	if (!transfers)
		return;
	pthread_mutex_lock(&transfers->mutex);
	atomic_store(&transfers->is_ending, true);
	pthread_cond_signal(&transfers->wake);
	pthread_mutex_unlock(&transfers->mutex);
	if (transfers->has_thread)
		pthread_join(transfers->thread, NULL);
	job_run_free(transfers->jobs);
	importing_free(transfers->importing);
	s3_free(transfers->s3);
	arena_free(transfers->arena);
	pthread_cond_destroy(&transfers->wake);
	pthread_mutex_destroy(&transfers->mutex);
	free(transfers);
}
