#include "server/seed/preview.h"

#include <stdio.h>

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

static enum code preview_ask(struct arena *arena, const struct seed_target *target,
			     const char *operation, struct str body, const struct json **root,
			     struct err *err)
{
	const struct seed_request request = {operation, body, target->region, target->account};
	struct seed_reply reply;
	enum code code = target->send(target->context, arena, &request, &reply, err);

	if (code == OK && reply.status != 200)
		return err_set(err, MSG_SEED_REFUSED, operation, STR_ARG(body),
			       STR_ARG(reply.body));
	return code == OK ? json_parse(arena, reply.body, root, err) : code;
}

/* "pk S, sk N" */
static struct str key_text(struct arena *arena, const struct json *table, const struct json *from)
{
	const struct json *keys = json_text_get(from, "KeySchema", JSON_ARRAY),
			  *types = json_text_get(table, "AttributeDefinitions", JSON_ARRAY);
	struct buf buf = buf_in(arena);

	for (const struct json *key = keys ? json_first(keys) : NULL; key; key = json_next(key)) {
		struct str name = json_text_string(arena, key, "AttributeName"), type = STR("?");

		for (const struct json *at = types ? json_first(types) : NULL; at;
		     at = json_next(at)) {
			if (str_eq(json_text_string(arena, at, "AttributeName"), name))
				type = json_text_string(arena, at, "AttributeType");
		}
		buf_printf(&buf, "%s" STR_FMT " " STR_FMT, buf.n > 0 ? ", " : "", STR_ARG(name),
			   STR_ARG(type));
	}
	return str_copy(arena, buf_str(&buf));
}

static void add_index_names(struct arena *arena, struct buf *buf, const struct json *table,
			    const char *list)
{
	const struct json *indexes = json_text_get(table, list, JSON_ARRAY);

	for (const struct json *at = indexes ? json_first(indexes) : NULL; at; at = json_next(at))
		buf_printf(buf, "%s" STR_FMT " (" STR_FMT ")", buf->n > 0 ? "; " : "",
			   STR_ARG(json_text_string(arena, at, "IndexName")),
			   STR_ARG(key_text(arena, table, at)));
}

static void print_row(struct arena *arena, const struct json *table, const struct json *ttl)
{
	struct str mode = json_text_string(
		arena, json_text_get(table, "BillingModeSummary", JSON_OBJECT), "BillingMode");
	struct str view = json_text_string(
		arena, json_text_get(table, "StreamSpecification", JSON_OBJECT), "StreamViewType");
	struct str expiry = json_text_string(arena, ttl, "AttributeName");
	struct buf indexes = buf_in(arena);

	add_index_names(arena, &indexes, table, "GlobalSecondaryIndexes");
	add_index_names(arena, &indexes, table, "LocalSecondaryIndexes");
	printf(STR_FMT "\t" STR_FMT "\t" STR_FMT "\t%s\t" STR_FMT "\t" STR_FMT "\n",
	       STR_ARG(json_text_string(arena, table, "TableName")),
	       STR_ARG(key_text(arena, table, table)),
	       STR_ARG(indexes.n > 0 ? buf_str(&indexes) : STR("-")),
	       str_eq(mode, STR("PAY_PER_REQUEST")) ? "on demand" : "provisioned",
	       STR_ARG(expiry.n > 0 ? expiry : STR("-")), STR_ARG(view.n > 0 ? view : STR("-")));
}

/* Requests of --json, and the member of each answer that is shown. */
static const struct {
	const char *operation, *member;
	bool is_by_arn, may_fail; /* AWS: GetResourcePolicy fails where there is none */
} shown[] = {
	{"DescribeTimeToLive", "TimeToLiveDescription", false, false},
	{"DescribeContinuousBackups", "ContinuousBackupsDescription", false, false},
	{"DescribeContributorInsights", "ContributorInsightsStatus", false, false},
	{"DescribeKinesisStreamingDestination", "KinesisDataStreamDestinations", false, false},
	{"ListTagsOfResource", "Tags", true, false},
	{"GetResourcePolicy", "Policy", true, true},
};

static enum code add_described(struct arena *arena, const struct seed_target *target,
			       struct str name, const struct json *described, struct json_out *out,
			       struct err *err)
{
	const struct json *table = json_text_get(described, "Table", JSON_OBJECT), *root;
	struct str arn = json_text_string(arena, table, "TableArn");

	json_out_open(out, '{');
	json_text_copy(out, arena, described, "Table");
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		struct str body = shown[i].is_by_arn ? json_text_request(arena, "ResourceArn", arn)
						     : json_text_request(arena, "TableName", name);
		enum code code = preview_ask(arena, target, shown[i].operation, body, &root, err);

		if (code != OK && !shown[i].may_fail)
			return code;
		if (code == OK)
			json_text_copy(out, arena, root, shown[i].member);
	}
	json_out_close(out, '}');
	return OK;
}

static enum code print_table(struct arena *arena, const struct seed_target *target, struct str name,
			     struct json_out *out, struct err *err)
{
	const struct json *described, *ttl;
	struct str asked = json_text_request(arena, "TableName", name);
	enum code code = preview_ask(arena, target, "DescribeTable", asked, &described, err);

	if (code != OK)
		return code;
	if (out)
		return add_described(arena, target, name, described, out, err);
	code = preview_ask(arena, target, "DescribeTimeToLive", asked, &ttl, err);
	if (code != OK)
		return code;
	print_row(arena, json_text_get(described, "Table", JSON_OBJECT),
		  json_text_get(ttl, "TimeToLiveDescription", JSON_OBJECT));
	return OK;
}

enum code preview_print(struct arena *arena, const struct seed_target *target, bool is_json,
			struct err *err)
{
	struct json_out out = json_out_in(arena);
	struct str body = STR("{}");
	enum code code = OK;

	if (is_json)
		json_out_open(&out, '[');
	else
		printf("table\tkey\tindexes\tbilling\texpiry\tstream\n");
	while (code == OK && str_is_set(body)) {
		const struct json *root = NULL, *names = NULL;

		code = preview_ask(arena, target, "ListTables", body, &root, err);
		names = code == OK ? json_text_get(root, "TableNames", JSON_ARRAY) : NULL;
		for (const struct json *at = names ? json_first(names) : NULL; at && code == OK;
		     at = json_next(at))
			code = print_table(arena, target, json_string(arena, at),
					   is_json ? &out : NULL, err);
		struct str last =
			root ? json_text_string(arena, root, "LastEvaluatedTableName") : STR_ABSENT;
		body = str_is_set(last)
			       ? str_printf(arena, "{\"ExclusiveStartTableName\":\"" STR_FMT "\"}",
					    STR_ARG(last))
			       : STR_ABSENT;
	}
	if (is_json) {
		json_out_close(&out, ']');
		printf(STR_FMT "\n", STR_ARG(json_out_str(&out)));
	}
	return code;
}
