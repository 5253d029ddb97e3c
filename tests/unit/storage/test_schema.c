#include "storage/schema/record.h"
#include "tests/unit/storage/data_fixture.h"

/* Settings that only this test knows. */
struct pair {
	struct str key;
	enum type type;
};
struct section {
	struct str name;
	size_t word_count;
	struct str *words;
};
struct table_settings {
	bool is_on, is_shown; /* the second is not stored */
	enum { SMALL, LARGE } size;
	int64_t number;
	struct str text;
	size_t pair_count, part_count;
	struct pair *pairs;
	struct section *parts;
};
struct index_settings {
	struct {
		int64_t units;
	} inner;
};
struct stream_settings {
	struct str color;
};

static const struct field pair_fields[] = {RECORD_FIELD(pair, key, "key", FIELD_STR),
					   RECORD_FIELD(pair, type, "type", FIELD_TYPE)};
static const struct field part_fields[] = {
	RECORD_FIELD(section, name, "name", FIELD_STR),
	RECORD_ARRAY(section, words, word_count, "words", FIELD_STRINGS, NULL),
};
static const struct record pair_record = RECORD(pair, pair_fields),
			   part_record = RECORD(section, part_fields);
static const struct field of_table[] = {
	RECORD_FIELD(table_settings, is_on, "is_on", FIELD_BOOL),
	RECORD_FIELD(table_settings, size, "size", FIELD_INT),
	RECORD_FIELD(table_settings, number, "number.of", FIELD_INT),
	RECORD_FIELD(table_settings, text, "text", FIELD_STR),
	RECORD_ARRAY(table_settings, pairs, pair_count, "pairs", FIELD_FLAT, &pair_record),
	RECORD_ARRAY(table_settings, parts, part_count, "parts", FIELD_LIST, &part_record),
};
static const struct field of_index[] = {
	RECORD_FIELD(index_settings, inner.units, "inner.units", FIELD_INT)};
static const struct field of_stream[] = {RECORD_FIELD(stream_settings, color, "color", FIELD_STR)};
static const struct record table_kept = RECORD(table_settings, of_table),
			   index_kept = RECORD(index_settings, of_index);
static const struct record stream_kept = RECORD(stream_settings, of_stream);
static const struct settings_records kept = {&table_kept, &index_kept, &stream_kept};

static void fill_settings(struct table *table)
{
	struct table_settings *settings = ARENA_NEW(table->arena, struct table_settings);

	table->records = &kept;
	table->settings = settings;
	*settings =
		(struct table_settings){true, true, LARGE, -7, STR("some words"), 2, 2, NULL, NULL};
	settings->pairs = ARENA_ARRAY(table->arena, struct pair, 2);
	settings->pairs[0] = (struct pair){STR("a"), TYPE_S};
	settings->pairs[1] = (struct pair){STR(""), TYPE_N};
	settings->parts = ARENA_ARRAY(table->arena, struct section, 2);
	settings->parts[0] = (struct section){STR("empty"), 0, NULL};
	settings->parts[1] =
		(struct section){STR("full"), 2, ARENA_ARRAY(table->arena, struct str, 2)};
	settings->parts[1].words[0] = STR("one");
	settings->parts[1].words[1] = STR("");
	for (size_t i = 0; i < table->indexes.n; i++) {
		table->indexes.v[i].settings = table_index_settings(table);
		table->indexes.v[i].settings->inner.units = (int64_t)i + 8;
	}
	for (size_t i = 0; i < table->streams.n; i++)
		table->streams.v[i].settings = table_stream_settings(table);
	table->streams.v[1].settings->color = STR("blue");
}

/* Every field with a value that is not its default. */
static struct table *full_table(void)
{
	struct table *table = data_table("full");

	table->identity.account = STR("123456789012");
	table->identity.region = STR("eu-west-1");
	table->identity.number = 77;
	table->identity.id = STR("01234567-89ab-4cde-8f01-23456789abcd");
	table->identity.created_ms = 1700000000123;
	table->state.status = STATUS_UPDATING;
	table->state.settles_ms = 1700000000999;
	table->streams.view = STREAM_NEW_AND_OLD_IMAGES;
	table->streams.label = STR("2026-01-01T00:00:00.000");
	table->streams.n = 2;
	table->streams.v = ARENA_ARRAY(table->arena, struct stream, 2);
	table->streams.v[0] = (struct stream){.label = STR("a"), .number = 1, .disabled_ms = 14};
	table->streams.v[1] = (struct stream){.label = STR("b"), .number = 2};
	table->indexes.next = 9;
	for (uint32_t i = 0; i < table->indexes.n; i++) {
		table->indexes.v[i].number = i + 2;
		table_index_derive(table, &table->indexes.v[i]);
	}
	table->indexes.v[SOME].status = STATUS_CREATING;
	table->indexes.v[SOME].is_backfilling = true;
	table->indexes.v[ALL].is_by_reference = true;
	fill_settings(table);
	return table;
}

static void check_settings(const struct table *table)
{
	const struct table_settings *settings = table->settings;

	CHECK(settings->is_on && settings->size == LARGE && settings->number == -7);
	CHECK_STR(settings->text, "some words");
	CHECK_INT(settings->pair_count, 2);
	CHECK_STR(settings->pairs[0].key, "a");
	CHECK(settings->pairs[0].type == TYPE_S && settings->pairs[1].type == TYPE_N &&
	      settings->pairs[1].key.n == 0);
	CHECK_INT(settings->part_count, 2);
	CHECK_STR(settings->parts[0].name, "empty");
	CHECK_INT(settings->parts[0].word_count, 0);
	CHECK_INT(settings->parts[1].word_count, 2);
	CHECK_STR(settings->parts[1].words[0], "one");
	CHECK(str_is_set(settings->parts[1].words[1]) && settings->parts[1].words[1].n == 0);
	CHECK_INT(table->indexes.v[SOME].settings->inner.units, 8 + SOME);
	CHECK(!str_is_set(table->streams.v[0].settings->color));
	CHECK_STR(table->streams.v[1].settings->color, "blue");
}

static void check_full(struct arena *arena, const struct table *table)
{
	CHECK_STR(table->identity.account, "123456789012");
	CHECK_STR(table->identity.name, "full");
	CHECK_INT(table->identity.number, 77);
	CHECK_STR(table->identity.id, "01234567-89ab-4cde-8f01-23456789abcd");
	CHECK_INT(table->identity.created_ms, 1700000000123);
	CHECK_INT(table->state.status, STATUS_UPDATING);
	CHECK_INT(table->state.settles_ms, 1700000000999);
	CHECK_INT(table->streams.view, STREAM_NEW_AND_OLD_IMAGES);
	CHECK_STR(table->streams.label, "2026-01-01T00:00:00.000");
	CHECK_INT(table->streams.n, 2);
	CHECK_INT(table->streams.v[0].disabled_ms, 14);
	CHECK_INT(table->keys.range_count, 1);
	CHECK_STR(table->keys.attributes[1].name, "sk");
	CHECK_INT(table->keys.attributes[1].type, TYPE_N);
	CHECK_INT(table->indexes.next, 9);
	CHECK_INT(table->indexes.n, 3);
	CHECK(table->indexes.v[LOCAL].is_local && !table->indexes.v[ALL].is_local);
	CHECK_INT(table->indexes.v[ALL].number, 3);
	CHECK_STR(table->indexes.v[SOME].name, "some");
	CHECK_INT(table->indexes.v[SOME].keys.range_count, 0);
	CHECK_INT(table->indexes.v[SOME].projected_count, 4);
	CHECK_STR(table->indexes.v[SOME].projected[0], "a");
	CHECK_STR(table->indexes.v[SOME].projected[3], "sk");
	CHECK(table->indexes.v[SOME].is_backfilling);
	CHECK(table->indexes.v[ALL].is_by_reference && !table->indexes.v[SOME].is_by_reference);
	CHECK_STR(table_arn(arena, table), "arn:aws:dynamodb:eu-west-1:123456789012:table/full");
	check_settings(table);
}

TEST(a_record_holds_everything)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = full_table(), *decoded;

	CHECK_INT(table_decode_new(table_encode(arena, table), &kept, &decoded, &err), OK);
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

	CHECK(clone->identity.name.p != table->identity.name.p &&
	      clone->settings->parts[1].words != table->settings->parts[1].words &&
	      clone->settings->is_shown);
	CHECK(clone->tally == table->tally);
	table_unref(table);
	check_full(arena, clone);
	table_unref(clone);
	arena_free(arena);
}

TEST(what_is_absent_stays_absent)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = data_table("plain"), *decoded;

	table->indexes.n = 0;
	table->identity.account = table->identity.region = table->identity.id = STR("x");
	CHECK_INT(table_decode_new(table_encode(arena, table), &kept, &decoded, &err), OK);
	CHECK(!str_is_set(decoded->streams.label) && !str_is_set(decoded->settings->text) &&
	      decoded->settings->part_count == 0);
	CHECK_INT(decoded->indexes.n, 0);
	table_unref(decoded);
	table_unref(table);
	arena_free(arena);
}

/* A record with settings that this program does not know, and one from before they were there. */
TEST(settings_need_not_be_known)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	struct table *table = full_table(), *decoded;

	CHECK_INT(table_decode_new(table_encode(arena, table), NULL, &decoded, &err), OK);
	CHECK(!decoded->settings && !decoded->indexes.v[SOME].settings &&
	      !decoded->streams.v[1].settings);
	CHECK_INT(decoded->indexes.n, 3);
	table_unref(table);
	struct str record = table_encode(arena, decoded);
	table_unref(decoded);
	CHECK_INT(table_decode_new(record, &kept, &decoded, &err), OK);
	CHECK(decoded->settings->number == 0 && decoded->settings->pair_count == 0 &&
	      decoded->indexes.v[SOME].settings->inner.units == 0);
	table_unref(decoded);
	arena_free(arena);
}

TEST(an_index_is_found_by_its_name)
{
	struct table *table = full_table();

	CHECK(table_index(table, STR("all")) == &table->indexes.v[ALL]);
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
		CHECK_INT(table_decode_new((struct str){record.p, n}, &kept, &decoded, &err),
			  ERR_INTERNAL);
	for (size_t i = 0; i < record.n; i++) {
		char *bytes = arena_bytes(arena, record.n);

		memcpy(bytes, record.p, record.n);
		bytes[i] = (char)(bytes[i] ^ 0xFF);
		if (table_decode_new((struct str){bytes, record.n}, &kept, &decoded, &err) == OK)
			table_unref(decoded);
	}
	table_unref(table);
	arena_free(arena);
}

/* A field of another type, or a number out of its range, is as malformed as missing bytes. */
TEST(records_with_wrong_fields_are_refused)
{
	static const char *const names[] = {"version", "hash_count", "keys", "indexes", "is_on",
					    "pairs",   "parts",      "text", "name",    "status"};
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
		CHECK_INT(table_decode_new(data_image(&d, &map), &kept, &decoded, &d.err),
			  ERR_INTERNAL);
		for (uint32_t k = 0; k < map.n; k++) {
			if (str_eq(members[k].name, str_of(names[i])))
				members[k].value = data_value(&d, "N99999999999");
		}
		CHECK_INT(table_decode_new(data_image(&d, &map), &kept, &decoded, &d.err),
			  ERR_INTERNAL);
	}
	table_unref(table);
	data_free(&d);
}

TEST_MAIN(TEST_CASE(a_record_holds_everything), TEST_CASE(a_clone_shares_only_the_counters),
	  TEST_CASE(what_is_absent_stays_absent), TEST_CASE(settings_need_not_be_known),
	  TEST_CASE(an_index_is_found_by_its_name), TEST_CASE(malformed_records_are_refused),
	  TEST_CASE(records_with_wrong_fields_are_refused))
