#include "server/control/state.h"

#include "server/messages.h"
#include "storage/state/reset.h"

/* What of the namespace is not in the store. */
static enum code forget(const struct control_call *call, struct err *err)
{
	return clock_turn(call->control->clock, &call->ns, STR("{\"release\": true}"), err);
}

enum code state_reset(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *keep, *tables;
	const struct control_member members[] = {{"keep", JSON_STRING, &keep}, {"tables", JSON_ARRAY, &tables}};
	struct reset reset = {.n = 0};
	struct str *names = NULL;
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);

	if (code == OK && keep && !str_eq(json_string(call->arena, keep), STR("tables")))
		code = err_set(err, MSG_RESET_KEEP);
	if (code == OK && tables)
		code = control_strings(call, "tables", tables, &names, &reset.n, err);
	reset.keeps_tables = keep != NULL;
	reset.is_some = tables != NULL;
	reset.tables = names;
	if (code == OK)
		code = reset_run(call->control->service->catalog, call->ns, &reset, err);
	if (code == OK && !reset.is_some)
		code = forget(call, err);
	*answer = str_printf(call->arena, "{\"tables\":%zu}", reset.done);
	return code;
}
