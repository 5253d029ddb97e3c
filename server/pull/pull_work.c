#include "server/pull/pull_work.h"

#include <stdio.h>

#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"
#include "server/pull/pull_pages.h"

#define UNITS_USUAL 100.0

/* The name and the type of the partition key. */
static void read_partition(struct arena *arena, struct pull_table *table)
{
	const struct json *keys = json_text_get(table->description, "KeySchema", JSON_ARRAY);
	const struct json *types =
		json_text_get(table->description, "AttributeDefinitions", JSON_ARRAY);

	table->partition = table->type = STR_ABSENT;
	for (const struct json *at = keys ? json_first(keys) : NULL; at; at = json_next(at)) {
		if (str_eq(json_text_string(arena, at, "KeyType"), STR("HASH")))
			table->partition = json_text_string(arena, at, "AttributeName");
	}
	for (const struct json *at = types ? json_first(types) : NULL; at; at = json_next(at)) {
		if (str_eq(json_text_string(arena, at, "AttributeName"), table->partition))
			table->type = json_text_string(arena, at, "AttributeType");
	}
}

/* DynamoDB Local has no tags: that is said, and no reason to stop. */
static enum code list_tags(const struct pull *pull, struct arena *arena, struct pull_table *table,
			   struct err *err)
{
	struct err own = err_in(arena);
	struct str arn = json_text_string(arena, table->description, "TableArn");
	enum code code = pull_ask(pull, arena, table->name, "ListTagsOfResource",
				  json_text_request(arena, "ResourceArn", arn), &table->tags, &own);

	if (code == OK)
		return OK;
	if (str_contains(own.message, STR("UnknownOperationException"))) {
		fprintf(stderr, "dynalith: warning: " STR_FMT ": the source lists no tags\n",
			STR_ARG(table->name));
		table->tags = STR("{}");
		return OK;
	}
	err_copy(err, code, own.message);
	return code;
}

static enum code read_description(struct arena *arena, struct pull_table *table, struct str answer,
				  struct err *err)
{
	const struct json *root;
	enum code code = json_parse(arena, answer, &root, err);

	if (code != OK)
		return code;
	table->description = json_text_get(root, "Table", JSON_OBJECT);
	if (table->description)
		read_partition(arena, table);
	if (!table->description || !str_is_set(table->type))
		return err_set(err, MSG_PULL_REMOTE, STR_ARG(table->name),
			       STR_ARG(STR("DescribeTable")), STR_ARG(STR("no table in it")));
	return OK;
}

enum code pull_work_describe_file(const struct pull *pull, struct arena *arena,
				  struct pull_table *table, struct err *err)
{
	struct str answer;
	enum code code =
		pull_ask_file(pull, arena, table->name, "DescribeTable",
			      json_text_request(arena, "TableName", table->name), &answer, err);

	if (code != OK)
		return code;
	return read_description(arena, table, answer, err);
}

enum code pull_work_describe(const struct pull *pull, struct arena *arena, struct pull_table *table,
			     struct err *err)
{
	struct str body = json_text_request(arena, "TableName", table->name), answer;
	enum code code = pull_ask(pull, arena, table->name, "DescribeTable", body, &answer, err);

	if (code != OK)
		return code;
	code = read_description(arena, table, answer, err);
	if (code != OK)
		return code;
	table->items = json_text_number(table->description, "ItemCount");
	table->bytes = json_text_number(table->description, "TableSizeBytes");
	double provisioned = json_text_number(
		json_text_get(table->description, "ProvisionedThroughput", JSON_OBJECT),
		"ReadCapacityUnits");
	table->max_units = pull->max_units > 0 ? pull->max_units
			   : provisioned > 0   ? provisioned / 10
					       : UNITS_USUAL;
	code = pull_ask(pull, arena, table->name, "DescribeTimeToLive", body, &table->expiry, err);
	if (code != OK)
		return code;
	return list_tags(pull, arena, table, err);
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
		enum code code = pull_ask_file(pull, arena, table, "Scan", body, &answer, err);

		if (code != OK)
			return code;
		code = json_parse(arena, answer, &root, err);
		if (code != OK)
			return code;
		*n += (uint64_t)json_text_number(root, "Count");
		key = json_text_find(answer, STR("LastEvaluatedKey"));
	} while (str_is_set(key));
	return OK;
}

/* Whether the answer of DescribeTimeToLive says that it is on, or about to be; *attribute: by which
 * one. */
static bool has_expiry(struct arena *arena, struct str answer, struct str *attribute)
{
	struct err ignored = err_in(arena);
	const struct json *root;

	if (json_parse(arena, answer, &root, &ignored) != OK)
		return false;
	root = json_text_get(root, "TimeToLiveDescription", JSON_OBJECT);
	*attribute = json_text_string(arena, root, "AttributeName");
	struct str status = json_text_string(arena, root, "TimeToLiveStatus");
	return (str_eq(status, STR("ENABLED")) || str_eq(status, STR("ENABLING"))) &&
	       str_is_set(*attribute);
}

static enum code set_expiry(const struct pull *pull, struct arena *arena,
			    const struct pull_table *table, struct err *err)
{
	struct str answer, attribute, there;
	enum code code =
		pull_ask_file(pull, arena, table->name, "DescribeTimeToLive",
			      json_text_request(arena, "TableName", table->name), &answer, err);

	if (code != OK)
		return code;
	if (!has_expiry(arena, table->expiry, &attribute) || has_expiry(arena, answer, &there))
		return OK;
	return pull_ask_file(pull, arena, table->name, "UpdateTimeToLive",
			     description_to_expire(arena, table->name, attribute), &answer, err);
}

/* Each step may have been done by a pull that was ended behind it. */
enum code pull_work_prepare(const struct pull *pull, const struct pull_table *table,
			    struct err *err)
{
	struct arena *arena = err->arena;
	struct str answer, tags = json_text_find(table->tags, STR("Tags"));
	enum code code = OK;

	if (!pull_ask_has_table(pull, arena, table->name)) {
		code = pull_ask_file(pull, arena, table->name, "CreateTable",
				     description_to_create(arena, table->description), &answer,
				     err);
		if (code != OK)
			return code;
	}
	if (tags.n > 2) {
		struct str arn = pull_ask_arn(pull, arena, table->name);

		code = pull_ask_file(
			pull, arena, table->name, "TagResource",
			str_printf(arena, "{\"ResourceArn\":\"" STR_FMT "\",\"Tags\":" STR_FMT "}",
				   STR_ARG(arn), STR_ARG(tags)),
			&answer, err);
		if (code != OK)
			return code;
	}
	return set_expiry(pull, arena, table, err);
}

static bool is_followed(const struct pull *pull, struct str table)
{
	for (size_t i = 0; i < pull->follow_count; i++) {
		if (str_eq(pull->follows[i].table, table))
			return true;
	}
	return false;
}

enum code pull_work_check(const struct pull *pull, const struct pull_table *table, struct err *err)
{
	uint64_t n;
	enum code code = pull_count_items(pull, err->arena, table->name, &n, err);

	if (code != OK)
		return code;
	/* collections that others point at are more, and counted one by one */
	if (n == table->read || (n > table->read && is_followed(pull, table->name)))
		return OK;
	return err_set(err, MSG_PULL_EQUAL, STR_ARG(table->name), (unsigned long long)table->read,
		       (unsigned long long)n);
}
