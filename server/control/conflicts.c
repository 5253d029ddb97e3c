/*
 * conflicts - endpoints that say whether transactions that meet refuse each other:
 * protocol/conflicts.
 */
#include "server/control/endpoints.h"

#include "protocol/conflicts/conflicts.h"
#include "server/messages.h"

static struct str describe(const struct control_call *call)
{
	return conflicts_are_real(call->control->service->conflicts, call->ns)
		       ? STR("{\"conflicts\":\"real\"}")
		       : STR("{\"conflicts\":\"none\"}");
}

/* GET conflicts: {"conflicts": ...}. */
enum code conflicts_show(const struct control_call *call, struct str *answer, struct err *err)
{
	*answer = describe(call);
	return control_read(call, NULL, 0, err);
}

/* PUT conflicts: {"conflicts": "real" or "none"}. Answers as GET does. */
enum code conflicts_put(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *json;
	const struct control_member members[] = {{"conflicts", JSON_STRING, &json}};
	enum code code = control_read(call, members, 1, err);

	if (code != OK)
		return code;
	if (!json)
		return err_set(err, MSG_CONTROL_MISSING, "conflicts");
	struct str wanted = json_string(call->arena, json);
	if (!str_eq(wanted, STR("real")) && !str_eq(wanted, STR("none")))
		return err_set(err, MSG_CONFLICTS);
	code = conflicts_set(call->control->service->conflicts, call->ns,
			     str_eq(wanted, STR("real")), err);
	*answer = describe(call);
	return code;
}

/* DELETE conflicts: as the option says. */
enum code conflicts_delete(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = control_read(call, NULL, 0, err);

	if (code == OK)
		conflicts_clear(call->control->service->conflicts, call->ns);
	*answer = describe(call);
	return code;
}
