#include "protocol/iam/ask_control.h"

#include "protocol/streams.h"
#include "protocol/tables/arn.h"
#include "protocol/tables/scaling_target.h"

/* How a member of a request names the resource. */
enum naming { NAMES_TABLE, NAMES_ARN, NAMES_BACKUP, NAMES_GLOBAL_TABLE, NAMES_ITERATOR };

/* The first that a request has decides. */
static const struct {
	const char *member;
	enum naming naming;
} resources[] = {
	{"TableName", NAMES_TABLE},
	{"ResourceArn", NAMES_ARN},
	{"TableArn", NAMES_TABLE},
	{"StreamArn", NAMES_ARN},
	{"ShardIterator", NAMES_ITERATOR},
	{"BackupArn", NAMES_BACKUP},
	{"ExportArn", NAMES_ARN},
	{"ImportArn", NAMES_ARN},
	{"SourceTableArn", NAMES_TABLE},
	{"SourceTableName", NAMES_TABLE},
	{"GlobalTableName", NAMES_GLOBAL_TABLE},
	{"BulkOperationArn", NAMES_ARN},
};

/* A member of an object within the request; `object` NULL: of the request itself. */
static const struct json *member_of(const struct iam_asking *asking, const struct json *object,
				    const char *name)
{
	return object ? json_member(object, name) : iam_asking_member(asking, name);
}

static struct str text_of(const struct iam_asking *asking, const struct json *object,
			  const char *name)
{
	const struct json *value = member_of(asking, object, name);

	return value && json_type(value) == JSON_STRING ? json_string(asking->arena, value)
							: STR_ABSENT;
}

static struct str own_arn(const struct iam_asking *asking, struct str region, const char *resource,
			  struct str name)
{
	return str_printf(asking->arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":%s" STR_FMT,
			  STR_ARG(region), STR_ARG(asking->request->call->ns.account), resource,
			  STR_ARG(name));
}

/* AWS: DDB-BACKUP-012: but for restores, the region in the ARN is not looked at. */
static struct str backup_arn(const struct iam_asking *asking, struct str text)
{
	struct arn parts = arn_split(text);

	if (!str_starts_with(text, STR("arn:")) ||
	    asking->request->operation == OP_RestoreTableFromBackup)
		return text;
	return str_printf(asking->arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":" STR_FMT,
			  STR_ARG(asking->request->call->ns.region), STR_ARG(parts.account),
			  STR_ARG(parts.resource));
}

static bool find_resource(const struct iam_asking *asking, struct iam_matter *matter)
{
	struct streams_iterator iterator;

	for (size_t i = 0; i < sizeof(resources) / sizeof(resources[0]); i++) {
		struct str text = text_of(asking, NULL, resources[i].member);

		if (!str_is_set(text))
			continue;
		switch (resources[i].naming) {
		case NAMES_TABLE:
			matter->table = text;
			return true;
		case NAMES_ARN:
			matter->resource = text;
			return true;
		case NAMES_BACKUP:
			matter->resource = backup_arn(asking, text);
			return true;
		case NAMES_GLOBAL_TABLE:
			matter->resource = own_arn(asking, STR(""), "global-table/", text);
			return true;
		case NAMES_ITERATOR:
			matter->resource =
				streams_read_iterator(asking->arena, text, &iterator)
					? iterator.arn
					: own_arn(asking, asking->request->call->ns.region,
						  "table/*/stream/*", STR(""));
			return true;
		}
	}
	return false;
}

/* aws:RequestTag/x and aws:TagKeys, of Tags or TagKeys. */
static void add_tags(struct iam_asking *asking, struct iam_matter *matter)
{
	const struct json *tags = iam_asking_member(asking, "Tags"),
			  *names = iam_asking_member(asking, "TagKeys");
	struct iam_key *keys =
		ARENA_ARRAY(asking->arena, struct iam_key,
			    tags && json_type(tags) == JSON_ARRAY ? json_count(tags) + 1 : 1);

	matter->tags = (struct iam_context){0, keys};
	for (const struct json *tag = tags && json_type(tags) == JSON_ARRAY ? json_first(tags)
									    : NULL;
	     tag; tag = json_next(tag)) {
		bool is_object = json_type(tag) == JSON_OBJECT;
		struct str name = is_object ? text_of(asking, tag, "Key") : STR_ABSENT;
		struct str *value = ARENA_NEW(asking->arena, struct str);

		*value = is_object ? text_of(asking, tag, "Value") : STR_ABSENT;
		if (!str_is_set(name) || !str_is_set(*value))
			continue;
		iam_words_add(asking->arena, &matter->tag_keys, name);
		keys[matter->tags.n++] = (struct iam_key){
			str_printf(asking->arena, "aws:RequestTag/" STR_FMT, STR_ARG(name)), 1,
			value, false};
	}
	for (const struct json *name = names && json_type(names) == JSON_ARRAY ? json_first(names)
									       : NULL;
	     name; name = json_next(name)) {
		if (json_type(name) == JSON_STRING)
			iam_words_add(asking->arena, &matter->tag_keys,
				      json_string(asking->arena, name));
	}
}

/* Asks for the operation's own action. */
static struct iam_matter ask_own(struct iam_asking *asking)
{
	const struct json *creation =
		iam_asking_member(asking, "TableCreationParameters"); /* ImportTable */
	struct iam_matter matter = {
		.action = ops_name(asking->request->operation), .table = STR_ABSENT,
			.resource = STR("*"),
	};
	bool is_found = find_resource(asking, &matter);

	if (!is_found && creation && json_type(creation) == JSON_OBJECT) {
		matter.table = text_of(asking, creation, "TableName");
		is_found = str_is_set(matter.table);
	}
	if (!is_found && asking->own)
		matter.resource =
			own_arn(asking, asking->request->call->ns.region, asking->own, STR(""));
	matter.index = str_is_set(matter.table) ? text_of(asking, NULL, "IndexName") : STR_ABSENT;
	add_tags(asking, &matter);
	iam_asking_add(asking, &matter);
	return matter;
}

void iam_ask_control(struct iam_asking *asking)
{
	ask_own(asking);
}

/* AWS: Service Authorization Reference, "Actions, resources, and condition keys for AWS Application
 * Auto Scaling": those that describe have no resource. */
void iam_ask_scaling(struct iam_asking *asking)
{
	struct str resource = text_of(asking, NULL, "ResourceId"),
		   dimension = text_of(asking, NULL, "ScalableDimension"),
		   arn = text_of(asking, NULL, "ResourceARN");
	struct iam_matter matter = {
		.action = ops_name(asking->request->operation),
		.table = STR_ABSENT,
		.resource = str_is_set(arn) ? arn : STR("*"),
	};

	if (!ops_is_read(asking->request->operation) && str_is_set(resource) &&
	    str_is_set(dimension))
		matter.resource = scaling_target_arn(asking->arena, asking->request->call->ns,
						     resource, dimension);
	iam_asking_add(asking, &matter);
}

/* AWS: with tags or a policy it needs the actions for these too. Developer Guide, "Tagging
 * restrictions". */
void iam_ask_create_table(struct iam_asking *asking)
{
	struct iam_matter matter = ask_own(asking);

	matter.action = STR("TagResource");
	if (matter.tags.n > 0)
		iam_asking_add(asking, &matter);
	matter.action = STR("PutResourcePolicy");
	if (str_is_set(text_of(asking, NULL, "ResourcePolicy")))
		iam_asking_add(asking, &matter);
}

/* AWS: Developer Guide, "Using IAM with DynamoDB backup and restore". */
void iam_ask_restore(struct iam_asking *asking)
{
	static const char *const others[] = {
		"PutItem", "UpdateItem", "DeleteItem", "GetItem", "Query", "Scan", "BatchWriteItem",
	};
	struct str own = ask_own(asking).action;
	struct iam_matter matter =
		{.action = own, .table = text_of(asking, NULL, "TargetTableName")};

	if (!str_is_set(matter.table))
		return;
	iam_asking_add(asking, &matter);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		matter.action = str_of(others[i]);
		iam_asking_add(asking, &matter);
	}
}

/* What is asked for on the table in another region, by the member of a ReplicaUpdate. AWS:
 * Developer Guide, "Using IAM with global tables". */
static const struct {
	const char *member, *actions[10];
} replica_rules[] = {
	{"Create",
	 {"CreateTable", "CreateTableReplica", "Scan", "Query", "UpdateItem", "PutItem", "GetItem",
	  "DeleteItem", "BatchWriteItem", NULL}},
	{"Delete", {"DeleteTable", "DeleteTableReplica", NULL}},
	{"Disassociate", {"DisassociateTableReplica", NULL}},
};

static void ask_of_replica(struct iam_asking *asking, struct str name, const struct json *update)
{
	for (size_t i = 0; i < sizeof(replica_rules) / sizeof(replica_rules[0]); i++) {
		const struct json *one = json_member(update, replica_rules[i].member);
		struct iam_matter matter = {.table = STR_ABSENT};

		if (!one || json_type(one) != JSON_OBJECT)
			continue;
		matter.resource =
			own_arn(asking, text_of(asking, one, "RegionName"), "table/", name);
		for (size_t k = 0; replica_rules[i].actions[k]; k++) {
			matter.action = str_of(replica_rules[i].actions[k]);
			iam_asking_add(asking, &matter);
		}
	}
}

void iam_ask_update_table(struct iam_asking *asking)
{
	const struct json *updates = iam_asking_member(asking, "ReplicaUpdates");
	struct str name = ask_own(asking).table;

	if (!updates || json_type(updates) != JSON_ARRAY)
		return;
	if (str_starts_with(name, STR("arn:")) &&
	    str_starts_with(arn_split(name).resource, STR("table/")))
		(void)arn_table_part(arn_split(name).resource, &name);
	for (const struct json *one = json_first(updates); one; one = json_next(one)) {
		if (json_type(one) == JSON_OBJECT)
			ask_of_replica(asking, name, one);
	}
}
