#include "server/http/delay.h"

#include <stdatomic.h>

#include "tests/unit/test.h"

#define JOBS 50

struct job {
	struct delay_job job; /* first */
	unsigned place;       /* in the order in which they ran, from 1 */
};

static atomic_uint runs;

static void run(struct delay_job *job)
{
	((struct job *)job)->place = atomic_fetch_add(&runs, 1) + 1;
}

TEST(jobs_run_in_the_order_in_which_they_are_due)
{
	static struct job jobs[JOBS];
	struct delay *delay = delay_new();

	atomic_store(&runs, 0);
	for (unsigned i = 0; i < JOBS; i++) {
		jobs[i].job.run = run;
		CHECK(delay_take(delay, &jobs[i].job, 60000 + (i * 7 % JOBS) * 1000));
	}
	CHECK_INT(atomic_load(&runs), 0);
	delay_stop(delay); /* those that are not due run at once */
	CHECK_INT(atomic_load(&runs), JOBS);
	for (unsigned i = 0; i < JOBS; i++)
		CHECK_INT(jobs[i].place, i * 7 % JOBS + 1);
	CHECK(!delay_take(delay, &jobs[0].job, 0));
	delay_free(delay);
}

TEST(a_job_that_is_due_runs_by_itself)
{
	struct job late = {.job.run = run}, soon = {.job.run = run};
	struct delay *delay = delay_new();

	atomic_store(&runs, 0);
	CHECK(delay_take(delay, &late.job, 600000));
	CHECK(delay_take(delay, &soon.job, 1));
	while (atomic_load(&runs) == 0)
		;
	delay_stop(delay);
	CHECK(soon.place == 1 && late.place == 2);
	delay_free(delay);
}

TEST_MAIN(TEST_CASE(jobs_run_in_the_order_in_which_they_are_due),
	  TEST_CASE(a_job_that_is_due_runs_by_itself))
