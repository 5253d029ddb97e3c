#include "protocol/tables/settings.h"
#include "protocol/tables/concerns.h"
#include "protocol/tables/policy_rules.h"
#include "protocol/wire/shape_tables.h"
#include "tests/unit/protocol/service_fixture.h"
#include "tests/unit/test.h"

/* Every setting with a value that is not its default. */
static struct table *full_table(void)
{
	struct table *table = table_new(&settings_records);
	struct table_settings *settings = table->settings;
	struct arena *arena = table->arena;

	table->identity.account = table->identity.region = table->identity.name =
		table->identity.id = STR("x");
	table->identity.created_ms = 3;
	table->keys = (struct key_schema){1, 0, {{STR("pk"), TYPE_S}}};
	settings->billing = BILLING_PAY_PER_REQUEST;
	settings->on_demand_since_ms = 5;
	settings->throughput = (struct throughput){1, 2, 3, 4, 5};
	settings->on_demand = (struct throughput_pair){true, 6, -1};
	settings->warm = (struct throughput_pair){true, 12000, 4000};
	settings->is_warm_updating = settings->is_sse_updating = true;
	settings->definition_count = 2;
	settings->definitions = ARENA_ARRAY(arena, struct key_attribute, 2);
	settings->definitions[0] = (struct key_attribute){STR("pk"), TYPE_S};
	settings->definitions[1] = (struct key_attribute){STR("h"), TYPE_B};
	settings->table_class = STR("STANDARD_INFREQUENT_ACCESS");
	settings->class_changed_ms = 16;
	settings->replication_mode = STR("ENABLED");
	settings->is_deletion_protected = settings->sse_enabled = true;
	settings->sse_key = STR("arn:aws:kms:x");
	settings->policy = (struct policy){STR("{}"), 1700000000456};
	settings->stream_policy = (struct policy){STR_ABSENT, 7};
	settings->insights = (struct insights){true, true, 8, 9, 10};
	settings->recovery_days = 35;
	settings->recovery_since_ms = 11;
	settings->destination_count = 2;
	settings->destinations = ARENA_ARRAY(arena, struct destination, 2);
	settings->destinations[0] = (struct destination){
		STR("arn:aws:kinesis:a"), true, true, false, PRECISION_MICROSECOND, 12, 15, 0};
	settings->destinations[1] = (struct destination){
		STR("arn:aws:kinesis:b"), false, false, true, PRECISION_ABSENT, 0, 0, 16};
	settings->moment_count = 2;
	settings->moments = ARENA_ARRAY(arena, struct moment, 2);
	settings->moments[0] = (struct moment){STR("TAGS"), STR(""), 14, 0, NULL};
	settings->moments[1] =
		(struct moment){STR("WARM"), STR("some"), 15, 2, ARENA_ARRAY(arena, struct str, 2)};
	settings->moments[1].before[0] = STR("12000");
	settings->moments[1].before[1] = STR("");
	settings->tags = (struct tag_set){1, ARENA_ARRAY(arena, struct tag, 1)};
	settings->tags.v[0] = (struct tag){STR("team"), STR("")};
	table->indexes.n = table->streams.n = 1;
	table->indexes.v = ARENA_ARRAY(arena, struct index, 1);
	table->indexes.v[0] = (struct index){.name = STR("some"), .keys = table->keys,
					     .settings = table_index_settings(table)};
	table->indexes.v[0].settings->throughput.write = 8;
	table->indexes.v[0].settings->insights.changed_ms = 13;
	table->streams.v = ARENA_ARRAY(arena, struct stream, 1);
	table->streams.v[0] = (struct stream){
		.label = STR("b"), .number = 2, .settings = table_stream_settings(table)};
	table->streams.v[0].settings->tags = (struct tag_set){1, ARENA_ARRAY(arena, struct tag, 1)};
	table->streams.v[0].settings->tags.v[0] = (struct tag){STR("k"), STR("v")};
	return table;
}

static void check_lists(const struct table_settings *settings)
{
	CHECK_INT(settings->definition_count, 2);
	CHECK_STR(settings->definitions[1].name, "h");
	CHECK(settings->definitions[0].type == TYPE_S && settings->definitions[1].type == TYPE_B);
	CHECK_INT(settings->destination_count, 2);
	CHECK_STR(settings->destinations[0].stream_arn, "arn:aws:kinesis:a");
	CHECK(settings->destinations[0].is_enabled && settings->destinations[0].is_updated &&
	      !settings->destinations[1].is_enabled);
	CHECK(!settings->destinations[0].is_failed && settings->destinations[1].is_failed);
	CHECK_INT(settings->destinations[0].precision, PRECISION_MICROSECOND);
	CHECK_INT(settings->destinations[0].settles_ms, 12);
	CHECK_INT(settings->destinations[0].first, 15);
	CHECK_INT(settings->destinations[1].until, 16);
	CHECK_INT(settings->moment_count, 2);
	CHECK_STR(settings->moments[0].what, "TAGS");
	CHECK_INT(settings->moments[0].before_count, 0);
	CHECK_STR(settings->moments[1].subject, "some");
	CHECK_INT(settings->moments[1].at_ms, 15);
	CHECK_STR(settings->moments[1].before[0], "12000");
	CHECK(settings->moments[1].before_count == 2 && settings->moments[1].before[1].n == 0);
	CHECK_INT(settings->tags.n, 1);
	CHECK_STR(settings->tags.v[0].key, "team");
	CHECK(str_is_set(settings->tags.v[0].value) && settings->tags.v[0].value.n == 0);
}

static void check_full(const struct table *table)
{
	const struct table_settings *settings = table->settings;

	CHECK(settings->billing == BILLING_PAY_PER_REQUEST && settings->on_demand_since_ms == 5);
	CHECK(settings->throughput.read == 1 && settings->throughput.last_decrease_ms == 5);
	CHECK(settings->on_demand.is_set && settings->on_demand.write == -1 &&
	      settings->warm.read == 12000);
	CHECK_STR(settings->table_class, "STANDARD_INFREQUENT_ACCESS");
	CHECK_STR(settings->replication_mode, "ENABLED");
	CHECK_STR(settings->sse_key, "arn:aws:kms:x");
	CHECK(settings->is_deletion_protected && settings->sse_enabled &&
	      settings->class_changed_ms == 16);
	CHECK_STR(settings->policy.text, "{}");
	CHECK(settings->policy.revision == 1700000000456 &&
	      !str_is_set(settings->stream_policy.text) && settings->stream_policy.revision == 7);
	CHECK(settings->insights.is_enabled && settings->insights.is_throttled_only &&
	      settings->insights.settles_ms == 10);
	CHECK(settings->recovery_days == 35 && settings->recovery_since_ms == 11);
	check_lists(settings);
	CHECK(table->indexes.v[0].settings->throughput.write == 8 &&
	      table->indexes.v[0].settings->insights.changed_ms == 13);
	CHECK_STR(table->streams.v[0].settings->tags.v[0].value, "v");
}

/* What CreateTable, UpdateTable and DescribeTable make of a switch. */
static void check_switch(struct service_fixture *fixture, struct arena *arena,
			 const char *parameter)
{
	struct str on = str_printf(arena, "\"%s\":true", parameter),
		   off = str_printf(arena, "\"%s\":false", parameter), name = str_of(parameter);
	const struct str create =
		str_printf(arena,
			   "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\","
			   "\"AttributeDefinitions\":"
			   "[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}],\"KeySchema\":"
			   "[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}]," STR_FMT "}",
			   parameter, STR_ARG(on));
	const struct str update = str_printf(arena, "{\"TableName\":\"%s\"," STR_FMT "}", parameter,
					     STR_ARG(off)),
			 describe = str_printf(arena, "{\"TableName\":\"" STR_FMT "\"}",
					       STR_ARG(name));

	CHECK(str_contains(service_fixture_call(fixture, arena, STR("CreateTable"), create).body,
			   on));
	CHECK(str_contains(
		service_fixture_call(fixture, arena, STR("DescribeTable"), describe).body, on));
	CHECK_INT(service_fixture_call(fixture, arena, STR("UpdateTable"), update).code, OK);
	CHECK(str_contains(
		service_fixture_call(fixture, arena, STR("DescribeTable"), describe).body, off));
}

TEST(requests_set_and_show_every_switch)
{
	static const char *const parameters[] = {
#define SWITCH(of, member, name, scope, parameter, input, concern) parameter,
#include "protocol/tables/settings.def"
	};
	struct arena *arena = arena_new(0);
	struct service_fixture fixture;

	service_fixture_open(&fixture, arena);
	for (size_t i = 0; i < sizeof(parameters) / sizeof(parameters[0]); i++)
		check_switch(&fixture, arena, parameters[i]);
	service_fixture_close(&fixture);
	arena_free(arena);
}

TEST(every_boolean_parameter_is_a_switch)
{
	static const char *const switches[] = {
#define SWITCH(of, member, name, scope, parameter, input, concern) parameter,
#include "protocol/tables/settings.def"
		"DisassociationProtectionEnabled", /* UpdateTable's alone: concerns.c */
	};
	const struct shape *inputs[] = {&shape_create_table_input, &shape_update_table_input};

	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < inputs[i]->count; k++) {
			const struct shape_member *member = &inputs[i]->members[k];
			bool is_found = member->shape->kind != SHAPE_BOOLEAN;

			for (size_t s = 0; s < sizeof(switches) / sizeof(switches[0]); s++)
				is_found = is_found || strcmp(switches[s], member->name) == 0;
			CHECK(is_found);
		}
	}
}

TEST(a_switch_alone_concerns_updates)
{
#define SWITCH(of, member, name, scope, parameter, input_member, concern)                          \
	CHECK(concerns_of(&(struct update_table_input){.input_member = {true, true}}) ==           \
	      CONCERN_##concern);
#include "protocol/tables/settings.def"
}

TEST(replicas_and_restores_take_settings_of_their_scope)
{
	struct table *table = full_table();
	struct table_settings had = *table->settings, *settings = table->settings;

	settings_keep_table(settings, SETTINGS_REPLICAS);
	CHECK(settings->warm.is_set && str_is_set(settings->table_class) && settings->sse_enabled);
	CHECK(!settings->is_deletion_protected && settings->tags.n == 0 &&
	      settings->destination_count == 0 && !str_is_set(settings->policy.text));
	*settings = had;
	settings_keep_table(settings, SETTINGS_EVERYWHERE);
	CHECK(settings->on_demand.is_set && settings->definition_count == 2 &&
	      settings->billing == BILLING_PAY_PER_REQUEST);
	CHECK(!settings->warm.is_set && !str_is_set(settings->table_class));
	table_unref(table);
}

TEST(the_store_keeps_settings)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = full_table(), *decoded;

	CHECK_INT(table_decode_new(table_encode(arena, table), &settings_records, &decoded, &err),
		  OK);
	check_full(decoded);
	CHECK(!decoded->settings->is_warm_updating && !decoded->settings->is_sse_updating);
	table_unref(decoded);
	table_unref(table);
	arena_free(arena);
}

TEST(a_clone_shares_no_setting)
{
	struct table *table = full_table(), *clone = table_clone(table);

	CHECK(clone->settings->is_warm_updating && clone->settings->is_sse_updating);
	CHECK(clone->settings->moments[1].before != table->settings->moments[1].before);
	table_unref(table); /* with its memory */
	check_full(clone);
	table_unref(clone);
}

TEST(a_policy_from_before_revisions_has_the_tables_time)
{
	struct table *table = full_table();

	CHECK_INT(policy_rules_of(table, false).revision, 1700000000456);
	table->settings->policy.revision = 0;
	CHECK_INT(policy_rules_of(table, false).revision, 3);
	table->settings->stream_policy = (struct policy){STR_ABSENT, 0};
	CHECK_INT(policy_rules_of(table, true).revision, 0);
	table_unref(table);
}

TEST_MAIN(TEST_CASE(the_store_keeps_settings), TEST_CASE(a_clone_shares_no_setting),
	  TEST_CASE(requests_set_and_show_every_switch),
	  TEST_CASE(every_boolean_parameter_is_a_switch),
	  TEST_CASE(a_switch_alone_concerns_updates),
	  TEST_CASE(replicas_and_restores_take_settings_of_their_scope),
	  TEST_CASE(a_policy_from_before_revisions_has_the_tables_time))
