#include "protocol/transfer/messages.h"
#include "protocol/transfer/transfer_show.h"

struct canceling {
	struct call *call;
	struct job *job;
	struct str arn;
};

static enum code cancel_bulk_job(struct job_txn *txn, void *context, struct err *err)
{
	struct canceling *canceling = context;
	struct transfer_progress progress;
	struct transfer_body body;
	struct job *job = canceling->job;
	enum code code = job_get(txn, job->kind, job->id, job, err);

	if (code != OK)
		return code;
	if (job->state != JOB_RUNNING || !transfer_read(txn->arena, job, &body, &progress))
		return err_set(err, MSG_BULK_OVER, STR_ARG(canceling->arn));
	body.is_canceled = true;
	job->body = transfer_pack_body(txn->arena, &body);
	return job_put(txn, job, canceling->call->now_ms, err);
}

/* What carries the operation out sees it before its next piece. */
enum code op_cancel_bulk_operation(struct call *call,
				   const struct cancel_bulk_operation_input *input, struct err *err)
{
	struct job job;
	struct canceling canceling = {.call = call, .job = &job, .arn = input->bulk_operation_arn};
	enum code code = transfer_find(call, TRANSFER_BULK, input->bulk_operation_arn, &job, err);

	if (code != OK)
		return code;
	code = job_write(call->service->catalog, call->ns, cancel_bulk_job, &canceling, err);
	if (code != OK)
		return code;
	json_out_open(&call->out, '{');
	json_out_field_string(&call->out, "BulkOperationArn", transfer_arn(call->arena, &job));
	json_out_field_string(&call->out, "BulkOperationStatus", STR("CANCELLING"));
	json_out_close(&call->out, '}');
	return OK;
}
