#include "tests/unit/storage/data_fixture.h"

/* Every field with a value that is not its default. */
static struct table *full_table(void)
{
	struct table *table = data_table("full");

	table->account = STR("123456789012");
	table->region = STR("eu-west-1");
	table->number = 77;
	table->id = STR("01234567-89ab-4cde-8f01-23456789abcd");
	table->created_ms = 1700000000123;
	table->status = STATUS_UPDATING;
	table->settles_ms = 1700000000999;
	table->billing = BILLING_PAY_PER_REQUEST;
	table->on_demand_since_ms = 5;
	table->throughput = (struct throughput){1, 2, 3, 4, 5};
	table->on_demand = (struct throughput_pair){true, 6, -1};
	table->warm = (struct throughput_pair){true, 12000, 4000};
	table->stream_view = STREAM_NEW_AND_OLD_IMAGES;
	table->stream_label = STR("2026-01-01T00:00:00.000");
	table->stream_count = 2;
	table->streams = ARENA_ARRAY(table->arena, struct stream, 2);
	table->streams[0] = (struct stream){.label = STR("a"), .number = 1, .disabled_ms = 14};
	table->streams[1] = (struct stream){.label = STR("b"), .number = 2, .tags = {1, ARENA_ARRAY(table->arena, struct tag, 1)}};
	table->streams[1].tags.v[0] = (struct tag){STR("k"), STR("v")};
	table->table_class = STR("STANDARD_INFREQUENT_ACCESS");
	table->replication_mode = STR("ENABLED");
	table->is_deletion_protected = true;
	table->sse_enabled = true;
	table->sse_key = STR("arn:aws:kms:x");
	table->policy = (struct policy){STR("{}"), 1700000000456};
	table->stream_policy = (struct policy){STR_ABSENT, 7};
	table->insights = (struct insights){true, true, 8, 9, 10};
	table->recovery_days = 35;
	table->recovery_since_ms = 11;
	table->destination_count = 2;
	table->destinations = ARENA_ARRAY(table->arena, struct destination, 2);
	table->destinations[0] = (struct destination){STR("arn:aws:kinesis:a"), true, true, PRECISION_MICROSECOND, 12};
	table->destinations[1] = (struct destination){STR("arn:aws:kinesis:b"), false, false, PRECISION_ABSENT, 0};
	table->moment_count = 2;
	table->moments = ARENA_ARRAY(table->arena, struct moment, 2);
	table->moments[0] = (struct moment){STR("TAGS"), STR(""), 14, 0, NULL};
	table->moments[1] = (struct moment){STR("WARM"), STR("some"), 15, 2, ARENA_ARRAY(table->arena, struct str, 2)};
	table->moments[1].before[0] = STR("12000");
	table->moments[1].before[1] = STR("");
	table->tags = (struct tag_set){1, ARENA_ARRAY(table->arena, struct tag, 1)};
	table->tags.v[0] = (struct tag){STR("team"), STR("")};
	table->next_index = 9;
	for (uint32_t i = 0; i < table->index_count; i++) {
		table->indexes[i].number = i + 2;
		table->indexes[i].size = size_counter_new();
		table_index_settle(table, &table->indexes[i]);
	}
	table->indexes[SOME].status = STATUS_CREATING;
	table->indexes[SOME].is_backfilling = true;
	table->indexes[SOME].throughput.write = 8;
	table->indexes[SOME].insights.changed_ms = 13;
	return table;
}

static void check_full(struct arena *arena, const struct table *table)
{
	CHECK_STR(table->account, "123456789012");
	CHECK_STR(table->name, "full");
	CHECK_INT(table->number, 77);
	CHECK_STR(table->id, "01234567-89ab-4cde-8f01-23456789abcd");
	CHECK_INT(table->created_ms, 1700000000123);
	CHECK_INT(table->status, STATUS_UPDATING);
	CHECK_INT(table->settles_ms, 1700000000999);
	CHECK_INT(table->billing, BILLING_PAY_PER_REQUEST);
	CHECK_INT(table->throughput.last_decrease_ms, 5);
	CHECK(table->on_demand.is_set);
	CHECK_INT(table->on_demand.write, -1);
	CHECK_INT(table->warm.read, 12000);
	CHECK_INT(table->stream_view, STREAM_NEW_AND_OLD_IMAGES);
	CHECK_STR(table->stream_label, "2026-01-01T00:00:00.000");
	CHECK_STR(table->table_class, "STANDARD_INFREQUENT_ACCESS");
	CHECK(table->is_deletion_protected && table->sse_enabled);
	CHECK_STR(table->policy.text, "{}");
	CHECK_INT(table->policy.revision, 1700000000456);
	CHECK_STR(table->replication_mode, "ENABLED");
	CHECK_INT(table->stream_count, 2);
	CHECK_INT(table->streams[0].disabled_ms, 14);
	CHECK_INT(table->streams[0].tags.n, 0);
	CHECK_INT(table->streams[1].tags.n, 1);
	CHECK_STR(table->streams[1].tags.v[0].key, "k");
	CHECK_STR(table->streams[1].tags.v[0].value, "v");
	CHECK(!str_is_set(table->stream_policy.text));
	CHECK_INT(table->stream_policy.revision, 7);
	CHECK(table->insights.is_enabled && table->insights.is_throttled_only && table->insights.settles_ms == 10);
	CHECK_INT(table->recovery_days, 35);
	CHECK_INT(table->recovery_since_ms, 11);
	CHECK_INT(table->destination_count, 2);
	CHECK_STR(table->destinations[0].stream_arn, "arn:aws:kinesis:a");
	CHECK(table->destinations[0].is_enabled && table->destinations[0].is_updated && !table->destinations[1].is_enabled);
	CHECK_INT(table->destinations[0].precision, PRECISION_MICROSECOND);
	CHECK_INT(table->destinations[0].settles_ms, 12);
	CHECK_INT(table->indexes[SOME].insights.changed_ms, 13);
	CHECK_INT(table->moment_count, 2);
	CHECK_STR(table->moments[0].what, "TAGS");
	CHECK_INT(table->moments[0].before_count, 0);
	CHECK_STR(table->moments[1].subject, "some");
	CHECK_INT(table->moments[1].at_ms, 15);
	CHECK_STR(table->moments[1].before[0], "12000");
	CHECK(table->moments[1].before_count == 2 && table->moments[1].before[1].n == 0);
	CHECK_INT(table->tags.n, 1);
	CHECK_STR(table->tags.v[0].key, "team");
	CHECK(str_is_set(table->tags.v[0].value) && table->tags.v[0].value.n == 0);
	CHECK_INT(table->definition_count, 5);
	CHECK_STR(table->definitions[4].name, "h");
	CHECK_INT(table->keys.range_count, 1);
	CHECK_STR(table->keys.attributes[1].name, "sk");
	CHECK_INT(table->keys.attributes[1].type, TYPE_N);
	CHECK_INT(table->next_index, 9);
	CHECK_INT(table->index_count, 3);
	CHECK(table->indexes[LOCAL].is_local && !table->indexes[ALL].is_local);
	CHECK_INT(table->indexes[ALL].number, 3);
	CHECK_STR(table->indexes[SOME].name, "some");
	CHECK_INT(table->indexes[SOME].keys.range_count, 0);
	CHECK_INT(table->indexes[SOME].projected_count, 4);
	CHECK_STR(table->indexes[SOME].projected[0], "a");
	CHECK_STR(table->indexes[SOME].projected[3], "sk");
	CHECK(table->indexes[SOME].is_backfilling);
	CHECK_INT(table->indexes[SOME].throughput.write, 8);
	CHECK_STR(table_arn(arena, table), "arn:aws:dynamodb:eu-west-1:123456789012:table/full");
}

TEST(a_record_holds_everything)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = full_table(), *decoded;

	CHECK_INT(table_decode(table_encode(arena, table), &decoded, &err), OK);
	check_full(arena, decoded);
	table_unref(decoded);
	table_unref(table);
	arena_free(arena);
}

TEST(a_clone_shares_only_the_counters)
{
	struct arena *arena = arena_new(0);
	struct table *table = full_table();
	struct table *clone = table_clone(table);

	atomic_store(&table->size->items, 5);
	CHECK(clone->name.p != table->name.p);
	table_unref(table);
	check_full(arena, clone);
	CHECK_INT(atomic_load(&clone->size->items), 5);
	table_unref(clone);
	arena_free(arena);
}

TEST(what_is_absent_stays_absent)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = data_table("plain"), *decoded;

	table->index_count = 0;
	table->account = table->region = table->id = STR("x");
	CHECK_INT(table_decode(table_encode(arena, table), &decoded, &err), OK);
	CHECK(!str_is_set(decoded->stream_label) && !str_is_set(decoded->table_class) && !str_is_set(decoded->sse_key));
	CHECK(!decoded->on_demand.is_set);
	CHECK_INT(decoded->index_count, 0);
	table_unref(decoded);
	table_unref(table);
	arena_free(arena);
}

TEST(an_index_is_found_by_its_name)
{
	struct table *table = full_table();

	CHECK(table_index(table, STR("all")) == &table->indexes[ALL]);
	CHECK(table_index(table, STR("ALL")) == NULL);
	CHECK(table_index(table, STR("")) == NULL);
	table_unref(table);
}

/* Stored bytes that are not a record: an error, never a crash. */
TEST(malformed_records_are_refused)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = full_table(), *decoded;
	struct str record = table_encode(arena, table);

	for (size_t n = 0; n < record.n; n++)
		CHECK_INT(table_decode((struct str){record.p, n}, &decoded, &err), ERR_INTERNAL);
	for (size_t i = 0; i < record.n; i++) {
		char *bytes = arena_bytes(arena, record.n);

		memcpy(bytes, record.p, record.n);
		bytes[i] = (char)(bytes[i] ^ 0xFF);
		if (table_decode((struct str){bytes, record.n}, &decoded, &err) == OK)
			table_unref(decoded);
	}
	table_unref(table);
	arena_free(arena);
}

/* A field of another type, or a number out of its range, is as malformed as missing bytes. */
TEST(records_with_wrong_fields_are_refused)
{
	static const char *const names[] = {"version", "hash_count", "keys", "indexes", "definitions", "tags", "name", "status"};
	struct data d = data_open(NULL);
	struct table *table = full_table(), *decoded;
	struct value map;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CHECK(image_decode(d.arena, table_encode(d.arena, table), &map));
		struct member *members = ARENA_ARRAY(d.arena, struct member, map.n);

		memcpy(members, map.members, map.n * sizeof(*members));
		for (uint32_t k = 0; k < map.n; k++) {
			if (str_eq(members[k].name, str_of(names[i])))
				members[k].value = data_value(&d, "Z");
		}
		map.members = members;
		CHECK_INT(table_decode(data_image(&d, &map), &decoded, &d.err), ERR_INTERNAL);
		for (uint32_t k = 0; k < map.n; k++) {
			if (str_eq(members[k].name, str_of(names[i])))
				members[k].value = data_value(&d, "N99999999999");
		}
		CHECK_INT(table_decode(data_image(&d, &map), &decoded, &d.err), ERR_INTERNAL);
	}
	table_unref(table);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_record_holds_everything), TEST_CASE(a_clone_shares_only_the_counters), TEST_CASE(what_is_absent_stays_absent),
	  TEST_CASE(an_index_is_found_by_its_name), TEST_CASE(malformed_records_are_refused), TEST_CASE(records_with_wrong_fields_are_refused))
