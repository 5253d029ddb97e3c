#include <time.h>

#include "protocol/tables/backup_rules.h"
#include "protocol/tables/control_messages.h"

struct deletion {
	struct job *job;
	int64_t now_ms;
	bool is_used;
};

/* A restore may have begun since the backup was looked up. */
static enum code apply(struct job_txn *txn, void *context, struct err *err)
{
	struct deletion *deletion = context;
	enum code code =
		restore_uses(txn, deletion->job->id, deletion->now_ms, &deletion->is_used, err);

	return code == OK && !deletion->is_used ? job_remove(txn, deletion->job, err) : code;
}

static enum code refuse_system(struct call *call, const struct backup_found *found, struct str arn,
			       struct err *err)
{
	time_t seconds = (time_t)(found->backup.expires_ms / 1000);
	char text[40];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return err_set(err, MSG_BACKUP_SYSTEM, STR_ARG(arn),
		       STR_ARG(str_printf(call->arena, "%s.%03dZ", text,
					  (int)(found->backup.expires_ms % 1000))));
}

enum code op_delete_backup(struct call *call, const struct delete_backup_input *input,
			   struct err *err)
{
	struct backup_found found;
	struct backup_arn arn;
	enum code code = backup_rules_arn(call, input->backup_arn, &arn, err);

	if (code != OK)
		return code;
	code = backup_rules_find(call, call->ns, &arn, &found, err);
	if (code != OK)
		return code;
	if (found.backup.type == BACKUP_SYSTEM)
		return refuse_system(call, &found, input->backup_arn, err);
	if (found.job.state == JOB_RUNNING)
		return err_set(err, MSG_BACKUP_MAKING, STR_ARG(input->backup_arn));
	struct deletion deletion = {&found.job, call->now_ms, false};
	code = job_write(call->service->catalog, call->ns, apply, &deletion, err);
	if (code != OK)
		return code;
	if (deletion.is_used)
		return err_set(err, MSG_BACKUP_RESTORING, STR_ARG(input->backup_arn));
	backup_rules_description(call, &found, input->backup_arn, BACKUP_DELETED);
	return OK;
}
