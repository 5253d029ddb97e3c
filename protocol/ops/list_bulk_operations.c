#include "protocol/transfer/transfer_show.h"

enum code op_list_bulk_operations(struct call *call, const struct list_bulk_operations_input *input,
				  struct err *err)
{
	struct transfer_list list = {.kind = TRANSFER_BULK,
				     .token = input->next_token,
				     .limit = (size_t)input->max_results.value};
	enum code code = transfer_list(call, &list, err);

	if (code != OK)
		return code;
	return transfer_show_list(call, &list, err);
}
