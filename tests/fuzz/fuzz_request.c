/*
 * Requests against a store in memory that has tables of each kind with items in them. Each request
 * is a line with the operation and a body; a line "---" stands between requests. "${NAME}" in a
 * body is what the latest answer said NAME is, so that iterators, tokens and ARNs can be followed.
 * The features that are on follow from the input (features.h). No input may look like our own
 * failure, and what the store says of itself must be right afterwards.
 */
#include "tests/fuzz/features.h"

#define REQUESTS_MAX 16
#define REQUEST_MAX (64 * 1024)
#define INPUTS_PER_STORE                                                                           \
	200 /* so that no store grows without bound and most inputs meet the tables as they were   \
	       made */

#define KEYS(...) "\"KeySchema\":[" __VA_ARGS__ "]"
#define HASH(name) "{\"AttributeName\":\"" name "\",\"KeyType\":\"HASH\"}"
#define RANGE(name) "{\"AttributeName\":\"" name "\",\"KeyType\":\"RANGE\"}"
#define TYPE(name, type) "{\"AttributeName\":\"" name "\",\"AttributeType\":\"" type "\"}"
#define TABLE(name) "{\"TableName\":\"" name "\",\"BillingMode\":\"PAY_PER_REQUEST\","
#define ITEM(table, members) {"PutItem", "{\"TableName\":\"" table "\",\"Item\":{" members "}}"}

/* clang-format off */
static const struct {
	const char *op, *body;
} set_up[] = {
	{"CreateTable", TABLE("tab")
		"\"AttributeDefinitions\":["
		TYPE("pk", "S") "," TYPE("sk", "N") "," TYPE("g", "S") "," TYPE("l", "B") "],"
		KEYS(HASH("pk") "," RANGE("sk")) ","
		"\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\"," KEYS(HASH("g")) ","
		"\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}],"
		"\"LocalSecondaryIndexes\":[{\"IndexName\":\"lsi\","
		KEYS(HASH("pk") "," RANGE("l")) ",\"Projection\":{\"ProjectionType\":\"ALL\"}}],"
		"\"StreamSpecification\":{\"StreamEnabled\":true,"
		"\"StreamViewType\":\"NEW_AND_OLD_IMAGES\"}}"},
	{"UpdateTimeToLive",
		"{\"TableName\":\"tab\","
		"\"TimeToLiveSpecification\":{\"Enabled\":true,\"AttributeName\":\"ttl\"}}"},
	{"CreateTable", TABLE("num")
		"\"AttributeDefinitions\":[" TYPE("pk", "N") "]," KEYS(HASH("pk")) "}"},
	{"CreateTable", TABLE("bin")
		"\"AttributeDefinitions\":[" TYPE("pk", "B") "," TYPE("sk", "S") "],"
		KEYS(HASH("pk") "," RANGE("sk")) "}"},
	{"CreateTable", TABLE("vec")
		"\"AttributeDefinitions\":["
		TYPE("pk", "S") "," TYPE("tenant", "S") "," TYPE("category", "S") "],"
		KEYS(HASH("pk")) ",\"VectorIndexes\":[{\"IndexName\":\"cosine\","
		"\"VectorAttribute\":{\"AttributeName\":\"embedding\"},\"Dimensions\":3,"
		"\"DistanceFunction\":\"COSINE\",\"Projection\":{\"ProjectionType\":\"ALL\"}},"
		"{\"IndexName\":\"schema\","
		"\"VectorAttribute\":{\"AttributeName\":\"embedding\"},\"Dimensions\":3,"
		"\"DistanceFunction\":\"EUCLIDEAN\","
		"\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"},\"SearchSchema\":["
		"{\"AttributeName\":\"tenant\",\"SearchSchemaElementType\":\"HASH\"},"
		"{\"AttributeName\":\"category\","
		"\"SearchSchemaElementType\":\"INLINE_FILTER\"}]}]}"},
	ITEM("tab",
		"\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"1\"},\"g\":{\"S\":\"g\"},"
		"\"l\":{\"B\":\"AAE=\"},\"ttl\":{\"N\":\"1700000100\"},"
		"\"ss\":{\"SS\":[\"x\",\"y\"]}"),
	ITEM("tab",
		"\"pk\":{\"S\":\"a\"},\"sk\":{\"N\":\"-2.5\"},"
		"\"m\":{\"M\":{\"x\":{\"L\":[{\"N\":\"1\"},{\"NULL\":true}]}}}"),
	ITEM("tab", "\"pk\":{\"S\":\"b\"},\"sk\":{\"N\":\"0\"},\"g\":{\"S\":\"g\"}"),
	ITEM("num", "\"pk\":{\"N\":\"1\"},\"a\":{\"S\":\"x\"}"),
	ITEM("bin", "\"pk\":{\"B\":\"AA==\"},\"sk\":{\"S\":\"s\"}"),
	ITEM("vec",
		"\"pk\":{\"S\":\"a\"},\"tenant\":{\"S\":\"t\"},\"category\":{\"S\":\"c\"},"
		"\"embedding\":{\"L\":[{\"N\":\"1\"},{\"N\":\"0\"},{\"N\":\"0.5\"}]}"),
	ITEM("vec",
		"\"pk\":{\"S\":\"b\"},\"tenant\":{\"S\":\"t\"},\"category\":{\"S\":\"d\"},"
		"\"embedding\":{\"L\":[{\"N\":\"-1\"},{\"N\":\"2\"},{\"N\":\"3\"}]}"),
};
/* clang-format on */

static struct service_fixture fixture;
static struct features *features;
static unsigned inputs;     /* of this store; 0: there is none */
static bool is_schema_touched;

/* With FUZZ_COUNT set: how often each operation came to which status, for whoever asks how deep the
 * corpus goes. */
static unsigned counts[128][2];

static void count(const struct op_response *response)
{
	if (response->op)
		counts[op_number(response->op)][response->code != OK]++;
}

static void print_counts(void)
{
	for (size_t i = 0; i < op_count() && i < sizeof(counts) / sizeof(counts[0]); i++) {
		if (op_is_supported(op_at(i)))
			fprintf(stderr, "%-36s %8u done %8u refused\n", op_name(op_at(i)),
				counts[i][0], counts[i][1]);
	}
}

static void open_store(struct arena *arena)
{
	static struct partiql_cache *statements;

	if (!statements)
		statements = partiql_cache_new();
	if (inputs > 0)
		service_fixture_close(&fixture);
	else if (getenv("FUZZ_COUNT"))
		atexit(print_counts);
	service_fixture_open(&fixture, arena);
	if (!features)
		features = features_new(arena);
	fixture.service.statements = statements;
	for (size_t i = 0; i < sizeof(set_up) / sizeof(set_up[0]); i++)
		MUST(service_fixture_call(&fixture, arena, str_of(set_up[i].op),
					  str_of(set_up[i].body))
			     .code == OK);
	inputs = 0;
	is_schema_touched = false;
}

/* What stands behind the last "NAME":" in the answers; absent where there is none. */
static struct str answered(struct arena *arena, struct str answers, struct str name)
{
	struct str key = str_printf(arena, "\"" STR_FMT "\":\"", STR_ARG(name));
	struct str found = STR_ABSENT;

	for (size_t i = 0; i + key.n < answers.n; i++) {
		if (answers.p[i] != '"' || memcmp(answers.p + i, key.p, key.n) != 0)
			continue;
		const char *start = answers.p + i + key.n,
			   *end = memchr(start, '"', answers.n - i - key.n);
		if (end)
			found = (struct str){start, (size_t)(end - start)};
	}
	return found;
}

static struct str fill_in(struct arena *arena, struct str body, struct str answers)
{
	struct buf out = buf_in(arena);

	while (body.n) {
		struct str plain = fuzz_until(&body, '$');

		buf_add_str(&out, plain);
		if (body.p[-1] != '$')
			break;
		if (body.n && *body.p == '{') {
			(void)fuzz_byte(&body);
			buf_add_str(&out, answered(arena, answers, fuzz_until(&body, '}')));
		} else {
			buf_add_byte(&out, '$');
		}
	}
	return buf_str(&out);
}

/* The next request, up to a line "---". */
static struct str next_request(struct str *input)
{
	for (size_t i = 0; i + 5 <= input->n; i++) {
		if (memcmp(input->p + i, "\n---\n", 5) == 0) {
			struct str request = fuzz_bytes(input, i);

			(void)fuzz_bytes(input, 5);
			return request;
		}
	}
	return fuzz_bytes(input, input->n);
}

static bool changes_schema(struct str op)
{
	bool is_about_tables =
		str_contains(op, STR("Table")) || str_contains(op, STR("TimeToLive"));

	return is_about_tables && !str_starts_with(op, STR("Describe")) &&
	       !str_starts_with(op, STR("List"));
}

static void ask(struct arena *arena, struct str request, struct buf *answers)
{
	struct str op = fuzz_until(&request, '\n');
	struct op_request call = {
		.arena = arena,
		.target = str_contains(op, STR(".")) ? op : ops_target(arena, op),
		.body = fill_in(arena, request, buf_str(answers)),
		.authenticate = service_fixture_let_in,
		.access_key = features_access_key,
		.explain = features->is_explained ? OP_EXPLAIN_TOO : OP_EXPLAIN_NOT,
	};
	struct op_response response = {0};

	op_run(&fixture.service, &call, &response);
	MUST(response.code == OK || response.status < 500 ||
	     response.code == ERR_INTERNAL_FAILURE ||
	     response.code == ERR_NO_REGION); /* as AWS fails */
	count(&response);
	is_schema_touched = is_schema_touched || (response.code == OK && changes_schema(op));
	if (response.body.n < REQUEST_MAX)
		buf_add_str(answers, response.body);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = {(const char *)data, size < REQUEST_MAX ? size : REQUEST_MAX};
	struct arena *arena = fuzz_arena();
	struct buf answers = buf_in(arena);

	if (size == 0 || !memchr(data, '\n', size))
		return 0;
	if (inputs == 0 || inputs >= INPUTS_PER_STORE || is_schema_touched)
		open_store(arena);
	inputs++;
	features_choose(features, &fixture.service, str_hash(input, 0), arena);
	for (int i = 0; i < REQUESTS_MAX && input.n; i++)
		ask(arena, next_request(&input), &answers);
	return 0;
}
