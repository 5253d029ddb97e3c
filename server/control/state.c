#include "server/control/state.h"

#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "storage/state/checkpoint.h"
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

static struct catalog *catalog_of(const struct control_call *call)
{
	return call->control->service->catalog;
}

/* The body's only member, "name". */
static enum code read_name(const struct control_call *call, struct str *name, struct err *err)
{
	const struct json *json;
	const struct control_member members[] = {{"name", JSON_STRING, &json}};
	enum code code = control_read(call, members, 1, err);

	if (code == OK && !json)
		code = err_set(err, MSG_CONTROL_MISSING, "name");
	if (code != OK)
		return code;
	*name = json_string(call->arena, json);
	return control_check_name(*name, err);
}

static enum code read_nothing(const struct control_call *call, struct err *err)
{
	return control_read(call, NULL, 0, err);
}

static struct str answer_name(const struct control_call *call, struct str name)
{
	struct json_out out = json_out_in(call->arena);

	json_out_open(&out, '{');
	json_out_field_string(&out, "name", name);
	json_out_close(&out, '}');
	return json_out_str(&out);
}

enum code state_make_checkpoint(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct service *service = call->control->service;
	struct checkpoint checkpoint = {.created_ms = service->now_ms(service->clock_context, call->ns)};
	enum code code = read_name(call, &checkpoint.name, err);

	if (code != OK)
		return code;
	checkpoint.extra = clock_save(call->control->clock, call->ns, call->arena);
	*answer = answer_name(call, checkpoint.name);
	return checkpoint_make(catalog_of(call), call->ns, &checkpoint, err);
}

enum code state_list_checkpoints(const struct control_call *call, struct str *answer, struct err *err)
{
	struct json_out out = json_out_in(call->arena);
	struct checkpoints checkpoints;
	enum code code = checkpoint_list(catalog_of(call), call->ns, call->arena, &checkpoints, err);

	if (code != OK)
		return code;
	json_out_open(&out, '{');
	json_out_name(&out, STR("checkpoints"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < checkpoints.n; i++) {
		json_out_open(&out, '{');
		json_out_field_string(&out, "name", checkpoints.v[i].name);
		json_out_name(&out, STR("created"));
		json_out_time_ms(&out, checkpoints.v[i].created_ms);
		json_out_close(&out, '}');
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	*answer = json_out_str(&out);
	return OK;
}

enum code state_roll_back(const struct control_call *call, struct str *answer, struct err *err)
{
	struct str clock;
	enum code code = read_nothing(call, err);

	if (code == OK)
		code = checkpoint_rollback(catalog_of(call), call->ns, call->name, &clock, err);
	if (code == OK)
		code = clock_restore(call->control->clock, call->ns, clock, err);
	*answer = answer_name(call, call->name);
	return code;
}

enum code state_remove_checkpoint(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = read_nothing(call, err);

	*answer = answer_name(call, call->name);
	return code == OK ? checkpoint_remove(catalog_of(call), call->ns, call->name, err) : code;
}
