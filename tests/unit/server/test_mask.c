#include "server/mask/mask.h"

#include "core/buf.h"
#include "tests/unit/test.h"

static struct mask *new_mask(struct arena *arena, const struct mask_options *options,
			     const char *rules)
{
	struct err err = err_in(arena);
	const struct json *root;
	struct mask *mask = NULL;

	CHECK(json_parse(arena, str_of(rules), &root, &err) == OK);
	CHECK(mask_new(root, options, &mask, &err) == OK);
	return mask;
}

static void refuses(const char *rules, const char *message)
{
	struct arena *arena = arena_new(0);
	struct err err = err_in(arena);
	const struct mask_options options = {.is_lenient = false};
	const struct json *root;
	struct mask *mask;

	CHECK(json_parse(arena, str_of(rules), &root, &err) == OK);
	CHECK(mask_new(root, &options, &mask, &err) == ERR_VALIDATION);
	CHECK(str_contains(err.message, str_of(message)));
	arena_free(arena);
}

/* `format` has the fake of "ann" where %.*s stands, as often as it does. */
static void becomes(const char *rules, const char *item, const char *format)
{
	struct arena *arena = arena_new(0);
	struct faker *faker = faker_new(STR("secret"));
	const struct mask_options options = {.faker = faker};
	struct mask *mask = new_mask(arena, &options, rules);
	struct str fake = fake_text(faker, arena, STR("ann"));
	struct buf wanted = buf_in(arena);
	size_t n;

	for (const char *at = format; *at; at++) {
		if (*at == '$')
			buf_add_str(&wanted, fake);
		else
			buf_add_byte(&wanted, *at);
	}
	struct str out = mask_item(mask, arena, STR("t"), str_of(item));
	CHECK_STR(out, str_copy(arena, buf_str(&wanted)).p);
	(void)mask_unknowns(mask, &n);
	CHECK_INT((int)n, 0);
	mask_free(mask);
	faker_free(faker);
	arena_free(arena);
}

TEST(one_value_has_one_fake_everywhere)
{
	becomes("{\"rules\":[{\"path\":\"pk\",\"action\":\"template\",\"template\":[\"ORG#<keep>\","
		"\"U#<fake>#x\"]},{\"path\":\"m\",\"action\":\"fake\"},{\"path\":\"m.k\","
		"\"action\":"
		"\"keep\"},{\"path\":\"s[]\",\"action\":\"fake\"},{\"path\":\"b\",\"action\":"
		"\"keep\"}]}",
		"{\"pk\":{\"S\":\"U#ann#x\"},\"m\":{\"M\":{\"l\":{\"L\":[{\"S\":\"ann\"}]},\"k\":{"
		"\"S\":"
		"\"ann\"}}},\"s\":{\"SS\":[\"ann\"]},\"b\":{\"BOOL\":true}}",
		"{\"pk\":{\"S\":\"U#$#x\"},\"m\":{\"M\":{\"l\":{\"L\":[{\"S\":\"$\"}]},\"k\":{"
		"\"S\":"
		"\"ann\"}}},\"s\":{\"SS\":[\"$\"]},\"b\":{\"BOOL\":true}}");
}

TEST(json_in_strings)
{
	becomes("{\"rules\":[{\"path\":\"j\",\"action\":\"keep\"},{\"path\":\"j.who[].name\","
		"\"action\":"
		"\"fake\"},{\"path\":\"j.x\",\"action\":\"drop\"}]}",
		"{\"j\":{\"S\":\"{\\\"who\\\": [{\\\"name\\\":\\\"ann\\\"}], "
		"\\\"n\\\":1.10,\\\"x\\\":2}\"}}",
		"{\"j\":{\"S\":\"{\\\"who\\\":[{\\\"name\\\":\\\"$\\\"}],\\\"n\\\":1.10}\"}}");
}

TEST(actions)
{
	becomes("{\"rules\":[{\"path\":\"*\",\"action\":\"redact\"},{\"path\":\"d\",\"action\":"
		"\"drop\"},"
		"{\"path\":\"n\",\"action\":\"bucket\",\"size\":10},{\"path\":\"z\",\"action\":"
		"\"bucket\","
		"\"size\":2},{\"path\":\"k\",\"action\":\"keep\",\"when\":{\"z\":\"12*\"}},{"
		"\"path\":\"o\","
		"\"action\":\"keep\",\"when\":{\"z\":\"x\"}}]}",
		"{\"d\":{\"S\":\"x\"},\"n\":{\"N\":\"-12\"},\"z\":{\"S\":\"12345\"},\"r\":{\"S\":"
		"\"x\"},"
		"\"q\":{\"N\":\"5\"},\"k\":{\"S\":\"k\"},\"o\":{\"S\":\"o\"},\"e\":{\"NULL\":true}"
		"}",
		"{\"n\":{\"N\":\"-20\"},\"z\":{\"S\":\"12\"},\"r\":{\"S\":\"REDACTED\"},\"q\":{"
		"\"N\":\"0\"},"
		"\"k\":{\"S\":\"k\"},\"o\":{\"S\":\"REDACTED\"},\"e\":{\"NULL\":true}}");
}

TEST(what_no_rule_names_is_counted)
{
	struct arena *arena = arena_new(0);
	struct faker *faker = faker_new(STR("secret"));
	const struct mask_options options = {.faker = faker};
	struct mask *mask = new_mask(arena, &options,
				     "{\"rules\":[{\"path\":\"a\",\"action\":\"keep\"},{\"path\":"
				     "\"never\",\"action\":\"drop\"},{\"path\":\"p\",\"action\":"
				     "\"template\",\"template\":\"X#<fake>\"}]}");
	struct str item = STR(
			   "{\"a\":{\"S\":\"1\"},\"m\":{\"M\":{\"x\":{\"L\":[{\"S\":\"1\"},{\"S\":"
			   "\"2\"}]}}},\"p\":{\"S\":\"Y#1\"}}"),
		   path;
	size_t n, at = 0;

	CHECK_STR(mask_item(mask, arena, STR("t"), item),
		  "{\"a\":{\"S\":\"1\"},\"m\":{\"M\":{\"x\":{\"L\":[]}}}}");
	const struct mask_unknown *unknowns = mask_unknowns(mask, &n);
	CHECK_INT((int)n, 2);
	CHECK_STR(unknowns[0].path, "m.x[]");
	CHECK_INT((int)unknowns[0].count, 2);
	CHECK_STR(unknowns[1].path, "p");
	CHECK(mask_unused(mask, &at, &path));
	CHECK_STR(path, "never");
	CHECK(!mask_unused(mask, &at, &path));
	mask_free(mask);
	faker_free(faker);
	arena_free(arena);
}

TEST(rules_that_are_none)
{
	refuses("{}", "wanted {\"rules\"");
	refuses("{\"rules\":[{\"path\":\"\",\"action\":\"keep\"}]}", "rule 1: \"path\"");
	refuses("{\"rules\":[{\"path\":\"a\",\"action\":\"kep\"}]}", "rule 1: \"action\"");
	refuses("{\"rules\":[{\"path\":\"a\",\"action\":\"keep\",\"size\":1}]}",
		"unknown member \"size\" of this action");
	refuses("{\"rules\":[],\"ruels\":[]}", "wanted {\"rules\"");
	refuses("{\"rules\":[{\"path\":\"a\",\"action\":\"keep\",\"x\":1}]}",
		"unknown member \"x\"");
	refuses("{\"rules\":[{\"path\":\"a\",\"action\":\"shift\"}]}", "\"days\"");
	refuses("{\"rules\":[{\"path\":\"a\",\"action\":\"template\",\"template\":\"<fake><hash>\"}"
		"]}",
		"\"template\"");
}

TEST_MAIN(TEST_CASE(one_value_has_one_fake_everywhere), TEST_CASE(json_in_strings),
	  TEST_CASE(actions), TEST_CASE(what_no_rule_names_is_counted),
	  TEST_CASE(rules_that_are_none))
