/*
 * rollouts - endpoints that fix the region and day whose behaviour a namespace has:
 * protocol/rollouts.h.
 */
#include "server/control/endpoints.h"

#include "protocol/rollouts.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"

static struct str describe_rollouts(const struct control_call *call)
{
	struct rollouts *rollouts = call->control->service->rollouts;
	struct json_out out = json_out_in(call->arena);
	rollout_set set = rollouts_of(rollouts, call->ns);

	json_out_open(&out, '{');
	json_out_field_string(&out, "as", rollouts_as(rollouts, call->ns, call->arena));
	json_out_name(&out, STR("rollouts"));
	json_out_open(&out, '[');
	for (enum rollout i = 0; i < ROLLOUT_COUNT; i++) {
		if (set >> i & 1)
			json_out_string(&out, str_of(rollout_row(i)->name));
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

/* GET rollouts: {"as": ..., "rollouts": [NAME, ...]}, those in force. */
enum code rollouts_show(const struct control_call *call, struct str *answer, struct err *err)
{
	*answer = describe_rollouts(call);
	return control_read(call, NULL, 0, err);
}

/* PUT rollouts: {"as": "next"}, "none", "REGION" or "REGION@YYYY-MM-DD". Answers as GET does. */
enum code rollouts_put(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *as;
	const struct control_member members[] = {{"as", JSON_STRING, &as}};
	enum code code = control_read(call, members, 1, err);

	if (code != OK)
		return code;
	if (!as)
		return err_set(err, MSG_CONTROL_MISSING, "as");
	code = rollouts_set(call->control->service->rollouts, call->ns,
			    json_string(call->arena, as), err);
	*answer = describe_rollouts(call);
	return code;
}

/* DELETE rollouts: what --as says. */
enum code rollouts_delete(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = control_read(call, NULL, 0, err);

	if (code == OK)
		rollouts_clear(call->control->service->rollouts, call->ns);
	*answer = describe_rollouts(call);
	return code;
}
