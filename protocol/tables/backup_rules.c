#include "protocol/tables/backup_rules.h"

#include "protocol/streams.h"
#include "protocol/tables/arn.h"
#include "protocol/tables/control_messages.h"
#include "protocol/tables/describe.h"
#include "protocol/tables/lineage.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/throughput_view.h"
#include "protocol/wire/messages.h"
#include "storage/catalog/catalog_size.h"

#define RELEASE_STEPS 1000 /* of a copy that a deletion waits for */

/* AWS: DDB-BACKUP-012: one that there is, whichever; none at all is refused later. */
static bool is_region(const struct call *call, const struct arn *parts)
{
	return parts->region.n == 0 || replica_rules_is_region(parts->region) ||
	       call_owns(call, parts->account, parts->region);
}

enum code backup_rules_arn(const struct call *call, struct str text, struct backup_arn *arn,
			   struct err *err)
{
	struct arn parts = arn_split(text);
	struct str rest;

	if (!str_starts_with(text, STR("arn:")) || !str_starts_with(parts.resource, STR("table/")))
		return err_set(err, MSG_BACKUP_ARN_FORM);
	if (!str_eq(parts.partition, STR("aws")) || !str_eq(parts.service, STR("dynamodb")) ||
	    !is_region(call, &parts))
		return err_set(err, MSG_BACKUP_ARN);
	rest = arn_table_part(parts.resource, &arn->table);
	if (!str_starts_with(rest, STR("backup/")) || rest.n == 7 || !call_is_name(arn->table))
		return err_set(err, MSG_BACKUP_ARN_FORM);
	if (parts.region.n == 0 || !call_owns(call, parts.account, call->ns.region))
		return err_set(err, MSG_DENIED);
	arn->text = text;
	arn->region = parts.region;
	arn->id = (struct str){rest.p + 7, rest.n - 7};
	return OK;
}

bool backup_rules_is_seen(const struct job *job, const struct backup *backup, int64_t now_ms)
{
	return job->state != JOB_FAILED && (backup->expires_ms == 0 || now_ms < backup->expires_ms);
}

enum code backup_rules_find(struct call *call, struct ns ns, const struct backup_arn *arn,
			    struct backup_found *found, struct err *err)
{
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	code = job_find(call->service->catalog, ns, BACKUP_KIND, arn->id, &found->job, err);
	if (code == ERR_RESOURCE_NOT_FOUND)
		return err_set(err, MSG_BACKUP_ABSENT, STR_ARG(arn->text));
	if (code != OK)
		return code;
	code = backup_of(call->arena, &found->job, &found->backup, err);
	if (code != OK)
		return code;
	if (!backup_rules_is_seen(&found->job, &found->backup, call->now_ms) ||
	    !str_eq(found->job.subject, arn->table))
		return err_set(err, MSG_BACKUP_ABSENT, STR_ARG(arn->text));
	code = table_decode_new(found->backup.record, &settings_records, &found->table, err);
	if (code != OK)
		return code;
	call_hold(call, found->table);
	return OK;
}

static bool is_available(const struct job *job, const struct backup *backup)
{
	return backup->type == BACKUP_SYSTEM || job->state == JOB_DONE;
}

void backup_rules_details(struct call *call, const struct job *job, const struct backup *backup,
			  struct str arn, enum backup_shown shown)
{
	struct json_out *out = &call->out;
	bool is_creating = shown == BACKUP_CREATING || !is_available(job, backup);

	json_out_field_string(out, "BackupArn", arn);
	json_out_name(out, STR("BackupCreationDateTime"));
	json_out_time_ms(out, job->created_ms);
	if (backup->expires_ms) {
		json_out_name(out, STR("BackupExpiryDateTime"));
		json_out_time_ms(out, backup->expires_ms);
	}
	json_out_field_string(out, "BackupName", backup->name);
	json_out_field_integer(out, "BackupSizeBytes", backup->bytes);
	json_out_field_string(out, "BackupStatus",
			      shown == BACKUP_DELETED ? STR("DELETED")
			      : is_creating           ? STR("CREATING")
						      : STR("AVAILABLE"));
	json_out_field_string(out, "BackupType",
			      backup->type == BACKUP_SYSTEM ? STR("SYSTEM") : STR("USER"));
}

static void write_units(struct json_out *out, const struct throughput *throughput)
{
	json_out_name(out, STR("ProvisionedThroughput"));
	json_out_open(out, '{');
	json_out_field_integer(out, "ReadCapacityUnits", throughput->read);
	json_out_field_integer(out, "WriteCapacityUnits", throughput->write);
	json_out_close(out, '}');
}

/* AWS: DDB-BACKUP-009, 017: units always, those of on-demand tables are 0. */
static void write_source(struct call *call, struct backup_found *found)
{
	struct json_out *out = &call->out;
	const struct table *table = found->table;
	const struct table_settings *settings = table->settings;

	json_out_name(out, STR("SourceTableDetails"));
	json_out_open(out, '{');
	json_out_field_string(out, "BillingMode",
			      settings->billing == BILLING_PAY_PER_REQUEST ? STR("PAY_PER_REQUEST")
									   : STR("PROVISIONED"));
	json_out_field_integer(out, "ItemCount", found->backup.items);
	describe_keys(out, &table->keys);
	throughput_view_on_demand(out, &settings->on_demand);
	write_units(out, &settings->throughput);
	json_out_field_string(out, "TableArn", table_arn(call->arena, table));
	json_out_name(out, STR("TableCreationDateTime"));
	json_out_time_ms(out, table->identity.created_ms);
	json_out_field_string(out, "TableId", table->identity.id);
	json_out_field_string(out, "TableName", table->identity.name);
	json_out_field_integer(out, "TableSizeBytes", found->backup.bytes);
	json_out_close(out, '}');
}

static void write_backup_index(struct call *call, const struct index *index)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_field_string(out, "IndexName", index->name);
	if (index->vector)
		describe_vector(out, index->vector);
	else
		describe_keys(out, &index->keys);
	describe_projection(call, index);
	if (!index->is_local && !index->vector) {
		throughput_view_on_demand(out, &index->settings->on_demand);
		write_units(out, &index->settings->throughput);
	}
	json_out_close(out, '}');
}

/* A list of those indexes that the restore would make; nothing where there are none. */
static void write_backup_indexes(struct call *call, const struct table *table, const char *name,
				 bool is_local, bool is_vector)
{
	bool is_open = false;

	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);

		if (!index_is_kept(index) || (index->vector != NULL) != is_vector ||
		    (!is_vector && index->is_local != is_local))
			continue;
		if (!is_open) {
			json_out_name(&call->out, str_of(name));
			json_out_open(&call->out, '[');
		}
		is_open = true;
		write_backup_index(call, index);
	}
	if (is_open)
		json_out_close(&call->out, ']');
}

static void write_switches(struct json_out *out, const struct table *table)
{
	if (table->streams.view != STREAM_OFF) {
		json_out_name(out, STR("StreamDescription"));
		json_out_open(out, '{');
		json_out_field_boolean(out, "StreamEnabled", true);
		json_out_field_string(out, "StreamViewType",
				      streams_view_name(table->streams.view));
		json_out_close(out, '}');
	}
	if (table->ttl.is_enabled) {
		json_out_name(out, STR("TimeToLiveDescription"));
		json_out_open(out, '{');
		json_out_field_string(out, "AttributeName", table->ttl.attribute);
		json_out_field_string(out, "TimeToLiveStatus", STR("ENABLED"));
		json_out_close(out, '}');
	}
	if (table->settings->sse_enabled) {
		json_out_name(out, STR("SSEDescription"));
		json_out_open(out, '{');
		json_out_field_string(out, "KMSMasterKeyArn", table->settings->sse_key);
		json_out_field_string(out, "SSEType", STR("KMS"));
		json_out_field_string(out, "Status", STR("ENABLED"));
		json_out_close(out, '}');
	}
}

void backup_rules_description(struct call *call, struct backup_found *found, struct str arn,
			      enum backup_shown shown)
{
	struct json_out *out = &call->out;

	json_out_open(out, '{');
	json_out_name(out, STR("BackupDescription"));
	json_out_open(out, '{');
	json_out_name(out, STR("BackupDetails"));
	json_out_open(out, '{');
	backup_rules_details(call, &found->job, &found->backup, arn, shown);
	json_out_close(out, '}');
	write_source(call, found);
	json_out_name(out, STR("SourceTableFeatureDetails"));
	json_out_open(out, '{');
	if (found->backup.type == BACKUP_USER) { /* AWS: DDB-BACKUP-015: empty of a SYSTEM one */
		write_backup_indexes(call, found->table, "GlobalSecondaryIndexes", false, false);
		write_backup_indexes(call, found->table, "LocalSecondaryIndexes", true, false);
		write_backup_indexes(call, found->table, "VectorIndexes", false, true);
		write_switches(out, found->table);
	}
	json_out_close(out, '}');
	json_out_close(out, '}');
	json_out_close(out, '}');
}

struct release {
	const struct table *table;
	size_t n;
	struct job *jobs;
};

/* The copies of the table that are under way, in the table's own namespace. */
static enum code apply_copies(struct job_txn *txn, void *context, struct err *err)
{
	struct release *release = context;
	struct job *jobs;
	size_t n;
	enum code code = job_list_open(txn, STR_ABSENT, STR_ABSENT, &jobs, &n, err);

	release->n = 0;
	release->jobs = ARENA_ARRAY(txn->arena, struct job, n);
	for (size_t i = 0; i < n && code == OK; i++) {
		struct copy copy;

		if (jobs[i].data && copy_of(txn->arena, &jobs[i], &copy) &&
		    copy.number == release->table->identity.number && copy.stage < COPY_LETS_GO)
			release->jobs[release->n++] = jobs[i];
	}
	return code;
}

enum code backup_rules_release(struct call *call, struct table *table, struct err *err)
{
	struct release release = {.table = table};
	struct catalog *catalog = call->service->catalog;
	enum code code = job_read(catalog, call->ns, apply_copies, &release, err);

	for (size_t i = 0; i < release.n && code == OK; i++)
		code = job_run_now(call->service->jobs, call->ns, release.jobs[i].kind,
				   release.jobs[i].id, RELEASE_STEPS, call->now_ms, err);
	if (code != OK || release.n == 0)
		return code;
	code = job_read(catalog, call->ns, apply_copies, &release, err);
	if (code != OK || release.n == 0)
		return code;
	return err_set(err, MSG_TABLE_IN_USE_UPDATED, STR_ARG(table->identity.name));
}

enum code backup_rules_delete_table(struct call *call, struct table *table, struct err *err)
{
	struct catalog *catalog = call->service->catalog;
	struct table *current;
	struct table_size *sizes;
	enum code code = catalog_get(catalog, call->ns, table->identity.name, call->now_ms,
				     &current, err); /* a copy may have let its log go */

	if (code != OK)
		return code;
	call_hold(call, current);
	code = catalog_sizes(catalog, current, call->arena, &sizes, err);
	struct backup_deletion deletion = {catalog, call->now_ms, sizes};
	if (code != OK)
		return code;
	return catalog_delete_keeping(catalog, current, call->now_ms, backup_keep_deleted,
				      &deletion, err);
}

static enum code keep_replica(struct call *call, struct catalog_change *change, struct err *err)
{
	struct catalog *catalog = call->service->catalog;
	struct backup_deletion *deletion = ARENA_NEW(call->arena, struct backup_deletion);
	struct table_size *sizes;
	enum code code = catalog_sizes(catalog, change->current, call->arena, &sizes, err);

	*deletion = (struct backup_deletion){catalog, change->now_ms, sizes};
	change->keep = backup_keep_deleted;
	change->context = deletion;
	return code;
}

enum code backup_rules_delete_replicas(struct call *call, struct catalog_change *changes, size_t n,
				       struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct call there = *call; /* holds nothing of its own */

		if (changes[i].next)
			continue;
		there.ns = (struct ns){changes[i].current->identity.account,
				       changes[i].current->identity.region};
		there.now_ms = changes[i].now_ms;
		enum code code = backup_rules_release(&there, changes[i].current, err);
		if (code != OK)
			return code;
		code = keep_replica(call, &changes[i], err);
		if (code != OK)
			return code;
	}
	return OK;
}
