#include "server/tools/pull_work.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base64.h"
#include "core/buf.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"
#include "storage/monotonic.h"

#define MARKS "dynalith-pull" /* the table of how far each table was read */
#define BATCH 25              /* items of a BatchWriteItem */
#define TRIES 12              /* of a request that the source throttles or fails */
#define WAIT_MS_MAX 20000
#define LINE_NS 10000000000ull
#define UNITS_USUAL 100.0
#define SAMPLE_SEGMENTS 16

/* How far a table was read. */
struct pull_mark {
	struct str key; /* LastEvaluatedKey as it stands; empty: at its start */
	uint64_t items;
	bool is_done;
};

static struct str error_type(struct arena *arena, struct str body, struct str *message)
{
	struct str type, text;

	json_text_error(arena, body, &type, &text);
	*message = str_is_set(type)
			   ? str_printf(arena, STR_FMT ": " STR_FMT, STR_ARG(type), STR_ARG(text))
			   : STR("no answer of DynamoDB's");
	return type;
}

static bool is_passing(int status, struct str type)
{
	static const char *const passing[] = {"ProvisionedThroughputExceededException",
					      "ThrottlingException", "RequestLimitExceeded",
					      "Throttling", "InternalServerError"};

	for (size_t i = 0; i < sizeof(passing) / sizeof(passing[0]); i++) {
		if (str_eq(type, str_of(passing[i])))
			return true;
	}
	return status >= 500;
}

static enum code pull_refused(struct str table, const char *operation, struct str type,
			      struct str message, struct err *err)
{
	if (str_eq(type, STR("AccessDeniedException")))
		return err_set(err, MSG_PULL_DENIED, STR_ARG(table), operation, STR_ARG(message));
	return err_set(err, MSG_PULL_REMOTE, STR_ARG(table), STR_ARG(str_of(operation)),
		       STR_ARG(message));
}

/* Asks the source, again where it throttles. */
static enum code pull_ask(const struct pull *pull, struct arena *arena, struct str table,
			  const char *operation, struct str body, struct str *answer,
			  struct err *err)
{
	struct str target = str_printf(arena, "DynamoDB_20120810.%s", operation), type, message;

	for (unsigned try = 0, ms = 50;; try++, ms = ms * 2 < WAIT_MS_MAX ? ms * 2 : WAIT_MS_MAX) {
		struct client_reply reply = {.status = 0};
		const char *problem = "";
		bool is_answered = elsewhere_send_in(pull->source, arena, pull->region, target,
						     body, &reply, &problem);

		if (is_answered && reply.status == 200) {
			*answer = reply.body;
			return OK;
		}
		type = STR("");
		message = str_of(problem);
		if (is_answered)
			type = error_type(arena, reply.body, &message);
		if (str_eq(type, STR("ExpiredTokenException")) && try < TRIES &&
		    pull->renew(pull->context))
			continue;
		if (try == TRIES || !is_answered || !is_passing(reply.status, type))
			return pull_refused(table, operation, type, message, err);
		monotonic_sleep_ms(ms);
	}
}

/* Carries an operation out in the file. */
static enum code pull_do(const struct pull *pull, struct arena *arena, struct str table,
			 const char *operation, struct str body, struct str *answer,
			 struct err *err)
{
	const struct seed_request request = {
		.operation = operation, .body = body, .region = pull->target.region};
	struct seed_reply reply;
	struct str message;
	enum code code = pull->target.send(pull->target.context, arena, &request, &reply, err);

	if (code != OK)
		return code;
	*answer = reply.body;
	if (reply.status == 200)
		return OK;
	(void)error_type(arena, reply.body, &message);
	return err_set(err, MSG_PULL_HERE, STR_ARG(table), STR_ARG(message));
}

static double number_of(const struct json *object, const char *name)
{
	const struct json *found = json_text_get(object, name, JSON_NUMBER);

	return found ? json_number(found) : 0;
}

enum code pull_work_describe(const struct pull *pull, struct arena *arena, struct pull_table *table,
			     struct err *err)
{
	const struct json *root;
	struct str body = json_text_request(arena, "TableName", table->name), answer;
	enum code code = pull_ask(pull, arena, table->name, "DescribeTable", body, &answer, err);

	if (code != OK)
		return code;
	code = json_parse(arena, answer, &root, err);
	if (code != OK)
		return code;
	table->description = json_text_get(root, "Table", JSON_OBJECT);
	if (!table->description)
		return err_set(err, MSG_PULL_REMOTE, STR_ARG(table->name),
			       STR_ARG(STR("DescribeTable")), STR_ARG(STR("no table in it")));
	table->items = number_of(table->description, "ItemCount");
	table->bytes = number_of(table->description, "TableSizeBytes");
	double provisioned =
		number_of(json_text_get(table->description, "ProvisionedThroughput", JSON_OBJECT),
			  "ReadCapacityUnits");
	table->max_units = pull->max_units > 0 ? pull->max_units
			   : provisioned > 0   ? provisioned / 10
					       : UNITS_USUAL;
	code = pull_ask(pull, arena, table->name, "DescribeTimeToLive", body, &table->expiry, err);
	if (code != OK)
		return code;
	struct str arn = json_text_string(arena, table->description, "TableArn");
	return pull_ask(pull, arena, table->name, "ListTagsOfResource",
			json_text_request(arena, "ResourceArn", arn), &table->tags, err);
}

static enum code pull_save_mark(const struct pull *pull, struct arena *arena, struct str table,
				const struct pull_mark *mark, struct err *err)
{
	struct str plain = str_printf(
		arena, "{\"rules\":\"" STR_FMT "\",\"items\":%llu,\"done\":%s,\"key\":" STR_FMT "}",
		STR_ARG(pull->fingerprint), (unsigned long long)mark->items,
		mark->is_done ? "true" : "false", STR_ARG(mark->key.n > 0 ? mark->key : STR("{}")));
	struct buf body = buf_in(arena);
	struct str answer;

	buf_printf(&body,
		   "{\"TableName\":\"" MARKS "\",\"Item\":{\"id\":{\"S\":\"" STR_FMT
		   "\"},\"mark\":{\"B\":\"",
		   STR_ARG(table));
	base64_encode(fake_seal(pull->faker, arena, plain), &body);
	buf_add_lit(&body, "\"}}}");
	return pull_do(pull, arena, table, "PutItem", buf_str(&body), &answer, err);
}

static enum code pull_read_mark(const struct pull *pull, struct arena *arena, struct str text,
				struct pull_mark *mark, struct err *err)
{
	const struct json *root;
	struct str sealed, plain;
	enum code code = json_parse(arena, text, &root, err);

	if (code != OK)
		return code;
	const struct json *item = json_text_get(root, "Item", JSON_OBJECT);
	struct str encoded = json_text_string(arena, json_text_get(item, "mark", JSON_OBJECT), "B");
	if (!base64_decode(arena, encoded, &sealed) ||
	    !fake_open(pull->faker, arena, sealed, &plain))
		return err_set(err, MSG_PULL_OTHER, pull->part);
	code = json_parse(arena, plain, &root, err);
	if (code != OK)
		return code;
	if (!str_eq(json_text_string(arena, root, "rules"), pull->fingerprint))
		return err_set(err, MSG_PULL_OTHER, pull->part);
	mark->items = (uint64_t)number_of(root, "items");
	mark->is_done = json_boolean(json_member(root, "done"));
	mark->key = json_text_find(plain, STR("key"));
	if (mark->key.n <= 2)
		mark->key = STR("");
	return OK;
}

static const char marks_table[] =
	"{\"TableName\":\"" MARKS "\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
	"[{\"AttributeName\":\"id\",\"AttributeType\":\"S\"}],\"KeySchema\":[{\"AttributeName\":"
	"\"id\",\"KeyType\":\"HASH\"}]}";

static bool is_in_file(const struct pull *pull, struct arena *arena, struct str table)
{
	struct err ignored = err_in(arena);
	struct str answer;

	return pull_do(pull, arena, table, "DescribeTable",
		       json_text_request(arena, "TableName", table), &answer, &ignored) == OK;
}

static enum code pull_find_mark(const struct pull *pull, struct arena *arena, struct str table,
				struct pull_mark *mark, struct err *err)
{
	struct str body = str_printf(arena,
				     "{\"TableName\":\"" MARKS "\",\"ConsistentRead\":true,\"Key\":"
				     "{\"id\":{\"S\":\"" STR_FMT "\"}}}",
				     STR_ARG(table)),
		   answer;
	enum code code = OK;

	*mark = (struct pull_mark){.key = STR("")};
	if (!is_in_file(pull, arena, STR(MARKS)))
		code = pull_do(pull, arena, table, "CreateTable", str_of(marks_table), &answer,
			       err);
	if (code != OK)
		return code;
	code = pull_do(pull, arena, table, "GetItem", body, &answer, err);
	if (code != OK)
		return code;
	if (!str_is_set(json_text_find(answer, STR("Item")))) /* before the first item is written */
		return pull_save_mark(pull, arena, table, mark, err);
	return pull_read_mark(pull, arena, answer, mark, err);
}

/* Writes the items that `body` holds. */
static enum code pull_write_batch(const struct pull *pull, struct arena *arena, struct str table,
				  struct buf *body, struct err *err)
{
	struct str answer;

	buf_add_lit(body, "]}}");
	return pull_do(pull, arena, table, "BatchWriteItem", buf_str(body), &answer, err);
}

/* Masks and writes a page's items; *n counts them. */
static enum code pull_write_page(const struct pull *pull, struct arena *arena, struct str table,
				 struct str items, uint64_t *n, struct err *err)
{
	struct str rest = json_text_inside(items), item;
	struct buf body = buf_in(arena);
	size_t unknown, in_batch = 0;

	while (json_text_element(&rest, &item)) {
		if (in_batch == BATCH) {
			enum code code = pull_write_batch(pull, arena, table, &body, err);

			if (code != OK)
				return code;
			in_batch = 0;
		}
		if (in_batch == 0) {
			body = buf_in(arena);
			buf_printf(&body, "{\"RequestItems\":{\"" STR_FMT "\":[", STR_ARG(table));
		}
		buf_printf(&body, "%s{\"PutRequest\":{\"Item\":", in_batch > 0 ? "," : "");
		buf_add_str(&body, mask_item(pull->mask, arena, table, item));
		buf_add_lit(&body, "}}");
		in_batch++;
		++*n;
		(void)mask_unknowns(pull->mask, &unknown);
		if (unknown > 0)
			in_batch = 0; /* only counted from here on */
	}
	(void)mask_unknowns(pull->mask, &unknown);
	if (unknown > 0)
		return err_set(err, MSG_PULL_UNKNOWN);
	return in_batch > 0 ? pull_write_batch(pull, arena, table, &body, err) : OK;
}

static double consumed(struct arena *arena, struct str answer)
{
	struct err ignored = err_in(arena);
	const struct json *root;
	struct str text = json_text_find(answer, STR("ConsumedCapacity"));

	return str_is_set(text) && json_parse(arena, text, &root, &ignored) == OK
		       ? number_of(root, "CapacityUnits")
		       : 0;
}

/* The next page: read, masked, written, and marked as read; the last step makes it count. */
static enum code pull_page(const struct pull *pull, struct arena *arena,
			   const struct pull_table *table, struct pull_mark *mark,
			   struct arena *keys, double *units, struct err *err)
{
	struct str start = mark->key.n > 0 ? str_printf(arena, ",\"ExclusiveStartKey\":" STR_FMT,
							STR_ARG(mark->key))
					   : STR("");
	struct str answer;
	struct str body = str_printf(arena,
				     "{\"TableName\":\"" STR_FMT
				     "\",\"ReturnConsumedCapacity\":\"TOTAL\"" STR_FMT "}",
				     STR_ARG(table->name), STR_ARG(start));
	enum code code = pull_ask(pull, arena, table->name, "Scan", body, &answer, err);

	if (code != OK)
		return code;
	*units = consumed(arena, answer);
	code = pull_write_page(pull, arena, table->name, json_text_find(answer, STR("Items")),
			       &mark->items, err);
	if (code != OK)
		return code;
	struct str key = json_text_find(answer, STR("LastEvaluatedKey"));
	mark->is_done = !str_is_set(key);
	arena_reset(keys);
	mark->key = mark->is_done ? STR("") : str_copy(keys, key);
	return pull_save_mark(pull, arena, table->name, mark, err);
}

static void say_pull(const struct pull_table *table, const struct pull_mark *mark,
		     uint64_t *said_ns)
{
	uint64_t now = monotonic_ns();

	if (now - *said_ns < LINE_NS)
		return;
	*said_ns = now;
	fprintf(stderr, STR_FMT ": %llu of about %.0f items\n", STR_ARG(table->name),
		(unsigned long long)mark->items, table->items);
}

/* Waits until `units` that were read since `began` are within the limit. */
static void pull_pace(const struct pull_table *table, double units, uint64_t began)
{
	double ahead = units / table->max_units - (double)(monotonic_ns() - began) / 1e9;

	if (ahead > 0)
		monotonic_sleep_ms((int64_t)(ahead * 1000));
}

static enum code pull_pages(const struct pull *pull, const struct pull_table *table,
			    struct pull_mark *mark, struct err *err)
{
	struct arena *arena = arena_new(8 << 20), *keys = arena_new(0);
	struct err inner = err_in(arena);
	uint64_t began = monotonic_ns(), said = began;
	double sum = 0, units;
	enum code code = OK;

	mark->key = str_copy(keys, mark->key);
	while (code == OK && !mark->is_done) {
		arena_reset(arena);
		code = pull_page(pull, arena, table, mark, keys, &units, &inner);
		if (code != OK) {
			err_copy(err, code, inner.message);
			break;
		}
		say_pull(table, mark, &said);
		sum += units;
		pull_pace(table, sum, began);
	}
	arena_free(keys);
	arena_free(arena);
	return code;
}

enum code pull_work_sample(const struct pull *pull, const struct pull_table *table,
			   void (*each)(void *context, struct arena *arena, struct str item),
			   void *context, struct err *err)
{
	struct arena *arena = arena_new(0);
	struct err inner = err_in(arena);
	uint64_t began = monotonic_ns();
	double units = 0;
	enum code code = OK;

	for (int i = 0; i < SAMPLE_SEGMENTS && code == OK; i++) {
		struct str answer, item, body = str_printf(
			arena,
			"{\"TableName\":\"" STR_FMT "\",\"ReturnConsumedCapacity\":\"TOTAL\","
			"\"TotalSegments\":%d,\"Segment\":%d,\"Limit\":%d}",
			STR_ARG(table->name), SAMPLE_SEGMENTS, i, PULL_SAMPLE / SAMPLE_SEGMENTS);

		code = pull_ask(pull, arena, table->name, "Scan", body, &answer, &inner);
		if (code != OK) {
			err_copy(err, code, inner.message);
			break;
		}
		struct str rest = json_text_inside(json_text_find(answer, STR("Items")));
		while (json_text_element(&rest, &item))
			each(context, arena, item);
		units += consumed(arena, answer);
		pull_pace(table, units, began);
		arena_reset(arena);
	}
	arena_free(arena);
	return code;
}

/* How many items the file has. */
static enum code pull_count_items(const struct pull *pull, struct arena *arena, struct str table,
				  uint64_t *n, struct err *err)
{
	struct str key = STR_ABSENT, answer;
	const struct json *root;

	*n = 0;
	do {
		struct str start =
			str_is_set(key)
				? str_printf(arena, ",\"ExclusiveStartKey\":" STR_FMT, STR_ARG(key))
				: STR("");
		struct str body = str_printf(
			arena, "{\"TableName\":\"" STR_FMT "\",\"Select\":\"COUNT\"" STR_FMT "}",
			STR_ARG(table), STR_ARG(start));
		enum code code = pull_do(pull, arena, table, "Scan", body, &answer, err);

		if (code != OK)
			return code;
		code = json_parse(arena, answer, &root, err);
		if (code != OK)
			return code;
		*n += (uint64_t)number_of(root, "Count");
		key = json_text_find(answer, STR("LastEvaluatedKey"));
	} while (str_is_set(key));
	return OK;
}

static enum code set_expiry(const struct pull *pull, struct arena *arena,
			    const struct pull_table *table, struct err *err)
{
	const struct json *root;
	struct str answer;
	enum code code = json_parse(arena, table->expiry, &root, err);

	if (code != OK)
		return code;
	root = json_text_get(root, "TimeToLiveDescription", JSON_OBJECT);
	if (!str_eq(json_text_string(arena, root, "TimeToLiveStatus"), STR("ENABLED")))
		return OK;
	struct json_out out = json_out_in(arena);
	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", table->name);
	json_out_name(&out, STR("TimeToLiveSpecification"));
	json_out_open(&out, '{');
	json_out_field_boolean(&out, "Enabled", true);
	json_text_copy(&out, arena, root, "AttributeName");
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	return pull_do(pull, arena, table->name, "UpdateTimeToLive", json_out_str(&out), &answer,
		       err);
}

static enum code create_in_file(const struct pull *pull, struct arena *arena,
				const struct pull_table *table, struct err *err)
{
	struct str answer;

	if (is_in_file(pull, arena, table->name))
		return OK;
	enum code code = pull_do(pull, arena, table->name, "CreateTable",
				 description_to_create(arena, table->description), &answer, err);
	if (code != OK)
		return code;
	struct str tags = json_text_find(table->tags, STR("Tags"));
	if (tags.n > 2) {
		code = pull_do(pull, arena, table->name, "TagResource",
			       str_printf(arena,
					  "{\"ResourceArn\":\"arn:aws:dynamodb:" STR_FMT
					  ":000000000000:table/" STR_FMT "\",\"Tags\":" STR_FMT "}",
					  STR_ARG(pull->region), STR_ARG(table->name),
					  STR_ARG(tags)),
			       &answer, err);
		if (code != OK)
			return code;
	}
	return set_expiry(pull, arena, table, err);
}

enum code pull_work_items(const struct pull *pull, struct pull_table *table, struct err *err)
{
	struct pull_mark mark;
	uint64_t n;
	enum code code = pull_find_mark(pull, err->arena, table->name, &mark, err);

	if (code != OK)
		return code;
	code = create_in_file(pull, err->arena, table, err);
	if (code != OK)
		return code;
	code = pull_pages(pull, table, &mark, err);
	if (code != OK)
		return code;
	code = pull_count_items(pull, err->arena, table->name, &n, err);
	if (code != OK)
		return code;
	if (n != mark.items)
		return err_set(err, MSG_PULL_EQUAL, STR_ARG(table->name),
			       (unsigned long long)mark.items, (unsigned long long)n);
	table->read = mark.items;
	return OK;
}

enum code pull_work_finish(const struct pull *pull, struct err *err)
{
	struct str answer;

	return pull_do(pull, err->arena, STR(MARKS), "DeleteTable",
		       json_text_request(err->arena, "TableName", STR(MARKS)), &answer, err);
}
