/*
 * throughput - endpoints that enforce the throughput of a namespace's tables and show what is left
 * of it: protocol/throughput.
 */
#include "server/control/endpoints.h"

#include "protocol/throughput/throughput.h"
#include "server/control/absent.h"

/* GET throughput: the settings, and the tables that were used since. */
enum code throughput_show(const struct control_call *call, struct str *answer, struct err *err)
{
	return throughput_describe(call->control->service, call->arena, call->ns, answer, err);
}

/* PUT throughput: the settings in place of those there are; all buckets begin again. Answers as GET
 * does. */
enum code throughput_put(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code =
		throughput_set(call->control->service->throughput, call->ns, call->body, err);

	if (code != OK)
		return code;
	code = throughput_show(call, answer, err);
	if (code != OK)
		return code;
	absent_warn(call, answer);
	return OK;
}

/* DELETE throughput: the settings are the server's. */
enum code throughput_delete(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = control_read(call, NULL, 0, err);

	if (code != OK)
		return code;
	throughput_clear(call->control->service->throughput, &call->ns);
	return throughput_show(call, answer, err);
}
