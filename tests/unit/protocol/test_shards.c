/* DescribeStream page by page: each page begins behind a name, also one that no shard has, and
 * costs no more than it returns. */
#include "tests/unit/protocol/world.h"

#define PUTS 100 /* rotation.records of the world makes several shards of them */
#define SHARDS_MAX 32
#define NAME_SIZE 37

struct names {
	size_t n;
	char names[SHARDS_MAX][NAME_SIZE + 1];
};

static struct arena *texts;
static char arn[256];

static struct op_response describe(struct world *world, const char *rest)
{
	struct buf body = buf_in(texts);

	buf_printf(&body, "{'StreamArn':'%s'%s}", arn, rest);
	buf_add_byte(&body, 0);
	struct op_response response =
		world_call(world, (struct world_request){"DescribeStream", body.p});
	CHECK_INT(response.status, 200);
	return response;
}

/* Copies what follows `name` in the text, up to a quotation mark; gives its end, NULL where the
 * name is not there. */
static const char *member(struct str text, const char *name, char *out, size_t max)
{
	const char *at = memmem(text.p, text.n, name, strlen(name));

	if (!at)
		return NULL;
	at += strlen(name);
	size_t n = (size_t)((const char *)memchr(at, '"', (size_t)(text.p + text.n - at)) - at);
	CHECK(n < max);
	memcpy(out, at, n);
	out[n] = '\0';
	return at + n;
}

static struct names names_of(struct op_response response)
{
	struct names names = {0};
	struct str rest = response.body;

	for (const char *at;
	     names.n < SHARDS_MAX &&
	     (at = member(rest, "{\"ShardId\":\"", names.names[names.n], NAME_SIZE + 1)) != NULL;
	     names.n++)
		rest = (struct str){at, (size_t)(response.body.p + response.body.n - at)};
	return names;
}

static struct world world_streamed(void)
{
	struct world world = world_new(NULL);

	texts = arena_new(0);
	for (int i = 0; i < PUTS; i++) {
		struct buf body = buf_in(texts);

		buf_printf(&body, "{'TableName':'tab','Item':{'pk':{'S':'p'},'sk':{'N':'%d'}}}%c",
			   i, 0);
		CHECK_INT(world_call(&world, (struct world_request){"PutItem", body.p}).status,
			  200);
	}
	struct op_response table =
		world_call(&world, (struct world_request){"DescribeTable", "{'TableName':'tab'}"});
	CHECK(member(table.body, "\"LatestStreamArn\":\"", arn, sizeof(arn)) != NULL);
	return world;
}

static void world_end(struct world *world)
{
	arena_free(texts);
	world_free(world);
}

static struct names behind(struct world *world, const char *name, int limit)
{
	struct buf rest = buf_in(texts);

	buf_printf(&rest, ",'ExclusiveStartShardId':'%s','Limit':%d%c", name, limit, 0);
	return names_of(describe(world, rest.p));
}

TEST(pages_begin_behind_any_name)
{
	static const char edges[] = {' ', '-', '/', '0', '9', ':', 'a', '~'};
	struct world world = world_streamed();
	struct names all = names_of(describe(&world, ""));

	CHECK(all.n > 5);
	for (size_t i = 0; i < all.n; i++) {
		for (size_t at = 0; at < NAME_SIZE; at++) {
			for (size_t e = 0; e < sizeof(edges); e++) {
				char name[NAME_SIZE + 1];
				size_t next = 0;

				memcpy(name, all.names[i], sizeof(name));
				name[at] = edges[e];
				if (e == 0 && at >= 28) /* a shorter one */
					name[at] = '\0';
				while (next < all.n && strcmp(all.names[next], name) <= 0)
					next++;
				struct names page = behind(&world, name, 1);
				CHECK_INT(page.n, next < all.n);
				CHECK(page.n == 0 || strcmp(page.names[0], all.names[next]) == 0);
			}
		}
	}
	world_end(&world);
}

TEST(a_page_costs_what_it_returns)
{
	struct world world = world_streamed();
	struct names all = names_of(describe(&world, ""));
	char last[NAME_SIZE + 1];

	for (size_t i = 0; i + 1 < all.n; i++) {
		trace_store_reset(world.store);
		struct names page = behind(&world, all.names[i], 1);

		CHECK(trace_store_count(world.store, TRACE_ROW) <= 3);
		CHECK_INT(page.n, 1);
		CHECK(strcmp(page.names[0], all.names[i + 1]) == 0);
		CHECK_INT(member(describe(&world, ",'Limit':1").body, "\"LastEvaluatedShardId\":\"",
				 last, sizeof(last)) != NULL,
			  1);
		CHECK(strcmp(last, all.names[0]) == 0);

		struct buf rest = buf_in(texts);
		buf_printf(&rest, ",'ShardFilter':{'Type':'CHILD_SHARDS','ShardId':'%s'}%c",
			   all.names[i], 0);
		trace_store_reset(world.store);
		page = names_of(describe(&world, rest.p));
		CHECK(trace_store_count(world.store, TRACE_ROW) <= 3);
		CHECK_INT(page.n, 1);
		CHECK(strcmp(page.names[0], all.names[i + 1]) == 0);
	}
	CHECK_INT(behind(&world, all.names[all.n - 1], 1).n, 0);
	world_end(&world);
}

TEST_MAIN(TEST_CASE(pages_begin_behind_any_name), TEST_CASE(a_page_costs_what_it_returns))
