/*
 * imports - what imports refused, for those who look in CloudWatch at AWS.
 */
#include "server/control/endpoints.h"

#include "core/buf.h"
#include "server/transfer/importing_log.h"

/* GET imports/ID: an array of the records that the import refused. ERR_RESOURCE_NOT_FOUND where
 * there is no such import. */
enum code imports_show(const struct control_call *call, struct str *answer, struct err *err)
{
	struct buf out = buf_in(call->arena);
	struct str lines;
	enum code code = importing_log_read(call->control->service->catalog, call->ns, call->arena,
					    call->name, &lines, err);

	if (code != OK)
		return code;
	buf_add_byte(&out, '[');
	while (lines.n > 0) {
		struct str line = str_cut(&lines, '\n');

		if (out.n > 1)
			buf_add_byte(&out, ',');
		buf_add_str(&out, line);
	}
	buf_add_byte(&out, ']');
	*answer = buf_str(&out);
	return OK;
}
