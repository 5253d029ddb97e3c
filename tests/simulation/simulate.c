/*
 * simulate - the server below HTTP under a seed: requests, upkeep, time, faults and crashes in one
 * thread, each answer and what is stored judged by a model. See docs/checkers.md.
 *
 *     simulate [--seed N] [--steps N] [--without MASK] [--twice] [--shrink]
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/log.h"
#include "tests/simulation/child.h"
#include "tests/simulation/draw.h"
#include "tests/simulation/judge.h"
#include "tests/simulation/machine.h"
#include "tests/unit/storage/fault_vfs.h"

#define STEP_NS 1000000       /* at most so much time passes from step to step */
#define HOUR_MS 3600000
#define STUCK_SWITCHES 200000

struct settings {
	uint64_t seed, steps, left_out;
	bool is_twice, is_shrunk, is_quiet, is_traced;
	int report; /* see struct machine */
};

static struct machine machine;

static void run_client(void *context)
{
	struct client *client = context;

	while (!machine.is_ending) {
		if (!client->is_busy) {
			fiber_wait(client, FIBER_NEVER);
			continue;
		}
		arena_reset(client->arena);
		judge_op(&machine, client);
		client->is_busy = false;
	}
}

static void start_clients(void)
{
	static const uint32_t switchings[] = {0, 64, 16, 6, 3};

	machine.client_count =
		machine_has(&machine, PART_CLIENTS) ? 1 + random_draw(&machine.random, CLIENTS) : 1;
	fiber_set_switching(machine_has(&machine, PART_SWITCHING)
				    ? switchings[random_draw(&machine.random, 5)]
				    : 0);
	machine.is_ending = machine.is_off = false;
	memset(machine.changing, 0, sizeof(machine.changing));
	memset(machine.is_unsettled, 1, sizeof(machine.is_unsettled));
	for (unsigned i = 0; i < machine.client_count; i++) {
		struct client *client = &machine.clients[i];

		client->is_busy = false;
		if (!client->arena)
			client->arena = arena_new(1 << 20);
		client->fiber = fiber_start(run_client, client);
	}
}

static unsigned busy_count(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < machine.client_count; i++)
		n += machine.clients[i].is_busy;
	return n;
}

/* Runs a fiber, or lets time pass until one can. */
static void run_on(void)
{
	static uint64_t stuck;
	static uint64_t step;

	stuck = machine.step == step ? stuck + 1 : 0;
	step = machine.step;
	if (stuck > STUCK_SWITCHES)
		machine_fail(&machine, NULL, "an operation does not come to its end");
	if (fiber_run_one())
		return;
	int64_t due = fiber_next_due();
	if (due == FIBER_NEVER)
		machine_fail(&machine, NULL, "all wait for each other");
	if (due > fiber_now_ns())
		fiber_advance(due - fiber_now_ns());
}

static void finish_operations(void)
{
	while (busy_count() > 0)
		run_on();
}

static void end_clients(void)
{
	machine.is_ending = true;
	for (unsigned i = 0; i < machine.client_count; i++)
		fiber_wake(&machine.clients[i]);
	for (unsigned i = 0; i < machine.client_count; i++)
		machine.clients[i].is_busy = false;
	while (fiber_run_one())
		;
	for (unsigned i = 0; i < machine.client_count; i++)
		machine.clients[i].fiber = NULL;
}

/* A new life: of the same disk, or of a new one. */
static void begin_life(bool is_new)
{
	if (is_new || machine.is_memory) {
		machine_forget(&machine);
		machine.is_memory = random_is(&machine.random, 4);
		machine.durability = random_is(&machine.random, 3) ? 1 : 2;
	}
	machine_start(&machine);
	start_clients();
}

static void end_life(bool is_kill)
{
	finish_operations();
	end_clients();
	machine_stop(&machine);
	machine_power_on(&machine, is_kill);
	begin_life(random_is(&machine.random, 12));
}

/* The power goes, or the process ends, at some change of the disk from now on. */
static bool is_kill_coming;

static void draw_fault(void)
{
	static const unsigned kinds[] = {FAULT_WRITE, FAULT_READ, FAULT_TRUNCATE,
					 FAULT_SIZE,  FAULT_SHM,  FAULT_LOCK};
	static const int results[] = {10 | 3 << 8, 10 | 1 << 8,  10 | 6 << 8,
				      10 | 7 << 8, 10 | 19 << 8, 10 | 15 << 8};
	struct random *random = &machine.random;
	uint32_t which = random_draw(random, 6);
	bool is_disk = !machine.is_memory && !machine.is_disk_faulty;

	switch (random_draw(random, 6)) {
	case 0:
		if (!is_disk || !machine_has(&machine, PART_DISK_FAULT))
			return;
		fault_vfs_fail(kinds[which], 1 + random_draw(random, 30), results[which],
			       random_is(random, 4));
		break;
	case 1:
		if (!is_disk || !machine_has(&machine, PART_FULL_DISK))
			return;
		fault_vfs_fail(FAULT_WRITE, 1 + random_draw(random, 30), 13, true);
		break;
	case 2:
		if (!is_disk || !machine_has(&machine, PART_SYNC_FAULT))
			return;
		fault_vfs_fail(FAULT_SYNC, 1 + random_draw(random, 10), 10 | 4 << 8, false);
		machine.is_broken = true;
		break;
	case 3:
		if (machine_has(&machine, PART_CONFLICT))
			machine.is_conflict = true;
		return;
	default:
		if (machine_has(&machine, PART_STORE_FAULT) && machine.store_fails_in == 0) {
			machine.store_fails_in = 1 + random_draw(random, 60);
			machine.store_failure =
				random_is(random, 3) ? ERR_STORE_FULL : ERR_INTERNAL;
		}
		return;
	}
	machine.is_disk_faulty = true;
	machine.faults++;
	machine_trace(&machine, "the disk will fail, kind %u", which);
}

/*
 * The times of a stream's records must rise, but for the seconds that a request may take: a reader
 * finds the first one that is not too old by halving. So no request is under way while hours pass.
 */
static void jump(int64_t ms)
{
	if (ms > HOUR_MS) {
		finish_operations();
		while (fiber_run_one())
			;
	}
	machine.before_jump_ms = machine_now_ms();
	machine.jumped_at = machine.step;
	fiber_advance(ms * 1000000);
}

static void draw_event(void)
{
	static const int64_t jumps_ms[] = {
		10, 200, 2000, 61000, 11 * 60 * 1000, 3700 * 1000, 25 * 3600 * 1000};
	struct random *random = &machine.random;
	uint32_t event = random_draw(random, 1000);

	if (event < 4 && !machine.is_memory && machine_has(&machine, PART_POWER_CUT)) {
		fault_vfs_cut(1 + random_draw(random, 60));
		is_kill_coming = false;
	} else if (event < 6 && !machine.is_memory && machine_has(&machine, PART_KILL)) {
		fault_vfs_cut(1 + random_draw(random, 60));
		is_kill_coming = true;
	} else if (event < 7 && machine_has(&machine, PART_RESTART)) {
		machine.is_off =
			random_is(random, 2); /* the clients hear their last answers, or not */
		end_life(false);
	} else if (event < 40 && machine_has(&machine, PART_JUMP)) {
		jump(jumps_ms[random_draw(random, random_is(random, 4) ? 7 : 4)]);
	} else if (event < 60) {
		draw_fault();
	} else if (event < 100 && machine.is_disk_faulty) {
		fault_vfs_fail(0, 0, 0, false);
		machine.is_disk_faulty = false;
		machine.faults++;
	}
}

/* After a sync failed nothing is written until a restart, which comes soon. */
static void look_at_disk(void)
{
	if (fault_vfs_is_off()) {
		machine.is_off = true;
		machine.cuts += !is_kill_coming;
		machine.kills += is_kill_coming;
		end_life(is_kill_coming);
	} else if (machine.is_broken && random_is(&machine.random, 50)) {
		end_life(false);
	}
}

static void step(void)
{
	machine.step++;
	fiber_advance(random_draw(&machine.random, STEP_NS));
	draw_event();
	/* the operation of one that is idle, and some of the work of all */
	struct client *client =
		&machine.clients[random_draw(&machine.random, machine.client_count)];
	while (client->is_busy)
		run_on();
	draw_op(&machine, client);
	client->is_busy = true;
	fiber_wake(client);
	for (uint32_t n = random_draw(&machine.random, 12); n > 0 && busy_count() > 0; n--)
		run_on();
	look_at_disk();
}

/* What the server writes to its log of faults that are meant. */
void __wrap_log_line(enum log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void __wrap_log_line(enum log_level level, const char *format, ...)
{
	(void)level, (void)format;
}

static uint64_t run(const struct settings *settings)
{
	machine_init(&machine, settings->seed, settings->left_out);
	machine.is_traced = settings->is_traced;
	machine.report = settings->report;
	for (unsigned i = 0; i < CLIENTS; i++)
		machine.clients[i].random = (struct random){settings->seed * 1000 + i};
	is_kill_coming = false;
	begin_life(true);
	while (machine.step < settings->steps)
		step();
	finish_operations();
	end_clients();
	machine_stop(&machine);
	uint64_t digest = machine.digest;
	if (!settings->is_quiet)
		printf("seed %" PRIu64 ": %" PRIu64 " steps, %" PRIu64 " lives, %" PRIu64
		       " power cuts, %" PRIu64 " kills, %" PRIu64 " commits lost, %" PRIu64
		       " errors by faults, %" PRIu64 " items expired, %" PRIu64
		       " checks of %" PRIu64 " rows, %" PRIu64 " replays of %" PRIu64
		       " records, %" PRIu64 " switches, digest %016" PRIx64 "\n",
		       settings->seed, machine.step, machine.lives, machine.cuts, machine.kills,
		       machine.lost, machine.errors, machine.expired, machine.checks,
		       machine.checked_rows, machine.replays, machine.replayed, fiber_switches(),
		       digest);
	for (unsigned i = 0; i < CLIENTS; i++) {
		if (machine.clients[i].arena)
			arena_free(machine.clients[i].arena);
	}
	machine_free(&machine);
	return digest;
}

static struct settings read_settings(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'},
		{"steps", required_argument, NULL, 'n'},
		{"without", required_argument, NULL, 'w'},
		{"twice", no_argument, NULL, 't'},
		{"shrink", no_argument, NULL, 'x'},
		{"trace", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	struct settings settings = {.seed = 1, .steps = 10000, .report = -1};

	for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		if (option == 's')
			settings.seed = strtoull(optarg, NULL, 10);
		else if (option == 'n')
			settings.steps = strtoull(optarg, NULL, 10);
		else if (option == 'w')
			settings.left_out = strtoull(optarg, NULL, 10);
		else if (option == 't')
			settings.is_twice = true;
		else if (option == 'v')
			settings.is_traced = true;
		else if (option == 'x')
			settings.is_shrunk = true;
		else
			exit(2);
	}
	return settings;
}

static void answer_step(int out, const void *context)
{
	struct settings settings = *(const struct settings *)context;

	settings.report = out;
	settings.is_quiet = true;
	if (!freopen("/dev/null", "w", stderr))
		abort();
	run(&settings);
}

/* Runs in a process of its own: the step at which it fails, or 0. A crash fails at the last step.
 */
static uint64_t try(struct settings settings)
{
	uint64_t step;
	int status;

	if (!child_answers(answer_step, &settings, &step, sizeof(step), &status))
		step = settings.steps;
	return status == 0 ? 0 : step;
}

/* Leaves out one part of the run after the other, as long as it still fails. */
static int shrink(struct settings settings)
{
	uint64_t step = try(settings);

	if (step == 0) {
		printf("simulation: seed %" PRIu64 " does not fail\n", settings.seed);
		return 0;
	}
	settings.steps = step;
	for (int part = 0; part < PART_OF_RUN_COUNT; part++) {
		struct settings less = settings;

		less.left_out |= UINT64_C(1) << part;
		step = try(less);
		if (step > 0) {
			less.steps = step;
			settings = less;
		}
	}
	run(&settings);
	return 1;
}

int main(int argc, char **argv)
{
	struct settings settings = read_settings(argc, argv);

	if (settings.is_shrunk)
		return shrink(settings);
	uint64_t digest = run(&settings);
	if (settings.is_twice && run(&settings) != digest) {
		fprintf(stderr, "simulation: two runs of seed %" PRIu64 " differ\n", settings.seed);
		printf("simulation: 0 passed, 1 failed\n");
		return 1;
	}
	printf("simulation: 1 passed, 0 failed\n");
	return 0;
}
