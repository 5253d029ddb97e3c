#include "protocol/transfer/transfer_show.h"

enum code op_describe_export(struct call *call, const struct describe_export_input *input,
			     struct err *err)
{
	struct job job;
	enum code code = transfer_find(call, TRANSFER_EXPORT, input->export_arn, &job, err);

	if (code != OK)
		return code;
	return transfer_show(call, TRANSFER_EXPORT, &job, err);
}
