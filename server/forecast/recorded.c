#include "server/forecast/recorded.h"

#include "protocol/insight/contributors.h"
#include "protocol/wire/json_out.h"
#include "server/forecast/described.h"
#include "server/forecast/messages.h"
#include "server/messages.h"
#include "server/recording/tape.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"
#include "server/seed/local.h"

#define HOUR_MS 3600000

/* Operations that consume units. PartiQL's read or write by their statement. */
static const struct {
	const char *name;
	bool is_write, is_transaction, is_partiql;
} operations[] = {
	{"GetItem", false, false, false},
	{"Query", false, false, false},
	{"Scan", false, false, false},
	{"BatchGetItem", false, false, false},
	{"TransactGetItems", false, true, false},
	{"PutItem", true, false, false},
	{"UpdateItem", true, false, false},
	{"DeleteItem", true, false, false},
	{"BatchWriteItem", true, false, false},
	{"TransactWriteItems", true, true, false},
	{"ExecuteStatement", false, false, true},
	{"BatchExecuteStatement", false, false, true},
	{"ExecuteTransaction", false, true, true},
};
#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

struct recorded {
	struct observed *observed;
	struct arena *arena; /* of the plan */
	const char *path;
	struct rehearsal *rehearsal;
	struct seed_target target;
	struct contributors *keys[OPERATIONS];
	int64_t first_ms, last_ms;
	size_t unlike; /* answers of another kind than were recorded */
};

static enum code rehearse(struct recorded *recorded, struct arena *arena, const char *operation,
			  struct str body, struct seed_reply *reply, struct err *err)
{
	const struct seed_request request = {.operation = operation, .body = body};

	return recorded->target.send(recorded->target.context, arena, &request, reply, err);
}

static const struct json *recorded_tree(struct arena *arena, struct str text)
{
	struct err err = err_in(arena);
	const struct json *root = NULL;

	return json_parse(arena, text, &root, &err) == OK && json_type(root) == JSON_OBJECT ? root
											    : NULL;
}

/* Keys of the table or index are counted from now on. */
static enum code count_keys(struct recorded *recorded, struct arena *arena, struct str table,
			    struct str index, struct err *err)
{
	struct json_out out = json_out_in(arena);
	struct seed_reply reply;

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", table);
	if (index.n > 0)
		json_out_field_string(&out, "IndexName", index);
	json_out_field_string(&out, "ContributorInsightsAction", STR("ENABLE"));
	json_out_close(&out, '}');
	return rehearse(recorded, arena, "UpdateContributorInsights", json_out_str(&out), &reply,
			err);
}

/* A table that is made or shown in the recording; one that is there stays. */
static enum code take_table(struct recorded *recorded, struct arena *arena,
			    const struct tape_line *line, struct err *err)
{
	bool is_shown = str_eq(line->operation, STR("DescribeTable"));
	const struct json *shown = json_text_get(line->response, "Table", JSON_OBJECT);
	struct str body = is_shown && shown ? description_to_create(arena, shown) : line->request;
	struct seed_reply reply;
	const char *operation = str_eq(line->operation, STR("UpdateTable"))   ? "UpdateTable"
				: str_eq(line->operation, STR("DeleteTable")) ? "DeleteTable"
									      : "CreateTable";

	if (line->status != 200 || (is_shown && !shown))
		return OK;
	enum code code = rehearse(recorded, arena, operation, body, &reply, err);
	if (code != OK || reply.status != 200)
		return code;
	const struct json *table = json_text_get(recorded_tree(arena, reply.body),
						 "TableDescription", JSON_OBJECT),
			  *indexes = json_text_get(table, "GlobalSecondaryIndexes", JSON_ARRAY);
	struct str name = json_text_string(arena, table, "TableName");

	code = count_keys(recorded, arena, name, STR(""), err);
	if (code != OK)
		return code;
	for (const struct json *one = indexes ? json_first(indexes) : NULL; one;
	     one = json_next(one)) {
		code = count_keys(recorded, arena, name, json_text_string(arena, one, "IndexName"),
				  err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* The request with what it consumes in its answer. */
static struct str with_capacity(struct arena *arena, const struct json *request)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "ReturnConsumedCapacity", STR("INDEXES"));
	for (const struct json *m = json_first(request); m; m = json_next(m)) {
		struct str name = json_name(arena, m);

		if (str_eq(name, STR("ReturnConsumedCapacity")))
			continue;
		json_out_name(&out, name);
		json_text_write(&out, arena, m);
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

/* "SELECT ..." of the statement, or of the first of some. */
static bool is_select(struct arena *arena, const struct json *request)
{
	const struct json *list = json_text_get(request, "TransactStatements", JSON_ARRAY);

	list = list ? list : json_text_get(request, "Statements", JSON_ARRAY);
	struct str text =
		str_trim(json_text_string(arena, list ? json_first(list) : request, "Statement"));

	return text.n >= 6 && (text.p[0] == 's' || text.p[0] == 'S');
}

/* Of local indexes, units are the table's. */
static double units_of_local(const struct json *capacity)
{
	const struct json *list = json_text_get(capacity, "LocalSecondaryIndexes", JSON_OBJECT);
	double units = 0;

	for (const struct json *one = list ? json_first(list) : NULL; one; one = json_next(one))
		units += json_text_number(one, "CapacityUnits");
	return units;
}

static void count_hour(struct recorded *recorded, struct observed_pattern *pattern, int64_t ms)
{
	recorded->first_ms =
		recorded->first_ms == 0 || ms < recorded->first_ms ? ms : recorded->first_ms;
	recorded->last_ms = ms > recorded->last_ms ? ms : recorded->last_ms;
	pattern->requests++;
	pattern->hours[(ms / HOUR_MS) % PLAN_HOURS]++;
}

/* `index`: the global index that is read; else empty. */
static struct observed_pattern *pattern_of(struct recorded *recorded, struct arena *arena,
					   size_t operation, const struct json *request,
					   struct str table, struct str index)
{
	const struct json *strong = json_text_get(request, "ConsistentRead", JSON_BOOLEAN);
	struct observed_pattern wanted = {.table = table,
					  .index = index,
					  .group = str_of(operations[operation].name),
					  .is_strong = strong && json_boolean(strong),
					  .is_transaction = operations[operation].is_transaction,
					  .is_write = operations[operation].is_partiql
							      ? !is_select(arena, request)
							      : operations[operation].is_write};

	wanted.name = str_printf(arena, "%s " STR_FMT "%s" STR_FMT "%s", operations[operation].name,
				 STR_ARG(table), index.n > 0 ? "/" : "", STR_ARG(index),
				 wanted.is_strong ? ", consistent" : "");
	return observed_pattern_for(recorded->observed, &wanted);
}

/* What one request consumed of one table. */
static void count_capacity(struct recorded *recorded, struct arena *arena, size_t operation,
			   const struct json *request, const struct json *capacity, int64_t ms)
{
	const struct json *indexes = json_text_get(capacity, "GlobalSecondaryIndexes", JSON_OBJECT);
	struct str index = json_text_string(arena, request, "IndexName");
	bool is_global = str_is_set(index) && indexes && json_find(indexes, index);
	struct observed_pattern *pattern = pattern_of(
		recorded, arena, operation, request, json_text_string(arena, capacity, "TableName"),
		is_global ? index : STR(""));

	count_hour(recorded, pattern, ms);
	pattern->counted++;
	observed_add_units(
		recorded->observed, pattern, STR(""),
		json_text_number(json_text_get(capacity, "Table", JSON_OBJECT), "CapacityUnits") +
			units_of_local(capacity));
	for (const struct json *one = indexes ? json_first(indexes) : NULL; one;
	     one = json_next(one))
		observed_add_units(recorded->observed, pattern, json_name(arena, one),
				   json_text_number(one, "CapacityUnits"));
}

/* Whether the client was refused for lack of capacity: its retry has a line of its own. */
static bool is_throttled(struct arena *arena, const struct tape_line *line)
{
	struct str type = json_text_string(arena, line->response, "__type");

	return str_is_set(type) &&
	       (str_contains(type, STR("Throughput")) || str_contains(type, STR("Throttling")) ||
		str_contains(type, STR("RequestLimit")));
}

static enum code count_request(struct recorded *recorded, struct arena *arena, size_t operation,
			       const struct tape_line *line, int64_t ms, struct err *err)
{
	const struct json *request = recorded_tree(arena, line->request), *answer;
	struct seed_reply reply;

	if (!request || is_throttled(arena, line))
		return OK;
	local_rehearsal_service(recorded->rehearsal)->contributors = recorded->keys[operation];
	enum code code = rehearse(recorded, arena, operations[operation].name,
				  with_capacity(arena, request), &reply, err);
	if (code != OK)
		return code;
	answer = recorded_tree(arena, reply.body);
	struct str type = json_text_string(arena, answer, "__type");
	if (line->status == 200 && str_is_set(type) &&
	    str_contains(type, STR("ResourceNotFoundException")))
		return err_set(err, MSG_FORECAST_TABLE, recorded->path, line->number);
	const struct json *capacity = answer ? json_member(answer, "ConsumedCapacity") : NULL,
			  *count = json_text_get(answer, "Count", JSON_NUMBER),
			  *then = json_text_get(line->response, "Count", JSON_NUMBER);

	recorded->unlike += reply.status != line->status ||
			    (count && then && json_number(count) != json_number(then)) ||
			    (!json_text_get(answer, "Item", JSON_OBJECT)) !=
				    (!json_text_get(line->response, "Item", JSON_OBJECT));
	if (str_is_set(type) && str_contains(type, STR("ConditionalCheckFailed"))) {
		/* AWS: consumes what a write would have: as others of its pattern */
		count_hour(recorded,
			   pattern_of(recorded, arena, operation, request,
				      json_text_string(arena, request, "TableName"), STR("")),
			   ms);
	} else if (capacity && json_type(capacity) == JSON_ARRAY) {
		for (capacity = json_first(capacity); capacity; capacity = json_next(capacity))
			count_capacity(recorded, arena, operation, request, capacity, ms);
	} else if (capacity) {
		count_capacity(recorded, arena, operation, request, capacity, ms);
	}
	return OK;
}

static bool is_of_table(struct str operation)
{
	return str_eq(operation, STR("CreateTable")) || str_eq(operation, STR("UpdateTable")) ||
	       str_eq(operation, STR("DeleteTable")) || str_eq(operation, STR("DescribeTable"));
}

static enum code take_line(struct recorded *recorded, struct arena *arena,
			   const struct tape_line *line, struct err *err)
{
	int64_t ms = line->time_ms > 0 ? line->time_ms : (int64_t)(line->end_us / 1000);
	size_t i = 0;

	while (i < OPERATIONS && !str_eq(line->operation, str_of(operations[i].name)))
		i++;
	return i < OPERATIONS                 ? count_request(recorded, arena, i, line, ms, err)
	       : is_of_table(line->operation) ? take_table(recorded, arena, line, err)
					      : OK;
}

static enum code take_lines(struct recorded *recorded, struct tape *tape, struct err *err)
{
	bool is_there = true;

	while (is_there) {
		struct arena *arena = arena_new(0);
		struct tape_line line;
		enum code code = tape_next(tape, arena, &line, &is_there, err),
			  taken = code != OK || !is_there ? code
							  : take_line(recorded, arena, &line, err);

		arena_free(arena);
		if (taken != OK)
			return taken;
	}
	return OK;
}

/* A key of a table or index as text: {"PK": {"S": "a"}}. */
static struct str key_text(struct arena *arena, const struct json *key)
{
	const struct json *value = key ? json_first(key) : NULL,
			  *one = value ? json_first(value) : NULL;

	return one && json_type(one) == JSON_STRING ? json_string(arena, one) : STR("?");
}

/* The keys by which an operation consumed most of each table and index. */
static enum code take_keys(struct recorded *recorded, size_t operation, struct err *err)
{
	const struct ns ns = {STR("000000000000"), STR("us-east-1")};
	struct arena *arena = recorded->arena;
	struct str text;
	struct service *service = local_rehearsal_service(recorded->rehearsal);

	service->contributors = recorded->keys[operation];
	enum code code = contributors_describe(service, ns, arena, &text, err);
	if (code != OK)
		return code;
	const struct json *list =
		json_text_get(recorded_tree(arena, text), "resources", JSON_ARRAY);
	for (const struct json *of = list ? json_first(list) : NULL; of; of = json_next(of)) {
		struct str index = json_text_string(arena, of, "IndexName");
		struct observed_part *part =
			observed_part_for(recorded->observed, str_of(operations[operation].name),
					  json_text_string(arena, of, "TableName"),
					  str_is_set(index) ? index : STR(""));
		const struct json *rules = json_text_get(of, "rules", JSON_ARRAY),
				  *first = rules ? json_first(rules) : NULL,
				  *keys = json_text_get(first, "contributors", JSON_ARRAY);

		part->keys = ARENA_ARRAY(arena, struct observed_key, keys ? json_count(keys) : 0);
		for (const struct json *one = keys ? json_first(keys) : NULL; one;
		     one = json_next(one))
			part->keys[part->n++] = (struct observed_key){
				key_text(arena, json_member(one, "key")),
				json_text_number(one, "units") -
					json_text_number(one, "too_high_by_at_most")};
	}
	return OK;
}

/* Tables that consumed anything, but for those that are known. */
static enum code write_tables(struct recorded *recorded, struct json_out *out, struct err *err)
{
	const struct observed *observed = recorded->observed;
	struct arena *arena = recorded->arena;

	for (size_t i = 0; i < observed->part_count; i++) {
		const struct observed_part *part = &observed->parts[i];
		struct seed_reply reply;

		bool is_done =
			plan_table_at(observed->plan, part->table) < observed->plan->table_count;

		for (size_t k = 0; k < i; k++)
			is_done = is_done || str_eq(observed->parts[k].table, part->table);
		if (is_done)
			continue;
		enum code code =
			rehearse(recorded, arena, "DescribeTable",
				 json_text_request(arena, "TableName", part->table), &reply, err);
		if (code != OK)
			return code;
		const struct json *table =
			json_text_get(recorded_tree(arena, reply.body), "Table", JSON_OBJECT);
		if (!table)
			return err_set(err, MSG_FORECAST_GONE, recorded->path,
				       STR_ARG(part->table));
		const struct described described = {.table = table};

		described_write(out, arena, &described);
	}
	return OK;
}

static void note_of_recording(struct recorded *recorded, const struct tape *tape)
{
	struct arena *arena = recorded->arena;
	struct plan *plan = recorded->observed->plan;
	double requests = 0;

	for (size_t i = 0; i < recorded->observed->pattern_count; i++)
		requests += recorded->observed->patterns[i].requests;
	plan_note(arena, plan,
		  str_printf(arena, "%s: %.0f requests in %.1f seconds", recorded->path, requests,
			     recorded->observed->seconds));
	if (tape_is_cut(tape))
		plan_note(arena, plan,
			  str_printf(arena, "%s is cut off in its last line, which is left out",
				     recorded->path));
	if (recorded->unlike > 0)
		plan_note(arena, plan,
			  str_printf(arena,
				     "%zu requests were answered otherwise than here: tables had "
				     "items before the recording began, and cost more than is said",
				     recorded->unlike));
}

static enum code recorded_take(struct recorded *recorded, struct tape *tape, struct str *plan,
			       struct err *err)
{
	struct json_out tables = json_out_in(recorded->arena);

	if (tape_is_masked(tape))
		return err_set(err, MSG_RECORDING_MASKED, recorded->path);
	enum code code = take_lines(recorded, tape, err);
	if (code != OK)
		return code;
	if (recorded->observed->pattern_count == 0)
		return err_set(err, MSG_FORECAST_NOTHING, recorded->path);
	observed_cover(recorded->observed, recorded->first_ms, recorded->last_ms);
	note_of_recording(recorded, tape);
	for (size_t i = 0; i < OPERATIONS; i++) {
		code = take_keys(recorded, i, err);
		if (code != OK)
			return code;
	}
	code = write_tables(recorded, &tables, err);
	if (code != OK)
		return code;
	*plan = observed_plan(recorded->observed, json_out_str(&tables));
	return OK;
}

enum code recorded_plan(struct arena *arena, const char *path, struct observed *observed,
			struct str *plan, struct err *err)
{
	struct recorded recorded = {.observed = observed, .arena = arena, .path = path};
	struct tape *tape;
	enum code code = tape_open(path, false, &tape, err);

	if (code != OK)
		return code;
	code = local_rehearsal_new(&recorded.rehearsal, err);
	if (code != OK) {
		tape_close(tape);
		return code;
	}
	for (size_t i = 0; i < OPERATIONS; i++)
		recorded.keys[i] = contributors_new();
	recorded.target = local_rehearsal_target(recorded.rehearsal);
	code = recorded_take(&recorded, tape, plan, err);
	tape_close(tape);
	for (size_t i = 0; i < OPERATIONS; i++)
		contributors_free(recorded.keys[i]);
	local_rehearsal_free(recorded.rehearsal);
	return code;
}
