#include "server/http/crew.h"

#include <stdatomic.h>
#include <unistd.h>

#include "tests/unit/test.h"

#define JOBS 100
#define ANSWERS 50

struct job {
	struct crew_job job; /* first */
	atomic_int runs, late;
};

static void run(struct crew_job *job, bool is_late)
{
	struct job *own = (struct job *)job;

	atomic_fetch_add(&own->late, is_late);
	atomic_fetch_add(&own->runs, 1);
}

TEST(every_job_runs_once)
{
	static struct job jobs[JOBS];
	struct crew *aside = crew_new(CREW_ASIDE, false);

	for (int i = 0; i < JOBS; i++) {
		jobs[i].job.run = run;
		CHECK(crew_take(aside, &jobs[i].job, 0));
	}
	for (int i = 0; i < JOBS; i++) {
		while (atomic_load(&jobs[i].runs) == 0)
			;
	}
	crew_stop(aside);
	for (int i = 0; i < JOBS; i++)
		CHECK(atomic_load(&jobs[i].runs) == 1 && atomic_load(&jobs[i].late) == 0);
	crew_free(aside);
}

TEST(what_waits_at_the_end_runs_too)
{
	static struct job jobs[JOBS];
	struct crew *aside = crew_new(CREW_ASIDE, false);

	for (int i = 0; i < JOBS; i++)
		jobs[i].job.run = run;
	for (int i = 0; i < JOBS; i++)
		CHECK(crew_take(aside, &jobs[i].job, 0));
	crew_stop(aside);
	for (int i = 0; i < JOBS; i++)
		CHECK_INT(atomic_load(&jobs[i].runs), 1);
	CHECK(!crew_take(aside, &jobs[0].job, 0));
	CHECK_INT(atomic_load(&jobs[0].runs), 2); /* here, as a late one */
	crew_free(aside);
}

/* A job that holds its thread until it is let go, and one that notes when its turn came. */
struct gate {
	struct crew_job job; /* first */
	atomic_int is_open, runs;
};

struct turn {
	struct crew_job job; /* first */
	atomic_int *turns;
	atomic_int number; /* from 1; 0: it has not come */
};

static void run_gate(struct crew_job *job, bool is_late)
{
	struct gate *gate = (struct gate *)job;

	(void)is_late;
	atomic_store(&gate->runs, 1);
	while (!atomic_load(&gate->is_open))
		usleep(1000);
}

static void run_turn(struct crew_job *job, bool is_late)
{
	struct turn *turn = (struct turn *)job;

	(void)is_late;
	atomic_store(&turn->number, atomic_fetch_add(turn->turns, 1) + 1);
}

static void close_gates(struct crew *aside, struct gate *gates, int n, uint64_t cost_ns)
{
	for (int i = 0; i < n; i++) {
		gates[i].job.run = run_gate;
		CHECK(crew_take(aside, &gates[i].job, cost_ns));
		while (!atomic_load(&gates[i].runs))
			usleep(1000);
	}
}

static void add_turn(struct crew *aside, struct turn *turn, atomic_int *turns, uint64_t cost_ns)
{
	turn->job.run = run_turn;
	turn->turns = turns;
	CHECK(crew_take(aside, &turn->job, cost_ns));
}

TEST(short_jobs_pass_long_ones)
{
	static const uint64_t costs[] = {4000000000u, 400000000u, 0, 0}, order[] = {4, 3, 1, 2};
	static struct gate gates[CREW_ASIDE];
	static struct turn turns[4];
	static atomic_int count;
	struct crew *aside = crew_new(CREW_ASIDE, false);

	close_gates(aside, gates, CREW_ASIDE, 0);
	for (int i = 0; i < 4; i++)
		add_turn(aside, &turns[i], &count, costs[i]);
	atomic_store(&gates[0].is_open, 1); /* one thread runs them all */
	while (atomic_load(&count) < 4)
		usleep(1000);
	for (int i = 0; i < 4; i++)
		CHECK_INT(atomic_load(&turns[i].number), order[i]);
	for (int i = 1; i < CREW_ASIDE; i++)
		atomic_store(&gates[i].is_open, 1);
	crew_stop(aside);
	crew_free(aside);
}

TEST(one_thread_is_free_of_long_jobs)
{
	static struct gate gates[CREW_ASIDE - 1];
	static struct turn a_long, a_short;
	static atomic_int count;
	struct crew *aside = crew_new(CREW_ASIDE, false);

	close_gates(aside, gates, CREW_ASIDE - 1, CREW_LONG_NS);
	add_turn(aside, &a_long, &count, CREW_LONG_NS);
	add_turn(aside, &a_short, &count, 0);
	while (atomic_load(&a_short.number) == 0)
		usleep(1000);
	CHECK_INT(atomic_load(&a_short.number), 1);
	CHECK_INT(atomic_load(&a_long.number), 0);
	for (int i = 0; i < CREW_ASIDE - 1; i++)
		atomic_store(&gates[i].is_open, 1);
	crew_stop(aside);
	CHECK_INT(atomic_load(&a_long.number), 2);
	crew_free(aside);
}

/* An answer that waits until it is due. */
struct answer {
	struct crew_job job; /* first */
	unsigned place;      /* in the order in which they ran, from 1 */
};

static atomic_uint answered;

static void run_answer(struct crew_job *job, bool is_late)
{
	(void)is_late;
	((struct answer *)job)->place = atomic_fetch_add(&answered, 1) + 1;
}

TEST(answers_run_in_the_order_in_which_they_are_due)
{
	static struct answer answers[ANSWERS];
	struct crew *delays = crew_new(1, true);

	atomic_store(&answered, 0);
	for (unsigned i = 0; i < ANSWERS; i++) {
		answers[i].job.run = run_answer;
		CHECK(crew_take_in(delays, &answers[i].job, 60000 + (i * 7 % ANSWERS) * 1000));
	}
	CHECK_INT(atomic_load(&answered), 0);
	crew_stop(delays); /* those that are not due run at once */
	CHECK_INT(atomic_load(&answered), ANSWERS);
	for (unsigned i = 0; i < ANSWERS; i++)
		CHECK_INT(answers[i].place, i * 7 % ANSWERS + 1);
	CHECK(!crew_take_in(delays, &answers[0].job, 0));
	crew_free(delays);
}

TEST(an_answer_that_is_due_runs_by_itself)
{
	struct answer late = {.job.run = run_answer}, soon = {.job.run = run_answer};
	struct crew *delays = crew_new(1, true);

	atomic_store(&answered, 0);
	CHECK(crew_take_in(delays, &late.job, 600000));
	CHECK(crew_take_in(delays, &soon.job, 1));
	while (atomic_load(&answered) == 0)
		;
	crew_stop(delays);
	CHECK(soon.place == 1 && late.place == 2);
	crew_free(delays);
}

TEST_MAIN(TEST_CASE(every_job_runs_once), TEST_CASE(what_waits_at_the_end_runs_too),
	  TEST_CASE(short_jobs_pass_long_ones), TEST_CASE(one_thread_is_free_of_long_jobs),
	  TEST_CASE(answers_run_in_the_order_in_which_they_are_due),
	  TEST_CASE(an_answer_that_is_due_runs_by_itself))
