/*
 * policies - endpoints that set and show the policies by which --iam judges, and what it has seen:
 * protocol/iam.
 */
#include "server/control/endpoints.h"

#include "protocol/iam/iam.h"
#include "server/control/absent.h"
#include "server/messages.h"

static enum code check_on(const struct control_call *call, struct err *err)
{
	return call->control->service->iam ? OK : err_set(err, MSG_IAM_OFF);
}

/* GET policies: the document that counts. */
enum code policies_show(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = check_on(call, err);

	if (code != OK)
		return code;
	return iam_show(call->control->service->iam, call->control->service->catalog, call->arena,
			answer, err);
}

/* PUT policies: a document in place of the one there is, for all servers on the store. Answers as
 * GET does. */
enum code policies_replace(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = check_on(call, err);

	if (code != OK)
		return code;
	code = iam_put(call->control->service->catalog, call->body.p ? call->body : STR(""), err);
	if (code != OK)
		return code;
	code = policies_show(call, answer, err);
	if (code != OK)
		return code;
	absent_warn(call, answer);
	return OK;
}

/* DELETE policies: the store has none; those of --policies count. */
enum code policies_remove(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = check_on(call, err);

	if (code != OK)
		return code;
	code = control_read(call, NULL, 0, err);
	if (code != OK)
		return code;
	code = iam_put(call->control->service->catalog, STR_ABSENT, err);
	if (code != OK)
		return code;
	return policies_show(call, answer, err);
}

/* GET iam: the least policies of those who called, and statements that nothing used. */
enum code policies_report(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = check_on(call, err);

	if (code != OK)
		return code;
	return iam_describe(call->control->service->iam, call->control->service->catalog,
			    call->arena, answer, err);
}
