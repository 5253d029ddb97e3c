#include "server/seed/terraform_table.h"

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

struct str terraform_text(const struct terraform_resource *of, const struct json *from,
			  const char *name)
{
	struct str s = source_string(of->source, of->arena, from, name);

	return s.n > 0 ? s : STR_ABSENT;
}

bool terraform_is_on(const struct terraform_resource *of, const struct json *from, const char *name)
{
	const struct json *found = source_get(of->source, from, name, JSON_BOOLEAN);

	return found && json_boolean(found);
}

const struct json *terraform_block(const struct terraform_resource *of, const struct json *from,
				   const char *name)
{
	const struct json *list = source_get(of->source, from, name, JSON_ARRAY);
	const struct json *first =
		list ? json_first(list) : source_get(of->source, from, name, JSON_OBJECT);

	source_use(of->source, first);
	return first;
}

static const struct json *terraform_list_of(const struct terraform_resource *of,
					    const struct json *from, const char *name)
{
	const struct json *list = source_get(of->source, from, name, JSON_ARRAY);

	for (const struct json *at = list ? json_first(list) : NULL; at; at = json_next(at))
		source_use(of->source, at);
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
static void add_key(const struct terraform_resource *of, struct json_out *out,
		    const struct json *from, struct str hash)
{
	const struct json *elements = terraform_list_of(of, from, "key_schema");
	struct str range = terraform_text(of, from, "range_key");

	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	for (const struct json *at = elements ? json_first(elements) : NULL; at;
	     at = json_next(at)) {
		struct str type = terraform_text(of, at, "key_type");
		bool is_range = str_eq(type, STR("RANGE"));

		if (!is_range && !str_eq(type, STR("HASH")))
			seed_refuse(of->seed, source_origin(of->source, at), of->address,
				    STR("a key_type that is neither HASH nor RANGE"));
		add_element(out, terraform_text(of, at, "attribute_name"),
			    is_range ? "RANGE" : "HASH");
	}
	if (!elements)
		add_element(out, hash, "HASH");
	if (!elements && str_is_set(range))
		add_element(out, range, "RANGE");
	json_out_close(out, ']');
}

static void add_number(const struct terraform_resource *of, struct json_out *out,
		       const struct json *from, const char *name, const char *as)
{
	const struct json *found = source_get(of->source, from, name, JSON_NUMBER);
	int64_t number;

	if (!found || !json_integer(found, &number) || number == 0)
		return;
	json_out_name(out, str_of(as));
	json_out_integer(out, number);
}

/* A block of two numbers: on_demand_throughput, warm_throughput. */
static void add_pair(const struct terraform_resource *of, struct json_out *out,
		     const struct json *from, const char *name, const char *as,
		     const char *const names[4])
{
	const struct json *pair = terraform_block(of, from, name);

	if (!pair)
		return;
	json_out_name(out, str_of(as));
	json_out_open(out, '{');
	add_number(of, out, pair, names[0], names[1]);
	add_number(of, out, pair, names[2], names[3]);
	json_out_close(out, '}');
}

static void add_throughput(const struct terraform_resource *of, struct json_out *out,
			   const struct json *from, bool is_provisioned)
{
	static const char *const most[] = {"max_read_request_units", "MaxReadRequestUnits",
					   "max_write_request_units", "MaxWriteRequestUnits"};
	static const char *const warm[] = {"read_units_per_second", "ReadUnitsPerSecond",
					   "write_units_per_second", "WriteUnitsPerSecond"};
	const struct json *read = source_get(of->source, from, "read_capacity", JSON_NUMBER);
	const struct json *write = source_get(of->source, from, "write_capacity", JSON_NUMBER);

	if (is_provisioned && read && write && json_number(read) > 0 && json_number(write) > 0) {
		json_out_name(out, STR("ProvisionedThroughput"));
		json_out_open(out, '{');
		add_number(of, out, from, "read_capacity", "ReadCapacityUnits");
		add_number(of, out, from, "write_capacity", "WriteCapacityUnits");
		json_out_close(out, '}');
	}
	add_pair(of, out, from, "on_demand_throughput", "OnDemandThroughput", most);
	add_pair(of, out, from, "warm_throughput", "WarmThroughput", warm);
}

static void add_index(const struct terraform_resource *of, struct json_out *out,
		      const struct json *index, struct str hash, bool is_provisioned)
{
	const struct json *attributes =
		source_get(of->source, index, "non_key_attributes", JSON_ARRAY);

	json_out_open(out, '{');
	json_out_field_string(out, "IndexName", terraform_text(of, index, "name"));
	add_key(of, out, index, hash);
	json_out_name(out, STR("Projection"));
	json_out_open(out, '{');
	json_out_field_string(out, "ProjectionType", terraform_text(of, index, "projection_type"));
	if (attributes && json_first(attributes)) {
		source_use_all(of->source, attributes);
		json_out_name(out, STR("NonKeyAttributes"));
		json_text_write(out, of->arena, attributes);
	}
	json_out_close(out, '}');
	add_throughput(of, out, index, is_provisioned);
	json_out_close(out, '}');
}

/* A local index has the table's partition key. */
static void add_indexes(const struct terraform_resource *of, struct json_out *out,
			const struct json *table, const char *blocks, const char *name,
			bool is_local)
{
	const struct json *indexes = terraform_list_of(of, table, blocks);
	bool is_provisioned = !is_local && !str_eq(terraform_text(of, table, "billing_mode"),
						   STR("PAY_PER_REQUEST"));

	if (!indexes)
		return;
	json_out_name(out, str_of(name));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index))
		add_index(of, out, index, terraform_text(of, is_local ? table : index, "hash_key"),
			  is_provisioned);
	json_out_close(out, ']');
}

static void add_attributes(const struct terraform_resource *of, struct json_out *out,
			   const struct json *table)
{
	const struct json *attributes = terraform_list_of(of, table, "attribute");

	json_out_name(out, STR("AttributeDefinitions"));
	json_out_open(out, '[');
	for (const struct json *at = attributes ? json_first(attributes) : NULL; at;
	     at = json_next(at)) {
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", terraform_text(of, at, "name"));
		json_out_field_string(out, "AttributeType", terraform_text(of, at, "type"));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* A scalar as a text; null is an empty one. */
static struct str scalar(const struct terraform_resource *of, const struct json *value)
{
	struct json_out out = json_out_in(of->arena);

	if (json_type(value) == JSON_STRING)
		return json_string(of->arena, value);
	if (json_type(value) != JSON_NULL)
		json_text_write(&out, of->arena, value);
	return json_out_str(&out);
}

/* tags_all has those of the provider, too. */
static void add_tags(const struct terraform_resource *of, struct json_out *out,
		     const struct json *table)
{
	const struct json *all = source_get(of->source, table, "tags_all", JSON_OBJECT);
	const struct json *own = source_get(of->source, table, "tags", JSON_OBJECT),
			  *tags = all ? all : own;

	source_use_all(of->source, all);
	source_use_all(of->source, own);
	if (!tags || !json_first(tags))
		return;
	json_out_name(out, STR("Tags"));
	json_out_open(out, '[');
	for (const struct json *tag = json_first(tags); tag; tag = json_next(tag)) {
		json_out_open(out, '{');
		json_out_field_string(out, "Key", json_name(of->arena, tag));
		json_out_field_string(out, "Value", scalar(of, tag));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void add_settings(const struct terraform_resource *of, struct json_out *out,
			 const struct json *table)
{
	struct str class = terraform_text(of, table, "table_class"),
		   view = terraform_text(of, table, "stream_view_type");
	const struct json *encryption = terraform_block(of, table, "server_side_encryption");
	struct str key = terraform_text(of, encryption, "kms_key_arn");

	if (terraform_is_on(of, table, "stream_enabled")) {
		json_out_name(out, STR("StreamSpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "StreamEnabled", true);
		if (str_is_set(view))
			json_out_field_string(out, "StreamViewType", view);
		json_out_close(out, '}');
	}
	if (str_is_set(class))
		json_out_field_string(out, "TableClass", class);
	if (terraform_is_on(of, table, "deletion_protection_enabled"))
		json_out_field_boolean(out, "DeletionProtectionEnabled", true);
	if (terraform_is_on(of, encryption, "enabled")) {
		json_out_name(out, STR("SSESpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "Enabled", true);
		if (str_is_set(key)) {
			json_out_field_string(out, "SSEType", STR("KMS"));
			json_out_field_string(out, "KMSMasterKeyId", key);
		}
		json_out_close(out, '}');
	}
	add_tags(of, out, table);
}

struct str terraform_table_body(const struct terraform_resource *of, const struct json *table,
				struct str name)
{
	struct json_out out = json_out_in(of->arena);
	bool is_on_demand =
		str_eq(terraform_text(of, table, "billing_mode"), STR("PAY_PER_REQUEST"));

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", name);
	add_attributes(of, &out, table);
	add_key(of, &out, table, terraform_text(of, table, "hash_key"));
	json_out_field_string(&out, "BillingMode",
			      is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
	add_throughput(of, &out, table, !is_on_demand);
	add_indexes(of, &out, table, "global_secondary_index", "GlobalSecondaryIndexes", false);
	add_indexes(of, &out, table, "local_secondary_index", "LocalSecondaryIndexes", true);
	add_settings(of, &out, table);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static struct json_out begin(const struct terraform_resource *of, struct str name)
{
	struct json_out out = json_out_in(of->arena);

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

static void follow_with_recovery(const struct terraform_resource *of, const struct json *table,
				 struct str name, struct seed_request *follow_ups, size_t *n)
{
	const struct json *recovery = terraform_block(of, table, "point_in_time_recovery");
	struct json_out out = begin(of, name);

	bool is_enabled = terraform_is_on(of, recovery, "enabled");
	json_out_name(&out, STR("PointInTimeRecoverySpecification"));
	json_out_open(&out, '{');
	json_out_field_boolean(&out, "PointInTimeRecoveryEnabled", true);
	add_number(of, &out, recovery, "recovery_period_in_days", "RecoveryPeriodInDays");
	json_out_close(&out, '}');
	if (!is_enabled)
		return;
	end(&out, "UpdateContinuousBackups", STR_ABSENT, follow_ups, n);
}

/* A replica's other settings are left, and so refused where they are set. */
static void follow_with_replicas(const struct terraform_resource *of, const struct json *table,
				 struct str name, struct seed_request *follow_ups, size_t *n)
{
	const struct json *replicas = terraform_list_of(of, table, "replica");

	for (const struct json *at = replicas ? json_first(replicas) : NULL; at;
	     at = json_next(at)) {
		struct json_out out = begin(of, name);

		if (*n + 1 == TERRAFORM_FOLLOW_UPS_MAX) {
			seed_refuse(of->seed, source_origin(of->source, at), of->address,
				    STR("too many replicas"));
			return;
		}
		struct str consistency = terraform_text(of, at, "consistency_mode");

		json_out_name(&out, STR("ReplicaUpdates"));
		json_out_open(&out, '[');
		json_out_open(&out, '{');
		json_out_name(&out, STR("Create"));
		json_out_open(&out, '{');
		json_out_field_string(&out, "RegionName", terraform_text(of, at, "region_name"));
		json_out_close(&out, '}');
		json_out_close(&out, '}');
		json_out_close(&out, ']');
		if (str_is_set(consistency))
			json_out_field_string(&out, "MultiRegionConsistency", consistency);
		source_pass_over(of->source, at, "arn");
		source_pass_over(of->source, at, "stream_arn");
		source_pass_over(of->source, at, "stream_label");
		end(&out, "UpdateTable", STR_ABSENT, follow_ups, n);
	}
}

size_t terraform_table_follow_ups(const struct terraform_resource *of, const struct json *table,
				  struct str name, struct seed_request *follow_ups, size_t n)
{
	const struct json *ttl = terraform_block(of, table, "ttl");
	struct str attribute = terraform_text(of, ttl, "attribute_name");

	if (terraform_is_on(of, ttl, "enabled")) {
		struct json_out out = begin(of, name);

		json_out_name(&out, STR("TimeToLiveSpecification"));
		json_out_open(&out, '{');
		json_out_field_boolean(&out, "Enabled", true);
		json_out_field_string(&out, "AttributeName", attribute);
		json_out_close(&out, '}');
		end(&out, "UpdateTimeToLive", STR_ABSENT, follow_ups, &n);
	}
	follow_with_recovery(of, table, name, follow_ups, &n);
	follow_with_replicas(of, table, name, follow_ups, &n);
	return n;
}

static void add_text(const struct terraform_resource *of, struct json_out *out,
		     const struct json *from, const char *name, const char *as)
{
	struct str value = terraform_text(of, from, name);

	if (!str_is_set(value))
		return;
	json_out_name(out, str_of(as));
	json_out_string(out, value);
}

struct str terraform_table_import(const struct terraform_resource *of, const struct json *import)
{
	const struct json *bucket = terraform_block(of, import, "s3_bucket_source"),
			  *csv = terraform_block(
				  of, terraform_block(of, import, "input_format_options"), "csv"),
			  *names = terraform_list_of(of, csv, "header_list");
	struct json_out out = json_out_in(of->arena);

	json_out_open(&out, '{');
	json_out_name(&out, STR("S3BucketSource"));
	json_out_open(&out, '{');
	add_text(of, &out, bucket, "bucket", "S3Bucket");
	add_text(of, &out, bucket, "bucket_owner", "S3BucketOwner");
	add_text(of, &out, bucket, "key_prefix", "S3KeyPrefix");
	json_out_close(&out, '}');
	add_text(of, &out, import, "input_format", "InputFormat");
	add_text(of, &out, import, "input_compression_type", "InputCompressionType");
	if (csv) {
		json_out_name(&out, STR("InputFormatOptions"));
		json_out_open(&out, '{');
		json_out_name(&out, STR("Csv"));
		json_out_open(&out, '{');
		add_text(of, &out, csv, "delimiter", "Delimiter");
		if (names) {
			json_out_name(&out, STR("HeaderList"));
			json_text_write(&out, of->arena, names);
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

void terraform_pass_over_unset(const struct terraform_resource *of, const struct json *value,
			       unsigned depth)
{
	for (const struct json *at = depth < 8 ? json_first(value) : NULL; at; at = json_next(at)) {
		bool is_empty = json_type(at) == JSON_STRING && json_string(of->arena, at).n == 0;

		if (is_empty || is_unset(at))
			source_use(of->source, at);
		else if (json_type(at) == JSON_OBJECT || json_type(at) == JSON_ARRAY)
			terraform_pass_over_unset(of, at, depth + 1);
	}
}

void terraform_table_refuse_unused(const struct terraform_resource *of, const struct json *values)
{
	static const char *const computed[] = {
		"arn",        "id",       "stream_arn", "stream_label",  "timeouts",      "region",
		"__defaults", "hash_key", "range_key",  "read_capacity", "write_capacity"};

	source_use(of->source, values);
	for (size_t i = 0; i < sizeof(computed) / sizeof(computed[0]); i++)
		source_pass_over(of->source, values, computed[i]);
	terraform_pass_over_unset(of, values, 0);
	seed_refuse_unused(of->seed, values, of->address);
}
