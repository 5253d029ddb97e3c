#include "protocol/tables/backup_rules.h"
#include "protocol/tables/control_messages.h"
#include "protocol/tables/lineage.h"
#include "protocol/timing/timing.h"
#include "protocol/wire/messages.h"
#include "storage/catalog/catalog_size.h"

struct creation {
	const struct table *table;
	struct backup backup;
	int64_t now_ms;
	struct job job;
};

static enum code apply(struct job_txn *txn, void *context, struct err *err)
{
	struct creation *creation = context;

	return backup_add(txn, creation->table, &creation->backup, creation->now_ms, &creation->job,
			  err);
}

/* AWS: DDB-BACKUP-001, 002: a table that is being created is not found, and for some seconds its
 * backups are being enabled. */
static enum code find_table_to_back_up(struct call *call, struct str name, struct table **table,
				       struct err *err)
{
	enum code code = timing_table(call, name, TIMING_BY_BACKUPS, table, err);

	if (code != OK)
		return code;
	if ((*table)->state.status == STATUS_CREATING || (*table)->state.status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_NOT_FOUND_BACKUP, STR_ARG((*table)->identity.name));
	return timing_backups_are_ready(call, *table)
		       ? OK
		       : err_set(err, MSG_BACKUPS_ENABLING, STR_ARG((*table)->identity.name));
}

/* The answer says CREATING; what is small is AVAILABLE by the next request (DDB-BACKUP-003). */
enum code op_create_backup(struct call *call, const struct create_backup_input *input,
			   struct err *err)
{
	struct creation creation = {.backup = {.name = input->backup_name, .type = BACKUP_USER},
				    .now_ms = call->now_ms};
	struct catalog *catalog = call->service->catalog;
	struct table *table;
	uint64_t items, bytes;
	enum code code = find_table_to_back_up(call, input->table_name, &table, err);

	if (code != OK)
		return code;
	code = catalog_size(catalog, table, NULL, &items, &bytes, err);
	if (code != OK)
		return code;
	creation.table = table;
	creation.now_ms = call->now_ms;
	creation.backup.items = (int64_t)items;
	creation.backup.bytes = (int64_t)bytes;
	creation.backup.shown_ms =
		timing_is_on(call)
			? 0
			: call->now_ms +
				  catalog_options(catalog)->transient_status_ms; /* AWS: 50 ms */
	code = job_write(catalog, call->ns, apply, &creation, err);
	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_name(&call->out, STR("BackupDetails"));
	json_out_open(&call->out, '{');
	backup_rules_details(call, &creation.job, &creation.backup,
			     lineage_arn(call, &creation.job), BACKUP_CREATING);
	json_out_close(&call->out, '}');
	json_out_close(&call->out, '}');
	code = job_run_now(call->service->jobs, call->ns, BACKUP_KIND, creation.job.id,
			   JOB_PROMPT_STEPS, call->now_ms, err);
	if (call->service->upkeep.wake)
		call->service->upkeep.wake(call->service->upkeep.context);
	return code;
}
