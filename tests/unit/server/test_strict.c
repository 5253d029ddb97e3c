#include "server/mask/strict.h"

#include "tests/unit/test.h"

#define KEYS                                                                                       \
	"[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"                                        \
	"{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}]"

struct fixture {
	struct arena *arena;
	struct faker *faker;
	struct mask *mask;
	struct strict *strict;
	const struct json *keys;
	struct err err;
};

static struct fixture begin(const char *rules)
{
	struct fixture f = {.arena = arena_new(0), .faker = faker_new(STR("s"))};
	const struct mask_options options = {.faker = f.faker};
	const struct json *root = NULL;

	f.err = err_in(f.arena);
	CHECK(json_parse(f.arena, str_of(rules), &root, &f.err) == OK);
	CHECK(mask_new(root, &options, &f.mask, &f.err) == OK);
	CHECK(json_parse(f.arena, STR(KEYS), &f.keys, &f.err) == OK);
	f.strict = strict_new();
	return f;
}

static void end(struct fixture *f)
{
	strict_free(f->strict);
	mask_free(f->mask);
	faker_free(f->faker);
	arena_free(f->arena);
}

static enum code take(struct fixture *f, const char *table, const char *item)
{
	struct str out;

	return strict_item(f->strict, f->mask, f->arena, str_of(table), f->keys, str_of(item), &out,
			   &f->err);
}

TEST(keys_that_become_equal)
{
	struct fixture f = begin("{\"rules\":[{\"path\":\"pk\",\"action\":\"bucket\",\"size\":10},"
				 "{\"path\":\"*\",\"action\":\"keep\"}]}");

	CHECK(take(&f, "t", "{\"pk\":{\"N\":\"12\"},\"sk\":{\"S\":\"a\"}}") == OK);
	/* another sort key, another table, the same item once more */
	CHECK(take(&f, "t", "{\"pk\":{\"N\":\"13\"},\"sk\":{\"S\":\"b\"}}") == OK);
	CHECK(take(&f, "u", "{\"pk\":{\"N\":\"13\"},\"sk\":{\"S\":\"a\"}}") == OK);
	CHECK(take(&f, "t", "{\"sk\": {\"S\": \"a\"}, \"pk\": {\"N\": \"12\"}}") == OK);
	CHECK(take(&f, "t", "{\"pk\":{\"N\":\"13\"},\"sk\":{\"S\":\"a\"}}") == ERR_VALIDATION);
	CHECK(str_contains(f.err.message, STR("keys of the table t equal")));
	CHECK(!str_contains(f.err.message, STR("13")));
	/* again: one that is passed over does not open the way for the next */
	CHECK(take(&f, "t", "{\"pk\":{\"N\":\"13\"},\"sk\":{\"S\":\"a\"}}") == ERR_VALIDATION);
	end(&f);
}

TEST(values_without_a_rule)
{
	struct fixture f = begin("{\"rules\":[{\"path\":\"pk\",\"action\":\"keep\"},"
				 "{\"path\":\"sk\",\"action\":\"keep\"}]}");

	CHECK(take(&f, "t", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"a\"}}") == OK);
	CHECK(strict_check(f.mask, &f.err) == OK);
	CHECK(take(&f, "t",
		   "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"b\"},\"mail\":{\"S\":\"x\"},"
		   "\"m\":{\"M\":{\"n\":{\"N\":\"1\"}}}}") == OK);
	CHECK(take(&f, "t", "{\"pk\":{\"S\":\"a\"},\"sk\":{\"S\":\"c\"},\"mail\":{\"S\":\"y\"}}") ==
	      OK);
	CHECK(strict_check(f.mask, &f.err) == ERR_VALIDATION);
	CHECK(str_contains(f.err.message, STR("t: mail (2), t: m.n (1); add rules")));
	mask_forget_unknowns(f.mask);
	CHECK(strict_check(f.mask, &f.err) == OK);
	end(&f);
}

TEST_MAIN(TEST_CASE(keys_that_become_equal), TEST_CASE(values_without_a_rule))
