#include "protocol/tables/describe.h"

#include <stdlib.h>

#include "protocol/faults/faults.h"
#include "protocol/streams.h"
#include "protocol/tables/lineage.h"
#include "protocol/tables/replicas.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/tables/throughput_view.h"
#include "protocol/timing/timing.h"
#include "storage/catalog/catalog_size.h"

static const char *const statuses[] = {
	[STATUS_ACTIVE] = "ACTIVE",
	[STATUS_CREATING] = "CREATING",
	[STATUS_UPDATING] = "UPDATING",
	[STATUS_DELETING] = "DELETING",
};

static int by_name(const void *a, const void *b)
{
	return str_cmp(((const struct key_attribute *)a)->name,
		       ((const struct key_attribute *)b)->name);
}

/* AWS: attribute definitions and projected attributes come sorted by name, whatever order they were
 * given in. */
static void write_definitions(struct call *call, const struct table *table)
{
	struct json_out *out = &call->out;
	struct key_attribute *definitions =
		ARENA_ARRAY(call->arena, struct key_attribute, table->settings->definition_count);

	memcpy(definitions, table->settings->definitions,
	       table->settings->definition_count * sizeof(*definitions));
	qsort(definitions, table->settings->definition_count, sizeof(*definitions), by_name);
	json_out_name(out, STR("AttributeDefinitions"));
	json_out_open(out, '[');
	for (size_t i = 0; i < table->settings->definition_count; i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", definitions[i].name);
		json_out_field_string(out, "AttributeType", str_of(type_name(definitions[i].type)));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

void describe_keys(struct json_out *out, const struct key_schema *keys)
{
	json_out_name(out, STR("KeySchema"));
	json_out_open(out, '[');
	for (unsigned i = 0; i < key_schema_count(keys); i++) {
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", keys->attributes[i].name);
		json_out_field_string(out, "KeyType",
				      i < keys->hash_count ? STR("HASH") : STR("RANGE"));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

static void write_throughput(struct call *call, const struct throughput *throughput)
{
	struct json_out *out = &call->out;

	json_out_name(out, STR("ProvisionedThroughput"));
	json_out_open(out, '{');
	if (throughput->last_increase_ms) {
		json_out_name(out, STR("LastIncreaseDateTime"));
		json_out_time_ms(out, throughput->last_increase_ms);
	}
	if (throughput->last_decrease_ms) {
		json_out_name(out, STR("LastDecreaseDateTime"));
		json_out_time_ms(out, throughput->last_decrease_ms);
	}
	json_out_field_integer(out, "NumberOfDecreasesToday",
			       throughput_rules_decreases(throughput, call->now_ms));
	json_out_field_integer(out, "ReadCapacityUnits", throughput->read);
	json_out_field_integer(out, "WriteCapacityUnits", throughput->write);
	json_out_close(out, '}');
}

void describe_projection(struct call *call, const struct index *index)
{
	struct json_out *out = &call->out;
	struct str *included = ARENA_ARRAY(call->arena, struct str, index->included_count);
	static const char *const types[] = {[PROJECT_ALL] = "ALL",
					    [PROJECT_KEYS_ONLY] = "KEYS_ONLY",
					    [PROJECT_INCLUDE] = "INCLUDE"};

	json_out_name(out, STR("Projection"));
	json_out_open(out, '{');
	json_out_field_string(out, "ProjectionType", str_of(types[index->projection]));
	if (index->projection == PROJECT_INCLUDE) {
		json_out_name(out, STR("NonKeyAttributes"));
		json_out_open(out, '[');
		memcpy(included, index->included, index->included_count * sizeof(*included));
		qsort(included, index->included_count, sizeof(*included), str_order);
		for (size_t i = 0; i < index->included_count; i++)
			json_out_string(out, included[i]);
		json_out_close(out, ']');
	}
	json_out_close(out, '}');
}

void describe_vector(struct json_out *out, const struct vector_spec *spec)
{
	static const char *const distances[] = {
		[DISTANCE_COSINE] = "COSINE",
		[DISTANCE_EUCLIDEAN] = "EUCLIDEAN",
		[DISTANCE_DOT_PRODUCT] = "DOT_PRODUCT",
	};

	if (spec->schema_count) {
		json_out_name(out, STR("SearchSchema"));
		json_out_open(out, '[');
		for (size_t i = 0; i < spec->schema_count; i++) {
			json_out_open(out, '{');
			json_out_field_string(out, "AttributeName", spec->schema[i].attribute.name);
			json_out_field_string(out, "SearchSchemaElementType",
					      spec->schema[i].is_hash ? STR("HASH")
								      : STR("INLINE_FILTER"));
			json_out_close(out, '}');
		}
		json_out_close(out, ']');
	}
	json_out_name(out, STR("VectorAttribute"));
	json_out_open(out, '{');
	json_out_field_string(out, "AttributeName", spec->attribute);
	json_out_close(out, '}');
	json_out_field_integer(out, "Dimensions", spec->dimensions);
	json_out_field_string(out, "DistanceFunction", str_of(distances[spec->distance]));
}

static void describe_index(struct call *call, struct table *table, const struct index *index,
			   const struct table_size *size, enum table_status status)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_field_string(out, "IndexName", index->name);
	if (index->vector)
		describe_vector(out, index->vector);
	else
		describe_keys(out, &index->keys);
	describe_projection(call, index);
	if (!index->is_local) {
		json_out_field_string(
			out, "IndexStatus",
			str_of(statuses[index->status == STATUS_ACTIVE ? status : index->status]));
		/* AWS: false while resources are allocated, then true; absent of an index that came
		 * with its table */
		if (index->is_backfilling)
			json_out_field_boolean(out, "Backfilling",
					       table->state.status != STATUS_UPDATING);
		if (!index->vector)
			write_throughput(call, &index->settings->throughput);
	}
	json_out_field_integer(out, "IndexSizeBytes", (int64_t)size->bytes);
	json_out_field_integer(out, "ItemCount", (int64_t)size->items);
	json_out_field_string(out, "IndexArn",
			      str_printf(call->arena, STR_FMT "/index/" STR_FMT,
					 STR_ARG(table_arn(call->arena, table)),
					 STR_ARG(index->name)));
	if (!index->is_local && !index->vector) {
		throughput_view_on_demand(out, &index->settings->on_demand);
		if (status != STATUS_CREATING)
			throughput_view_warm(out, table, index, index->settings->is_warm_updating);
	}
	json_out_close(out, '}');
}

/* `sizes` are those of all indexes. */
static void describe_indexes(struct call *call, struct table *table, bool is_local,
			     const struct table_size *sizes, enum table_status status)
{
	bool is_open = false;

	for (size_t i = 0; i < table->indexes.n; i++) {
		if (table->indexes.v[i].is_local != is_local)
			continue;
		if (!is_open) {
			json_out_name(&call->out, is_local ? STR("LocalSecondaryIndexes")
							   : STR("GlobalSecondaryIndexes"));
			json_out_open(&call->out, '[');
			is_open = true;
		}
		/* a table's own update does not show on its indexes */
		describe_index(call, table, &table->indexes.v[i], &sizes[i],
			       status == STATUS_UPDATING ? STATUS_ACTIVE : status);
	}
	if (is_open)
		json_out_close(&call->out, ']');
}

static void describe_vectors(struct call *call, struct table *table, const struct table_size *sizes,
			     enum table_status status)
{
	if (!table->indexes.vector_n)
		return;
	json_out_name(&call->out, STR("VectorIndexes"));
	json_out_open(&call->out, '[');
	for (size_t i = 0; i < table->indexes.vector_n; i++)
		describe_index(call, table, &table->indexes.vectors[i], &sizes[i],
			       status == STATUS_UPDATING ? STATUS_ACTIVE : status);
	json_out_close(&call->out, ']');
}

/* AWS: twice, under the parameter's old name and under its new one; the time is not there while a
 * change goes on, as a table is created too. */
static void write_billing(struct json_out *out, const struct table *table, enum table_status status)
{
	static const char *const summaries[][2] = {
		{"BillingModeSummary", "BillingMode"},
		{"TableThroughputModeSummary", "TableThroughputMode"},
	};
	bool is_on_demand = table->settings->billing == BILLING_PAY_PER_REQUEST;

	if (!is_on_demand && !table->settings->on_demand_since_ms)
		return;
	for (size_t i = 0; i < sizeof(summaries) / sizeof(summaries[0]); i++) {
		json_out_name(out, str_of(summaries[i][0]));
		json_out_open(out, '{');
		json_out_name(out, str_of(summaries[i][1]));
		json_out_string(out, is_on_demand ? STR("PAY_PER_REQUEST") : STR("PROVISIONED"));
		if (status != STATUS_CREATING &&
		    table->settings->on_demand_since_ms != ON_DEMAND_PENDING) {
			json_out_name(out, STR("LastUpdateToPayPerRequestDateTime"));
			json_out_time_ms(out, table->settings->on_demand_since_ms
						      ? table->settings->on_demand_since_ms
						      : table->identity.created_ms);
		}
		json_out_close(out, '}');
	}
}

static void write_stream(struct call *call, const struct table *table)
{
	struct json_out *out = &call->out;

	if (table->streams.view != STREAM_OFF) {
		json_out_name(out, STR("StreamSpecification"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "StreamEnabled", true);
		json_out_field_string(out, "StreamViewType",
				      streams_view_name(table->streams.view));
		json_out_close(out, '}');
	}
	if (table->streams.n > 0) {
		json_out_field_string(out, "LatestStreamLabel", table->streams.label);
		json_out_field_string(
			out, "LatestStreamArn",
			streams_arn(call->arena, table, &table->streams.v[table->streams.n - 1]));
	}
}

/* AWS: while a table without encryption gets some, the answer shows nothing else. */
static void write_encryption(struct json_out *out, const struct table *table)
{
	if (!table->settings->sse_enabled && !table->settings->is_sse_updating)
		return;
	json_out_name(out, STR("SSEDescription"));
	json_out_open(out, '{');
	json_out_field_string(out, "Status",
			      table->settings->is_sse_updating ? STR("UPDATING") : STR("ENABLED"));
	if (table->settings->sse_enabled) {
		json_out_field_string(out, "SSEType", STR("KMS"));
		json_out_field_string(out, "KMSMasterKeyArn", table->settings->sse_key);
	}
	json_out_close(out, '}');
}

static void write_settings(struct json_out *out, const struct table *table,
			   enum table_status status)
{
	write_encryption(out, table);
	if (str_is_set(table->settings->table_class)) {
		json_out_name(out, STR("TableClassSummary"));
		json_out_open(out, '{');
		json_out_field_string(out, "TableClass", table->settings->table_class);
		if (table->settings->class_changed_ms) {
			json_out_name(out, STR("LastUpdateDateTime"));
			json_out_time_ms(out, table->settings->class_changed_ms);
		}
		json_out_close(out, '}');
	}
	if (table_is_global(table) && status != STATUS_DELETING)
		json_out_field_string(out, "GlobalTableSettingsReplicationMode",
				      STR("ENABLED_WITH_OVERRIDES"));
	else if (str_is_set(table->settings->replication_mode))
		json_out_field_string(out, "GlobalTableSettingsReplicationMode",
				      table->settings->replication_mode);
	settings_describe(out, table->settings);
	throughput_view_on_demand(out, &table->settings->on_demand);
	if (status == STATUS_CREATING ? table->settings->warm.is_set : status != STATUS_DELETING)
		throughput_view_warm(out, table, NULL,
				     table->settings->is_warm_updating ||
					     status == STATUS_CREATING);
}

/* AWS: the only reason that there is. */
static void write_archival(struct json_out *out, struct str status)
{
	if (!str_eq(status, STR("ARCHIVED")))
		return;
	json_out_name(out, STR("ArchivalSummary"));
	json_out_open(out, '{');
	json_out_field_string(out, "ArchivalReason", STR("INACCESSIBLE_ENCRYPTION_CREDENTIALS"));
	json_out_close(out, '}');
}

/* What DeleteTable's answer leaves out. */
static void write_structure(struct call *call, struct table *table, const struct table_size *sizes,
			    enum table_status status)
{
	write_definitions(call, table);
	describe_keys(&call->out, &table->keys);
	json_out_name(&call->out, STR("CreationDateTime"));
	json_out_time_ms(&call->out, table->identity.created_ms);
	describe_indexes(call, table, true, sizes, status);
	describe_indexes(call, table, false, sizes, status);
	describe_vectors(call, table, sizes + table->indexes.n, status);
}

enum code describe_table(struct call *call, struct str name, struct table *table,
			 enum table_status status, struct err *err)
{
	struct json_out *out = &call->out;
	struct table_size *sizes;

	table = timing_seen(call, table);
	enum code code = catalog_sizes(call->service->catalog, table, call->arena, &sizes, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_name(out, name);
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table->identity.name);
	struct str shown = fault_shown_state(call);
	enum table_status own = table->state.status;
	if (!str_is_set(shown))
		shown = str_of(statuses[own == STATUS_ACTIVE ? status : own]);
	json_out_field_string(out, "TableStatus", shown);
	if (status != STATUS_DELETING)
		write_structure(call, table, sizes + 1, status);
	write_throughput(call, &table->settings->throughput);
	json_out_field_integer(out, "TableSizeBytes", (int64_t)sizes[0].bytes);
	json_out_field_integer(out, "ItemCount", (int64_t)sizes[0].items);
	json_out_field_string(out, "TableArn", table_arn(call->arena, table));
	json_out_field_string(out, "TableId", table->identity.id);
	write_billing(out, table, status);
	write_stream(call, table);
	write_settings(out, table, status);
	write_archival(out, shown);
	code = replicas_write(call, table, err);
	if (code != OK)
		return code;
	if (str_is_set(table->state.job))
		code = lineage_summary(call, table, err);
	if (code != OK)
		return code;
	json_out_close(out, '}');
	json_out_close(out, '}');
	return OK;
}
