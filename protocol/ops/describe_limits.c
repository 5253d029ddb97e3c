#include "protocol/handler.h"

/* AWS: Developer Guide, "Quotas": what every account starts with. Nothing here is held to them. */
enum code op_describe_limits(struct call *call, const struct describe_limits_input *input,
			     struct err *err)
{
	struct json_out *out = &call->out;

	(void)input, (void)err;
	json_out_open(out, '{');
	json_out_field_integer(out, "AccountMaxReadCapacityUnits", 80000);
	json_out_field_integer(out, "AccountMaxWriteCapacityUnits", 80000);
	json_out_field_integer(out, "TableMaxReadCapacityUnits", 40000);
	json_out_field_integer(out, "TableMaxWriteCapacityUnits", 40000);
	json_out_close(out, '}');
	return OK;
}
