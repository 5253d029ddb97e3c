#include "server/mask/suggest.h"

#include "core/buf.h"
#include "server/mask/kind.h"
#include "server/mask/mask.h"
#include "tests/unit/test.h"

/* The mask that is suggested for items, each in a line of its own. */
static struct str suggested(struct arena *arena, const char *items)
{
	struct err err = err_in(arena);
	struct suggest *suggest = suggest_new();
	struct faker *faker = faker_new(STR("secret"));
	const struct mask_options options = {
		.faker = faker, .met = suggest_met, .context = suggest};
	const struct json *description;
	struct str rest = str_of(items);
	struct mask *mask;

	CHECK(json_parse(arena, STR("{\"KeySchema\":[{\"AttributeName\":\"PK\"}]}"), &description,
			 &err) == OK);
	CHECK(mask_new(NULL, &options, &mask, &err) == OK);
	suggest_table(suggest, STR("app"), description);
	while (rest.n > 0) {
		suggest_next_item(suggest);
		(void)mask_item(mask, arena, STR("app"), str_cut(&rest, '\n'));
	}
	struct str out = suggest_write(suggest, arena);
	mask_free(mask);
	faker_free(faker);
	suggest_free(suggest);
	return out;
}

TEST(names_of_attributes)
{
	CHECK(kind_of_name(STR("customerEmail")) == KIND_MAIL);
	CHECK(kind_of_name(STR("emailStatus")) == KIND_PLAIN);
	CHECK(kind_of_name(STR("first_name")) == KIND_NAME);
	CHECK(kind_of_name(STR("userID")) == KIND_ID);
	CHECK(kind_of_name(STR("phones")) == KIND_PHONE);
	CHECK(kind_of_name(STR("x")) == KIND_NONE);
}

TEST(forms_of_values)
{
	CHECK(kind_of_text(STR("a@b.example")) == KIND_MAIL);
	CHECK(kind_of_text(STR("DE89370400440532013000")) == KIND_IBAN);
	CHECK(kind_of_text(STR("4111 1111 1111 1111")) == KIND_CARD);
	CHECK(kind_of_text(STR("192.0.2.17")) == KIND_NETWORK);
	CHECK(kind_of_text(STR("2001:db8::17")) == KIND_NETWORK);
	CHECK(kind_of_text(STR("+49 170 1234567")) == KIND_PHONE);
	CHECK(kind_of_text(STR("52.52001,13.40495")) == KIND_PLACE);
	CHECK(kind_of_text(STR("2024-02-03T10:11:12Z")) == KIND_MOMENT);
	CHECK(kind_of_text(STR("12345678-1234-1234-1234-123456789abc")) == KIND_ID);
	CHECK(kind_of_text(STR("one two three four five six seven")) == KIND_TEXT);
	CHECK(kind_of_text(STR("open")) == KIND_NONE);
	CHECK(kind_of_text(STR("")) == KIND_NONE);
}

TEST(words_of_the_schema_stand_in_templates_and_values_do_not)
{
	struct arena *arena = arena_new(0);
	struct str out =
		suggested(arena, "{\"PK\":{\"S\":\"USER#anna\"},\"crew\":{\"S\":\"x\"}}\n"
				 "{\"PK\":{\"S\":\"USER#anna#ORDER#7\"},\"n\":{\"N\":\"7\"}}\n"
				 "{\"PK\":{\"S\":\"CREW#berta\"},\"n\":{\"N\":\"7\"}}\n"
				 "{\"PK\":{\"S\":\"BERTA#1\"},\"n\":{\"N\":\"7\"}}");

	CHECK(str_contains(out, STR("\"template\":[\"USER#<fake>#ORDER#<fake>\",\"CREW#<fake>\","
				    "\"USER#<fake>\",\"<fake>#<fake>\"]")));
	CHECK(!str_contains(out, STR("anna")) && !str_contains(out, STR("BERTA")));
	arena_free(arena);
}

TEST(names_of_members_that_are_values)
{
	struct arena *arena = arena_new(0);
	struct str out =
		suggested(arena, "{\"PK\":{\"S\":\"a\"},\"m\":{\"M\":{\"anna\":{\"M\":{\"email\":{"
				 "\"S\":\"a@b.example\"}}},\"x@y.example\":{\"S\":\"q\"}}}}\n"
				 "{\"PK\":{\"S\":\"b\"},\"m\":{\"M\":{\"berta\":{\"M\":{\"email\":{"
				 "\"S\":\"b@b.example\"}}}}}}\n"
				 "{\"PK\":{\"S\":\"c\"},\"m\":{\"M\":{\"clara\":{\"M\":{\"email\":{"
				 "\"S\":\"c@b.example\"}}}}}}\n"
				 "{\"PK\":{\"S\":\"d\"},\"m\":{\"M\":{\"dora\":{\"M\":{\"email\":{"
				 "\"S\":\"d@b.example\"}}}}}}");

	CHECK(str_contains(out, STR("{\"path\":\"m.*.email\",\"action\":\"fake\"")));
	CHECK(!str_contains(out, STR("anna")) && !str_contains(out, STR("y.example")));
	arena_free(arena);
}

TEST(what_holds_a_masked_value_is_masked)
{
	struct arena *arena = arena_new(0);
	struct str out =
		suggested(arena, "{\"PK\":{\"S\":\"a\"},\"userName\":{\"S\":\"berta17\"},\"type\":{"
				 "\"S\":\"is-berta17-own\"},\"status\":{\"S\":\"OPEN\"}}");

	CHECK(str_contains(out,
			   STR("{\"path\":\"type\",\"action\":\"fake\",\"comment\":\"unsure: ")));
	CHECK(str_contains(out, STR("{\"path\":\"status\",\"action\":\"keep\"")));
	arena_free(arena);
}

TEST_MAIN(TEST_CASE(names_of_attributes), TEST_CASE(forms_of_values),
	  TEST_CASE(words_of_the_schema_stand_in_templates_and_values_do_not),
	  TEST_CASE(names_of_members_that_are_values),
	  TEST_CASE(what_holds_a_masked_value_is_masked))
