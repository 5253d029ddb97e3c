#include "protocol/tables/control_messages.h"
#include "protocol/tables/restore_rules.h"
#include "protocol/tables/throughput_rules.h"

struct use {
	struct str id;
	int64_t now_ms;
};

static enum code apply_uses(struct job_txn *txn, void *context, struct err *err)
{
	const struct use *use = context;
	bool is_used;
	enum code code = restore_uses(txn, use->id, use->now_ms, &is_used, err);

	return code == OK && is_used ? err_set(err, MSG_BACKUP_RESTORING_OTHER, STR_ARG(use->id))
				     : code;
}

/* One restore at a time from each backup, in any region (DDB-BACKUP-010). */
static enum code check_backup(struct call *call, const struct backup_found *found, struct str arn,
			      struct err *err)
{
	struct use use = {found->job.id, call->now_ms};

	if (found->backup.type == BACKUP_USER && found->job.state != JOB_DONE)
		return err_set(err, MSG_BACKUP_MAKING, STR_ARG(arn));
	enum code code = job_read(call->service->catalog, call->ns, apply_uses, &use, err);
	return code == ERR_BACKUP_IN_USE ? err_set(err, MSG_BACKUP_RESTORING_OTHER, STR_ARG(arn))
					 : code;
}

enum code op_restore_table_from_backup(struct call *call,
				       const struct restore_table_from_backup_input *input,
				       struct err *err)
{
	const struct restore_overrides overrides = RESTORE_OVERRIDES(input);
	struct backup_found found;
	struct backup_arn arn;
	struct table *table;
	enum code code = backup_rules_arn(call, input->backup_arn, &arn, err);

	if (code != OK)
		return code;
	if (!call_owns(call, call->ns.account, arn.region) && !overrides.sse)
		return err_set(err, MSG_RESTORE_REGION);
	code = backup_rules_find(call, (struct ns){call->ns.account, arn.region}, &arn, &found,
				 err);
	if (code != OK)
		return code;
	code = restore_rules_target(call, input->target_table_name, err);
	if (code != OK)
		return code;
	code = check_backup(call, &found, input->backup_arn, err);
	if (code != OK)
		return code;
	code = restore_rules_table(call, found.table, input->target_table_name, &overrides, &table,
				   err);
	if (code != OK)
		return code;
	const struct restore restore = {
		.backup = found.job.id,
		.source = found.job.subject,
		.region = arn.region,
		.at_ms = found.job.created_ms,
		.data = found.job.data,
		.key = STR_ABSENT,
	};
	code = restore_rules_start(call, NULL, table, &restore, err);
	if (code != OK || !overrides.maxima || throughput_rules_has_on_demand(overrides.maxima))
		return code;
	/* AWS: begins the restore, fails at limits without members, and finds its own restore when
	 * it tries again: DDB-TABLE-463 */
	return err_set(err, MSG_RESTORE_TWICE, STR_ARG(input->target_table_name),
		       STR_ARG(input->backup_arn));
}
