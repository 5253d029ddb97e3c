#include "protocol/transfer/transfer_show.h"

enum code op_describe_bulk_operation(struct call *call,
				     const struct describe_bulk_operation_input *input,
				     struct err *err)
{
	struct job job;
	enum code code = transfer_find(call, TRANSFER_BULK, input->bulk_operation_arn, &job, err);

	if (code != OK)
		return code;
	return transfer_show(call, TRANSFER_BULK, &job, err);
}
