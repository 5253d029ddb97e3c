#include "protocol/tables/arn.h"
#include "protocol/tables/backup_rules.h"
#include "protocol/tables/control_messages.h"
#include "protocol/tables/lineage.h"

#define LIMIT_MAX 100
#define PAGE_ROWS 200 /* looked at in one transaction */

struct listing {
	struct call *call;
	const struct list_backups_input *input;
	struct str table;    /* a name; absent: of any table */
	size_t left;
	struct job last;     /* the last one that was listed */
	bool has_more;
};

/* AWS: DDB-BACKUP-014: USER is the default; times are from the lower bound on, to before the upper
 * one. */
static bool is_backup_wanted(const struct listing *listing, const struct job *job,
			     const struct backup *backup)
{
	const struct list_backups_input *input = listing->input;
	int type = input->backup_type ? input->backup_type : BACKUP_TYPE_FILTER_USER;
	int own =
		backup->type == BACKUP_SYSTEM ? BACKUP_TYPE_FILTER_SYSTEM : BACKUP_TYPE_FILTER_USER;

	return backup_rules_is_seen(job, backup, listing->call->now_ms) &&
	       (type == BACKUP_TYPE_FILTER_ALL || type == own) &&
	       (!str_is_set(listing->table) || str_eq(job->subject, listing->table)) &&
	       (!input->time_range_lower_bound.is_set ||
		job->created_ms >= input->time_range_lower_bound.value) &&
	       (!input->time_range_upper_bound.is_set ||
		job->created_ms < input->time_range_upper_bound.value);
}

static enum code list_one(struct listing *listing, const struct job *job, struct err *err)
{
	struct call *call = listing->call;
	struct backup backup;
	struct table *table;
	enum code code = backup_of(call->arena, job, &backup, err);

	if (code != OK || !is_backup_wanted(listing, job, &backup))
		return code;
	listing->has_more = listing->left == 0;
	if (listing->has_more)
		return OK;
	code = table_decode_new(backup.record, &settings_records, &table, err);
	if (code != OK)
		return code;
	listing->left--;
	listing->last = *job;
	json_out_open(&call->out, '{');
	backup_rules_details(call, job, &backup, lineage_arn(call, job), BACKUP_AS_IT_IS);
	json_out_field_string(&call->out, "TableArn", table_arn(call->arena, table));
	json_out_field_string(&call->out, "TableId", table->identity.id);
	json_out_field_string(&call->out, "TableName", table->identity.name);
	json_out_close(&call->out, '}');
	table_unref(table);
	return OK;
}

static enum code read_page(struct job_txn *txn, void *context, struct err *err)
{
	return job_list(txn, BACKUP_KIND, context, err);
}

static enum code list_backups_after(struct listing *listing, struct str after, struct err *err)
{
	struct job_page page = {.after = after, .limit = PAGE_ROWS, .is_more = true};
	enum code code = OK;

	while (code == OK && page.is_more && !listing->has_more) {
		code = job_read(listing->call->service->catalog, listing->call->ns, read_page,
				&page, err);
		for (size_t i = 0; i < page.n && code == OK && !listing->has_more; i++)
			code = list_one(listing, &page.jobs[i], err);
	}
	return code;
}

enum code op_list_backups(struct call *call, const struct list_backups_input *input,
			  struct err *err)
{
	struct listing listing = {.call = call,
				  .input = input,
				  .table = STR_ABSENT,
				  .left = input->limit.is_set ? (size_t)input->limit.value
							      : LIMIT_MAX};
	struct backup_arn start = {.id = STR_ABSENT};
	enum code code = OK;

	if (str_is_set(input->table_name))
		code = call_table_name(call, input->table_name, &listing.table, err);
	if (code != OK)
		return code;
	if (input->time_range_lower_bound.is_set && input->time_range_upper_bound.is_set &&
	    input->time_range_lower_bound.value > input->time_range_upper_bound.value)
		return err_set(err, MSG_BACKUPS_RANGE);
	if (str_is_set(input->exclusive_start_backup_arn))
		code = backup_rules_arn(call, input->exclusive_start_backup_arn, &start, err);
	if (code != OK)
		return code;
	if (str_is_set(start.id) && !call_owns(call, call->ns.account, start.region))
		return err_set(err, MSG_BACKUPS_REGION);
	code = call_refresh(call, err);
	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("BackupSummaries"));
	json_out_open(&call->out, '[');
	code = list_backups_after(&listing, start.id, err);
	json_out_close(&call->out, ']');
	if (listing.has_more)
		json_out_field_string(&call->out, "LastEvaluatedBackupArn",
				      lineage_arn(call, &listing.last));
	json_out_close(&call->out, '}');
	return code;
}
