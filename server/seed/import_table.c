#include "server/seed/import_table.h"

#include "server/seed/json_text.h"

/* AWS: API reference, TableCreationParameters: the members of CreateTable that ImportTable takes.
 */
static const char *const taken[] = {"TableName",
				    "AttributeDefinitions",
				    "KeySchema",
				    "BillingMode",
				    "ProvisionedThroughput",
				    "OnDemandThroughput",
				    "GlobalSecondaryIndexes",
				    "VectorIndexes",
				    "SSESpecification"};

/* The others, each by a request of its own: AWS changes one kind a call. */
static const struct {
	const char *member, *operation, *as;
	bool is_by_arn;
} later[] = {
	{"StreamSpecification", "UpdateTable", "StreamSpecification", false},
	{"TableClass", "UpdateTable", "TableClass", false},
	{"WarmThroughput", "UpdateTable", "WarmThroughput", false},
	{"Tags", "TagResource", "Tags", true},
	{"ResourcePolicy", "PutResourcePolicy", "Policy", true},
	{"DeletionProtectionEnabled", "UpdateTable", "DeletionProtectionEnabled", false},
};

enum { LATER_COUNT = sizeof(later) / sizeof(later[0]) };

/* A member whose value is JSON already. */
static void add_json_member(struct json_out *out, struct str name, struct str json)
{
	json_out_name(out, name);
	buf_add_str(&out->buf, json);
	out->needs_comma = true;
}

static struct str import_body(struct arena *arena, struct str create, struct str source)
{
	struct json_out out = json_out_in(arena);
	struct str rest = json_text_inside(source), name, value;

	json_out_open(&out, '{');
	while (json_text_member(&rest, &name, &value))
		add_json_member(&out, name, value);
	json_out_name(&out, STR("TableCreationParameters"));
	json_out_open(&out, '{');
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		struct str member = json_text_find(create, str_of(taken[i]));

		if (str_is_set(member))
			add_json_member(&out, str_of(taken[i]), member);
	}
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct str later_body(struct arena *arena, const struct import_table *from, size_t i,
			     struct str member)
{
	struct json_out out = json_out_in(arena);

	json_out_open(&out, '{');
	if (later[i].is_by_arn)
		json_out_field_string(
			&out, "ResourceArn",
			str_printf(arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
				   STR_ARG(from->region), STR_ARG(from->account),
				   STR_ARG(from->name)));
	else
		json_out_field_string(&out, "TableName", from->name);
	add_json_member(&out, str_of(later[i].as), member);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

enum code import_table_make(struct seed *seed, const struct import_table *from,
			    const struct seed_request *follow_ups, size_t n, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct seed_request *all = ARENA_ARRAY(arena, struct seed_request, LATER_COUNT + n);
	size_t count = 0;

	if (str_is_set(json_text_find(from->create, STR("LocalSecondaryIndexes"))))
		seed_refuse(seed, from->source_origin, from->path,
			    STR("a table that is imported has no local secondary indexes"));
	if (seed_options(seed)->is_trial) {
		seed_warn(seed, from->source_origin, from->path,
			  STR("items of the import are not tried without a server"));
		return seed_table(seed, from->origin, from->name, from->create, follow_ups, n, err);
	}
	for (size_t i = 0; i < LATER_COUNT; i++) {
		struct str member = json_text_find(from->create, str_of(later[i].member));

		if (str_is_set(member))
			all[count++] = (struct seed_request){later[i].operation,
							     later_body(arena, from, i, member),
							     STR_ABSENT, STR_ABSENT};
	}
	for (size_t i = 0; i < n; i++)
		all[count++] = follow_ups[i];
	return seed_import(seed, from->origin, from->name,
			   import_body(arena, from->create, from->source), all, count, err);
}
