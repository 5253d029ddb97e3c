/*
 * What no client sees of AWS's timing: how much a table remembers, and that neither a clock that is
 * turned back nor a damaged record does harm. tests/e2e/test_timing.py shows the rest.
 */
#include "protocol/timing/timing.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

#define DAY_MS ((int64_t)86400 * 1000)

static int64_t now_ms;

static int64_t tell(void *context, struct ns ns)
{
	(void)context, (void)ns;
	return now_ms;
}

struct world {
	struct service_fixture fixture;
	struct arena *arena;
};

static struct world world_new(void)
{
	struct world world = {.arena = arena_new(0)};

	service_fixture_open(&world.fixture, world.arena);
	world.fixture.service.now_ms = tell;
	world.fixture.service.is_timed = true;
	now_ms = SERVICE_FIXTURE_NOW_MS;
	return world;
}

static void world_free(struct world *world)
{
	service_fixture_close(&world->fixture);
	arena_free(world->arena);
}

static int call(struct world *world, const char *op, const char *body)
{
	return service_fixture_call(&world->fixture, world->arena, str_of(op), str_of(body)).status;
}

static void create(struct world *world)
{
	CHECK_INT(call(world, "CreateTable",
		       "{\"TableName\":\"tab\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{"
		       "\"AttributeName\":\"pk\","
		       "\"KeyType\":\"HASH\"}],\"AttributeDefinitions\":[{\"AttributeName\":\"pk\","
		       "\"AttributeType\":\"S\"}]}"),
		  200);
	now_ms += 10000;
}

static size_t moments(struct world *world)
{
	struct err err = err_in(world->arena);
	struct table *table;

	CHECK_INT(catalog_get(world->fixture.service.catalog,
			      (struct ns){STR("000000000000"), STR("us-east-1")}, STR("tab"),
			      now_ms, &table, &err),
		  OK);
	size_t n = table->settings->moment_count;
	table_unref(table);
	return n;
}

/* A table that changes for years does not grow. */
TEST(moments_are_forgotten)
{
	struct world world = world_new();

	create(&world);
	for (int i = 0; i < 300; i++) {
		struct str tag = str_printf(world.arena,
					    "{\"ResourceArn\":\"arn:aws:dynamodb:us-east-1:"
					    "000000000000:table/tab\",\"Tags\":[{\"Key\":\"k\","
					    "\"Value\":\"%d\"}]}",
					    i);

		CHECK_INT(call(&world, "TagResource", tag.p), 200);
		CHECK_INT(
			call(&world, "UpdateTable",
			     i % 2 ? "{\"TableName\":\"tab\",\"DeletionProtectionEnabled\":false}"
				   : "{\"TableName\":\"tab\",\"DeletionProtectionEnabled\":true}"),
			200);
		now_ms += 16 * DAY_MS;
		CHECK_INT(call(&world, "UpdateTable",
			       i % 2 ? "{\"TableName\":\"tab\",\"TableClass\":\"STANDARD\"}"
				     : "{\"TableName\":\"tab\",\"TableClass\":\"STANDARD_"
				       "INFREQUENT_ACCESS\"}"),
			  200);
		CHECK_INT(call(&world, "UpdateTable",
			       "{\"TableName\":\"tab\",\"SSESpecification\":{\"Enabled\":true}}"),
			  200);
		now_ms += 60000;
	}
	CHECK(moments(&world) < 10);
	world_free(&world);
}

/* A change that a clock makes in days to come, before it is turned back, is no reason to refuse
 * today's. */
TEST(a_clock_that_is_turned_back_blocks_nothing)
{
	struct world world = world_new();

	create(&world);
	now_ms += 30 * DAY_MS;
	CHECK_INT(call(&world, "UpdateTable",
		       "{\"TableName\":\"tab\",\"DeletionProtectionEnabled\":true}"),
		  200);
	CHECK_INT(call(&world, "UpdateTable",
		       "{\"TableName\":\"tab\",\"DeletionProtectionEnabled\":false}"),
		  400);
	now_ms -= 30 * DAY_MS;
	CHECK_INT(call(&world, "UpdateTable",
		       "{\"TableName\":\"tab\",\"DeletionProtectionEnabled\":false}"),
		  200);
	world_free(&world);
}

/* Moments that lack what should be in them, or that a later version wrote. */
TEST(damaged_moments_do_no_harm)
{
	static const char *const names[] = {
#define TIMING(id, ms, kept_ms, what, meanwhile, sources) #id,
#include "protocol/timing/timing.def"
#undef TIMING
		"LATER",
	};
	struct world world = world_new();
	struct err err = err_in(world.arena);
	struct catalog *catalog = world.fixture.service.catalog;
	struct table *table, *next;

	create(&world);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK_INT(catalog_get(catalog, (struct ns){STR("000000000000"), STR("us-east-1")},
				      STR("tab"), now_ms, &table, &err),
			  OK);
		next = table_clone(table);
		next->settings->moment_count = 1;
		next->settings->moments = ARENA_ARRAY(next->arena, struct moment, 1);
		next->settings->moments[0] =
			(struct moment){str_of(names[i]), STR(""), now_ms, 0, NULL};
		CHECK_INT(catalog_replace(catalog, table, next, &err), OK);
		table_unref(table);
		CHECK_INT(call(&world, "DescribeTable", "{\"TableName\":\"tab\"}"), 200);
		CHECK(call(&world, "UpdateTable",
			   "{\"TableName\":\"tab\",\"SSESpecification\":{\"Enabled\":true}}") <
		      500);
		CHECK(call(&world, "ListTagsOfResource",
			   "{\"ResourceArn\":\"arn:aws:dynamodb:us-east-1:000000000000:table/"
			   "tab\"}") == 200);
	}
	world_free(&world);
}

TEST_MAIN(TEST_CASE(moments_are_forgotten), TEST_CASE(a_clock_that_is_turned_back_blocks_nothing),
	  TEST_CASE(damaged_moments_do_no_harm))
