#include "server/importers/plan.h"

#include "protocol/wire/json_out.h"
#include "protocol/wire/shapes.h"
#include "server/seed/pulumi.h"
#include "server/seed/scaling_resource.h"
#include "server/seed/import_table.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define MODULE_DEPTH_MAX 64
#define FOLLOW_UPS_MAX 64

/* Terraform does not say what comes first, so all resources are gone through again and again. */
enum walk { WALK_TABLES, WALK_TARGETS, WALK_POLICIES, WALK_ITEMS };

/* Addresses of what scales tables of the file. */
struct scaled {
	size_t n;
	struct str *v;
};

/* A resource that is read. */
struct reading {
	struct seed *seed;
	struct source *source;
	struct arena *arena;
	const struct json *root;
	struct str address; /* for messages */
	enum walk walk;
	size_t found;
	/* of WALK_TARGETS and WALK_POLICIES: those of `table` and its indexes */
	struct str table;
	struct seed_request *follow_ups;
	size_t n;
	struct scaled *scaled;
};

static enum code read_all(struct reading *reading, const struct json *root, struct err *err);

/* A string that is set: Terraform's null and "" are none. */
static struct str text(const struct reading *reading, const struct json *from, const char *name)
{
	struct str s = source_string(reading->source, reading->arena, from, name);

	return s.n > 0 ? s : STR_ABSENT;
}

static bool is_on(const struct reading *reading, const struct json *from, const char *name)
{
	const struct json *found = source_get(reading->source, from, name, JSON_BOOLEAN);

	return found && json_boolean(found);
}

/* The first block of a list of blocks, or the only one. */
static const struct json *block(const struct reading *reading, const struct json *from,
				const char *name)
{
	const struct json *list = source_get(reading->source, from, name, JSON_ARRAY);
	const struct json *first =
		list ? json_first(list) : source_get(reading->source, from, name, JSON_OBJECT);

	source_use(reading->source, first);
	return first;
}

static const struct json *list_of(const struct reading *reading, const struct json *from,
				  const char *name)
{
	const struct json *list = source_get(reading->source, from, name, JSON_ARRAY);

	for (const struct json *at = list ? json_first(list) : NULL; at; at = json_next(at))
		source_use(reading->source, at);
	return list && json_first(list) ? list : NULL;
}

static void add_element(struct json_out *out, struct str name, const char *type)
{
	json_out_open(out, '{');
	json_out_field_string(out, "AttributeName", name);
	json_out_field_string(out, "KeyType", str_of(type));
	json_out_close(out, '}');
}

/* Blocks of key_schema, or hash_key and range_key. */
static void add_key(const struct reading *reading, struct json_out *out, const struct json *from,
		    struct str hash)
{
	const struct json *elements = list_of(reading, from, "key_schema");
	struct str range = text(reading, from, "range_key");

	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	for (const struct json *at = elements ? json_first(elements) : NULL; at;
	     at = json_next(at)) {
		struct str type = text(reading, at, "key_type");
		bool is_range = str_eq(type, STR("RANGE"));

		if (!is_range && !str_eq(type, STR("HASH")))
			seed_refuse(reading->seed, source_origin(reading->source, at),
				    reading->address,
				    STR("a key_type that is neither HASH nor RANGE"));
		add_element(out, text(reading, at, "attribute_name"), is_range ? "RANGE" : "HASH");
	}
	if (!elements)
		add_element(out, hash, "HASH");
	if (!elements && str_is_set(range))
		add_element(out, range, "RANGE");
	json_out_close(out, ']');
}

static void add_number(const struct reading *reading, struct json_out *out, const struct json *from,
		       const char *name, const char *as)
{
	const struct json *found = source_get(reading->source, from, name, JSON_NUMBER);
	int64_t number;

	if (!found || !json_integer(found, &number) || number == 0)
		return;
	json_out_name(out, str_of(as));
	json_out_integer(out, number);
}

/* A block of two numbers: on_demand_throughput, warm_throughput. */
static void add_pair(const struct reading *reading, struct json_out *out, const struct json *from,
		     const char *name, const char *as, const char *const names[4])
{
	const struct json *pair = block(reading, from, name);

	if (!pair)
		return;
	json_out_name(out, str_of(as));
	json_out_open(out, '{');
	add_number(reading, out, pair, names[0], names[1]);
	add_number(reading, out, pair, names[2], names[3]);
	json_out_close(out, '}');
}

static void add_throughput(const struct reading *reading, struct json_out *out,
			   const struct json *from, bool is_provisioned)
{
	static const char *const most[] = {"max_read_request_units", "MaxReadRequestUnits",
					   "max_write_request_units", "MaxWriteRequestUnits"};
	static const char *const warm[] = {"read_units_per_second", "ReadUnitsPerSecond",
					   "write_units_per_second", "WriteUnitsPerSecond"};
	const struct json *read = source_get(reading->source, from, "read_capacity", JSON_NUMBER);
	const struct json *write = source_get(reading->source, from, "write_capacity", JSON_NUMBER);

	if (is_provisioned && read && write && json_number(read) > 0 && json_number(write) > 0) {
		json_out_name(out, STR("ProvisionedThroughput"));
		json_out_open(out, '{');
		add_number(reading, out, from, "read_capacity", "ReadCapacityUnits");
		add_number(reading, out, from, "write_capacity", "WriteCapacityUnits");
		json_out_close(out, '}');
	}
	add_pair(reading, out, from, "on_demand_throughput", "OnDemandThroughput", most);
	add_pair(reading, out, from, "warm_throughput", "WarmThroughput", warm);
}

static void add_index(const struct reading *reading, struct json_out *out, const struct json *index,
		      struct str hash, bool is_provisioned)
{
	const struct json *attributes =
		source_get(reading->source, index, "non_key_attributes", JSON_ARRAY);

	json_out_open(out, '{');
	json_out_field_string(out, "IndexName", text(reading, index, "name"));
	add_key(reading, out, index, hash);
	json_out_name(out, STR("Projection"));
	json_out_open(out, '{');
	json_out_field_string(out, "ProjectionType", text(reading, index, "projection_type"));
	if (attributes && json_first(attributes)) {
		source_use_all(reading->source, attributes);
		json_out_name(out, STR("NonKeyAttributes"));
		json_text_write(out, reading->arena, attributes);
	}
	json_out_close(out, '}');
	add_throughput(reading, out, index, is_provisioned);
	json_out_close(out, '}');
}

/* A local index has the table's partition key. */
static void add_indexes(const struct reading *reading, struct json_out *out,
			const struct json *table, const char *blocks, const char *name,
			bool is_local)
{
	const struct json *indexes = list_of(reading, table, blocks);
	bool is_provisioned =
		!is_local && !str_eq(text(reading, table, "billing_mode"), STR("PAY_PER_REQUEST"));

	if (!indexes)
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index))
		add_index(reading, out, index, text(reading, is_local ? table : index, "hash_key"),
			  is_provisioned);
	json_out_close(out, ']');
}

static void add_attributes(const struct reading *reading, struct json_out *out,
			   const struct json *table)
{
	const struct json *attributes = list_of(reading, table, "attribute");

	json_out_name(out, STR("AttributeDefinitions"));
	json_out_open(out, '[');
	for (const struct json *at = attributes ? json_first(attributes) : NULL; at;
	     at = json_next(at)) {
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", text(reading, at, "name"));
		json_out_field_string(out, "AttributeType", text(reading, at, "type"));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* A scalar as a text; null is an empty one. */
static struct str scalar(const struct reading *reading, const struct json *value)
{
	struct json_out out = json_out_in(reading->arena);

	if (json_type(value) == JSON_STRING)
		return json_string(reading->arena, value);
	if (json_type(value) != JSON_NULL)
		json_text_write(&out, reading->arena, value);
	return json_out_str(&out);
}

/* tags_all has those of the provider, too. */
static void add_tags(const struct reading *reading, struct json_out *out, const struct json *table)
{
	const struct json *all = source_get(reading->source, table, "tags_all", JSON_OBJECT);
	const struct json *own = source_get(reading->source, table, "tags", JSON_OBJECT),
			  *tags = all ? all : own;

	source_use_all(reading->source, all);
	source_use_all(reading->source, own);
	if (!tags || !json_first(tags))
		return;
	json_out_name(out, STR("Tags"));
	json_out_open(out, '[');
	for (const struct json *tag = json_first(tags); tag; tag = json_next(tag)) {
		json_out_open(out, '{');
		json_out_field_string(out, "Key", json_name(reading->arena, tag));
		json_out_field_string(out, "Value", scalar(reading, tag));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void add_settings(const struct reading *reading, struct json_out *out,
			 const struct json *table)
{
	struct str class = text(reading, table, "table_class"),
		   view = text(reading, table, "stream_view_type");
	const struct json *encryption = block(reading, table, "server_side_encryption");
	struct str key = text(reading, encryption, "kms_key_arn");

	if (is_on(reading, table, "stream_enabled")) {
		json_out_name(out, STR("StreamSpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "StreamEnabled", true);
		if (str_is_set(view))
			json_out_field_string(out, "StreamViewType", view);
		json_out_close(out, '}');
	}
	if (str_is_set(class))
		json_out_field_string(out, "TableClass", class);
	if (is_on(reading, table, "deletion_protection_enabled"))
		json_out_field_boolean(out, "DeletionProtectionEnabled", true);
	if (is_on(reading, encryption, "enabled")) {
		json_out_name(out, STR("SSESpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "Enabled", true);
		if (str_is_set(key)) {
			json_out_field_string(out, "SSEType", STR("KMS"));
			json_out_field_string(out, "KMSMasterKeyId", key);
		}
		json_out_close(out, '}');
	}
	add_tags(reading, out, table);
}

static struct str create_body(const struct reading *reading, const struct json *table,
			      struct str name)
{
	struct json_out out = json_out_in(reading->arena);
	bool is_on_demand = str_eq(text(reading, table, "billing_mode"), STR("PAY_PER_REQUEST"));

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	add_attributes(reading, &out, table);
	add_key(reading, &out, table, text(reading, table, "hash_key"));
	json_out_field_string(&out, "BillingMode",
			      is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
	add_throughput(reading, &out, table, !is_on_demand);
	add_indexes(reading, &out, table, "global_secondary_index", "GlobalSecondaryIndexes",
		    false);
	add_indexes(reading, &out, table, "local_secondary_index", "LocalSecondaryIndexes", true);
	add_settings(reading, &out, table);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct json_out begin(const struct reading *reading, struct str name)
{
	struct json_out out = json_out_in(reading->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	return out;
}

static void end(struct json_out *out, const char *operation, struct str region,
		struct seed_request *follow_ups, size_t *n)
{
	json_out_close(out, '}');
	follow_ups[(*n)++] =
		(struct seed_request){operation, json_out_str(out), region, STR_ABSENT};
}

static void follow_with_recovery(const struct reading *reading, const struct json *table,
				 struct str name, struct seed_request *follow_ups, size_t *n)
{
	const struct json *recovery = block(reading, table, "point_in_time_recovery");
	struct json_out out = begin(reading, name);

	bool is_enabled = is_on(reading, recovery, "enabled");
	json_out_name(&out, STR("PointInTimeRecoverySpecification"));
	json_out_open(&out, '{');
	json_out_field_boolean(&out, "PointInTimeRecoveryEnabled", true);
	add_number(reading, &out, recovery, "recovery_period_in_days", "RecoveryPeriodInDays");
	json_out_close(&out, '}');
	if (!is_enabled)
		return;
	end(&out, "UpdateContinuousBackups", STR_ABSENT, follow_ups, n);
}

/* A replica's other settings are left, and so refused where they are set. */
static void follow_with_replicas(const struct reading *reading, const struct json *table,
				 struct str name, struct seed_request *follow_ups, size_t *n)
{
	const struct json *replicas = list_of(reading, table, "replica");

	for (const struct json *at = replicas ? json_first(replicas) : NULL; at;
	     at = json_next(at)) {
		struct json_out out = begin(reading, name);

		if (*n + 1 == FOLLOW_UPS_MAX) {
			seed_refuse(reading->seed, source_origin(reading->source, at),
				    reading->address, STR("too many replicas"));
			return;
		}
		struct str consistency = text(reading, at, "consistency_mode");

		json_out_name(&out, STR("ReplicaUpdates"));
		json_out_open(&out, '[');
		json_out_open(&out, '{');
		json_out_name(&out, STR("Create"));
		json_out_open(&out, '{');
		json_out_field_string(&out, "RegionName", text(reading, at, "region_name"));
		json_out_close(&out, '}');
		json_out_close(&out, '}');
		json_out_close(&out, ']');
		if (str_is_set(consistency))
			json_out_field_string(&out, "MultiRegionConsistency", consistency);
		source_pass_over(reading->source, at, "arn");
		source_pass_over(reading->source, at, "stream_arn");
		source_pass_over(reading->source, at, "stream_label");
		end(&out, "UpdateTable", STR_ABSENT, follow_ups, n);
	}
}

static size_t add_follow_ups(const struct reading *reading, const struct json *table,
			     struct str name, struct seed_request *follow_ups, size_t n)
{
	const struct json *ttl = block(reading, table, "ttl");
	struct str attribute = text(reading, ttl, "attribute_name");

	if (is_on(reading, ttl, "enabled")) {
		struct json_out out = begin(reading, name);

		json_out_name(&out, STR("TimeToLiveSpecification"));
		json_out_open(&out, '{');
		json_out_field_boolean(&out, "Enabled", true);
		json_out_field_string(&out, "AttributeName", attribute);
		json_out_close(&out, '}');
		end(&out, "UpdateTimeToLive", STR_ABSENT, follow_ups, &n);
	}
	follow_with_recovery(reading, table, name, follow_ups, &n);
	follow_with_replicas(reading, table, name, follow_ups, &n);
	return n;
}

static void add_text(const struct reading *reading, struct json_out *out, const struct json *from,
		     const char *name, const char *as)
{
	struct str value = text(reading, from, name);

	if (!str_is_set(value))
		return;
	json_out_name(out, str_of(as));
	json_out_string(out, value);
}

/* ImportTable's members of a block import_table. */
static struct str import_source(const struct reading *reading, const struct json *import)
{
	const struct json *bucket = block(reading, import, "s3_bucket_source"),
			  *csv = block(reading, block(reading, import, "input_format_options"),
				       "csv"),
			  *names = list_of(reading, csv, "header_list");
	struct json_out out = json_out_in(reading->arena);

	json_out_open(&out, '{');
	json_out_name(&out, STR("S3BucketSource"));
	json_out_open(&out, '{');
	add_text(reading, &out, bucket, "bucket", "S3Bucket");
	add_text(reading, &out, bucket, "bucket_owner", "S3BucketOwner");
	add_text(reading, &out, bucket, "key_prefix", "S3KeyPrefix");
	json_out_close(&out, '}');
	add_text(reading, &out, import, "input_format", "InputFormat");
	add_text(reading, &out, import, "input_compression_type", "InputCompressionType");
	if (csv) {
		json_out_name(&out, STR("InputFormatOptions"));
		json_out_open(&out, '{');
		json_out_name(&out, STR("Csv"));
		json_out_open(&out, '{');
		add_text(reading, &out, csv, "delimiter", "Delimiter");
		if (names) {
			json_out_name(&out, STR("HeaderList"));
			json_text_write(&out, reading->arena, names);
		}
		json_out_close(&out, '}');
		json_out_close(&out, '}');
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

/* What a provider writes where nothing is set. */
static bool is_unset(const struct json *value)
{
	double number = json_type(value) == JSON_NUMBER ? json_number(value) : 1;

	switch (json_type(value)) {
	case JSON_NULL:
		return true;
	case JSON_BOOLEAN:
		return !json_boolean(value);
	case JSON_NUMBER:
		return number == 0;
	default:
		return json_type(value) != JSON_STRING && !json_first(value);
	}
}

static void pass_over_unset(const struct reading *reading, const struct json *value, unsigned depth)
{
	for (const struct json *at = depth < 8 ? json_first(value) : NULL; at; at = json_next(at)) {
		bool is_empty =
			json_type(at) == JSON_STRING && json_string(reading->arena, at).n == 0;

		if (is_empty || is_unset(at))
			source_use(reading->source, at);
		else if (json_type(at) == JSON_OBJECT || json_type(at) == JSON_ARRAY)
			pass_over_unset(reading, at, depth + 1);
	}
}

static void refuse_unused(const struct reading *reading, const struct json *values)
{
	static const char *const computed[] = {
		"arn",        "id",       "stream_arn", "stream_label",  "timeouts",      "region",
		"__defaults", "hash_key", "range_key",  "read_capacity", "write_capacity"};

	source_use(reading->source, values);
	for (size_t i = 0; i < sizeof(computed) / sizeof(computed[0]); i++)
		source_pass_over(reading->source, values, computed[i]);
	pass_over_unset(reading, values, 0);
	seed_refuse_unused(reading->seed, values, reading->address);
}

static struct str requests_region(const struct reading *reading)
{
	struct str region = seed_options(reading->seed)->write.region;

	return str_is_set(region) ? region : STR("us-east-1");
}

/* Version 6 of Terraform's provider of AWS says the region of each resource. */
static void warn_of_region(const struct reading *reading, const struct json *values)
{
	struct str region = text(reading, values, "region");

	if (str_is_set(region) && !str_eq(region, requests_region(reading)))
		seed_warn(reading->seed,
			  source_origin(reading->source, json_member(values, "region")),
			  str_printf(reading->arena, STR_FMT ".region", STR_ARG(reading->address)),
			  str_printf(reading->arena,
				     "the table is made in " STR_FMT ", the requests' region",
				     STR_ARG(requests_region(reading))));
}

/* A number that is set, with what it stands in; or NULL. */
static const struct json *number(const struct reading *reading, const struct json *from,
				 const char *name)
{
	return source_get(reading->source, from, name, JSON_NUMBER);
}

static void warn_unscaled(void *context, struct origin origin, struct str path)
{
	seed_warn(context, origin, path, STR("this part of auto scaling is not carried out"));
}

/* What of a target or a policy was not taken. */
static void warn_of_scaling(const struct reading *reading, const struct json *values,
			    const struct json *metric)
{
	static const char *const known[] = {
		"arn",      "id",   "alarm_arns", "policy_type",       "region",
		"role_arn", "tags", "tags_all",   "service_namespace", "__defaults"};

	source_use(reading->source, values);
	source_pass_over(reading->source, metric, "resource_label");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		source_pass_over(reading->source, values, known[i]);
	pass_over_unset(reading, values, 0);
	source_left_out(reading->source, values, reading->address, warn_unscaled, reading->seed);
}

/* A scalable target of the table, or a policy of one. */
static void add_scaling(struct reading *reading, const struct json *values)
{
	const struct json *tracking = block(reading, values,
					    "target_tracking_scaling_policy_configuration"),
			  *metric = block(reading, tracking, "predefined_metric_specification");
	struct scaling_values scaling = {
		.resource = text(reading, values, "resource_id"),
		.dimension = text(reading, values, "scalable_dimension"),
		.region = STR_ABSENT,
		.least = number(reading, values, "min_capacity"),
		.most = number(reading, values, "max_capacity"),
		.policy = text(reading, values, "name"),
		.metric = text(reading, metric, "predefined_metric_type"),
		.target = metric ? number(reading, tracking, "target_value") : NULL,
		.in_cooldown = number(reading, tracking, "scale_in_cooldown"),
		.out_cooldown = number(reading, tracking, "scale_out_cooldown"),
		.is_in_disabled =
			source_get(reading->source, tracking, "disable_scale_in", JSON_BOOLEAN),
	};

	if (!str_is_set(scaling.resource) || !str_is_set(scaling.dimension) ||
	    !scaling_resource_is_of(scaling.resource, reading->table) ||
	    reading->n + SCALING_REQUESTS > FOLLOW_UPS_MAX)
		return;
	size_t n = scaling_resource_requests(reading->arena, &scaling,
					     &reading->follow_ups[reading->n]);
	struct scaled *scaled = reading->scaled;
	reading->n += n;
	scaled->v = arena_room(reading->arena, scaled->v, scaled->n, sizeof(*scaled->v));
	if (n == 0)
		return;
	scaled->v[scaled->n++] = reading->address;
	warn_of_scaling(reading, values, metric);
}

/* What scales the table. AWS: replicas of a table with provisioned throughput need it. */
static enum code follow_with_scaling(const struct reading *reading, struct str name,
				     struct seed_request *follow_ups, size_t *n, struct err *err)
{
	struct reading inner = *reading;

	inner.table = name;
	inner.follow_ups = follow_ups;
	inner.walk = WALK_TARGETS;
	enum code code = read_all(&inner, reading->root, err);
	if (code != OK)
		return code;
	inner.walk = WALK_POLICIES;
	code = read_all(&inner, reading->root, err);
	*n = inner.n;
	return code;
}

static enum code read_table(const struct reading *reading, const struct json *values,
			    struct err *err)
{
	struct seed_request *follow_ups =
		ARENA_ARRAY(reading->arena, struct seed_request, FOLLOW_UPS_MAX);
	struct str name = text(reading, values, "name"), body;
	struct origin origin = source_origin(reading->source, values);

	warn_of_region(reading, values);

	if (!str_is_set(name)) {
		seed_refuse(
			reading->seed, origin, reading->address,
			STR("its name is not known before it is applied; show the state instead"));
		return OK;
	}
	body = create_body(reading, values, name);
	size_t n = 0;
	enum code code = follow_with_scaling(reading, name, follow_ups, &n, err);
	if (code != OK)
		return code;
	n = add_follow_ups(reading, values, name, follow_ups, n);
	const struct json *import = block(reading, values, "import_table");
	struct str account = seed_options(reading->seed)->write.account;
	const struct import_table from = {
		.name = name,
		.create = body,
		.source = import_source(reading, import),
		.region = requests_region(reading),
		.account = str_is_set(account) ? account : STR("000000000000"),
		.origin = origin,
		.source_origin = source_origin(reading->source, import),
		.path = str_printf(reading->arena, STR_FMT ".import_table",
				   STR_ARG(reading->address)),
	};

	refuse_unused(reading, values);
	if (import)
		return import_table_make(reading->seed, &from, follow_ups, n, err);
	return seed_table(reading->seed, origin, name, body, follow_ups, n, err);
}

/* What belongs to a table and is not made is refused. */
static void read_other(const struct reading *reading, struct str type, const struct json *resource,
		       bool is_of_tables, bool is_stack)
{
	struct origin origin = source_origin(reading->source, resource);

	if (is_of_tables)
		seed_refuse(
			reading->seed, origin, reading->address,
			str_printf(reading->arena, STR_FMT " is not carried out", STR_ARG(type)));
	else if (is_stack)
		seed_warn(reading->seed, origin, reading->address,
			  STR("the tables of a CloudFormation stack are not made; apply reads its "
			      "template"));
}

/* What has no values, or is to go away. */
static enum code read_nothing(const struct reading *reading, struct str type,
			      const struct json *resource, const char *why)
{
	if (reading->walk == WALK_TABLES && str_contains(type, STR("dynamodb")))
		seed_warn(reading->seed, source_origin(reading->source, resource), reading->address,
			  str_of(why));
	return OK;
}

/* Auto scaling that no table of the file took. */
static void judge_scaling(const struct reading *reading, struct str type, const struct json *values)
{
	struct str service = json_text_string(reading->arena, values, "service_namespace");

	if (!str_starts_with(type, STR("aws_appautoscaling_")) || !str_eq(service, STR("dynamodb")))
		return;
	for (size_t i = 0; i < reading->scaled->n; i++) {
		if (str_eq(reading->scaled->v[i], reading->address))
			return;
	}
	seed_warn(reading->seed, source_origin(reading->source, values), reading->address,
		  STR("not carried out: it is not target tracking of a table of this file"));
}

/* A resource with its values, as the walk wants it. */
static enum code read_values(struct reading *reading, struct str type, const struct json *values,
			     struct err *err)
{
	bool is_table = str_eq(type, STR("aws_dynamodb_table")),
	     is_item = str_eq(type, STR("aws_dynamodb_table_item"));

	switch (reading->walk) {
	case WALK_TABLES:
		reading->found += is_table || is_item;
		if (is_table)
			return read_table(reading, values, err);
		if (!is_item)
			/* "_dynamodb_": also of the provider awscc */
			read_other(reading, type, values, str_contains(type, STR("_dynamodb_")),
				   str_starts_with(type, STR("aws_cloudformation_stack")));
		return OK;
	case WALK_TARGETS:
		if (str_eq(type, STR("aws_appautoscaling_target")))
			add_scaling(reading, values);
		return OK;
	case WALK_POLICIES:
		if (str_eq(type, STR("aws_appautoscaling_policy")))
			add_scaling(reading, values);
		return OK;
	case WALK_ITEMS:
		judge_scaling(reading, type, values);
		return is_item ? seed_item(reading->seed, text(reading, values, "table_name"),
					   text(reading, values, "item"),
					   source_origin(reading->source, values).line, err)
			       : OK;
	}
	return OK;
}

static bool is_data(const struct reading *reading, const struct json *resource)
{
	return str_eq(json_text_string(reading->arena, resource, "mode"), STR("data"));
}

static enum code read_resource(struct reading *reading, const struct json *resource,
			       struct err *err)
{
	const struct json *values = json_text_get(resource, "values", JSON_OBJECT);

	reading->address = json_text_string(reading->arena, resource, "address");
	if (!str_is_set(reading->address))
		reading->address = STR("resource");
	struct str type = json_text_string(reading->arena, resource, "type");
	if (is_data(reading, resource))
		return OK;
	if (json_text_get(resource, "deposed_key", JSON_STRING))
		return read_nothing(reading, type, resource, "not made: it is to be destroyed");
	return values ? read_values(reading, type, values, err)
		      : read_nothing(reading, type, resource, "not made: it has no values");
}

/* A member that is a list; another one is refused. */
static const struct json *list_in(const struct reading *reading, const struct json *module,
				  const char *name)
{
	const struct json *list = json_text_get(module, name, JSON_ARRAY);

	if (!list && reading->walk == WALK_TABLES && json_type(module) == JSON_OBJECT &&
	    json_member(module, name))
		seed_refuse(reading->seed,
			    source_origin(reading->source, json_member(module, name)), str_of(name),
			    STR("no list"));
	return list;
}

static enum code read_module(struct reading *reading, const struct json *module, unsigned depth,
			     struct err *err)
{
	const struct json *resources = list_in(reading, module, "resources"),
			  *children = list_in(reading, module, "child_modules");
	enum code code = OK;

	for (const struct json *at = resources ? json_first(resources) : NULL; at && code == OK;
	     at = json_next(at))
		code = read_resource(reading, at, err);
	if (depth == MODULE_DEPTH_MAX && children)
		seed_refuse(reading->seed, source_origin(reading->source, children),
			    STR("child_modules"), STR("nested too deeply"));
	for (const struct json *at = children && depth < MODULE_DEPTH_MAX ? json_first(children)
									  : NULL;
	     at && code == OK; at = json_next(at))
		code = read_module(reading, at, depth + 1, err);
	return code;
}

/* A file terraform.tfstate, version 4: resources with instances. */
static enum code read_state(struct reading *reading, const struct json *resources, struct err *err)
{
	enum code code = OK;

	for (const struct json *at = json_first(resources); at && code == OK; at = json_next(at)) {
		const struct json *instances = json_text_get(at, "instances", JSON_ARRAY);
		struct str type = json_text_string(reading->arena, at, "type"),
			   name = json_text_string(reading->arena, at, "name");

		reading->address = str_printf(reading->arena, STR_FMT "." STR_FMT, STR_ARG(type),
					      STR_ARG(name));
		for (const struct json *one =
			     instances && !is_data(reading, at) ? json_first(instances) : NULL;
		     one && code == OK; one = json_next(one)) {
			const struct json *values = json_text_get(one, "attributes", JSON_OBJECT);

			if (json_text_get(one, "deposed", JSON_STRING))
				code = read_nothing(reading, type, one,
						    "not made: it is to be destroyed");
			else
				code = values ? read_values(reading, type, values, err)
					      : read_nothing(reading, type, one,
							     "not made: it has no attributes");
		}
	}
	return code;
}

static enum code read_pulumi_resource(struct reading *reading, const struct json *resource,
				      struct err *err)
{
	struct str type = json_text_string(reading->arena, resource, "type");
	const struct json *outputs = json_text_get(resource, "outputs", JSON_OBJECT), *root;
	struct str known = pulumi_terraform_type(type);

	reading->address = json_text_string(reading->arena, resource, "urn");
	if (is_on(reading, resource, "delete"))
		return read_nothing(reading, type, resource, "not made: it is to be destroyed");
	if (!outputs || !str_is_set(known)) {
		if (reading->walk == WALK_TABLES)
			read_other(reading, type, resource,
				   str_starts_with(type, STR("aws:dynamodb/")) ||
					   str_starts_with(type, STR("aws-native:dynamodb:")),
				   str_starts_with(type, STR("aws:cloudformation/stack:")));
		return OK;
	}
	if ((reading->walk == WALK_TARGETS || reading->walk == WALK_POLICIES) &&
	    !str_starts_with(known, STR("aws_appautoscaling_")))
		return OK;
	enum code code = pulumi_rename(reading->seed, outputs, reading->address, &root, err);
	if (code != OK)
		return code;
	return read_values(reading, known, root, err);
}

static const struct json *pulumi_resources(const struct json *root)
{
	return json_text_get(json_text_get(root, "deployment", JSON_OBJECT), "resources",
			     JSON_ARRAY);
}

static const struct json *state_resources(const struct json *root)
{
	bool is_state = json_text_get(root, "terraform_version", JSON_STRING) &&
			json_text_get(root, "lineage", JSON_STRING);

	return is_state ? json_text_get(root, "resources", JSON_ARRAY) : NULL;
}

static const struct json *root_module(const struct json *root)
{
	const struct json *values = json_text_get(root, "planned_values", JSON_OBJECT);

	return json_text_get(values ? values : json_text_get(root, "values", JSON_OBJECT),
			     "root_module", JSON_OBJECT);
}

bool plan_is_in(const struct json *root)
{
	return root_module(root) || state_resources(root) || pulumi_resources(root);
}

static enum code read_all(struct reading *reading, const struct json *root, struct err *err)
{
	enum code code = OK;

	if (root_module(root))
		return read_module(reading, root_module(root), 0, err);
	if (state_resources(root))
		return read_state(reading, state_resources(root), err);
	for (const struct json *at = json_first(pulumi_resources(root)); at && code == OK;
	     at = json_next(at))
		code = read_pulumi_resource(reading, at, err);
	return code;
}

enum code plan_read(struct seed *seed, const struct json *root, struct err *err)
{
	struct scaled scaled = {0};
	struct reading reading = {.scaled = &scaled,
				  .seed = seed,
				  .source = seed_source(seed),
				  .arena = seed_arena(seed),
				  .root = root,
				  .walk = WALK_TABLES};
	enum code code = read_all(&reading, root, err);

	if (code == OK && reading.found == 0)
		seed_refuse(seed, (struct origin){NULL, 0}, STR(""), STR("no tables"));
	reading.walk = WALK_ITEMS;
	return code == OK ? read_all(&reading, root, err) : code;
}
