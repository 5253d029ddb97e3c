/*
 * faults - endpoints that set, show and clear the fault rules of a namespace: protocol/faults.
 */
#include "server/control/endpoints.h"

#include "protocol/faults/faults.h"
#include "server/control/absent.h"

/* GET faults: the rules, with how often each matched and fired. */
enum code faults_show(const struct control_call *call, struct str *answer, struct err *err)
{
	(void)err;
	*answer = faults_describe(call->control->service->faults, call->ns, call->arena);
	return OK;
}

/* PUT faults: {"rules": [...]} in place of the rules there are. Answers as GET does. */
enum code faults_put(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = faults_set(call->control->service->faults, call->ns, call->body, err);

	if (code != OK)
		return code;
	code = faults_show(call, answer, err);
	if (code != OK)
		return code;
	absent_warn(call, answer);
	return OK;
}

/* DELETE faults: no rules. */
enum code faults_delete(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = control_read(call, NULL, 0, err);

	if (code != OK)
		return code;
	faults_clear(call->control->service->faults, &call->ns);
	return faults_show(call, answer, err);
}
