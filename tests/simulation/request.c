#include "tests/simulation/request.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/key.h"
#include "core/number.h"

const char *const request_tables[TABLES] = {"alpha", "beta", "gamma"};
const char *const request_indexes[INDEX_COUNT] = {"local", "global", "late", "near"};

static const unsigned pad_lengths[] = {0, 10, 100, 700, 3000, 9000};
static const char *const vectors[][2] = {{"1", "0"},  {"1", "1"},   {"0", "1"},    {"-1", "1"},
					 {"-1", "0"}, {"-1", "-1"}, {"0.5", "-1"}, {"3", "-0.25"}};

const char *request_name(enum op_kind kind, bool is_on)
{
	static const char *const names[OP_KIND_COUNT] = {
		[OP_PUT] = "PutItem",
		[OP_UPDATE] = "UpdateItem",
		[OP_DELETE] = "DeleteItem",
		[OP_BATCH_WRITE] = "BatchWriteItem",
		[OP_TRANSACT_WRITE] = "TransactWriteItems",
		[OP_INSERT_STATEMENT] = "ExecuteStatement",
		[OP_UPDATE_STATEMENT] = "ExecuteStatement",
		[OP_DELETE_STATEMENT] = "ExecuteStatement",
		[OP_GET] = "GetItem",
		[OP_BATCH_GET] = "BatchGetItem",
		[OP_TRANSACT_GET] = "TransactGetItems",
		[OP_SELECT_STATEMENT] = "ExecuteStatement",
		[OP_QUERY] = "Query",
		[OP_SCAN] = "Scan",
		[OP_SEARCH] = "SearchVectors",
		[OP_CREATE_TABLE] = "CreateTable",
		[OP_DELETE_TABLE] = "DeleteTable",
		[OP_UPDATE_INDEX] = "UpdateTable",
		[OP_UPDATE_STREAM] = "UpdateTable",
		[OP_UPDATE_TTL] = "UpdateTimeToLive",
		[OP_TAG] = "TagResource",
		[OP_DESCRIBE] = "DescribeTable",
		[OP_LIST_TABLES] = "ListTables",
		[OP_LIST_TAGS] = "ListTagsOfResource",
		[OP_REPLAY] = "replay of a stream",
		[OP_CHECK] = "check of the store",
		[OP_ROTATE] = "rotation of a stream",
		[OP_ROUND] = "round of upkeep",
	};

	return kind == OP_TAG && !is_on ? "UntagResource" : names[kind];
}

static void add_name(struct buf *out, unsigned table, unsigned key, char *sort)
{
	bool has_sort = model_has_sort(table);

	buf_printf(out, "p%u", has_sort ? key / SORTS : key);
	snprintf(sort, 16, "%u", has_sort ? key % SORTS : 0);
}

/* "pk":{"S":"p1"},"sk":{"N":"2"} */
static void add_key(struct buf *out, unsigned table, unsigned key)
{
	char sort[16];

	buf_printf(out, "\"pk\":{\"S\":\"");
	add_name(out, table, key, sort);
	buf_printf(out, "\"}");
	if (model_has_sort(table))
		buf_printf(out, ",\"sk\":{\"N\":\"%s\"}", sort);
}

static void add_pad(struct buf *out, const struct item *item)
{
	unsigned n = pad_lengths[item->pad];

	memset(buf_reserve(out, n), 'a' + (int)(item->u % 26), n);
	out->n += n;
}

static void add_vector(struct buf *out, int v)
{
	buf_printf(out, "{\"L\":[{\"N\":\"%s\"},{\"N\":\"%s\"}]}", vectors[v][0], vectors[v][1]);
}

static void add_item(struct buf *out, const struct action *action)
{
	const struct item *item = &action->item;

	buf_add_byte(out, '{');
	add_key(out, action->table, action->key);
	buf_printf(out, ",\"u\":{\"N\":\"%" PRId64 "\"}", item->u);
	if (item->n != NO_NUMBER)
		buf_printf(out, ",\"n\":{\"N\":\"%" PRId32 "\"}", item->n);
	if (item->g >= 0)
		buf_printf(out, ",\"g\":{\"S\":\"g%d\"}", item->g);
	if (item->l >= 0)
		buf_printf(out, ",\"l\":{\"N\":\"%d\"}", item->l);
	if (item->t)
		buf_printf(out, ",\"t\":{\"N\":\"%" PRId64 "\"}", item->t);
	if (item->v >= 0) {
		buf_printf(out, ",\"v\":");
		add_vector(out, item->v);
	}
	if (item->pad) {
		buf_printf(out, ",\"x\":{\"S\":\"");
		add_pad(out, item);
		buf_printf(out, "\"}");
	}
	buf_add_byte(out, '}');
}

/* A comma before all but the first. */
static void separate(struct buf *out, bool *is_first)
{
	if (!*is_first)
		buf_add_byte(out, ',');
	*is_first = false;
}

static void add_condition(struct buf *out, const struct action *action)
{
	static const char *const texts[CONDITION_COUNT] = {
		[IF_ABSENT] = "attribute_not_exists(pk)",
		[IF_PRESENT] = "attribute_exists(pk)",
		[IF_N_LESS] = "n < :c",
		[IF_G_IS] = "g = :c",
		[IF_U_IS] = "u = :c",
	};

	if (action->condition != IF_ALWAYS)
		buf_printf(out, ",\"ConditionExpression\":\"%s\"", texts[action->condition]);
}

static void add_operand(struct buf *out, const struct action *action, bool *is_first)
{
	if (action->condition < IF_N_LESS)
		return;
	separate(out, is_first);
	if (action->condition == IF_G_IS)
		buf_printf(out, "\":c\":{\"S\":\"g%" PRId64 "\"}", action->operand);
	else
		buf_printf(out, "\":c\":{\"N\":\"%" PRId64 "\"}", action->operand);
}

static void add_part(struct buf *out, enum assign wanted, enum assign how, const char *name,
		     bool *is_first)
{
	if (how != wanted)
		return;
	separate(out, is_first);
	if (wanted == TAKE)
		buf_printf(out, "%s", name);
	else
		buf_printf(out, wanted == SET ? "%s = :%s" : "%s :%s", name, name);
}

static void add_update(struct buf *out, const struct action *action)
{
	const struct {
		enum assign how;
		const char *name;
	} parts[] = {{action->n, "n"}, {action->g, "g"}, {action->l, "l"},
		     {action->t, "t"}, {action->v, "v"}, {action->pad, "x"}};
	const size_t n = sizeof(parts) / sizeof(parts[0]);
	bool is_first = false, is_first_taken = true, is_first_added = true;
	struct buf taken = buf_in(out->arena), added = buf_in(out->arena);

	buf_printf(out, ",\"UpdateExpression\":\"SET u = :u");
	for (size_t i = 0; i < n; i++)
		add_part(out, SET, parts[i].how, parts[i].name, &is_first);
	for (size_t i = 0; i < n; i++)
		add_part(&taken, TAKE, parts[i].how, parts[i].name, &is_first_taken);
	for (size_t i = 0; i < n; i++)
		add_part(&added, ADD, parts[i].how, parts[i].name, &is_first_added);
	if (!is_first_taken)
		buf_printf(out, " REMOVE " STR_FMT, STR_ARG(buf_str(&taken)));
	if (!is_first_added)
		buf_printf(out, " ADD " STR_FMT, STR_ARG(buf_str(&added)));
	buf_add_byte(out, '"');
}

static void add_values(struct buf *out, const struct action *action)
{
	const struct item *item = &action->item;
	bool is_first = true, is_update = action->kind == ACT_UPDATE;

	if (!is_update && action->condition < IF_N_LESS)
		return;
	buf_printf(out, ",\"ExpressionAttributeValues\":{");
	add_operand(out, action, &is_first);
	if (is_update) {
		separate(out, &is_first);
		buf_printf(out, "\":u\":{\"N\":\"%" PRId64 "\"}", item->u);
		if (action->n == SET || action->n == ADD)
			buf_printf(out, ",\":n\":{\"N\":\"%" PRId32 "\"}", item->n);
		if (action->g == SET)
			buf_printf(out, ",\":g\":{\"S\":\"g%d\"}", item->g);
		if (action->l == SET)
			buf_printf(out, ",\":l\":{\"N\":\"%d\"}", item->l);
		if (action->t == SET)
			buf_printf(out, ",\":t\":{\"N\":\"%" PRId64 "\"}", item->t);
		if (action->v == SET) {
			buf_printf(out, ",\":v\":");
			add_vector(out, item->v);
		}
		if (action->pad == SET) {
			buf_printf(out, ",\":x\":{\"S\":\"");
			add_pad(out, item);
			buf_printf(out, "\"}");
		}
	}
	buf_add_byte(out, '}');
}

/* The members of one write: table, item or key, expressions. */
static void add_action(struct buf *out, const struct action *action)
{
	buf_printf(out, "\"TableName\":\"%s\",", request_tables[action->table]);
	if (action->kind == ACT_PUT) {
		buf_printf(out, "\"Item\":");
		add_item(out, action);
	} else {
		buf_printf(out, "\"Key\":{");
		add_key(out, action->table, action->key);
		buf_add_byte(out, '}');
	}
	if (action->kind == ACT_UPDATE)
		add_update(out, action);
	add_condition(out, action);
	add_values(out, action);
}

static void add_single(struct buf *out, const struct op *op)
{
	static const char *const texts[] = {
		[RETURN_NONE] = "NONE", [RETURN_OLD] = "ALL_OLD", [RETURN_NEW] = "ALL_NEW"};

	buf_add_byte(out, '{');
	add_action(out, &op->actions[0]);
	buf_printf(out,
		   ",\"ReturnValues\":\"%s\",\"ReturnValuesOnConditionCheckFailure\":\"ALL_OLD\"}",
		   texts[op->returns]);
}

/* The actions, or keys, of each table in turn. */
static void add_by_table(struct buf *out, const struct op *op, bool is_write)
{
	bool is_first_table = true;

	buf_printf(out, "{\"RequestItems\":{");
	for (unsigned t = 0; t < TABLES; t++) {
		bool is_first = true;

		for (unsigned i = 0; i < op->n; i++) {
			const struct action *action = &op->actions[i];

			if (action->table != t)
				continue;
			if (is_first) {
				separate(out, &is_first_table);
				buf_printf(out,
					   is_write ? "\"%s\":["
						    : "\"%s\":{\"ConsistentRead\":true,\"Keys\":[",
					   request_tables[t]);
			}
			separate(out, &is_first);
			if (is_write && action->kind == ACT_PUT) {
				buf_printf(out, "{\"PutRequest\":{\"Item\":");
				add_item(out, action);
				buf_printf(out, "}}");
				continue;
			}
			buf_printf(out, is_write ? "{\"DeleteRequest\":{\"Key\":{" : "{");
			add_key(out, t, action->key);
			buf_printf(out, is_write ? "}}}" : "}");
		}
		if (!is_first)
			buf_printf(out, is_write ? "]" : "]}");
	}
	buf_printf(out, "}}");
}

static void add_transaction(struct buf *out, const struct op *op)
{
	static const char *const kinds[] = {[ACT_PUT] = "Put",
					    [ACT_UPDATE] = "Update",
					    [ACT_DELETE] = "Delete",
					    [ACT_CHECK] = "ConditionCheck"};

	buf_printf(out, "{\"TransactItems\":[");
	for (unsigned i = 0; i < op->n; i++) {
		buf_printf(out, "%s{\"%s\":{", i ? "," : "",
			   op->kind == OP_TRANSACT_GET ? "Get" : kinds[op->actions[i].kind]);
		if (op->kind == OP_TRANSACT_GET) {
			buf_printf(out, "\"TableName\":\"%s\",\"Key\":{",
				   request_tables[op->actions[i].table]);
			add_key(out, op->actions[i].table, op->actions[i].key);
			buf_add_byte(out, '}');
		} else {
			add_action(out, &op->actions[i]);
		}
		buf_printf(out, "}}");
	}
	buf_printf(out, "]");
	if (op->kind == OP_TRANSACT_WRITE && op->token >= 0)
		buf_printf(out, ",\"ClientRequestToken\":\"token-%d\"", op->token);
	buf_printf(out, "}");
}

static void add_where(struct buf *out, const struct action *action)
{
	char sort[16];

	buf_printf(out, " WHERE pk = '");
	add_name(out, action->table, action->key, sort);
	buf_printf(out, "'");
	if (model_has_sort(action->table))
		buf_printf(out, " AND sk = %s", sort);
}

static void add_statement(struct buf *out, const struct op *op)
{
	const struct action *action = &op->actions[0];
	const struct item *item = &action->item;
	const char *table = request_tables[action->table];
	char sort[16];

	buf_printf(out, "{\"Statement\":\"");
	if (op->kind == OP_INSERT_STATEMENT) {
		buf_printf(out, "INSERT INTO \\\"%s\\\" VALUE {'pk':'", table);
		add_name(out, action->table, action->key, sort);
		buf_printf(out, "'");
		if (model_has_sort(action->table))
			buf_printf(out, ",'sk':%s", sort);
		buf_printf(out, ",'u':%" PRId64, item->u);
		if (item->g >= 0)
			buf_printf(out, ",'g':'g%d'", item->g);
		if (item->t)
			buf_printf(out, ",'t':%" PRId64, item->t);
		buf_printf(out, "}");
	} else if (op->kind == OP_UPDATE_STATEMENT) {
		buf_printf(out, "UPDATE \\\"%s\\\" SET u=%" PRId64, table, item->u);
		if (action->n == SET)
			buf_printf(out, " SET n=%" PRId32, item->n);
		if (action->g == SET)
			buf_printf(out, " SET g='g%d'", item->g);
		if (action->l == TAKE)
			buf_printf(out, " REMOVE l");
		add_where(out, action);
	} else {
		buf_printf(out,
			   op->kind == OP_DELETE_STATEMENT ? "DELETE FROM \\\"%s\\\""
							   : "SELECT * FROM \\\"%s\\\"",
			   table);
		add_where(out, action);
	}
	buf_printf(out, "\"%s}", op->kind == OP_SELECT_STATEMENT ? ",\"ConsistentRead\":true" : "");
}

static void add_start(struct buf *out, const struct op *op)
{
	buf_printf(out, ",\"ExclusiveStartKey\":{");
	add_key(out, op->table, (unsigned)op->start);
	buf_add_byte(out, '}');
}

static void add_page(struct buf *out, const struct op *op)
{
	buf_printf(out, "{\"TableName\":\"%s\"", request_tables[op->table]);
	if (op->index >= 0)
		buf_printf(out, ",\"IndexName\":\"%s\"", request_indexes[op->index]);
	if (op->limit)
		buf_printf(out, ",\"Limit\":%u", op->limit);
	if (op->is_consistent)
		buf_printf(out, ",\"ConsistentRead\":true");
	if (op->is_count)
		buf_printf(out, ",\"Select\":\"COUNT\"");
	if (op->start >= 0)
		add_start(out, op);
	if (op->kind == OP_QUERY) {
		bool is_global = op->index == INDEX_GLOBAL || op->index == INDEX_LATE;
		const char *sort = op->index == INDEX_LOCAL  ? "l"
				   : op->index == INDEX_LATE ? "n"
							     : "sk";
		bool has_range = op->low <= op->high;

		buf_printf(out, ",\"KeyConditionExpression\":\"%s = :p", is_global ? "g" : "pk");
		if (has_range)
			buf_printf(out, " AND %s BETWEEN :low AND :high", sort);
		buf_printf(out, "\",\"ExpressionAttributeValues\":{\":p\":{\"S\":\"%s%d\"}",
			   is_global ? "g" : "p", op->partition);
		if (has_range)
			buf_printf(out, ",\":low\":{\"N\":\"%d\"},\":high\":{\"N\":\"%d\"}",
				   op->low, op->high);
		buf_printf(out, "}");
		if (op->is_reverse)
			buf_printf(out, ",\"ScanIndexForward\":false");
	}
	buf_add_byte(out, '}');
}

static void add_definition(struct buf *out, const char *name, const char *type, bool *is_first)
{
	separate(out, is_first);
	buf_printf(out, "{\"AttributeName\":\"%s\",\"AttributeType\":\"%s\"}", name, type);
}

static void add_index(struct buf *out, int index)
{
	static const char *const texts[INDEX_COUNT] = {
		"{\"IndexName\":\"local\",\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":"
		"\"HASH\"},{\"AttributeName\":\"l\",\"KeyType\":\"RANGE\"}],"
		"\"Projection\":{\"ProjectionType\":\"KEYS_ONLY\"}}",
		"{\"IndexName\":\"global\",\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":"
		"\"HASH\"}],\"Projection\":{\"ProjectionType\":\"ALL\"}}",
		"{\"IndexName\":\"late\",\"KeySchema\":[{\"AttributeName\":\"g\",\"KeyType\":"
		"\"HASH\"},{\"AttributeName\":\"n\",\"KeyType\":\"RANGE\"}],"
		"\"Projection\":{\"ProjectionType\":\"INCLUDE\",\"NonKeyAttributes\":[\"u\"]}}",
		"{\"IndexName\":\"near\",\"VectorAttribute\":{\"AttributeName\":\"v\"},"
		"\"Dimensions\":2,\"DistanceFunction\":\"COSINE\","
		"\"Projection\":{\"ProjectionType\":\"ALL\"}}",
	};

	buf_printf(out, "%s", texts[index]);
}

#define STREAM_ON                                                                                  \
	"\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_OLD_"        \
	"IMAGES\"}"
#define STREAM_OFF "\"StreamSpecification\":{\"StreamEnabled\":false}"

static void add_creation(struct buf *out, const struct op *op)
{
	const struct model_table *shape = &op->shape;
	bool is_first = true;

	buf_printf(out,
		   "{\"TableName\":\"%s\",\"BillingMode\":\"PAY_PER_REQUEST\","
		   "\"AttributeDefinitions\":[",
		   request_tables[op->table]);
	add_definition(out, "pk", "S", &is_first);
	if (model_has_sort(op->table))
		add_definition(out, "sk", "N", &is_first);
	if (shape->has[INDEX_LOCAL])
		add_definition(out, "l", "N", &is_first);
	if (shape->has[INDEX_GLOBAL] || shape->has[INDEX_LATE])
		add_definition(out, "g", "S", &is_first);
	if (shape->has[INDEX_LATE])
		add_definition(out, "n", "N", &is_first);
	buf_printf(out, "],\"KeySchema\":[{\"AttributeName\":\"pk\",\"KeyType\":\"HASH\"}%s]",
		   model_has_sort(op->table) ? ",{\"AttributeName\":\"sk\",\"KeyType\":\"RANGE\"}"
					     : "");
	if (shape->has[INDEX_LOCAL]) {
		buf_printf(out, ",\"LocalSecondaryIndexes\":[");
		add_index(out, INDEX_LOCAL);
		buf_add_byte(out, ']');
	}
	if (shape->has[INDEX_GLOBAL] || shape->has[INDEX_LATE]) {
		buf_printf(out, ",\"GlobalSecondaryIndexes\":[");
		is_first = true;
		for (int i = INDEX_GLOBAL; i <= INDEX_LATE; i++) {
			if (!shape->has[i])
				continue;
			separate(out, &is_first);
			add_index(out, i);
		}
		buf_add_byte(out, ']');
	}
	if (shape->has[INDEX_NEAR]) {
		buf_printf(out, ",\"VectorIndexes\":[");
		add_index(out, INDEX_NEAR);
		buf_add_byte(out, ']');
	}
	if (shape->has_stream)
		buf_printf(out, "," STREAM_ON);
	buf_add_byte(out, '}');
}

static void add_index_update(struct buf *out, const struct op *op)
{
	bool is_first = true;

	buf_printf(out, "{\"TableName\":\"%s\"", request_tables[op->table]);
	if (op->is_on && op->index != INDEX_NEAR) {
		buf_printf(out, ",\"AttributeDefinitions\":[");
		add_definition(out, "pk", "S", &is_first);
		add_definition(out, "g", "S", &is_first);
		if (op->index == INDEX_LATE)
			add_definition(out, "n", "N", &is_first);
		buf_add_byte(out, ']');
	}
	buf_printf(out, ",\"%s\":[{\"%s\":",
		   op->index == INDEX_NEAR ? "VectorIndexUpdates" : "GlobalSecondaryIndexUpdates",
		   op->is_on ? "Create" : "Delete");
	if (op->is_on)
		add_index(out, op->index);
	else
		buf_printf(out, "{\"IndexName\":\"%s\"}", request_indexes[op->index]);
	buf_printf(out, "}]}");
}

#define ARN "arn:aws:dynamodb:us-east-1:000000000000:table/%s"

static void add_table_op(struct buf *out, const struct op *op)
{
	const char *name = request_tables[op->table];

	switch (op->kind) {
	case OP_CREATE_TABLE:
		add_creation(out, op);
		return;
	case OP_UPDATE_INDEX:
		add_index_update(out, op);
		return;
	case OP_UPDATE_STREAM:
		buf_printf(out, "{\"TableName\":\"%s\",%s}", name,
			   op->is_on ? STREAM_ON : STREAM_OFF);
		return;
	case OP_UPDATE_TTL:
		buf_printf(out,
			   "{\"TableName\":\"%s\",\"TimeToLiveSpecification\":{\"AttributeName\":"
			   "\"t\",\"Enabled\":%s}}",
			   name, op->is_on ? "true" : "false");
		return;
	case OP_TAG:
		if (op->is_on)
			buf_printf(out,
				   "{\"ResourceArn\":\"" ARN
				   "\",\"Tags\":[{\"Key\":\"k\",\"Value\":\"v\"}]}",
				   name);
		else
			buf_printf(out, "{\"ResourceArn\":\"" ARN "\",\"TagKeys\":[\"k\"]}", name);
		return;
	case OP_LIST_TAGS:
		buf_printf(out, "{\"ResourceArn\":\"" ARN "\"}", name);
		return;
	case OP_LIST_TABLES:
		buf_printf(out, "{}");
		return;
	default:
		buf_printf(out, "{\"TableName\":\"%s\"}", name);
		return;
	}
}

static void add_search(struct buf *out, const struct op *op)
{
	buf_printf(out,
		   "{\"TableName\":\"%s\",\"IndexName\":\"near\",\"SearchVector\":[{\"N\":\"%s\"},{"
		   "\"N\":\"%s\"}],\"TopK\":%u}",
		   request_tables[op->table], vectors[op->partition][0], vectors[op->partition][1],
		   op->limit);
}

struct str request_body(struct arena *arena, const struct op *op)
{
	struct buf out = buf_in(arena);

	if (op->kind <= OP_DELETE)
		add_single(&out, op);
	else if (op->kind == OP_BATCH_WRITE || op->kind == OP_BATCH_GET)
		add_by_table(&out, op, op->kind == OP_BATCH_WRITE);
	else if (op->kind == OP_TRANSACT_WRITE || op->kind == OP_TRANSACT_GET)
		add_transaction(&out, op);
	else if (op->kind <= OP_DELETE_STATEMENT || op->kind == OP_SELECT_STATEMENT)
		add_statement(&out, op);
	else if (op->kind == OP_GET) {
		buf_printf(&out, "{\"TableName\":\"%s\",\"ConsistentRead\":%s,\"Key\":{",
			   request_tables[op->actions[0].table],
			   op->is_consistent ? "true" : "false");
		add_key(&out, op->actions[0].table, op->actions[0].key);
		buf_printf(&out, "}}");
	} else if (op->kind == OP_QUERY || op->kind == OP_SCAN)
		add_page(&out, op);
	else if (op->kind == OP_SEARCH)
		add_search(&out, op);
	else
		add_table_op(&out, op);
	return buf_str(&out);
}

struct str request_row_key(struct arena *arena, unsigned table, unsigned key)
{
	struct buf name = buf_in(arena), out = buf_in(arena);
	char sort[16], number[NUMBER_MAX];

	add_name(&name, table, key, sort);
	struct value pk = value_of_str(TYPE_S, buf_str(&name));
	struct value sk = value_of_str(
		TYPE_N, (struct str){number, number_from_int(strtol(sort, NULL, 10), number)});
	key_add_partition(&out, KEY_HASH_MD5, &(const struct value *){&pk}, 1);
	if (model_has_sort(table))
		key_add(&out, &sk);
	return buf_str(&out);
}

/* The text of a scalar's member "S" or "N"; absent where it is of another type. */
static struct str scalar(struct arena *arena, const struct json *json, const char *type)
{
	const struct json *value =
		json && json_type(json) == JSON_OBJECT ? json_member(json, type) : NULL;

	return value && json_type(value) == JSON_STRING ? json_string(arena, value) : STR_ABSENT;
}

static bool read_number(struct arena *arena, const struct json *json, const char *name,
			int64_t otherwise, int64_t *out)
{
	const struct json *member = json_member(json, name);
	struct str text = scalar(arena, member, "N");

	*out = otherwise;
	if (!member)
		return true;
	if (!str_is_set(text))
		return false;
	*out = strtoll(str_printf(arena, STR_FMT, STR_ARG(text)).p, NULL, 10);
	return str_eq(text, str_printf(arena, "%" PRId64, *out));
}

/* A letter and a number from 0. */
static bool read_letter(struct arena *arena, const struct json *json, const char *name, char letter,
			int64_t *out)
{
	const struct json *member = json_member(json, name);
	struct str text = scalar(arena, member, "S");

	*out = -1;
	if (!member)
		return true;
	if (!str_is_set(text) || text.n < 2 || text.p[0] != letter)
		return false;
	*out = strtoll(str_printf(arena, STR_FMT, STR_ARG(text)).p + 1, NULL, 10);
	return str_eq(text, str_printf(arena, "%c%" PRId64, letter, *out));
}

static bool read_vector(struct arena *arena, const struct json *json, int8_t *v)
{
	const struct json *member = json_member(json, "v");
	const struct json *list = member ? json_member(member, "L") : NULL;

	*v = -1;
	if (!member)
		return true;
	if (!list || json_count(list) != 2)
		return false;
	struct str x = scalar(arena, json_first(list), "N"),
		   y = scalar(arena, json_next(json_first(list)), "N");
	for (size_t i = 0; i < sizeof(vectors) / sizeof(vectors[0]); i++) {
		if (str_eq(x, str_of(vectors[i][0])) && str_eq(y, str_of(vectors[i][1])))
			*v = (int8_t)i;
	}
	return *v >= 0;
}

static bool read_pad(struct arena *arena, const struct json *json, const struct item *item,
		     uint8_t *pad)
{
	const struct json *member = json_member(json, "x");
	struct str text = scalar(arena, member, "S");

	*pad = 0;
	if (!member)
		return true;
	for (uint8_t i = 1; i < sizeof(pad_lengths) / sizeof(pad_lengths[0]); i++) {
		if (text.n == pad_lengths[i])
			*pad = i;
	}
	/* each writing has its letter: a text of another one would be a torn item; an update may
	 * keep an older one */
	for (size_t i = 1; i < text.n; i++) {
		if (text.p[i] != text.p[0])
			return false;
	}
	(void)item;
	return *pad > 0;
}

bool request_read_item(struct arena *arena, unsigned table, const struct json *json,
		       struct item *item, unsigned *key)
{
	int64_t pk, sk, n, g, l;

	*item = (struct item){.is_there = true};
	if (!json || json_type(json) != JSON_OBJECT || !read_letter(arena, json, "pk", 'p', &pk) ||
	    !read_number(arena, json, "sk", -1, &sk) ||
	    !read_number(arena, json, "n", NO_NUMBER, &n) ||
	    !read_number(arena, json, "u", 0, &item->u) || !read_number(arena, json, "l", -1, &l) ||
	    !read_letter(arena, json, "g", 'g', &g) ||
	    !read_number(arena, json, "t", 0, &item->t) || !read_vector(arena, json, &item->v) ||
	    !read_pad(arena, json, item, &item->pad))
		return false;
	item->n = (int32_t)n;
	item->g = (int8_t)g;
	item->l = (int8_t)l;
	if (pk < 0 || (sk >= 0) != model_has_sort(table))
		return false;
	*key = (unsigned)(model_has_sort(table) ? pk * SORTS + sk : pk);
	return *key < KEYS;
}

static uint64_t number_size(int64_t number)
{
	char bytes[NUMBER_MAX];

	return number_billed_size((struct str){bytes, number_from_int(number, bytes)});
}

/* A list's, with its numbers' and theirs. */
static uint64_t vector_size(int v)
{
	char bytes[NUMBER_MAX];
	uint64_t size = 3;

	for (int i = 0; i < 2; i++) {
		struct err err = {.arena = NULL};
		size_t n = 0;

		if (number_parse(str_of(vectors[v][i]), bytes, &n, &err) != OK)
			abort();
		size += 1 + number_billed_size((struct str){bytes, n});
	}
	return size;
}

uint64_t request_item_size(unsigned table, unsigned key, const struct item *item,
			   bool has_vector_index)
{
	unsigned partition = model_has_sort(table) ? key / SORTS : key;
	uint64_t size = 2 + (partition < 10 ? 2 : 3);

	if (model_has_sort(table))
		size += 2 + number_size(key % SORTS);
	if (item->u)
		size += 1 + number_size(item->u);
	if (item->n != NO_NUMBER)
		size += 1 + number_size(item->n);
	if (item->g >= 0)
		size += 1 + 2;
	if (item->l >= 0)
		size += 1 + number_size(item->l);
	if (item->t)
		size += 1 + number_size(item->t);
	if (item->pad)
		size += 1 + pad_lengths[item->pad];
	if (item->v >= 0)
		size += 1 + (has_vector_index ? 2 * 4 : vector_size(item->v));
	return size;
}
