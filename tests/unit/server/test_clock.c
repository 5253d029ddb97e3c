#include "server/clock.h"

#include <pthread.h>
#include <time.h>

#include "core/arena.h"
#include "tests/unit/test.h"

#define ONE ((struct ns){STR("000000000000"), STR("us-east-1")})
#define TWO ((struct ns){STR("111122223333"), STR("eu-west-1")})
#define T INT64_C(1893499200) /* 2030-01-01T12:00:00Z */

struct setup {
	struct arena *arena;
	struct err err;
	struct clocks *clock;
};

static struct setup setup_new(void)
{
	struct setup s = {.arena = arena_new(0), .clock = clocks_new(NULL, false)};

	s.err = err_in(s.arena);
	return s;
}

static void setup_free(struct setup *s)
{
	clocks_free(s->clock);
	arena_free(s->arena);
}

static enum code turn(struct setup *s, const char *body)
{
	return clock_turn(s->clock, NULL, str_of(body), &s->err);
}

static int64_t real_ms(void)
{
	return (int64_t)time(NULL) * 1000;
}

/* Whether `ms` is the system's time plus `offset_s`, give or take a slow machine's minute. */
static bool is_about(int64_t ms, int64_t offset_s)
{
	int64_t distance = ms - real_ms() - offset_s * 1000;

	return distance > -60000 && distance < 60000;
}

TEST(it_is_the_system_s_until_it_is_turned)
{
	struct setup s = setup_new();

	CHECK(is_about(clock_now_ms(s.clock, ONE), 0));
	CHECK_INT(turn(&s, ""), OK);
	CHECK_INT(turn(&s, "{}"), OK);
	CHECK(is_about(clock_now_ms(s.clock, ONE), 0));
	setup_free(&s);
}

TEST(frozen_it_stands_to_the_millisecond)
{
	struct setup s = setup_new();

	CHECK_INT(turn(&s, "{\"set\":1893499200.25,\"freeze\":true}"), OK);
	CHECK_INT(clock_now_ms(s.clock, ONE), T * 1000 + 250);
	CHECK_INT(turn(&s, "{\"advance\":1.5}"), OK);
	CHECK_INT(clock_now_ms(s.clock, ONE), T * 1000 + 1750);
	CHECK_INT(turn(&s, "{\"set\":\"2030-01-01T12:00:00Z\"}"), OK);
	CHECK_INT(clock_now_ms(s.clock, ONE), T * 1000);
	CHECK_INT(turn(&s, "{\"set\":\"2030-01-02\"}"), OK);
	CHECK_INT(clock_now_ms(s.clock, ONE), (T + 43200) * 1000);
	CHECK_INT(turn(&s, "{\"freeze\":true}"), OK);
	CHECK_INT(clock_now_ms(s.clock, ONE), (T + 43200) * 1000);
	setup_free(&s);
}

TEST(durations_have_units)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{"90", 90000},
		{"-90", -90000},
		{"\"90\"", 90000},
		{"\"90s\"", 90000},
		{"\"15m\"", 900000},
		{"\"12h\"", 43200000},
		{"\"30d\"", INT64_C(2592000000)},
		{"\"1.5h\"", 5400000},
		{"\"-1d\"", -86400000},
		{"\"250ms\"", 250},
		{"0.001", 1},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct setup s = setup_new();

		CHECK_INT(turn(&s, "{\"set\":1893499200,\"freeze\":true}"), OK);
		CHECK_INT(turn(&s, str_printf(s.arena, "{\"advance\":%s}", cases[i].text).p), OK);
		CHECK_INT(clock_now_ms(s.clock, ONE), T * 1000 + cases[i].ms);
		setup_free(&s);
	}
}

TEST(running_it_keeps_its_distance)
{
	struct setup s = setup_new();

	CHECK_INT(turn(&s, "{\"advance\":\"30d\"}"), OK);
	CHECK(is_about(clock_now_ms(s.clock, ONE), 30 * 86400));
	CHECK_INT(turn(&s, "{\"advance\":\"-40d\"}"), OK);
	CHECK(is_about(clock_now_ms(s.clock, ONE), -10 * 86400));
	CHECK_INT(turn(&s, "{\"freeze\":true}"), OK);
	CHECK_INT(turn(&s, "{\"freeze\":false,\"advance\":\"10d\"}"), OK);
	CHECK(is_about(clock_now_ms(s.clock, ONE), 0));
	CHECK_INT(turn(&s, "{\"set\":1893499200,\"freeze\":true}"), OK);
	CHECK_INT(turn(&s, "{\"release\":true}"), OK);
	CHECK(is_about(clock_now_ms(s.clock, ONE), 0));
	CHECK_INT(turn(&s, "{\"freeze\":true,\"release\":true,\"advance\":60}"), OK);
	CHECK(str_contains(clock_describe(s.clock, NULL, s.arena, 0), STR("\"frozen\":true")));
	CHECK(is_about(clock_now_ms(s.clock, ONE), 60));
	setup_free(&s);
}

TEST(what_is_not_understood_changes_nothing)
{
	static const char *const bodies[] = {
		"x",
		"[]",
		"\"freeze\"",
		"{\"freeze\":1}",
		"{\"release\":\"yes\"}",
		"{\"advance\":true}",
		"{\"advance\":\"30x\"}",
		"{\"advance\":\"d\"}",
		"{\"advance\":\"\"}",
		"{\"set\":\"tomorrow\"}",
		"{\"set\":\"2030-01-01T12:00:00Zx\"}",
		"{\"set\":-1}",
		"{\"set\":253402300800}",
		"{\"set\":1e300}",
		"{\"advance\":1e300}",
		"{\"advance\":\"nan\"}",
		"{\"advance\":\"-100000d\"}",
		"{\"now\":1}",
		"{\"set\":null}",
		"{\"advance\":\"1d\\u0000x\"}",
		"{\"set\":\"2031-01-01\\u0000x\"}",
	};
	struct setup s = setup_new();

	CHECK_INT(turn(&s, "{\"set\":1893499200,\"freeze\":true}"), OK);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		CHECK_INT(turn(&s, bodies[i]), ERR_VALIDATION);
		CHECK_INT(clock_now_ms(s.clock, ONE), T * 1000);
	}
	setup_free(&s);
}

TEST(it_describes_itself)
{
	struct setup s = setup_new();

	CHECK_INT(turn(&s, "{\"set\":1893499200.007,\"freeze\":true}"), OK);
	struct str text = clock_describe(s.clock, NULL, s.arena, 3);
	CHECK(str_starts_with(text, STR("{\"now\":1893499200.007,\"iso\":\"2030-01-01T12:00:00."
					"007Z\",\"frozen\":true,\"offset\":")));
	CHECK(str_contains(text, STR(",\"expired\":3}")));
	setup_free(&s);
}

static enum code turn_of(struct setup *s, struct ns ns, const char *body)
{
	return clock_turn(s->clock, &ns, str_of(body), &s->err);
}

TEST(a_namespace_that_was_turned_has_its_own)
{
	struct setup s = setup_new();
	int64_t now_ms;

	CHECK_INT(turn(&s, "{\"set\":1893499200,\"freeze\":true}"), OK);
	CHECK_INT(turn_of(&s, TWO, "{}"), OK); /* a look is no turn */
	CHECK_INT(turn(&s, "{\"advance\":1}"), OK);
	CHECK_INT(clock_now_ms(s.clock, TWO), (T + 1) * 1000);
	CHECK_INT(turn_of(&s, TWO, "{\"advance\":\"1h\"}"), OK); /* from where the default one is */
	CHECK_INT(clock_now_ms(s.clock, TWO), (T + 3601) * 1000);
	CHECK_INT(clock_now_ms(s.clock, ONE), (T + 1) * 1000);
	CHECK_INT(clock_now_ms(s.clock, (struct ns){TWO.account, ONE.region}), (T + 1) * 1000);
	CHECK_INT(turn(&s, "{\"advance\":1}"), OK);
	CHECK_INT(clock_now_ms(s.clock, TWO), (T + 3601) * 1000);
	CHECK_INT(clock_now_ms(s.clock, ONE), (T + 2) * 1000);
	CHECK(clock_tell(s.clock, TWO, &now_ms) && now_ms == (T + 3601) * 1000);
	CHECK_INT(turn_of(&s, TWO, "{\"release\":true}"), OK);
	CHECK_INT(clock_now_ms(s.clock, TWO), (T + 2) * 1000);
	CHECK_INT(turn_of(&s, TWO, "{\"release\":true,\"advance\":\"-1h\"}"), OK);
	CHECK_INT(clock_now_ms(s.clock, TWO), (T + 2 - 3600) * 1000);
	setup_free(&s);
}

TEST(a_scope_is_one_namespace_or_those_that_follow)
{
	struct setup s = setup_new();
	struct ns two = TWO;
	struct clock_scope all = {s.clock, NULL}, one = {s.clock, &two};
	int64_t now_ms;

	CHECK(clock_tell_scope(&all, ONE, &now_ms) && clock_tell_scope(&all, TWO, &now_ms));
	CHECK(!clock_tell_scope(&one, ONE, &now_ms) && clock_tell_scope(&one, TWO, &now_ms));
	CHECK_INT(turn_of(&s, TWO, "{\"set\":1893499200,\"freeze\":true}"), OK);
	CHECK(clock_tell_scope(&all, ONE, &now_ms) && !clock_tell_scope(&all, TWO, &now_ms));
	CHECK(clock_tell_scope(&one, TWO, &now_ms) && now_ms == T * 1000);
	setup_free(&s);
}

TEST(a_shared_store_has_one_clock)
{
	struct setup s = setup_new();
	struct ns two = TWO;

	clocks_free(s.clock);
	s.clock = clocks_new(NULL, true);
	struct clock_scope one = {s.clock, &two};
	CHECK_INT(turn_of(&s, TWO, "{\"set\":1893499200,\"freeze\":true}"), OK);
	int64_t now_ms;
	CHECK(clock_tell_scope(&one, ONE, &now_ms) && now_ms == T * 1000);
	setup_free(&s);
}

TEST(namespaces_are_checked_and_bounded)
{
	struct setup s = setup_new();
	char region[65];

	memset(region, 'r', 64);
	region[64] = 0;
	CHECK_INT(turn_of(&s, (struct ns){STR("12"), STR("r")}, "{\"advance\":1}"), ERR_VALIDATION);
	CHECK_INT(turn_of(&s, (struct ns){ONE.account, STR("")}, "{\"advance\":1}"),
		  ERR_VALIDATION);
	CHECK_INT(turn_of(&s, (struct ns){ONE.account, str_of(region)}, "{\"advance\":1}"),
		  ERR_VALIDATION);
	for (int i = 0; i < CLOCKS_MAX + 1; i++) {
		struct ns ns = {str_printf(s.arena, "%012d", i * 7919 % 100003), ONE.region};

		CHECK_INT(turn_of(&s, ns, "{\"freeze\":true}"),
			  i < CLOCKS_MAX ? OK : ERR_VALIDATION);
		CHECK_INT(turn_of(&s, ns, "{\"advance\":1}"), i < CLOCKS_MAX ? OK : ERR_VALIDATION);
	}
	for (int i = 0; i < CLOCKS_MAX; i++) {
		struct ns ns = {str_printf(s.arena, "%012d", i * 7919 % 100003), ONE.region};

		CHECK_INT(turn_of(&s, ns, "{\"release\":true}"), OK);
		CHECK(is_about(clock_now_ms(s.clock, ns), 0));
	}
	CHECK(str_contains(clock_describe(s.clock, NULL, s.arena, 0), STR("\"namespaces\":[]")));
	setup_free(&s);
}

static void *advance_often(void *context)
{
	struct clocks *clock = context;
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);

	for (int i = 0; i < 1000; i++)
		CHECK_INT(clock_turn(clock, NULL, STR("{\"advance\":1}"), &err), OK);
	arena_free(arena);
	return NULL;
}

TEST(turns_of_several_threads_add_up)
{
	struct setup s = setup_new();
	pthread_t threads[4];

	CHECK_INT(turn(&s, "{\"set\":1893499200,\"freeze\":true}"), OK);
	for (int i = 0; i < 4; i++)
		CHECK_INT(pthread_create(&threads[i], NULL, advance_often, s.clock), 0);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	CHECK_INT(clock_now_ms(s.clock, ONE), (T + 4000) * 1000);
	setup_free(&s);
}

TEST_MAIN(TEST_CASE(it_is_the_system_s_until_it_is_turned),
	  TEST_CASE(frozen_it_stands_to_the_millisecond), TEST_CASE(durations_have_units),
	  TEST_CASE(running_it_keeps_its_distance),
	  TEST_CASE(what_is_not_understood_changes_nothing), TEST_CASE(it_describes_itself),
	  TEST_CASE(turns_of_several_threads_add_up),
	  TEST_CASE(a_namespace_that_was_turned_has_its_own),
	  TEST_CASE(a_scope_is_one_namespace_or_those_that_follow),
	  TEST_CASE(a_shared_store_has_one_clock), TEST_CASE(namespaces_are_checked_and_bounded))
