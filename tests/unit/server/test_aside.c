#include "server/http/aside.h"

#include <stdatomic.h>
#include <unistd.h>

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
		CHECK(aside_take(aside, &jobs[i].job, 0));
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
		CHECK(aside_take(aside, &jobs[i].job, 0));
	aside_stop(aside);
	for (int i = 0; i < JOBS; i++)
		CHECK_INT(atomic_load(&jobs[i].runs), 1);
	CHECK(!aside_take(aside, &jobs[0].job, 0));
	aside_free(aside);
}

/* A job that holds its thread until it is let go, and one that notes when its turn came. */
struct gate {
	struct aside_job job; /* first */
	atomic_int is_open, runs;
};

struct turn {
	struct aside_job job; /* first */
	atomic_int *turns;
	atomic_int number; /* from 1; 0: it has not come */
};

static void run_gate(struct aside_job *job, bool is_late)
{
	struct gate *gate = (struct gate *)job;

	(void)is_late;
	atomic_store(&gate->runs, 1);
	while (!atomic_load(&gate->is_open))
		usleep(1000);
}

static void run_turn(struct aside_job *job, bool is_late)
{
	struct turn *turn = (struct turn *)job;

	(void)is_late;
	atomic_store(&turn->number, atomic_fetch_add(turn->turns, 1) + 1);
}

static void close_gates(struct aside *aside, struct gate *gates, int n, uint64_t cost_ns)
{
	for (int i = 0; i < n; i++) {
		gates[i].job.run = run_gate;
		CHECK(aside_take(aside, &gates[i].job, cost_ns));
		while (!atomic_load(&gates[i].runs))
			usleep(1000);
	}
}

static void add_turn(struct aside *aside, struct turn *turn, atomic_int *turns, uint64_t cost_ns)
{
	turn->job.run = run_turn;
	turn->turns = turns;
	CHECK(aside_take(aside, &turn->job, cost_ns));
}

TEST(short_jobs_pass_long_ones)
{
	static const uint64_t costs[] = {4000000000u, 400000000u, 0, 0}, order[] = {4, 3, 1, 2};
	static struct gate gates[ASIDE_THREADS];
	static struct turn turns[4];
	static atomic_int count;
	struct aside *aside = aside_new();

	close_gates(aside, gates, ASIDE_THREADS, 0);
	for (int i = 0; i < 4; i++)
		add_turn(aside, &turns[i], &count, costs[i]);
	atomic_store(&gates[0].is_open, 1); /* one thread runs them all */
	while (atomic_load(&count) < 4)
		usleep(1000);
	for (int i = 0; i < 4; i++)
		CHECK_INT(atomic_load(&turns[i].number), order[i]);
	for (int i = 1; i < ASIDE_THREADS; i++)
		atomic_store(&gates[i].is_open, 1);
	aside_stop(aside);
	aside_free(aside);
}

TEST(one_thread_is_free_of_long_jobs)
{
	static struct gate gates[ASIDE_THREADS - 1];
	static struct turn a_long, a_short;
	static atomic_int count;
	struct aside *aside = aside_new();

	close_gates(aside, gates, ASIDE_THREADS - 1, ASIDE_LONG_NS);
	add_turn(aside, &a_long, &count, ASIDE_LONG_NS);
	add_turn(aside, &a_short, &count, 0);
	while (atomic_load(&a_short.number) == 0)
		usleep(1000);
	CHECK_INT(atomic_load(&a_short.number), 1);
	CHECK_INT(atomic_load(&a_long.number), 0);
	for (int i = 0; i < ASIDE_THREADS - 1; i++)
		atomic_store(&gates[i].is_open, 1);
	aside_stop(aside);
	CHECK_INT(atomic_load(&a_long.number), 2);
	aside_free(aside);
}

TEST_MAIN(TEST_CASE(every_job_runs_once), TEST_CASE(what_waits_at_the_end_runs_too),
	  TEST_CASE(short_jobs_pass_long_ones), TEST_CASE(one_thread_is_free_of_long_jobs))
