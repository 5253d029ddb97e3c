/*
 * Decisions by IAM policies. tests/iam/decisions.json has them as data: see its "about". With
 * arguments, FILE: a line of JSON per case in, a line per decision out, for tests/iam/agree, which
 * compares with an evaluator of its own.
 */
#include "protocol/iam/decide.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/buf.h"
#include "storage/monotonic.h"
#include "tests/unit/test.h"

static struct arena *arena;

static struct str text_of(const struct json *object, const char *name, struct str otherwise)
{
	const struct json *value = json_member(object, name);

	return value ? json_string(arena, value) : otherwise;
}

static struct iam_context read_context(const struct json *object)
{
	struct iam_key *keys =
		ARENA_ARRAY(arena, struct iam_key, object ? json_count(object) + 1 : 1);
	struct iam_context context = {0, keys};

	for (const struct json *one = object ? json_first(object) : NULL; one;
	     one = json_next(one)) {
		bool is_list = json_type(one) == JSON_ARRAY;
		struct str *values =
			ARENA_ARRAY(arena, struct str, is_list ? json_count(one) + 1 : 1);
		size_t n = 0;

		for (const struct json *value = is_list ? json_first(one) : one; value;
		     value = is_list ? json_next(value) : NULL)
			values[n++] = json_string(arena, value);
		keys[context.n++] = (struct iam_key){json_name(arena, one), n, values, is_list};
	}
	return context;
}

struct unit_case {
	struct iam_who who;
	struct iam_question question;
	struct str malformed; /* the error of a policy; else absent */
};

static const struct iam_policy *read_policy(struct unit_case *it, const struct json *document,
					    enum iam_policy_kind kind, unsigned *number)
{
	struct iam_policy *policy = ARENA_NEW(arena, struct iam_policy);
	struct err err = err_in(arena);

	if (!document || json_type(document) == JSON_NULL)
		return NULL;
	if (iam_policy_read(arena, document, kind, number, policy, &err) != OK)
		it->malformed = err.message;
	return policy;
}

static void read_case(const struct json *json, struct unit_case *it)
{
	const struct json *identity = json_member(json, "identity");
	bool is_list = identity && json_type(identity) == JSON_ARRAY;
	unsigned number = 0;

	*it = (struct unit_case){.malformed = STR_ABSENT};
	CHECK(iam_who_read(arena,
			   text_of(json, "principal", STR("arn:aws:iam::123456789012:user/x")),
			   &it->who));
	struct iam_policy *policies =
		ARENA_ARRAY(arena, struct iam_policy, is_list ? json_count(identity) + 1 : 1);
	for (const struct json *one = is_list ? json_first(identity) : identity; one;
	     one = is_list ? json_next(one) : NULL) {
		const struct iam_policy *policy = read_policy(it, one, IAM_OF_IDENTITY, &number);

		if (policy)
			policies[it->who.identity_count++] = *policy;
	}
	it->who.identity = policies;
	it->who.boundary = read_policy(it, json_member(json, "boundary"), IAM_OF_IDENTITY, &number);
	it->who.session = read_policy(it, json_member(json, "session"), IAM_OF_IDENTITY, &number);
	it->question = (struct iam_question){
		.action = text_of(json, "action", STR("dynamodb:GetItem")),
		.resource = text_of(json, "resource",
				    STR("arn:aws:dynamodb:us-east-1:123456789012:table/T")),
		.account = text_of(json, "account", STR("123456789012")),
		.policy = read_policy(it, json_member(json, "policy"), IAM_OF_RESOURCE, &number),
		.context = read_context(json_member(json, "context")),
	};
}

/* "allow", the end of AWS's message, or the error of a policy. */
static struct str outcome(struct unit_case *it)
{
	struct err err = err_in(arena);

	if (str_is_set(it->malformed))
		return it->malformed;
	struct iam_decision decision = iam_decide(&it->who, &it->question, arena, NULL);
	if (decision.is_allowed)
		return STR("allow");
	CHECK(iam_refuse(&it->who, &it->question, &decision, &err) == ERR_ACCESS_DENIED);
	struct str head = str_printf(arena,
				     "User: " STR_FMT " is not authorized to perform: " STR_FMT
				     " on resource: " STR_FMT " ",
				     STR_ARG(it->who.arn), STR_ARG(it->question.action),
				     STR_ARG(it->question.resource));
	CHECK(str_starts_with(err.message, head));
	return (struct str){err.message.p + head.n, err.message.n - head.n};
}

static struct str read_whole(const char *name)
{
	FILE *file = fopen(name, "rb");
	struct buf buf = buf_in(arena);
	size_t n;

	if (!file)
		return STR_ABSENT;
	do {
		n = fread(buf_reserve(&buf, 1 << 16), 1, 1 << 16, file);
		buf.n += n;
	} while (n > 0);
	fclose(file);
	return buf_str(&buf);
}

TEST(decisions_are_those_of_the_table)
{
	struct str text = read_whole("tests/iam/decisions.json");
	const struct json *root, *groups;
	struct err err = err_in(arena);
	size_t n = 0;

	CHECK(json_parse(arena, text, &root, &err) == OK);
	groups = json_member(root, "groups");
	for (const struct json *group = json_first(groups); group; group = json_next(group)) {
		CHECK(text_of(group, "source", STR("")).n > 0);
		for (const struct json *one = json_first(json_member(group, "cases")); one;
		     one = json_next(one)) {
			struct unit_case it;
			struct str wanted = text_of(one, "expect", STR("")), found;

			read_case(one, &it);
			found = outcome(&it);
			if (!str_eq(found, wanted))
				fprintf(stderr, "%.*s, case %zu (" STR_FMT "): " STR_FMT "\n",
					STR_ARG(text_of(group, "name", STR(""))), n,
					STR_ARG(text_of(one, "why", STR(""))), STR_ARG(found));
			CHECK_STR(found, str_copy(arena, wanted).p);
			n++;
		}
	}
	CHECK(n >= 400);
}

static void answer_lines(const char *name)
{
	struct str rest = read_whole(name);

	while (rest.n > 0) {
		struct str line = str_cut(&rest, '\n');
		const struct json *json;
		struct err err = err_in(arena);
		struct unit_case it;

		if (json_parse(arena, line, &json, &err) != OK)
			exit(EXIT_FAILURE);
		read_case(json, &it);
		printf(STR_FMT "\n", STR_ARG(outcome(&it)));
	}
}

/* What fits is what this says, by its definition: any number of characters for IAM_ANY, one for
 * IAM_ONE. */
static bool fits_naively(struct str pattern, struct str text)
{
	struct str rest = pattern.n > 0 ? (struct str){pattern.p + 1, pattern.n - 1} : pattern;
	size_t n = 1;

	if (pattern.n == 0)
		return text.n == 0;
	if (pattern.p[0] == IAM_ANY && fits_naively(rest, text))
		return true;
	if (text.n == 0)
		return false;
	while (n < text.n && ((unsigned char)text.p[n] & 0xC0) == 0x80)
		n++;
	if (pattern.p[0] == IAM_ANY)
		return fits_naively(pattern, (struct str){text.p + n, text.n - n});
	if (pattern.p[0] == IAM_ONE)
		return fits_naively(rest, (struct str){text.p + n, text.n - n});
	return pattern.p[0] == text.p[0] &&
	       fits_naively(rest, (struct str){text.p + 1, text.n - 1});
}

static struct str random_text(uint64_t *random, const char *const *letters, unsigned count,
			      unsigned most)
{
	struct buf buf = buf_in(arena);

	*random = *random * 6364136223846793005u + 1442695040888963407u;
	for (unsigned n = (unsigned)(*random >> 33) % (most + 1); n > 0; n--) {
		*random = *random * 6364136223846793005u + 1442695040888963407u;
		buf_add_str(&buf, str_of(letters[(*random >> 33) % count]));
	}
	return buf_str(&buf);
}

TEST(patterns_fit_as_their_definition_says)
{
	static const char *const letters[] = {"a", "b", "é"}, *const pieces[] = {"a",    "b",
										 "é",    "\xff",
										 "\xff", "\xfe"};
	uint64_t random = 1;
	unsigned fitting = 0;

	for (unsigned i = 0; i < 200000; i++) {
		struct str pattern = random_text(&random, pieces, 6, 7),
			   text = random_text(&random, letters, 3, 9);
		bool fits = iam_pattern_fits(arena, pattern, text, false);

		CHECK(fits == fits_naively(pattern, text));
		CHECK(fits == iam_pattern_fits(arena, pattern, text, true));
		fitting += fits;
		if (i % 1000 == 0)
			arena_reset(arena);
	}
	CHECK(fitting > 10000);
}

static uint64_t readings;

static uint64_t count_readings(void)
{
	return readings++;
}

/* Trying each place would take 2.4e10 comparisons, a minute. */
TEST(a_pattern_of_many_stars_is_linear)
{
	const size_t text_size = 4000000, piece_size = 6000;
	char *text = arena_bytes(arena, text_size), *pattern = arena_bytes(arena, piece_size + 2);

	memset(text, 'a', text_size);
	memset(pattern, 'a', piece_size + 2);
	pattern[0] = IAM_ANY;
	pattern[piece_size + 1] = 'b';
	CHECK(!iam_pattern_fits(arena, (struct str){pattern, piece_size + 2},
				(struct str){text, text_size}, false));
	pattern[piece_size + 1] = IAM_ANY;
	CHECK(iam_pattern_fits(arena, (struct str){pattern, piece_size + 2},
			       (struct str){text, text_size}, false));
	for (size_t i = 0; i < piece_size + 2; i += 2)
		pattern[i] = IAM_ANY;
	pattern[piece_size + 1] = 'b';
	CHECK(!iam_pattern_fits(arena, (struct str){pattern, piece_size + 2},
				(struct str){text, text_size}, false));
}

/* A piece with IAM_ONE is tried at each place: that counts as time, and its end decides nothing. */
TEST(a_decision_stops_where_the_time_is_up)
{
	const size_t n = 200000;
	char *text = arena_bytes(arena, n), *pattern = arena_bytes(arena, n);
	struct arena *short_lived = arena_new(1 << 16);

	memset(text, 'a', n);
	memset(pattern, 'a', n);
	pattern[0] = IAM_ANY;
	pattern[1] = IAM_ONE;
	pattern[n / 2] = 'b';
	pattern[n / 2 + 1] = IAM_ANY;
	struct iam_pattern value = {.text = {pattern, n / 2 + 2}};
	struct iam_pattern any = {.text = {"\xff", 1}};
	struct str name = {text, n};
	struct iam_test test = {.operator= iam_operator_find(STR("StringLike")),
				.quantifier = IAM_FOR_ANY,
				.key = STR("k"),
				.values = {1, &value}};
	const struct iam_statement statements[] = {
		{.actions = {1, &any}, .resources = {1, &any}},
		{.is_deny = true,
		 .actions = {1, &any},
		 .resources = {1, &any},
		 .test_count = 1,
		 .tests = &test},
	};
	struct iam_policy policy = {.n = 2, .statements = statements};
	const struct iam_key key = {STR("k"), 1, &name, true};
	struct iam_who who = {.account = STR("123456789012"),
			      .is_user = true,
			      .identity_count = 1,
			      .identity = &policy};
	struct iam_question question = {.action = STR("dynamodb:PutItem"),
					.resource = STR("r"),
					.account = who.account,
					.context = {1, &key}};

	readings = 0;
	arena_limit_time(short_lived, count_readings, 100);
	CHECK(!iam_decide(&who, &question, short_lived, NULL).is_allowed);
	CHECK(arena_is_late(short_lived));
	CHECK(readings < 110);
	arena_free(short_lived);
}

/* A decision by ten statements, as docs/iam.md has it: printed, for nothing here asserts a time. */
TEST(a_decision_by_ten_statements)
{
	const char *text =
		"{\"identity\": {\"Version\": \"2012-10-17\", \"Statement\": ["
		"{\"Effect\": \"Allow\", \"Action\": \"s3:*\", \"Resource\": \"*\"}, {\"Effect\": "
		"\"Allow\", \"Action\": \"dynamodb:List*\", \"Resource\": \"*\"},"
		"{\"Effect\": \"Allow\", \"Action\": [\"dynamodb:GetItem\", \"dynamodb:Query\"], "
		"\"Resource\": \"arn:aws:dynamodb:*:*:table/Other\"},"
		"{\"Effect\": \"Allow\", \"Action\": \"dynamodb:Scan\", \"Resource\": \"*\"}, "
		"{\"Effect\": \"Deny\", \"Action\": \"dynamodb:Delete*\", \"Resource\": \"*\"},"
		"{\"Effect\": \"Deny\", \"Action\": \"dynamodb:*\", \"Resource\": \"*\", "
		"\"Condition\": {\"StringNotEquals\": {\"aws:RequestedRegion\": \"us-east-1\"}}},"
		"{\"Effect\": \"Deny\", \"NotAction\": \"dynamodb:*Item\", \"Resource\": \"*\"}, "
		"{\"Effect\": \"Allow\", \"Action\": \"sqs:*\", \"Resource\": \"*\"},"
		"{\"Effect\": \"Allow\", \"Action\": \"sns:*\", \"Resource\": \"*\"}, {\"Effect\": "
		"\"Allow\", \"Action\": \"dynamodb:*Item\", \"Resource\": "
		"\"arn:aws:dynamodb:*:*:table/T*\","
		"\"Condition\": {\"ForAllValues:StringLike\": {\"dynamodb:LeadingKeys\": "
		"\"TENANT#${aws:PrincipalTag/tenant}#*\"}}}]},"
		"\"context\": {\"aws:RequestedRegion\": \"us-east-1\", "
		"\"aws:PrincipalTag/tenant\": \"a\", \"dynamodb:LeadingKeys\": [\"TENANT#a#1\"]}}";
	const struct json *json;
	struct err err = err_in(arena);
	struct arena *scratch = arena_new(1 << 16);
	struct unit_case it;
	const unsigned rounds = 10000;
	uint64_t start;

	CHECK(json_parse(arena, str_of(text), &json, &err) == OK);
	read_case(json, &it);
	CHECK_STR(outcome(&it), "allow");
	start = monotonic_ns();
	for (unsigned i = 0; i < rounds; i++) {
		CHECK(iam_decide(&it.who, &it.question, scratch, NULL).is_allowed);
		arena_reset(scratch);
	}
	printf("%.2f us for a decision by 10 statements\n",
	       (double)(monotonic_ns() - start) / 1000 / rounds);
	arena_free(scratch);
}

int main(int argc, char **argv)
{
	static const struct test_case cases[] = {TEST_CASE(decisions_are_those_of_the_table),
						 TEST_CASE(a_decision_by_ten_statements),
						 TEST_CASE(patterns_fit_as_their_definition_says),
						 TEST_CASE(a_pattern_of_many_stars_is_linear),
						 TEST_CASE(a_decision_stops_where_the_time_is_up)};
	int status = 0;

	arena = arena_new(1 << 20);
	if (argc > 1)
		answer_lines(argv[1]);
	else
		status = test_run(__FILE__, cases, sizeof(cases) / sizeof(cases[0]));
	arena_free(arena);
	return status || test_failures ? EXIT_FAILURE : EXIT_SUCCESS;
}
