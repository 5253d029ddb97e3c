/* What is shown of values; how numbers are kept; shapes that are the same in text and in hash;
 * memory that has an end. */
#include <math.h>
#include <stdlib.h>

#include "core/image.h"
#include "core/key.h"
#include "protocol/insight/insight_internal.h"
#include "protocol/insight/mask.h"
#include "protocol/op.h"
#include "protocol/wire/json.h"
#include "tests/unit/test.h"

TEST(masks)
{
	static const struct {
		const char *text, *prefix;
		bool is_whole;
	} cases[] = {
		{"CUSTOMER#42", "CUSTOMER#", false},
		{"ORDER#2026-01-15#A1", "ORDER#", false},
		{"order-2026", "order-", false},
		{"user_123", "user_", false},
		{"order-2026-01-15T10:00:00Z", "order-", false},
		{"cus_NffrFeUfNV2Hib", "", false},
		{"Uakgb_J5m9g-0JDMbcJqLJ", "", false},
		{"clh3am1f30000udocuid", "", false},
		{"DE89370400440532013000", "", false},
		{"summer-sale-2024", "", false},
		{"iphone-15-pro", "", false},
		{"dr5regw3p", "", false},
		{"USER123", "USER", false},
		{"PROFILE", "PROFILE", true},
		{"ORDER#", "ORDER#", true},
		{"tenant/acme", "", false},
		{"TENANT/acme", "TENANT/", false},
		{"a:b", "a:", false},
		{"ada", "", false},
		{"ada@example.com", "", false},
		{"ada-lovelace", "", false},
		{"", "", false},
		{"42", "", false},
		{"#x", "", false},
		{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "", false},
		{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "", false},
		{"deadbeef01", "", false},
		{"a1", "", false},
		{"AVERYLONGWORDTHATISMORETHANAWORDWOULDBE", "", false},
		{"2026-01-15", "", false},
		{"with space", "", false},
		{"Straße#1", "", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct mask mask = mask_text(str_of(cases[i].text));

		if (!str_eq(mask.prefix, str_of(cases[i].prefix)) ||
		    mask.is_whole != cases[i].is_whole)
			printf("%s shows \"" STR_FMT "\"\n", cases[i].text, STR_ARG(mask.prefix));
		CHECK(str_eq(mask.prefix, str_of(cases[i].prefix)) &&
		      mask.is_whole == cases[i].is_whole);
	}
	CHECK(mask_is_word(STR("address")) && !mask_is_word(STR("user7")) &&
	      !mask_is_word(STR("a@b")));
}

TEST(quantiles_are_near)
{
	struct sketch *sketch = calloc(2, sizeof(*sketch));
	uint64_t seed = 7, greatest = 0, sum = 0;
	static uint64_t values[10000];

	for (size_t i = 0; i < 10000; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		values[i] = (seed >> 33) % (i % 3 ? 1000 : 5000000);
		sketch_add(&sketch[i % 2], values[i]);
		greatest = values[i] > greatest ? values[i] : greatest;
		sum += values[i];
	}
	sketch_merge(&sketch[0], &sketch[1]);
	CHECK_INT(sketch->n, 10000);
	CHECK_INT(sketch->sum, sum);
	CHECK_INT(sketch->greatest, greatest);
	for (int percent = 1; percent < 100; percent++) {
		uint64_t told = sketch_quantile(sketch, percent / 100.0);
		size_t below = 0, near_above = 0;

		for (size_t i = 0; i < 10000; i++) {
			below += (double)values[i] < (double)told * 0.92;
			near_above += (double)values[i] <= (double)told * 1.08;
		}
		CHECK(below <= (size_t)percent * 100 && near_above >= (size_t)percent * 100);
	}
	CHECK_INT(sketch_quantile(&(struct sketch){0}, 0.5), 0);
	free(sketch);
}

struct world {
	struct arena *arena;
	struct table *table;
	struct insight *insight;
	size_t number; /* of GetItem */
};

static struct world world_new(size_t patterns_max)
{
	struct world world = {.arena = arena_new(1 << 20),
			      .table = table_new(NULL),
			      .insight = insight_new(patterns_max, false)};

	world.table->identity.name = STR("app");
	world.table->identity.number = 3;
	world.table->keys =
		(struct key_schema){.hash_count = 1, .attributes = {{STR("PK"), TYPE_S}}};
	for (size_t i = 0; i < op_count(); i++) {
		if (strcmp(op_name(op_at(i)), "GetItem") == 0)
			world.number = i;
	}
	return world;
}

static void world_free(struct world *world)
{
	insight_free(world->insight);
	table_unref(world->table);
	arena_free(world->arena);
}

/* A GetItem of a key, and of one attribute or all. */
static void get_part(struct world *world, const char *key, const char *attribute, double units)
{
	const struct path *path = attribute ? path_of_name(world->arena, str_of(attribute)) : NULL;
	const struct projection projection = {.n = 1, .paths = &path};
	struct member member = {STR("PK"), value_of_str(TYPE_S, str_of(key))};
	struct value item = {.type = TYPE_M, .n = 1, .members = &member};
	struct access access = {.kind = ACCESS_GET,
				.table = world->table,
				.item = &item,
				.row_key = str_printf(world->arena, "%08x%s", 7u, key),
				.projection = attribute ? &projection : NULL};
	struct accesses accesses = {.n = 1, .v = &access};
	struct call call = {
		.arena = world->arena, .hooks = {[HOOK_INSIGHT] = &accesses}, .now_ms = 5};
	struct insight_request request =
		{.number = OP_GetItem, .consumed = {units, 0}, .caller = STR("test"),
		 .body = STR("{}")};

	insight_fold(world->insight, &call, &request);
}

static void get(struct world *world, const char *key, double units)
{
	get_part(world, key, NULL, units);
}

static const struct json *describe(struct world *world)
{
	const struct json *root = NULL;
	struct err err = err_in(world->arena);

	CHECK_INT(json_parse(world->arena, insight_describe(world->insight, world->arena), &root,
			     &err),
		  OK);
	return root;
}

static double number(const struct json *object, const char *name)
{
	const struct json *member = json_member(object, name);

	return member ? json_number(member) : -1;
}

TEST(values_do_not_make_patterns)
{
	struct world world = world_new(100);

	for (int i = 0; i < 500; i++)
		get(&world, str_printf(world.arena, "CUSTOMER#%d", i).p, 0.5);
	get(&world, "ORDER#1", 1);
	const struct json *root = describe(&world),
			  *first = json_first(json_member(root, "patterns"));
	CHECK_INT(json_count(json_member(root, "patterns")), 2);
	CHECK_INT((int)number(first, "calls"), 500);
	CHECK_INT((int)number(first, "read_units"), 250);
	CHECK_INT((int)number(root, "read_units"), 251);
	CHECK_STR(json_string(world.arena, json_member(first, "key")),
		  "PK = \"CUSTOMER#\xE2\x80\xA6\"");
	insight_clear(world.insight);
	CHECK_INT(json_count(json_member(describe(&world), "patterns")), 0);
	world_free(&world);
}

/* Many more shapes than there is room for: sums stay right, what is frequent stays, the rest is one
 * pattern that says so. */
TEST(the_rare_ones_become_one)
{
	struct world world = world_new(200);
	double calls = 0, units = 0, folded = 0;
	bool has_frequent = false;

	for (int i = 0; i < 5000; i++) {
		get_part(&world, "RARE#1", str_printf(world.arena, "attribute%d", i).p, 0.5);
		get(&world, str_printf(world.arena, "FREQUENT#%d", i % 9).p, 0.5);
	}
	const struct json *root = describe(&world), *patterns = json_member(root, "patterns");
	CHECK(json_count(patterns) <= 201);
	for (const struct json *p = json_first(patterns); p; p = json_next(p)) {
		const struct json *key = json_member(p, "key");

		calls += number(p, "calls");
		units += number(p, "read_units");
		folded += json_member(p, "folded_patterns") ? number(p, "folded_patterns") : 0;
		if (key && str_contains(json_string(world.arena, key), STR("FREQUENT#"))) {
			has_frequent = true;
			CHECK_INT((int)number(p, "calls"), 5000);
		}
	}
	CHECK(has_frequent && folded > 4000);
	CHECK_INT((int)calls, 10000);
	CHECK_INT((int)units, 5000);
	CHECK_INT((int)number(root, "requests"), 10000);
	world_free(&world);
}

/* A GetItem of a partition, for partition_note() alone. */
static void note(struct world *world, struct partitions *partitions, const char *key)
{
	struct value value = value_of_str(TYPE_S, str_of(key));
	const struct value *values[] = {&value};
	struct buf row_key = buf_in(world->arena);

	key_add_partition(&row_key, KEY_HASH_MD5, values, 1);
	struct access access = {
		.kind = ACCESS_GET, .table = world->table, .row_key = buf_str(&row_key)};
	partition_note(partitions, &access,
		       &(struct partition_cost){.units = {0.5, 0}, .second = 1}, world->arena);
}

/* Many more partitions than there are places: what gets the most has one, and its figures are not
 * too low. All are in the sums. */
TEST(the_busiest_partitions_stay)
{
	struct world world = world_new(10);
	struct partitions *partitions = calloc(1, sizeof(*partitions));
	uint64_t hot = 0, listed = 0;

	for (int i = 0; i < 6000; i++) {
		if (i >= 500 && i % 2)
			note(&world, partitions, "HOT#1");
		note(&world, partitions, str_printf(world.arena, "COLD#%d", i * 7919 % 300).p);
	}
	CHECK_INT(partitions->n, PARTITIONS_MAX);
	CHECK_INT(partitions->requests, 8750);
	CHECK_INT((int)partitions->units, 4375);
	for (size_t i = 0; i < partitions->n; i++) {
		const struct partition *partition = &partitions->v[i];
		bool is_hot = str_eq(str_of(partition->prefix), STR("HOT#"));

		CHECK(is_hot || str_eq(str_of(partition->prefix), STR("COLD#")));
		struct str label = partition_label(world.arena, partition);
		CHECK(label.n == 6 && label.p[0] == '(' &&
		      label.p[5] == ')'); /* nothing says that it may be shown */
		hot += is_hot ? partition->requests : 0;
		for (unsigned place = partitions->heads[(partition->id ^ partition->id >> 29) %
							PARTITION_LISTS];
		     place > 0; place = partitions->next[place - 1])
			listed += &partitions->v[place - 1] == partition;
	}
	CHECK(hot >= 2700);
	CHECK_INT(listed, PARTITIONS_MAX);
	free(partitions);
	world_free(&world);
}

/* A day of one request a second: what is added stays, and each bucket has as much as its time. */
TEST(time_becomes_coarser)
{
	struct timeline timeline = {0};
	struct series series = {{0}};
	float sum = 0;

	for (int64_t ms = 5000; ms < 5000 + 86400000; ms += 1000) {
		if (series_has_passed(&timeline, ms))
			series_halve(&series, series_move(&timeline, ms));
		series.units[timeline.at] += 0.5f;
	}
	CHECK_INT(timeline.began_ms, 5000);
	CHECK(timeline.width_ms == 2097152 && timeline.at == 41); /* 86399000 / 2097152 */
	for (unsigned i = 0; i < SERIES_BUCKETS; i++) {
		sum += series.units[i];
		CHECK(i < 41 ? fabsf(series.units[i] - 1048.5f) <= 0.5f
			     : i == 41 || series.units[i] == 0);
	}
	CHECK_INT((int)sum, 43200);
	CHECK_INT(series_move(&timeline, (int64_t)1 << 60) > 6, 1); /* centuries of rest */
	series_halve(&series, 40);
	CHECK_INT((int)series.units[0], 43200);
	CHECK(series.units[1] == 0);
}

/* Units of two partitions and of all, minute by minute: what share the first has while the table is
 * busy. */
static int busy_share(const int (*minutes)[2], unsigned n, struct partition_busy *busy)
{
	struct partitions *all = calloc(1, sizeof(*all));
	struct timeline timeline = {.width_ms = 32768, .at = 2 * n - 1};

	all->n = 1;
	for (unsigned i = 0; i < 2 * n; i++) {
		all->v[0].series.units[i] = (float)minutes[i / 2][0] / 2;
		all->series.units[i] = (float)(minutes[i / 2][0] + minutes[i / 2][1]) / 2;
	}
	partition_find_busy(all, &timeline, 500, busy);
	int share = (int)(100 * partition_busy_units(&all->v[0], busy) / busy->units + 0.5);
	free(all);
	return share;
}

TEST(a_share_is_of_the_busy_time)
{
	/* one that is polled all day and nothing else, but in the minute that counts */
	static const int polled[][2] = {{60, 0}, {60, 0}, {60, 5000}, {60, 0}, {60, 0}};
	/* evenly spread, but for a rush on one */
	static const int rush[][2] = {{0, 900},    {0, 900}, {0, 900},
				      {3000, 900}, {0, 900}, {0, 900}};
	/* two rushes, one half as strong */
	static const int rushes[][2] = {{0, 10}, {2000, 0}, {0, 10}, {1000, 0}, {0, 10}};
	/* too little in each: as many minutes as it takes */
	static const int little[][2] = {{100, 0}, {0, 100}, {100, 50}, {100, 50}, {10, 10}};
	struct partition_busy busy;

	CHECK_INT(busy_share(polled, 5, &busy), 1);
	CHECK_INT((int)busy.ms, 65536);
	CHECK_INT((int)busy.of_ms, 5 * 65536);
	CHECK_INT(busy_share(rush, 6, &busy), 77);
	CHECK_INT(busy_share(rushes, 5, &busy), 100);
	CHECK_INT((int)busy.units, 3000);
	CHECK_INT(busy_share(little, 5, &busy), 60);
	CHECK_INT((int)busy.units, 500);
	CHECK_INT(busy_share(polled, 1, &busy), 100); /* 60 units: all there is */
	CHECK(busy.ms == busy.of_ms);
	struct partitions *none = calloc(1, sizeof(*none));
	partition_find_busy(none, &(struct timeline){0}, 500, &busy);
	free(none);
	CHECK(busy.units == 0 && busy.ms == 0 && busy.of_ms == 0);
}

TEST_MAIN(TEST_CASE(a_share_is_of_the_busy_time), TEST_CASE(time_becomes_coarser),
	  TEST_CASE(the_busiest_partitions_stay), TEST_CASE(masks), TEST_CASE(quantiles_are_near),
	  TEST_CASE(values_do_not_make_patterns), TEST_CASE(the_rare_ones_become_one))
