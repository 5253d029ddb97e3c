#include "server/http/aside.h"

#include <stdatomic.h>

#include "tests/unit/test.h"

#define JOBS 100

struct job {
	struct aside_job job; /* first */
	atomic_int runs, late;
};

static void run(struct aside_job *job, bool is_late)
{
	struct job *own = (struct job *)job;

	atomic_fetch_add(&own->late, is_late);
	atomic_fetch_add(&own->runs, 1);
}

TEST(every_job_runs_once)
{
	static struct job jobs[JOBS];
	struct aside *aside = aside_new();

	for (int i = 0; i < JOBS; i++) {
		jobs[i].job.run = run;
		CHECK(aside_take(aside, &jobs[i].job));
	}
	for (int i = 0; i < JOBS; i++) {
		while (atomic_load(&jobs[i].runs) == 0)
			;
	}
	aside_stop(aside);
	for (int i = 0; i < JOBS; i++)
		CHECK(atomic_load(&jobs[i].runs) == 1 && atomic_load(&jobs[i].late) == 0);
	aside_free(aside);
}

TEST(what_waits_at_the_end_runs_too)
{
	static struct job jobs[JOBS];
	struct aside *aside = aside_new();

	for (int i = 0; i < JOBS; i++)
		jobs[i].job.run = run;
	for (int i = 0; i < JOBS; i++)
		CHECK(aside_take(aside, &jobs[i].job));
	aside_stop(aside);
	for (int i = 0; i < JOBS; i++)
		CHECK_INT(atomic_load(&jobs[i].runs), 1);
	CHECK(!aside_take(aside, &jobs[0].job));
	aside_free(aside);
}

TEST_MAIN(TEST_CASE(every_job_runs_once), TEST_CASE(what_waits_at_the_end_runs_too))
