/* What the tools for recordings cost, by counts: as much a line for many lines as for few. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "server/recording/compare.h"
#include "server/recording/difference.h"
#include "server/recording/renamed.h"
#include "tests/unit/test.h"

#define LINES 20000
#define KEPT 10000 /* of renamed.c */

static struct arena *arena;

/* A recording of requests of which each `every` are alike. Removed by the caller. */
static const char *record(char *path, size_t lines, size_t every)
{
	int fd = mkstemp(path);
	FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;

	CHECK(file != NULL);
	if (!file)
		exit(1);
	fputs("{\"dynalith_recording\":1,\"values\":\"open\"}\n", file);
	for (size_t i = 0; i < lines; i++)
		fprintf(file,
			"{\"start_us\":%zu,\"end_us\":%zu,\"operation\":\"GetItem\",\"status\":200,"
			"\"request\":{\"n\":%zu},\"response\":{\"n\":%zu}}\n",
			i, i, i / every, i);
	fclose(file);
	return path;
}

static struct difference compare_with(const char *first, const char *second)
{
	struct err err = err_in(arena);
	struct tape *tapes[2] = {NULL, NULL};
	struct difference difference = {0};

	CHECK(tape_open(first, false, &tapes[0], &err) == OK &&
	      tape_open(second, true, &tapes[1], &err) == OK);
	CHECK(difference_print(tapes[0], tapes[1], &difference, &err) == OK);
	tape_close(tapes[0]);
	tape_close(tapes[1]);
	return difference;
}

TEST(equal_requests_cost_no_more_than_others)
{
	static const size_t alike[] = {1, 100, 2 * LINES};

	for (size_t i = 0; i < sizeof(alike) / sizeof(alike[0]); i++) {
		char few[] = "/tmp/dynalith-recording-XXXXXX",
		     many[] = "/tmp/dynalith-recording-XXXXXX";
		struct difference small, large;

		record(few, LINES, alike[i]);
		record(many, 2 * LINES, alike[i]);
		small = compare_with(few, few);
		large = compare_with(many, many);
		CHECK_INT(small.requests, LINES);
		CHECK_INT(small.different,
			  0); /* the first of those that are alike goes with the first */
		CHECK_INT(large.different, 0);
		CHECK(small.steps <= 5 * LINES && large.steps <= 10 * LINES);
		unlink(few);
		unlink(many);
	}
}

static struct str text_of(const char *what, size_t i)
{
	return str_printf(arena, "%s %zu", what, i);
}

TEST(texts_are_renamed)
{
	struct renamed *renamed = renamed_new();

	renamed_add(renamed, STR("token"), STR("another"));
	renamed_add(renamed, STR("quo\"te"), STR("no"));
	renamed_add(renamed, STR("gone"), STR("a\\b"));
	renamed_add(renamed, STR("same"), STR("same"));
	CHECK_STR(
		renamed_apply(renamed, arena,
			      STR("{\"a\":\"token\",\"token\":[\"token\",\"tokens\",\"\\\"token\","
				  "\"gone\"]}")),
		"{\"a\":\"another\",\"another\":[\"another\",\"tokens\",\"\\\"token\",\"gone\"]}");
	CHECK_STR(renamed_apply(renamed, arena, STR("{\"a\":\"token")),
		  "{\"a\":\"another"); /* whatever was recorded */
	CHECK_STR(renamed_apply(renamed, arena, STR("\"a\\")), "\"a\\");
	CHECK_STR(renamed_apply(renamed, arena, STR("")), "");
	renamed_add(renamed, STR("token"), STR("a third"));
	CHECK_STR(renamed_apply(renamed, arena, STR("[\"token\",\"another\"]")),
		  "[\"a third\",\"another\"]");
	for (size_t i = 0; i < 3 * KEPT; i++)
		renamed_add(renamed, text_of("then", i), text_of("now", i));
	CHECK_STR(renamed_apply(renamed, arena,
				STR("[\"token\",\"then 19999\",\"then 20000\",\"then 29999\"]")),
		  "[\"token\",\"then 19999\",\"now 20000\",\"now 29999\"]");
	renamed_free(renamed);
}

static size_t differences_of(const char *first, const char *second)
{
	struct comparison comparison = {
		.arena = arena, .first = "first", .second = "second", .lines = buf_in(arena)};
	struct err err = err_in(arena);
	const struct json *a, *b;

	CHECK(json_parse(arena, str_of(first), &a, &err) == OK &&
	      json_parse(arena, str_of(second), &b, &err) == OK);
	compare_bodies(&comparison, a, b);
	return comparison.n;
}

TEST(order_does_not_matter)
{
	CHECK_INT(
		differences_of("{\"a\":1,\"b\":{\"S\":\"x\"}}", "{\"b\":{\"S\":\"x\"},\"a\":1.0}"),
		0);
	CHECK_INT(differences_of("{\"a\":1,\"b\":2,\"c\":3}", "{\"b\":2,\"a\":1,\"d\":3}"), 2);
	CHECK_INT(differences_of("{\"a\":1,\"a\":2}", "{\"a\":2}"), 1);
	CHECK_INT(differences_of("{\"SS\":[\"a\",\"b\",\"c\"]}", "{\"SS\":[\"c\",\"a\",\"b\"]}"),
		  0);
	CHECK_INT(differences_of("{\"SS\":[\"a\",\"b\",\"\\u0063\"]}",
				 "{\"SS\":[\"c\",\"a\",\"b\"]}"),
		  0);
	CHECK_INT(differences_of("{\"SS\":[\"a\",\"a\",\"b\"]}", "{\"SS\":[\"a\",\"b\",\"b\"]}"),
		  1);
	CHECK_INT(differences_of("{\"NS\":[\"1\"]}", "{\"NS\":[\"2\"]}"), 1);
	CHECK_INT(differences_of("{\"L\":[\"a\",\"b\"]}", "{\"L\":[\"b\",\"a\"]}"), 2);
}

int main(void)
{
	static const struct test_case cases[] = {
		TEST_CASE(equal_requests_cost_no_more_than_others),
		TEST_CASE(texts_are_renamed),
		TEST_CASE(order_does_not_matter),
	};

	arena = arena_new(1 << 20);
	int status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status;
}
