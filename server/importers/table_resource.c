#include "server/importers/table_resource.h"

#include "protocol/wire/json_out.h"
#include "protocol/wire/shapes.h"
#include "server/seed/import_table.h"
#include "server/seed/json_text.h"
#include "server/seed/scaling_resource.h"

#define FOLLOW_UPS_MAX 256

/* A table that is made. */
struct making {
	struct seed *seed;
	struct source *source;
	struct arena *arena;
	const struct table_resource *resource;
	const struct json *properties;
	const struct json
		*replica; /* of AWS::DynamoDB::GlobalTable: the one that is made here; or NULL */
	struct str name;
	struct seed_request follow_ups[FOLLOW_UPS_MAX];
	size_t n;
};

enum table_kind table_resource_kind(struct str type)
{
	static const struct {
		const char *type;
		enum table_kind kind;
	} kinds[] = {
		{"AWS::DynamoDB::Table", TABLE_PLAIN},
		{"AWS::DynamoDB::GlobalTable", TABLE_GLOBAL},
		{"AWS::Serverless::SimpleTable", TABLE_SIMPLE},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (str_eq(type, str_of(kinds[i].type)))
			return kinds[i].kind;
	}
	return TABLE_NONE;
}

static const struct json *get(struct making *making, const struct json *object, const char *name)
{
	return source_get(making->source, object, name, JSON_OBJECT);
}

/* Of the table, or of a global table's replica. */
static const struct json *owner(struct making *making, const char *name)
{
	return !making->replica || json_member(making->properties, name) ? making->properties
									 : making->replica;
}

/* A boolean as CloudFormation has it; another value is left, so it is refused. False: none. */
static bool switch_at(struct making *making, const struct json *object, const char *name,
		      bool *is_on)
{
	const struct json *value =
		object && json_type(object) == JSON_OBJECT ? json_member(object, name) : NULL;
	struct str text = value && json_type(value) == JSON_STRING
				  ? json_string(making->arena, value)
				  : STR("");
	bool is_true = str_eq_nocase(text, STR("true"));
	bool is_boolean = value && (json_type(value) == JSON_BOOLEAN || is_true ||
				    str_eq_nocase(text, STR("false")));

	if (is_boolean)
		source_use(making->source, value);
	*is_on = is_boolean &&
		 (is_true || (json_type(value) == JSON_BOOLEAN && json_boolean(value)));
	return value != NULL;
}

static bool is_on(struct making *making, const struct json *object, const char *name)
{
	bool is_on;

	return switch_at(making, object, name, &is_on) && is_on;
}

/* The same for one that AWS wants. */
static bool is_on_surely(struct making *making, const struct json *object, const char *name,
			 const char *path)
{
	bool is_on;

	if (!switch_at(making, object, name, &is_on) && object)
		seed_refuse(making->seed, source_origin(making->source, object),
			    str_printf(making->arena, STR_FMT ".%s",
				       STR_ARG(making->resource->path), path),
			    str_printf(making->arena, "it has no %s", name));
	return is_on;
}

static struct str text_at(struct making *making, const struct json *object, const char *name)
{
	return source_string(making->source, making->arena, object, name);
}

static void refuse(struct making *making, const struct json *object, const char *name,
		   const char *reason)
{
	const struct json *member = source_member(making->source, object, name);
	struct str path = making->resource->path;

	if (!member)
		return;
	source_use_all(making->source, member);
	seed_refuse(making->seed, source_origin(making->source, member),
		    str_printf(making->arena, STR_FMT ".%s", STR_ARG(path), name), str_of(reason));
}

static void warn(struct making *making, const struct json *object, const char *name,
		 const char *reason)
{
	const struct json *member = source_member(making->source, object, name);
	struct str path = making->resource->path;

	if (!member)
		return;
	source_use_all(making->source, member);
	seed_warn(making->seed, source_origin(making->source, member),
		  str_printf(making->arena, STR_FMT ".%s", STR_ARG(path), name), str_of(reason));
}

static struct json_out begin(struct making *making)
{
	struct json_out out = json_out_in(making->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "TableName", making->name);
	return out;
}

static void end(struct making *making, struct json_out *out, const char *operation,
		struct str region)
{
	json_out_close(out, '}');
	if (making->n < FOLLOW_UPS_MAX)
		making->follow_ups[making->n++] =
			(struct seed_request){operation, json_out_str(out), region, STR_ABSENT};
	else
		refuse(making, making->properties, "TableName", "the table has too many settings");
}

/* ------------------------------------------------------------------ what CreateTable takes */

static void add_encryption(struct making *making, struct json_out *out)
{
	const struct json *encryption = get(making, making->properties, "SSESpecification"),
			  *own = making->replica ? get(making, making->replica, "SSESpecification")
						 : NULL;

	bool is_enabled = is_on_surely(making, encryption, "SSEEnabled", "SSESpecification");
	if (!encryption)
		return;
	json_out_name(out, STR("SSESpecification"));
	json_out_open(out, '{');
	json_out_field_boolean(out, "Enabled", is_enabled);
	source_copy(making->source, out, &shape_sse_specification, encryption, "SSEType");
	if (!source_copy(making->source, out, &shape_sse_specification, encryption,
			 "KMSMasterKeyId"))
		source_copy(making->source, out, &shape_sse_specification, own, "KMSMasterKeyId");
	json_out_close(out, '}');
}

static void add_stream(struct making *making, struct json_out *out)
{
	const struct json *stream = get(making, making->properties, "StreamSpecification");
	struct str view = text_at(making, stream, "StreamViewType");
	bool is_enabled;

	refuse(making, stream, "ResourcePolicy",
	       "the policy of a stream is not set; PutResourcePolicy sets it");
	/* serverless users write it; CloudFormation has none */
	bool has_switch = switch_at(making, stream, "StreamEnabled", &is_enabled);
	if (stream && !str_is_set(view) && (!has_switch || is_enabled))
		seed_refuse(making->seed, source_origin(making->source, stream),
			    str_printf(making->arena, STR_FMT ".StreamSpecification",
				       STR_ARG(making->resource->path)),
			    STR("it has no StreamViewType"));
	if (!str_is_set(view) || (has_switch && !is_enabled))
		return;
	json_out_name(out, STR("StreamSpecification"));
	json_out_open(out, '{');
	json_out_field_boolean(out, "StreamEnabled", true);
	json_out_field_string(out, "StreamViewType", view);
	json_out_close(out, '}');
}

static void add_policy(struct making *making, struct json_out *out)
{
	const struct json *policy = get(making, owner(making, "ResourcePolicy"), "ResourcePolicy");
	const struct json *document = source_member(making->source, policy, "PolicyDocument");
	struct json_out text = json_out_in(making->arena);

	if (!document)
		return;
	source_use_all(making->source, document);
	if (json_type(document) != JSON_STRING)
		json_text_write(&text, making->arena, document);
	json_out_field_string(out, "ResourcePolicy",
			      json_type(document) == JSON_STRING
				      ? json_string(making->arena, document)
				      : json_out_str(&text));
}

/* AWS: "Write" of a global table is its own, "Read" its replicas'. Auto scaling begins at its
 * minimum. */
static const struct json *units_of(struct making *making, const struct json *from,
				   const char *settings, const char *plain, const char *scaled)
{
	const struct json *setting = get(making, from, settings),
			  *units = source_member(making->source, setting, plain);
	const struct json *scaling = get(making, setting, scaled);

	if (units || !scaling)
		return units;
	units = source_member(making->source, scaling, "SeedCapacity");
	return units ? units : json_member(scaling, "MinCapacity");
}

static void add_units(struct making *making, struct json_out *out, const char *name,
		      const struct json *value)
{
	struct str text = value && json_type(value) == JSON_STRING
				  ? json_string(making->arena, value)
				  : STR_ABSENT;

	if (!value)
		return;
	json_out_name(out, str_of(name));
	if (!str_is_set(text))
		json_text_write(out, making->arena, value);
	else
		buf_add_str(&out->buf, text);
	out->needs_comma = true;
}

/* ProvisionedThroughput and OnDemandThroughput of a global table or its index; `own` is what the
 * replica has of it. */
static void add_global_throughput(struct making *making, struct json_out *out,
				  const struct json *from, const struct json *own)
{
	const struct json *write =
		units_of(making, from, "WriteProvisionedThroughputSettings", "WriteCapacityUnits",
			 "WriteCapacityAutoScalingSettings");
	const struct json *read = units_of(making, own, "ReadProvisionedThroughputSettings",
					   "ReadCapacityUnits", "ReadCapacityAutoScalingSettings");
	const struct json *most_write =
		source_member(making->source, get(making, from, "WriteOnDemandThroughputSettings"),
			      "MaxWriteRequestUnits");
	const struct json *most_read =
		source_member(making->source, get(making, own, "ReadOnDemandThroughputSettings"),
			      "MaxReadRequestUnits");

	if (write || read) {
		json_out_name(out, STR("ProvisionedThroughput"));
		json_out_open(out, '{');
		add_units(making, out, "ReadCapacityUnits", read ? read : write);
		add_units(making, out, "WriteCapacityUnits", write ? write : read);
		json_out_close(out, '}');
	}
	if (most_write || most_read) {
		json_out_name(out, STR("OnDemandThroughput"));
		json_out_open(out, '{');
		add_units(making, out, "MaxReadRequestUnits", most_read);
		add_units(making, out, "MaxWriteRequestUnits", most_write);
		json_out_close(out, '}');
	}
}

/* The replica's settings of an index, which it names. */
static const struct json *index_of_replica(struct making *making, const struct json *replica,
					   const struct json *index)
{
	const struct json *own =
		replica ? source_get(making->source, replica, "GlobalSecondaryIndexes", JSON_ARRAY)
			: NULL;
	struct str name = json_text_string(making->arena, index, "IndexName");

	for (const struct json *at = own ? json_first(own) : NULL; at; at = json_next(at)) {
		if (str_eq(json_text_string(making->arena, at, "IndexName"), name)) {
			source_use(making->source, at);
			source_pass_over(making->source, at, "IndexName");
			return at;
		}
	}
	return NULL;
}

static void add_global_indexes(struct making *making, struct json_out *out)
{
	static const char *const kept[] = {"IndexName", "KeySchema", "Projection",
					   "WarmThroughput"};
	const struct json *indexes = source_get(making->source, making->properties,
						"GlobalSecondaryIndexes", JSON_ARRAY);

	if (!indexes || !json_first(indexes))
		return;
	json_out_name(out, STR("GlobalSecondaryIndexes"));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index)) {
		source_use(making->source, index);
		json_out_open(out, '{');
		for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
			source_copy(making->source, out, &shape_global_secondary_index, index,
				    kept[i]);
		add_global_throughput(making, out, index,
				      index_of_replica(making, making->replica, index));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* An empty list is none. */
static void copy_member(struct making *making, struct json_out *out, const struct json *from,
			const char *name)
{
	const struct json *value = from ? json_member(from, name) : NULL;

	if (value && json_type(value) == JSON_ARRAY && !json_first(value))
		source_use(making->source, value);
	else
		source_copy(making->source, out, &shape_create_table_input, from, name);
}

static struct str create_body(struct making *making)
{
	static const char *const plain[] = {"GlobalSecondaryIndexes", "ProvisionedThroughput",
					    "OnDemandThroughput", "VectorIndexes"};
	static const char *const same[] = {"AttributeDefinitions", "KeySchema",
					   "LocalSecondaryIndexes", "BillingMode",
					   "WarmThroughput"};
	static const char *const own[] = {
#define SWITCH(of, member, name, scope, parameter, input, concern) parameter,
#include "protocol/tables/settings.def"
		"TableClass",
		"Tags",
	};
	struct json_out out = begin(making);

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		copy_member(making, &out, making->properties, same[i]);
	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		copy_member(making, &out, owner(making, own[i]), own[i]);
	for (size_t i = 0;
	     making->resource->kind == TABLE_PLAIN && i < sizeof(plain) / sizeof(plain[0]); i++)
		copy_member(making, &out, making->properties, plain[i]);
	if (making->resource->kind == TABLE_GLOBAL) {
		add_global_indexes(making, &out);
		add_global_throughput(making, &out, making->properties, making->replica);
	}
	add_encryption(making, &out);
	add_stream(making, &out);
	add_policy(making, &out);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

/* ------------------------------------------------------------------ what follows */

static void follow_with_expiry(struct making *making)
{
	const struct json *ttl = get(making, making->properties, "TimeToLiveSpecification");
	bool is_enabled = is_on_surely(making, ttl, "Enabled", "TimeToLiveSpecification");
	struct json_out out = begin(making);

	json_out_name(&out, STR("TimeToLiveSpecification"));
	json_out_open(&out, '{');
	json_out_field_boolean(&out, "Enabled", true);
	source_copy(making->source, &out, &shape_time_to_live_specification, ttl, "AttributeName");
	json_out_close(&out, '}');
	if (is_enabled)
		end(making, &out, "UpdateTimeToLive", STR_ABSENT);
}

static void follow_with_recovery(struct making *making, const struct json *from, struct str region)
{
	const struct json *recovery = get(making, from, "PointInTimeRecoverySpecification");
	bool is_enabled;
	bool has_switch = switch_at(making, recovery, "PointInTimeRecoveryEnabled", &is_enabled);
	struct json_out out = begin(making);

	json_out_name(&out, STR("PointInTimeRecoverySpecification"));
	json_out_open(&out, '{');
	json_out_field_boolean(&out, "PointInTimeRecoveryEnabled", true);
	if (has_switch) /* without it, days have no effect */
		source_copy(making->source, &out, &shape_point_in_time_recovery_specification,
			    recovery, "RecoveryPeriodInDays");
	json_out_close(&out, '}');
	if (is_enabled)
		end(making, &out, "UpdateContinuousBackups", region);
}

/* Of a table, or with `index` of its index. */
static void follow_with_insights(struct making *making, const struct json *from, struct str index,
				 struct str region)
{
	const struct json *insights = get(making, from, "ContributorInsightsSpecification");
	bool is_enabled =
		is_on_surely(making, insights, "Enabled", "ContributorInsightsSpecification");
	struct str mode = text_at(making, insights, "Mode");
	struct json_out out = begin(making);

	if (str_is_set(index))
		json_out_field_string(&out, "IndexName", index);
	json_out_field_string(&out, "ContributorInsightsAction", STR("ENABLE"));
	if (str_is_set(mode))
		json_out_field_string(&out, "ContributorInsightsMode", mode);
	if (is_enabled)
		end(making, &out, "UpdateContributorInsights", region);
}

static void follow_with_index_insights(struct making *making, const struct json *from,
				       struct str region)
{
	const struct json *indexes =
		source_get(making->source, from, "GlobalSecondaryIndexes", JSON_ARRAY);

	for (const struct json *index = indexes ? json_first(indexes) : NULL; index;
	     index = json_next(index))
		follow_with_insights(making, index,
				     json_text_string(making->arena, index, "IndexName"), region);
}

static void follow_with_kinesis(struct making *making, const struct json *from, struct str region)
{
	const struct json *kinesis = get(making, from, "KinesisStreamSpecification");
	struct str stream = text_at(making, kinesis, "StreamArn"),
		   precision = text_at(making, kinesis, "ApproximateCreationDateTimePrecision");
	struct json_out out = begin(making);

	json_out_field_string(&out, "StreamArn", str_is_set(stream) ? stream : STR(""));
	if (str_is_set(precision)) {
		json_out_name(&out, STR("EnableKinesisStreamingConfiguration"));
		json_out_open(&out, '{');
		json_out_field_string(&out, "ApproximateCreationDateTimePrecision", precision);
		json_out_close(&out, '}');
	}
	if (kinesis)
		end(making, &out, "EnableKinesisStreamingDestination", region);
}

static void follow_with_settings(struct making *making, const struct json *from, struct str region)
{
	follow_with_recovery(making, from, region);
	follow_with_insights(making, from, STR_ABSENT, region);
	follow_with_index_insights(making, from, region);
	follow_with_kinesis(making, from, region);
}

/* ------------------------------------------------------------------ auto scaling */

/* Of writes or reads of the table, or of its index where that is set. */
static void follow_with_scaling(struct making *making, const struct json *from, struct str index,
				bool is_write, struct str region)
{
	const struct json *setting = get(making, from,
					 is_write ? "WriteProvisionedThroughputSettings"
						  : "ReadProvisionedThroughputSettings");
	const struct json *scaling = get(making, setting,
					 is_write ? "WriteCapacityAutoScalingSettings"
						  : "ReadCapacityAutoScalingSettings");
	const struct json *tracking =
		get(making, scaling, "TargetTrackingScalingPolicyConfiguration");
	struct source *source = making->source;
	struct scaling_values values = {
		.region = region,
		.least = source_member(source, scaling, "MinCapacity"),
		.most = source_member(source, scaling, "MaxCapacity"),
		.policy = STR_ABSENT,
		.metric = STR_ABSENT,
		.target = source_member(source, tracking, "TargetValue"),
		.in_cooldown = source_member(source, tracking, "ScaleInCooldown"),
		.out_cooldown = source_member(source, tracking, "ScaleOutCooldown"),
		.is_in_disabled = source_member(source, tracking, "DisableScaleIn"),
	};

	if (!scaling)
		return;
	scaling_resource_place(making->arena, &values, making->name, index, is_write);
	if (making->n + SCALING_REQUESTS > FOLLOW_UPS_MAX) {
		refuse(making, making->properties, "TableName", "the table has too many settings");
		return;
	}
	making->n +=
		scaling_resource_requests(making->arena, &values, &making->follow_ups[making->n]);
}

/* Writes of the table's own settings, or reads of a replica's. */
static void follow_with_all_scaling(struct making *making, const struct json *from, bool is_write,
				    struct str region)
{
	const struct json *indexes =
		source_get(making->source, from, "GlobalSecondaryIndexes", JSON_ARRAY);

	follow_with_scaling(making, from, STR_ABSENT, is_write, region);
	for (const struct json *index = indexes ? json_first(indexes) : NULL; index;
	     index = json_next(index))
		follow_with_scaling(making, index,
				    json_text_string(making->arena, index, "IndexName"), is_write,
				    region);
}

/* ------------------------------------------------------------------ replicas in other regions */

static void add_override(struct making *making, struct json_out *out, const struct json *from)
{
	const struct json *read = units_of(making, from, "ReadProvisionedThroughputSettings",
					   "ReadCapacityUnits", "ReadCapacityAutoScalingSettings");
	const struct json *most =
		source_member(making->source, get(making, from, "ReadOnDemandThroughputSettings"),
			      "MaxReadRequestUnits");

	if (read) {
		json_out_name(out, STR("ProvisionedThroughputOverride"));
		json_out_open(out, '{');
		add_units(making, out, "ReadCapacityUnits", read);
		json_out_close(out, '}');
	}
	if (most) {
		json_out_name(out, STR("OnDemandThroughputOverride"));
		json_out_open(out, '{');
		add_units(making, out, "MaxReadRequestUnits", most);
		json_out_close(out, '}');
	}
}

static void add_index_overrides(struct making *making, struct json_out *out,
				const struct json *replica)
{
	const struct json *indexes =
		source_get(making->source, replica, "GlobalSecondaryIndexes", JSON_ARRAY);

	if (!indexes || !json_first(indexes))
		return;
	json_out_name(out, STR("GlobalSecondaryIndexes"));
	json_out_open(out, '[');
	for (const struct json *index = json_first(indexes); index; index = json_next(index)) {
		source_use(making->source, index);
		json_out_open(out, '{');
		source_copy(making->source, out, &shape_replica_global_secondary_index, index,
			    "IndexName");
		add_override(making, out, index);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static struct str replica_arn(struct making *making, struct str region)
{
	struct str account = making->resource->account;

	return str_printf(making->arena, "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
			  STR_ARG(region), STR_ARG(account), STR_ARG(making->name));
}

/* Tags and policy, which go by its ARN; deletion protection, which UpdateTable sets there. */
static void follow_with_its_own(struct making *making, const struct json *replica,
				struct str region)
{
	const struct json *policy = get(making, replica, "ResourcePolicy"),
			  *document = source_member(making->source, policy, "PolicyDocument");
	const struct json *tags = source_get(making->source, replica, "Tags", JSON_ARRAY);
	struct json_out out = json_out_in(making->arena), text = json_out_in(making->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "ResourceArn", replica_arn(making, region));
	struct json_out other = out;
	other.buf = buf_in(making->arena);
	buf_add_str(&other.buf, buf_str(&out.buf));
	if (tags && json_first(tags)) {
		source_copy(making->source, &out, &shape_create_table_input, replica, "Tags");
		end(making, &out, "TagResource", region);
	}
	if (document) {
		source_use_all(making->source, document);
		json_text_write(&text, making->arena, document);
		json_out_field_string(&other, "Policy",
				      json_type(document) == JSON_STRING
					      ? json_string(making->arena, document)
					      : json_out_str(&text));
		end(making, &other, "PutResourcePolicy", region);
	}
	if (is_on(making, replica, "DeletionProtectionEnabled")) {
		struct json_out update = begin(making);

		json_out_field_boolean(&update, "DeletionProtectionEnabled", true);
		end(making, &update, "UpdateTable", region);
	}
}

static void follow_with_replica(struct making *making, const struct json *replica,
				struct str region)
{
	const struct json *class = source_member(making->source, replica, "TableClass");
	struct json_out out = begin(making);

	json_out_name(&out, STR("ReplicaUpdates"));
	json_out_open(&out, '[');
	json_out_open(&out, '{');
	json_out_name(&out, STR("Create"));
	json_out_open(&out, '{');
	json_out_field_string(&out, "RegionName", region);
	source_copy(making->source, &out, &shape_create_replication_group_member_action,
		    get(making, replica, "SSESpecification"), "KMSMasterKeyId");
	if (class && json_type(class) == JSON_STRING)
		json_out_field_string(&out, "TableClassOverride",
				      json_string(making->arena, class));
	add_override(making, &out, replica);
	add_index_overrides(making, &out, replica);
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	json_out_close(&out, ']');
	const struct json *consistency =
		source_member(making->source, making->properties, "MultiRegionConsistency");
	if (consistency && json_type(consistency) == JSON_STRING)
		json_out_field_string(&out, "MultiRegionConsistency",
				      json_string(making->arena, consistency));
	end(making, &out, "UpdateTable", STR_ABSENT);
	refuse(making, replica, "ReplicaStreamSpecification",
	       "the policy of a stream is not set; PutResourcePolicy sets it");
	follow_with_all_scaling(making, replica, false, region);
	follow_with_settings(making, replica, region);
	follow_with_its_own(making, replica, region);
}

/* The replica of the region where tables are made; the first where none is. */
static const struct json *choose_replica(struct making *making, const struct json *replicas)
{
	for (const struct json *at = json_first(replicas); at; at = json_next(at)) {
		if (str_eq(json_text_string(making->arena, at, "Region"), making->resource->region))
			return at;
	}
	return json_first(replicas);
}

static void read_replicas(struct making *making)
{
	const struct json *replicas =
		source_get(making->source, making->properties, "Replicas", JSON_ARRAY);

	for (const struct json *at = replicas ? json_first(replicas) : NULL; at;
	     at = json_next(at)) {
		if (!json_text_get(at, "Region", JSON_STRING))
			seed_refuse(making->seed, source_origin(making->source, at),
				    str_printf(making->arena, STR_FMT ".Replicas",
					       STR_ARG(making->resource->path)),
				    STR("a replica without a Region"));
	}
	making->replica = replicas ? choose_replica(making, replicas) : NULL;
	if (!making->replica)
		return;
	source_use(making->source, making->replica);
	struct str region = text_at(making, making->replica, "Region");
	if (!str_eq(region, making->resource->region))
		warn(making, making->replica, "Region",
		     "the table is made in the region of the requests instead");
	refuse(making, making->replica, "ReplicaStreamSpecification",
	       "the policy of a stream is not set; PutResourcePolicy sets it");
}

static void follow_with_replicas(struct making *making)
{
	const struct json *replicas =
		source_get(making->source, making->properties, "Replicas", JSON_ARRAY);

	for (const struct json *at = replicas ? json_first(replicas) : NULL; at;
	     at = json_next(at)) {
		if (at == making->replica)
			continue;
		source_use(making->source, at);
		follow_with_replica(making, at, text_at(making, at, "Region"));
	}
	refuse(making, making->properties, "GlobalTableWitnesses", "witnesses are not made");
}

/* ------------------------------------------------------------------ imports */

/* ImportTable's members of ImportSourceSpecification, which has the same names. */
static struct str import_source(struct making *making, const struct json *source)
{
	static const char *const told[] = {"S3BucketSource", "InputFormat", "InputFormatOptions",
					   "InputCompressionType"};
	struct json_out out = json_out_in(making->arena);

	json_out_open(&out, '{');
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++)
		source_copy(making->source, &out, &shape_import_table_input, source, told[i]);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static enum code make_by_import(struct making *making, const struct json *source, struct str body,
				struct err *err)
{
	const struct table_resource *resource = making->resource;
	const struct import_table import = {
		.name = making->name,
		.create = body,
		.source = import_source(making, source),
		.region = resource->region,
		.account = resource->account,
		.origin = resource->origin,
		.source_origin = source_origin(making->source, source),
		.path = str_printf(making->arena, STR_FMT ".ImportSourceSpecification",
				   STR_ARG(resource->path)),
	};

	seed_refuse_unused(making->seed, making->properties, resource->path);
	return import_table_make(making->seed, &import, making->follow_ups, making->n, err);
}

/* ------------------------------------------------------------------ AWS::Serverless::SimpleTable
 */

static void add_simple_tags(struct making *making, struct json_out *out)
{
	const struct json *tags = get(making, making->properties, "Tags");

	if (!tags || !json_first(tags))
		return;
	source_use_all(making->source, tags);
	json_out_name(out, STR("Tags"));
	json_out_open(out, '[');
	for (const struct json *tag = json_first(tags); tag; tag = json_next(tag)) {
		json_out_open(out, '{');
		json_out_field_string(out, "Key", json_name(making->arena, tag));
		json_out_name(out, STR("Value"));
		if (json_type(tag) == JSON_STRING)
			json_text_write(out, making->arena, tag);
		else {
			struct json_out text = json_out_in(making->arena);

			json_text_write(&text, making->arena, tag);
			json_out_string(out, json_out_str(&text));
		}
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* AWS: SAM's developer guide, AWS::Serverless::SimpleTable: one key, "id" of type String unless
 * PrimaryKey says another. */
static struct str simple_body(struct making *making)
{
	const struct json *key = get(making, making->properties, "PrimaryKey");
	struct str name = text_at(making, key, "Name"), type = text_at(making, key, "Type");
	struct json_out out = begin(making);

	if (str_is_set(type) && !str_eq(type, STR("String")) && !str_eq(type, STR("Number")) &&
	    !str_eq(type, STR("Binary")))
		seed_refuse(making->seed, source_origin(making->source, key),
			    str_printf(making->arena, STR_FMT ".PrimaryKey.Type",
				       STR_ARG(making->resource->path)),
			    STR("none of String, Number and Binary"));
	name = str_is_set(name) ? name : STR("id");
	json_out_name(&out, STR("KeySchema"));
	buf_add_lit(&out.buf, "[{\"KeyType\":\"HASH\",\"AttributeName\":");
	out.needs_comma = false;
	json_out_string(&out, name);
	buf_add_lit(&out.buf, "}],\"AttributeDefinitions\":[{\"AttributeName\":");
	out.needs_comma = false;
	json_out_string(&out, name);
	buf_printf(&out.buf, ",\"AttributeType\":\"%.1s\"}]", type.n > 0 ? type.p : "S");
	out.needs_comma = true;
	if (!source_copy(making->source, &out, &shape_create_table_input, making->properties,
			 "ProvisionedThroughput"))
		json_out_field_string(&out, "BillingMode", STR("PAY_PER_REQUEST"));
	add_encryption(making, &out);
	add_simple_tags(making, &out);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

enum code table_resource_make(struct seed *seed, const struct table_resource *resource,
			      struct err *err)
{
	struct making *making = ARENA_NEW(seed_arena(seed), struct making);
	const struct json *import = NULL;
	struct str body;

	*making = (struct making){.seed = seed,
				  .source = seed_source(seed),
				  .arena = seed_arena(seed),
				  .resource = resource,
				  .properties = resource->properties,
				  .name = resource->name};
	source_use(making->source, resource->properties);
	struct str name = text_at(making, resource->properties, "TableName");
	making->name = str_is_set(name) ? name : resource->name;
	if (resource->kind == TABLE_SIMPLE) {
		body = simple_body(making);
		follow_with_recovery(making, resource->properties, STR_ABSENT);
	} else {
		if (resource->kind == TABLE_GLOBAL)
			read_replicas(making);
		if (resource->kind == TABLE_PLAIN)
			import = get(making, resource->properties, "ImportSourceSpecification");
		body = create_body(making);
		follow_with_expiry(making);
		follow_with_settings(making, resource->properties, STR_ABSENT);
		if (making->replica)
			follow_with_settings(making, making->replica, STR_ABSENT);
		if (resource->kind == TABLE_GLOBAL)
			follow_with_all_scaling(making, resource->properties, true, STR_ABSENT);
		if (making->replica)
			follow_with_all_scaling(making, making->replica, false, STR_ABSENT);
		for (size_t i = 0; i < resource->scaling_count && making->n < FOLLOW_UPS_MAX; i++)
			making->follow_ups[making->n++] = resource->scaling[i];
		if (resource->kind == TABLE_GLOBAL)
			follow_with_replicas(making);
	}
	if (import)
		return make_by_import(making, import, body, err);
	if (resource->properties)
		seed_refuse_unused(seed, resource->properties, resource->path);
	return seed_table(seed, resource->origin, making->name, body, making->follow_ups, making->n,
			  err);
}
