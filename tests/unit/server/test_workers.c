#include "server/workers.h"

#include "tests/unit/test.h"

#define US 1000u
#define MS 1000000u

static uint64_t now = 1000 * MS; /* goes on through all tests, as the thread's memory of turns does */

static unsigned started, start_most = WORKERS_MAX;

static bool start(unsigned worker)
{
	if (worker >= start_most)
		return false;
	started = worker + 1;
	return true;
}

/* Of a second: how much of a core is idle, and how much the threads wait for one. */
static unsigned idle_percent = 100, waited_percent;
static bool is_told = true;

static struct platform_core_times core_times(void)
{
	static uint64_t then;
	static struct platform_core_times times = {.idle_ns = 1};

	times.idle_ns += (now - then) / 100 * idle_percent;
	times.waited_ns += (now - then) / 100 * waited_percent;
	then = now;
	return is_told ? times : (struct platform_core_times){0};
}

/* Turns of the worker that has the socket, for so long, one right behind the other. */
static void work(int fd, int events, uint64_t turn_ns, uint64_t locked_ns, uint64_t for_ns)
{
	for (uint64_t end = now + for_ns; now < end;) {
		workers_begin_turn(events, now);
		(void)workers_next(fd);
		now += turn_ns;
		workers_end_turn(now, locked_ns);
	}
}

/* What the caller of workers_next() does. Returns the socket by which the connection goes on. */
static int ask(int fd, int other, unsigned *worker)
{
	int next = workers_next(fd);

	if (next < 0)
		return fd;
	workers_put(fd, other, (unsigned)next);
	workers_moved();
	workers_forget(fd);
	*worker = (unsigned)next;
	return other;
}

TEST(without_turns_all_serve)
{
	workers_begin(3, NULL, core_times);
	CHECK_INT(workers_serving(), 3);
	for (int fd = 10; fd < 16; fd++)
		CHECK_INT(workers_place(fd), (fd - 10) % 3);
	CHECK_INT(workers_next(10), -1);
	workers_forget(11);
	CHECK_INT(workers_place(17), 1); /* it has one less */
	work(10, 10, 5 * MS, 0, 100 * MS);
	CHECK_INT(workers_serving(), 3);
	CHECK_INT(workers_next(1), -1); /* nobody's */
	for (int fd = 10; fd < 18; fd++)
		workers_forget(fd);
}

TEST(one_serves_until_turns_are_long)
{
	unsigned of[8] = {0}, moved = 0;
	int fds[8];

	workers_begin(4, start, core_times);
	CHECK_INT(workers_serving(), 1);
	for (int i = 0; i < 8; i++) {
		fds[i] = 20 + i;
		CHECK_INT(workers_place(fds[i]), 0);
	}
	work(20, 8, WORKERS_CROWDED_NS - US, 0, 1000 * MS);
	CHECK_INT(workers_serving(), 1);
	work(20, 1, 5 * MS, 0, 1000 * MS); /* nobody waits for it */
	CHECK_INT(workers_serving(), 1);
	work(20, 8, 2 * WORKERS_CROWDED_NS, WORKERS_CROWDED_NS + US, 1000 * MS); /* another worker would wait for the lock */
	CHECK_INT(workers_serving(), 1);

	for (uint64_t end = now + 1000 * MS; now < end && workers_serving() == 1;)
		work(20, 8, 2 * WORKERS_CROWDED_NS, 0, MS);
	CHECK_INT(workers_serving(), 2);
	CHECK_INT(started, 2);
	for (int i = 0; i < 8; i++) { /* each second one that asks */
		fds[i] = ask(fds[i], 30 + i, &of[i]);
		moved += of[i];
	}
	CHECK_INT(moved, 4);
	for (int i = 0; i < 8; i++)
		CHECK_INT(workers_next(fds[i]), -1);
	CHECK_INT(workers_place(40), 0);
	CHECK_INT(workers_place(41), 1);

	for (uint64_t end = now + 1000 * MS; now < end && workers_serving() == 2;) /* turns would become too long with one less */
		work(40, 8, WORKERS_CALM_NS / 2 + US, 0, MS);
	CHECK_INT(workers_serving(), 2);
	for (uint64_t end = now + 1000 * MS; now < end && workers_serving() == 2;)
		work(40, 8, WORKERS_CALM_NS / 2 - US, 0, MS);
	CHECK_INT(workers_serving(), 1);
	CHECK_INT(workers_next(41), 0);
	workers_put(41, -1, 0); /* it could not be moved, and is not asked again */
	workers_moved();
	CHECK_INT(workers_next(41), -1);
	for (int i = 0; i < 8; i++)
		workers_forget(fds[i]);
	workers_forget(40);
	workers_forget(41);
}

TEST(after_a_turn_that_was_stuck_all_serve)
{
	workers_begin(4, start, core_times);
	CHECK_INT(workers_place(50), 0);
	work(50, 1, WORKERS_STUCK_NS + US, WORKERS_STUCK_NS, MS);
	CHECK_INT(workers_serving(), 4);
	work(50, 2, US, 0, (uint64_t)WORKERS_STUCK_TIMES * WORKERS_STUCK_NS - 100 * MS);
	CHECK_INT(workers_serving(), 4);
	work(50, 2, US, 0, 4 * (uint64_t)WORKERS_CALM_FOR_NS + 300 * MS);
	CHECK_INT(workers_serving(), 1);
	work(50, 1, 1000 * MS, 0, MS);
	work(50, 1, WORKERS_STUCK_NS + US, 0, MS); /* the end of the longer one stays */
	work(50, 2, US, 0, WORKERS_STUCK_FOR_NS - 100 * MS);
	CHECK_INT(workers_serving(), 4);
	work(50, 2, US, 0, 4 * (uint64_t)WORKERS_CALM_FOR_NS + 300 * MS);
	CHECK_INT(workers_serving(), 1);
	workers_forget(50);
}

/* Crowded turns with 1 worker, for a second. */
static unsigned serve_after_crowd(unsigned idle, unsigned waited)
{
	idle_percent = idle;
	waited_percent = waited;
	work(56, 8, WORKERS_CROWDED_TIGHT_NS, 0, 1000 * MS);
	return workers_serving();
}

TEST(a_worker_joins_where_it_would_get_a_core)
{
	workers_begin(2, start, core_times);
	CHECK_INT(workers_place(56), 0);
	CHECK_INT(workers_place(57), 0);
	CHECK_INT(serve_after_crowd(58, 24), 1);
	work(56, 8, WORKERS_CROWDED_TIGHT_NS + US, 0, 1000 * MS);
	CHECK_INT(workers_serving(), 2);
	workers_begin(2, start, core_times);
	CHECK_INT(serve_after_crowd(58, 26), 2); /* other programs have the cores */
	workers_begin(2, start, core_times);
	CHECK_INT(serve_after_crowd(62, 0), 2);
	workers_begin(2, start, core_times);
	is_told = false;
	CHECK_INT(serve_after_crowd(0, 0), 2);
	is_told = true;
	workers_forget(56);
	workers_forget(57);
}

/* Turns with two workers, shorter than crowded ones and too long to be calm, for a second. */
static unsigned serve_after_middle(unsigned idle, unsigned waited)
{
	workers_begin(2, start, core_times);
	CHECK_INT(serve_after_crowd(100, 0), 2);
	idle_percent = idle;
	waited_percent = waited;
	work(56, 8, WORKERS_CROWDED_NS - US, 0, 1000 * MS);
	return workers_serving();
}

TEST(a_worker_leaves_where_the_clients_need_its_core)
{
	workers_begin(2, start, core_times);
	CHECK_INT(workers_place(56), 0);
	CHECK_INT(serve_after_middle(32, 0), 2);
	CHECK_INT(serve_after_middle(0, 42), 2); /* other programs have the cores */
	CHECK_INT(serve_after_middle(28, 38), 1);
	waited_percent = 5; /* now that it has the core */
	work(56, 8, WORKERS_CROWDED_NS + US, 0, 1000 * MS); /* nor does it come back */
	CHECK_INT(workers_serving(), 1);
	workers_begin(2, start, core_times);
	CHECK_INT(serve_after_crowd(100, 0), 2);
	is_told = false;
	idle_percent = 0;
	work(56, 8, WORKERS_CROWDED_NS - US, 0, 1000 * MS);
	CHECK_INT(workers_serving(), 2);
	is_told = true;
	idle_percent = 100;
	waited_percent = 0;
	workers_forget(56);
}

/* One turn: so many requests of request_ns each, and rest_ns besides. */
static void turn(int fd, int requests, uint64_t request_ns, uint64_t rest_ns)
{
	workers_begin_turn(requests, now);
	(void)workers_next(fd);
	for (int i = 0; i < requests; i++)
		workers_took(request_ns, false);
	now += (uint64_t)requests * request_ns + rest_ns;
	workers_end_turn(now, 0);
}

TEST(many_requests_in_a_turn_make_it_crowded_not_stuck)
{
	workers_begin(4, start, core_times);
	CHECK_INT(workers_place(51), 0);
	turn(51, 16, 2 * MS, 5 * MS); /* the window was over, too */
	for (uint64_t end = now + 1000 * MS; now < end && workers_serving() == 1;)
		turn(51, 16, 2 * MS, 5 * MS);
	CHECK_INT(workers_serving(), 2);
	turn(51, 16, US, 0);
	CHECK_INT(workers_serving(), 2);
	for (uint64_t end = now + WORKERS_CALM_FOR_NS + 100 * MS; now < end;)
		turn(51, 2, US, 10 * US);
	CHECK_INT(workers_serving(), 1);
	turn(51, 16, US, WORKERS_STUCK_NS + US); /* between the requests */
	CHECK_INT(workers_serving(), 4);
	workers_begin(4, start, core_times);
	turn(51, 2, WORKERS_STUCK_NS + US, 0); /* one request is enough */
	CHECK_INT(workers_serving(), 4);
	workers_forget(51);
}

TEST(long_requests_are_handed_on_where_there_are_brief_ones)
{
	unsigned n = 0;

	workers_took(5 * MS, false);
	while (n < 1000 && workers_hand_on()) /* what tests before left */
		n++;
	CHECK(n <= WORKERS_HANDED_ON_MAX);
	workers_took(5 * MS, false);
	CHECK(!workers_hand_on());
	workers_took(US, true);
	for (unsigned i = 0; i < WORKERS_HANDED_ON; i++)
		CHECK(workers_hand_on());
	CHECK(!workers_hand_on());
	for (int i = 0; i < 1000; i++)
		workers_took(US, true);
	for (n = 0; n < 1000 && workers_hand_on();)
		n++;
	CHECK_INT(n, WORKERS_HANDED_ON_MAX);
}

TEST(as_many_serve_as_there_can_be)
{
	start_most = 3;
	workers_begin(4, start, core_times);
	CHECK_INT(workers_place(55), 0);
	work(55, 1, WORKERS_STUCK_NS + US, WORKERS_STUCK_NS, MS);
	CHECK_INT(workers_serving(), 3);
	start_most = 1;
	workers_begin(4, start, core_times);
	work(55, 1, WORKERS_STUCK_NS + US, WORKERS_STUCK_NS, MS);
	CHECK_INT(workers_serving(), 1);
	start_most = WORKERS_MAX;
	workers_forget(55);
}

TEST(nothing_moves_behind_the_end)
{
	workers_begin(2, start, core_times);
	CHECK_INT(workers_place(60), 0);
	CHECK_INT(workers_place(61), 0);
	work(60, 2, WORKERS_STUCK_NS + US, 0, MS);
	CHECK_INT(workers_next(60), -1);
	workers_freeze();
	CHECK_INT(workers_next(61), -1);
	started = 0;
	work(60, 2, WORKERS_STUCK_NS + US, 0, MS);
	CHECK_INT(started, 0);
	workers_forget(60);
	workers_forget(61);
}

TEST_MAIN(TEST_CASE(without_turns_all_serve), TEST_CASE(one_serves_until_turns_are_long), TEST_CASE(after_a_turn_that_was_stuck_all_serve), TEST_CASE(a_worker_joins_where_it_would_get_a_core),
	  TEST_CASE(a_worker_leaves_where_the_clients_need_its_core), TEST_CASE(many_requests_in_a_turn_make_it_crowded_not_stuck),
	  TEST_CASE(long_requests_are_handed_on_where_there_are_brief_ones),
	  TEST_CASE(as_many_serve_as_there_can_be), TEST_CASE(nothing_moves_behind_the_end))
