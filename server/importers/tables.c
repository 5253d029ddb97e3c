#include "server/importers/tables.h"

#include "protocol/wire/json_out.h"
#include "protocol/wire/shape_copy.h"
#include "server/importers/rows.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"

/* The table inside its envelope. */
static const struct json *unwrap(const struct json *root)
{
	static const char *const envelopes[] = {"Table", "TableDescription"};

	for (size_t i = 0; i < sizeof(envelopes) / sizeof(envelopes[0]); i++) {
		const struct json *inner =
			json_type(root) == JSON_OBJECT ? json_member(root, envelopes[i]) : NULL;

		if (inner && json_type(inner) == JSON_OBJECT)
			return inner;
	}
	return root;
}

static bool is_table(const struct json *root)
{
	const struct json *table = unwrap(root);

	return json_type(table) == JSON_OBJECT && json_member(table, "TableName") &&
	       json_member(table, "KeySchema") && json_member(table, "AttributeDefinitions");
}

bool tables_are_in(const struct json *root)
{
	if (json_type(root) != JSON_ARRAY)
		return is_table(root);
	const struct json *at = json_first(root);
	while (at && is_table(at))
		at = json_next(at);
	return !at && json_first(root);
}

/* A description's members that CreateTable has no use for. */
static const char *const shown[] = {
	"TableStatus",
	"CreationDateTime",
	"TableSizeBytes",
	"ItemCount",
	"TableArn",
	"TableId",
	"LatestStreamLabel",
	"LatestStreamArn",
	"BillingModeSummary",
	"TableClassSummary",
	"SSEDescription",
	"WarmThroughput",
	"RestoreSummary",
	"ArchivalSummary",
	"GlobalTableVersion",
	"TableThroughputModeSummary",
	"GlobalTableSettingsReplicationMode",
	"DisassociationProtectionEnabled",
	"MultiRegionConsistency",
};
static const char *const copied[] = {
	"TableName",
	"KeySchema",
	"AttributeDefinitions",
	"StreamSpecification",
	"OnDemandThroughput",
	"ProvisionedThroughput",
	"GlobalSecondaryIndexes",
	"LocalSecondaryIndexes",
#define SWITCH(of, member, name, scope, parameter, input, concern) parameter,
#include "protocol/tables/settings.def"
};

/* What a description shows of throughput and indexes beside what CreateTable takes. */
static void mark_shown(struct source *source, const struct json *table)
{
	static const char *const lists[] = {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"},
				 *const of_index[] = {"IndexStatus",
						      "IndexSizeBytes",
						      "ItemCount",
						      "IndexArn",
						      "Backfilling",
						      "WarmThroughput",
						      "ProvisionedThroughput"};

	source_pass_over(source, table, "ProvisionedThroughput");
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		const struct json *list = json_text_get(table, lists[i], JSON_ARRAY);

		for (const struct json *at = list ? json_first(list) : NULL; at;
		     at = json_next(at)) {
			for (size_t j = 0; j < sizeof(of_index) / sizeof(of_index[0]); j++)
				source_pass_over(source, at, of_index[j]);
		}
	}
}

static void mark_described(struct seed *seed, const struct json *table)
{
	struct source *source = seed_source(seed);
	const struct json *replicas = json_text_get(table, "Replicas", JSON_ARRAY);
	struct json_out unused = json_out_in(seed_arena(seed));

	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
		source_pass_over(source, table, shown[i]);
	for (size_t i = 0; i < sizeof(copied) / sizeof(copied[0]); i++)
		source_copy(source, &unused, &shape_create_table_input, table, copied[i]);
	mark_shown(source, table);
	const struct json *encryption = json_text_get(table, "SSEDescription", JSON_OBJECT);

	source_use_all(source, replicas);
	if (json_text_get(encryption, "KMSMasterKeyArn", JSON_STRING))
		seed_warn(seed, source_origin(source, encryption), STR("Table.SSEDescription"),
			  STR("the table is encrypted by the key of the region here"));
	if (replicas && json_first(replicas))
		seed_warn(seed, source_origin(source, replicas), STR("Table.Replicas"),
			  STR("a description makes the table of one region"));
}

/* Whether it has a member that CreateTable has not. */
static bool is_description(const struct json *table)
{
	for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++) {
		if (json_member(table, shown[i]) &&
		    !shape_copy_member(&shape_create_table_input, str_of(shown[i])))
			return true;
	}
	return false;
}

/* serverless-dynamodb-local's migrations have items in Seeds. */
static enum code put_seeds(struct seed *seed, const struct json *root, struct str table,
			   struct err *err)
{
	const struct json *seeds = json_text_get(root, "Seeds", JSON_ARRAY);

	for (const struct json *at = seeds ? json_first(seeds) : NULL; at; at = json_next(at)) {
		enum code code = rows_put_value(seed, table, at, err);

		if (code != OK)
			return code;
	}
	return OK;
}

/* CreateTable's own body goes as it is; what describes a table has more than that. */
static enum code read_one(struct seed *seed, const struct json *root, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct source *source = seed_source(seed);
	const struct json *table = unwrap(root), *name = json_member(table, "TableName");
	bool is_described = is_description(table);
	struct json_out out = json_out_in(arena);

	source_use(source, root);
	source_use(source, table);
	json_out_open(&out, '{');
	for (const struct json *at = is_described ? NULL : json_first(table); at;
	     at = json_next(at)) {
		struct str member = json_name(arena, at);

		if (shape_copy_member(&shape_create_table_input, member) &&
		    json_find(table, member) == at)
			source_copy(source, &out, &shape_create_table_input, table, member.p);
	}
	json_out_close(&out, '}');
	if (is_described)
		mark_described(seed, table);
	source_pass_over(source, root, "ResponseMetadata"); /* of boto3 */
	if (table != root)                                  /* put_seeds() puts them */
		source_use_all(source, json_text_get(root, "Seeds", JSON_ARRAY));
	seed_refuse_unused(seed, root, STR(""));
	struct str body = is_described ? description_to_create(arena, table) : json_out_str(&out);
	struct str called = json_type(name) == JSON_STRING ? json_string(arena, name) : STR("?");
	enum code code = seed_table(seed, source_origin(source, table), called, body, NULL, 0, err);
	return code == OK && table != root ? put_seeds(seed, root, called, err) : code;
}

enum code tables_read(struct seed *seed, const struct json *root, struct err *err)
{
	enum code code = OK;

	if (json_type(root) != JSON_ARRAY)
		return read_one(seed, root, err);
	for (const struct json *at = json_first(root); at && code == OK; at = json_next(at))
		code = read_one(seed, at, err);
	return code;
}
