#include "protocol/transfer/transfer_show.h"

enum code op_describe_import(struct call *call, const struct describe_import_input *input,
			     struct err *err)
{
	struct job job;
	enum code code = transfer_find(call, TRANSFER_IMPORT, input->import_arn, &job, err);

	if (code != OK)
		return code;
	return transfer_show(call, TRANSFER_IMPORT, &job, err);
}
