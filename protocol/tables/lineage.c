#include "protocol/tables/lineage.h"

struct str lineage_arn(const struct call *call, const struct job *job)
{
	return str_printf(call->arena,
			  "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT
			  "/backup/" STR_FMT,
			  STR_ARG(job->ns.region), STR_ARG(job->ns.account), STR_ARG(job->subject),
			  STR_ARG(job->id));
}

/* AWS: DDB-TABLE-216: only while the table is CREATING. */
enum code lineage_summary(struct call *call, const struct table *table, struct err *err)
{
	struct job job;
	struct restore restore;
	struct json_out *out = &call->out;
	enum code code = job_find(call->service->catalog, call->ns, RESTORE_KIND, table->state.job,
				  &job, err);

	if (code == ERR_RESOURCE_NOT_FOUND) /* another kind of job makes the table */
		return OK;
	if (code != OK)
		return code;
	code = restore_of(call->arena, &job, &restore, err);
	if (code != OK)
		return code;
	json_out_name(out, STR("RestoreSummary"));
	json_out_open(out, '{');
	if (str_is_set(restore.backup)) {
		struct job backup = {.ns = {call->ns.account, restore.region},
				     .subject = restore.source,
				     .id = restore.backup};

		json_out_field_string(out, "SourceBackupArn", lineage_arn(call, &backup));
	}
	json_out_field_string(out, "SourceTableArn",
			      str_printf(call->arena,
					 "arn:aws:dynamodb:" STR_FMT ":" STR_FMT ":table/" STR_FMT,
					 STR_ARG(restore.region), STR_ARG(call->ns.account),
					 STR_ARG(restore.source)));
	json_out_name(out, STR("RestoreDateTime"));
	json_out_time_ms(out, restore.at_ms);
	json_out_field_boolean(out, "RestoreInProgress", true);
	json_out_close(out, '}');
	return OK;
}
