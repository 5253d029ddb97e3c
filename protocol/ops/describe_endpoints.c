#include "protocol/handler.h"

/* A client that discovers endpoints uses the address in this answer, so it is the one by which the
 * client reached us. */
enum code op_describe_endpoints(struct call *call, const struct describe_endpoints_request *input,
				struct err *err)
{
	struct json_out *out = &call->out;

	(void)input, (void)err;
	json_out_open(out, '{');
	json_out_name(out, STR("Endpoints"));
	json_out_open(out, '[');
	json_out_open(out, '{');
	json_out_field_string(out, "Address",
			      str_is_set(call->request.host) ? call->request.host
							     : STR("localhost:8000"));
	json_out_field_integer(out, "CachePeriodInMinutes", 1440);
	json_out_close(out, '}');
	json_out_close(out, ']');
	json_out_close(out, '}');
	return OK;
}
