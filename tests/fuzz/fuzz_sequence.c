/*
 * Sequences of up to 64 requests, made by the grammar of the shapes (grammar.h), against a new
 * store in memory with a clock that turns between requests. No request may look like our own
 * failure; what was written is read back; in the end the store's rows agree with each other
 * (storage/check.h), and each way to read a table finds the same items.
 */
#include "protocol/op.h"
#include "protocol/tables/settings.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"
#include "protocol/wire/shape_walk.h"
#include "storage/upkeep/backfill.h"
#include "storage/check.h"
#include "storage/store/sqlite/sqlite_store.h"
#include "storage/upkeep/stream_sweep.h"
#include "storage/upkeep/ttl.h"
#include "tests/fuzz/grammar.h"
#include "tests/unit/protocol/service_fixture.h"
#include "storage/catalog/catalog_size.h"

#define REQUESTS_MAX 64
#define PAGES_MAX 2000
#define NAMESPACE ((struct ns){STR("000000000000"), STR("us-east-1")})

static const struct {
	const char *target;
	const struct shape *input;
	enum surface surface;
} operations[] = {
#define OPERATION(service, name, prefix, type, surface, ...) \
	{#service "." #name, &shape_##type, SURFACE_##surface},
#define ABSENT(service, name)
#include "protocol/ops.def"
};

static struct {
	struct service_fixture fixture;
	struct catalog_options options;
	struct arena *arena;   /* of the input */
	struct arena *request; /* of the request under way */
	struct buf answers;
	int64_t now_ms;
} world;

/* With FUZZ_COUNT set: how often each operation came to which end. */
static unsigned counts[128][2];

static void print_counts(void)
{
	for (size_t i = 0; i < op_count() && i < COUNT_OF(counts); i++) {
		if (op_is_supported(op_at(i)))
			fprintf(stderr, "%-36s %8u done %8u refused\n", op_name(op_at(i)),
				counts[i][0], counts[i][1]);
	}
}

static int64_t tell_time(void *context, struct ns ns)
{
	(void)context, (void)ns;
	return world.now_ms;
}

static bool tell_times(void *context, struct ns ns, int64_t *now_ms)
{
	(void)context, (void)ns;
	*now_ms = world.now_ms;
	return true;
}

/* The answer lies in the request's arena, which grows until the next request of the sequence. */
static struct op_response call(struct str op, struct str body)
{
	struct op_response response = service_fixture_call(&world.fixture, world.request, op, body);
	struct err err = err_in(world.request);
	const struct json *json;

	if (getenv("FUZZ_SHOW"))
		fprintf(stderr, STR_FMT " " STR_FMT "\n    %d " STR_FMT "\n", STR_ARG(op),
			STR_ARG(body), response.status, STR_ARG(response.body));
	/* AWS itself fails at some requests, with these codes */
	MUST(response.status < 500 || response.code == ERR_INTERNAL_FAILURE ||
	     response.code == ERR_MAINTENANCE || response.code == ERR_NO_REGION);
	MUST((response.status == 200) == (response.code == OK));
	if (response.op)
		counts[op_number(response.op)][response.code != OK]++;
	if (response.body.n == 0 && response.code == OK) /* as AWS answers to changes of tags */
		return response;
	MUST(json_parse(world.request, response.body, &json, &err) == OK &&
	     json_type(json) == JSON_OBJECT);
	MUST(response.code == OK || json_member(json, "__type"));
	return response;
}

static const struct json *parsed(struct str text)
{
	struct err err = err_in(world.request);
	const struct json *json = NULL;

	MUST(json_parse(world.request, text, &json, &err) == OK);
	return json;
}

/* A new table, mostly one whose parameters go with each other. */
static void make_create_table(struct grammar *g)
{
	static const char *const views[] = {"NEW_AND_OLD_IMAGES", "KEYS_ONLY", "NEW_IMAGE",
					    "OLD_IMAGE"};
	unsigned parts = fuzz_byte(g->choices);
	bool has_sort_key = grammar_tables[g->table].has_sort_key,
	     has_local = parts & 2 && has_sort_key;

	buf_printf(&g->out,
		   "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\",\"KeySchema\":[{"
		   "\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}%s]",
		   grammar_tables[g->table].name,
		   has_sort_key ? ",{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}" : "");
	buf_printf(&g->out,
		   ",\"AttributeDefinitions\":[{\"AttributeName\":\"pk\",\"AttributeType\":\"S\"}%"
		   "s%s%s]",
		   has_sort_key ? ",{\"AttributeName\":\"sk\",\"AttributeType\":\"N\"}" : "",
		   parts & 1 ? ",{\"AttributeName\":\"g\",\"AttributeType\":\"S\"}" : "",
		   has_local ? ",{\"AttributeName\":\"l\",\"AttributeType\":\"N\"}" : "");
	if (parts & 1)
		buf_printf(&g->out,
			   ",\"GlobalSecondaryIndexes\":[{\"IndexName\":\"gsi\",\"KeySchema\":[{"
			   "\"AttributeName\":\"g\",\"KeyType\":\"HASH\"}],"
			   "\"Projection\":{\"ProjectionType\":\"%s\"}}]",
			   parts & 16 ? "KEYS_ONLY" : "ALL");
	if (has_local)
		buf_printf(&g->out,
			   ",\"LocalSecondaryIndexes\":[{\"IndexName\":\"lsi\",\"KeySchema\":[{"
			   "\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"},"
			   "{\"AttributeName\":\"l\",\"KeyType\":\"RANGE\"}],\"Projection\":{"
			   "\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"n\"]}}]");
	if (parts & 4)
		buf_printf(&g->out,
			   ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"%"
			   "s\"}",
			   GRAMMAR_PICK(g, views));
	if (parts & 8)
		grammar_text(g, ",\"VectorIndexes\":[{\"IndexName\":\"near\",\"VectorAttribute\":{"
				"\"AttributeName\":\"v\"},\"Dimensions\":3,\"DistanceFunction\":"
				"\"COSINE\",\"Projection\":{\"ProjectionType\":\"ALL\"}}]");
	buf_add_byte(&g->out, '}');
}

/* One change to a table. */
static void make_update_table(struct grammar *g)
{
	static const char *const changes[] = {
		"\"AttributeDefinitions\":[{\"AttributeName\":\"n\",\"AttributeType\":\"N\"}],"
		"\"GlobalSecondaryIndexUpdates\":[{\"Create\":{\"IndexName\":\"late\","
		"\"KeySchema\":[{\"AttributeName\":\"n\",\"KeyType\":\"HASH\"}],\"Projection\":{"
		"\"ProjectionType\":\"ALL\"}}}]",
		"\"GlobalSecondaryIndexUpdates\":[{\"Delete\":{\"IndexName\":\"late\"}}]",
		"\"GlobalSecondaryIndexUpdates\":[{\"Delete\":{\"IndexName\":\"gsi\"}}]",
		"\"StreamSpecification\":{\"StreamEnabled\":false}",
		"\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_"
		"IMAGES\"}",
		"\"VectorIndexUpdates\":[{\"Create\":{\"IndexName\":\"near\",\"VectorAttribute\":{"
		"\"AttributeName\":\"v\"},\"Dimensions\":3,\"DistanceFunction\":"
		"\"EUCLIDEAN\",\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}}]",
		"\"VectorIndexUpdates\":[{\"Delete\":{\"IndexName\":\"near\"}}]",
		"\"DeletionProtectionEnabled\":true",
		"\"DeletionProtectionEnabled\":false",
	};

	buf_printf(&g->out, "{\"TableName\":\"%s\",%s}", grammar_tables[g->table].name,
		   GRAMMAR_PICK(g, changes));
}

/* Upkeep does its work, as it does when the clock is turned. */
static void turn_clock(struct str *choices)
{
	static const int64_t steps[] = {1000,           3600000, 86400000,
					5 * 86400000ll, 60000,   40 * 86400000ll};
	const struct times times = {.tell = tell_times};
	struct err err = err_in(world.request);
	uint64_t deleted = 0;
	bool more = true;
	int64_t wait_ms = 0;

	world.now_ms += steps[fuzz_byte(choices) % COUNT_OF(steps)];
	for (int i = 0; i < 100 && wait_ms == 0; i++)
		MUST(backfill_step(world.fixture.service.catalog, &times, &wait_ms, &err) == OK);
	MUST(wait_ms > 0);
	for (int i = 0; i < 100 && more; i++)
		MUST(ttl_sweep(world.fixture.service.catalog, &times, 0, &deleted, &more, &err) ==
		     OK);
	MUST(stream_sweep(world.fixture.service.catalog, &times, &err) == OK);
}

/* The value that a request or an answer means. */
static struct value value_of(const struct json *json)
{
	struct err err = err_in(world.request), value_err = err;
	struct walk walk = {.arena = world.request,
			    .err = &err,
			    .value_err = &value_err,
			    .depth_max = VALUE_DEPTH_MAX};
	struct value value;

	MUST(json && shape_read_attribute(&walk, json, &value) == OK && value_err.code == OK);
	return value;
}

static bool is_same_item(const struct json *a, const struct json *b)
{
	if (json_count(a) != json_count(b))
		return false;
	for (const struct json *member = json_first(a); member; member = json_next(member)) {
		const struct json *other = json_member(b, json_name(world.request, member).p);

		if (!other)
			return false;
		struct value left = value_of(member), right = value_of(other);
		if (!value_equal(&left, &right))
			return false;
	}
	return true;
}

static void add_value(struct json_out *out, const struct json *json)
{
	struct value value = value_of(json);

	json_out_value(out, &value);
}

/* GetItem finds the item under its own key, or nothing where it is not `is_there`. `item` may be
 * the key alone then. */
static void check_item(struct str table, const struct json *item, bool is_there)
{
	struct json_out out = json_out_in(world.request);
	const struct json *sort_key = json_member(item, "sk");
	bool has_sort_key = false;

	for (size_t i = 0; i < COUNT_OF(grammar_tables); i++)
		has_sort_key = has_sort_key || (str_eq(table, str_of(grammar_tables[i].name)) &&
						grammar_tables[i].has_sort_key);
	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", table);
	json_out_field_boolean(&out, "ConsistentRead", true);
	json_out_name(&out, STR("Key"));
	json_out_open(&out, '{');
	json_out_name(&out, STR("pk"));
	add_value(&out, json_member(item, "pk"));
	if (has_sort_key) {
		json_out_name(&out, STR("sk"));
		add_value(&out, sort_key);
	}
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	struct op_response response = call(STR("GetItem"), json_out_str(&out));
	MUST(response.code == OK);
	const struct json *found = json_member(parsed(response.body), "Item");
	MUST(is_there ? found && is_same_item(item, found) : !found);
}

/* The tables of the grammar have the keys that it says; others, named by their ARN, are not looked
 * at. */
static bool is_known(const struct json *name, struct str *out)
{
	if (!name || json_type(name) != JSON_STRING)
		return false;
	*out = json_string(world.request, name);
	for (size_t i = 0; i < COUNT_OF(grammar_tables); i++) {
		if (str_eq(*out, str_of(grammar_tables[i].name)))
			return true;
	}
	return false;
}

/* One put or delete, of a request that was answered. */
static void check_part(const struct json *put, const struct json *key, const struct json *name)
{
	struct str table;

	if (!is_known(name, &table))
		return;
	if (put)
		check_item(table, json_member(put, "Item"), true);
	if (key)
		check_item(table, json_member(key, "Key"), false);
}

static void check_transaction(const struct json *body)
{
	for (const struct json *action = json_first(json_member(body, "TransactItems")); action;
	     action = json_next(action)) {
		const struct json *put = json_member(action, "Put"),
				  *deleted = json_member(action, "Delete");

		if (put || deleted)
			check_part(put, deleted, json_member(put ? put : deleted, "TableName"));
	}
}

static void check_batch(const struct json *body)
{
	const struct json *tables = json_member(body, "RequestItems");

	for (const struct json *table = json_first(tables); table; table = json_next(table)) {
		struct str name = json_name(world.request, table);

		for (const struct json *part = json_first(table); part && name.n < 4;
		     part = json_next(part)) {
			const struct json *put = json_member(part, "PutRequest"),
					  *deleted = json_member(part, "DeleteRequest");

			if (put)
				check_item(name, json_member(put, "Item"), true);
			else
				check_item(name, json_member(deleted, "Key"), false);
		}
	}
}

/* What a write that was answered wrote can be read. */
static void check_write(struct str op, struct str text, const struct op_response *response)
{
	const struct json *body;
	struct err err = err_in(world.request);
	struct str table;

	if (response->code != OK || json_parse(world.request, text, &body, &err) != OK)
		return;
	/* a transaction that is repeated by its token writes nothing */
	if (str_eq(op, STR("TransactWriteItems")) && !json_member(body, "ClientRequestToken"))
		check_transaction(body);
	else if (str_eq(op, STR("BatchWriteItem")))
		check_batch(body);
	else if (str_eq(op, STR("PutItem")))
		check_part(body, NULL, json_member(body, "TableName"));
	else if (str_eq(op, STR("DeleteItem")))
		check_part(NULL, body, json_member(body, "TableName"));
	if (!str_eq(op, STR("UpdateItem")) || !is_known(json_member(body, "TableName"), &table))
		return;
	const struct json *returned = json_member(body, "ReturnValues"),
			  *attributes = json_member(parsed(response->body), "Attributes");
	if (returned && attributes && str_eq(json_string(world.request, returned), STR("ALL_NEW")))
		check_item(table, attributes, true);
}

static void remember(struct str answer)
{
	if (world.answers.n > GRAMMAR_ANSWERS_MAX)
		world.answers = buf_in(world.arena);
	if (answer.n < GRAMMAR_ANSWERS_MAX / 4)
		buf_add_str(&world.answers, answer);
}

/* One request of the operation. */
static void ask_for(size_t number, struct str *choices)
{
	struct grammar g = {
		world.request, choices, buf_str(&world.answers), buf_in(world.request), 0,
		false,         false};
	struct str op = str_of(strchr(operations[number].target, '.') + 1);

	grammar_choose_table(&g);
	if (str_eq(op, STR("CreateTable")) && !grammar_rarely(&g, 8))
		make_create_table(&g);
	else if (str_eq(op, STR("UpdateTable")) && !grammar_rarely(&g, 4))
		make_update_table(&g);
	else
		grammar_structure(&g, operations[number].input);
	struct op_response response = call(op, buf_str(&g.out));
	remember(response.body);
	check_write(op, buf_str(&g.out), &response);
}

static size_t number_of(const char *target)
{
	size_t i = 0;

	while (strcmp(operations[i].target, target) != 0)
		i++;
	return i;
}

/* The plainest request of an operation whose answer the next one has use for. */
static void ask_before(const char *target)
{
	ask_for(number_of(target), &(struct str){"", 0});
}

static void ask(struct str *input)
{
	unsigned first = fuzz_byte(input);

	if (first >= 250) {
		turn_clock(input);
		return;
	}
	size_t number = (first + number_of("DYNAMODB.PutItem")) % COUNT_OF(operations);
	/* requests for items are what most of the others are for */
	for (size_t i = 0; first >= 128 && i < COUNT_OF(operations) &&
			   operations[number].surface == SURFACE_OLDER;
	     i++)
		number = (number + 1) % COUNT_OF(operations);
	bool is_records = number == number_of("STREAMS.GetRecords"),
	     is_iterator = number == number_of("STREAMS.GetShardIterator");
	if ((is_records || is_iterator) && first % 2)
		ask_before("STREAMS.DescribeStream");
	if (is_records && first % 2)
		ask_before("STREAMS.GetShardIterator");
	ask_for(number, input);
}

/* Reads all pages of a table or an index; its items are looked up by their keys where it is a
 * table. */
static size_t scan(struct str table, struct str index, unsigned limit)
{
	struct str start = STR_ABSENT;
	size_t n = 0;

	for (int page = 0; page < PAGES_MAX; page++) {
		struct buf body = buf_in(world.request);

		buf_printf(&body, "{\"TableName\":\"" STR_FMT "\",\"Limit\":%u", STR_ARG(table),
			   limit);
		if (str_is_set(index))
			buf_printf(&body, ",\"IndexName\":\"" STR_FMT "\"", STR_ARG(index));
		if (str_is_set(start))
			buf_printf(&body, ",\"ExclusiveStartKey\":" STR_FMT, STR_ARG(start));
		buf_add_byte(&body, '}');
		struct op_response response = call(STR("Scan"), buf_str(&body));
		MUST(response.code == OK);
		const struct json *answer = parsed(response.body);
		for (const struct json *item = json_first(json_member(answer, "Items")); item;
		     item = json_next(item), n++) {
			if (!str_is_set(index) && limit > 1)
				check_item(table, item, true);
		}
		if (!json_member(answer, "LastEvaluatedKey"))
			return n;
		struct grammar g = {world.request,
				    &(struct str){"", 0},
				    response.body,
				    buf_in(world.request),
				    0,
				    false,
				    false};
		start = grammar_answered(&g, "LastEvaluatedKey");
	}
	MUST(false);
	return 0;
}

/* What the catalog counts, by the writes or by all rows. */
static void count_size(struct str name, size_t place, uint64_t *items, uint64_t *bytes)
{
	struct err err = err_in(world.request);
	struct table *table;

	MUST(catalog_get(world.fixture.service.catalog, NAMESPACE, name, world.now_ms, &table,
			 &err) == OK);
	const struct index *index = place == 0 ? NULL : table_index_at(table, place - 1);
	MUST(catalog_size(world.fixture.service.catalog, table, index, items, bytes, &err) == OK);
	table_unref(table);
}

/* Every way to read the table and its indexes finds as many items, and so do the counters. */
static void check_table(struct str name, uint64_t sizes[][2], size_t *n)
{
	struct err err = err_in(world.request);
	struct table *table;

	if (catalog_get(world.fixture.service.catalog, NAMESPACE, name, world.now_ms, &table,
			&err) != OK)
		return;
	bool is_readable =
		table->state.status == STATUS_ACTIVE || table->state.status == STATUS_UPDATING;
	for (size_t i = 0; i <= table_index_total(table) && is_readable; i++, ++*n) {
		const struct index *index = i == 0 ? NULL : table_index_at(table, i - 1);
		struct str index_name = index ? index->name : STR_ABSENT;

		count_size(name, i, &sizes[*n][0], &sizes[*n][1]);
		if (index && (index->vector || index->status != STATUS_ACTIVE))
			continue;
		size_t whole = scan(name, index_name, 1000);
		MUST(scan(name, index_name, 1) == whole);
		MUST(sizes[*n][0] == whole);
	}
	table_unref(table);
}

static void tell_finding(void *context, struct str line)
{
	(void)context;
	fprintf(stderr, STR_FMT "\n", STR_ARG(line));
}

/* The rows agree with each other, and a catalog that is opened on them again sees what the one that
 * wrote them saw. */
static void check_all(void)
{
	struct check_report report = {.tell = tell_finding};
	struct err err = err_in(world.request);
	uint64_t sizes[128][2] = {{0}}, again[128][2] = {{0}};
	size_t n = 0, n_again = 0;

	MUST(check_store(world.fixture.store, &settings_records, world.now_ms, &report, &err) ==
	     OK);
	MUST(report.findings == 0);
	for (size_t i = 0; i < COUNT_OF(grammar_tables); i++)
		check_table(str_of(grammar_tables[i].name), sizes, &n);
	struct str tables = call(STR("ListTables"), STR("{}")).body;
	catalog_close(world.fixture.service.catalog);
	MUST(catalog_open(world.fixture.store, &world.options, &world.fixture.service.catalog,
			  &err) == OK);
	MUST(str_eq(tables, call(STR("ListTables"), STR("{}")).body));
	for (size_t i = 0; i < COUNT_OF(grammar_tables); i++)
		check_table(str_of(grammar_tables[i].name), again, &n_again);
	MUST(n == n_again && memcmp(sizes, again, sizeof(sizes)) == 0);
}

static void open_world(struct str *input)
{
	struct sqlite_store_options options = {.readers = 1, .cache_bytes = 1 << 20};
	struct err err = err_in(world.arena);
	unsigned how = fuzz_byte(input);

	world.options = (struct catalog_options){.settings = &settings_records,
						 .vector_memory_bytes = how & 1 ? 0 : 1 << 20,
						 .rotation = {.records = how & 2 ? 3 : 0}};
	world.fixture = (struct service_fixture){.service = {.now_ms = tell_time,
							     .statements = partiql_cache_new(),
							     .is_timed = how >= 240}};
	MUST(sqlite_store_open(&options, &world.fixture.store, &err) == OK);
	MUST(catalog_open(world.fixture.store, &world.options, &world.fixture.service.catalog,
			  &err) == OK);
	world.now_ms = SERVICE_FIXTURE_NOW_MS;
	world.answers = buf_in(world.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = {(const char *)data, size};

	if (size == 0)
		return 0;
	if (!world.request && getenv("FUZZ_COUNT"))
		atexit(print_counts);
	if (!world.request)
		world.request = arena_new(1 << 20);
	world.arena = fuzz_arena();
	open_world(&input);
	/* tables that most sequences have use for */
	for (unsigned i = 0; i < 2; i++) {
		struct str choices = fuzz_bytes(&input, 2);
		struct grammar g = {world.request, &choices, STR_ABSENT, buf_in(world.request), i,
				    false,         false};

		make_create_table(&g);
		struct op_response response = call(STR("CreateTable"), buf_str(&g.out));
		MUST(response.code == OK);
		remember(response.body);
	}
	for (int i = 0; i < REQUESTS_MAX && input.n; i++) {
		ask(&input);
		arena_reset(world.request);
	}
	check_all();
	partiql_cache_free(world.fixture.service.statements);
	service_fixture_close(&world.fixture);
	arena_reset(world.request);
	return 0;
}
