/*
 * state - endpoints that return a namespace to a state, or copy one: reset, checkpoints, snapshots,
 * clones.
 */
#include "server/control/endpoints.h"

#include "protocol/conflicts/conflicts.h"
#include "protocol/faults/faults.h"
#include "protocol/throughput/throughput.h"
#include "core/base64.h"
#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "storage/state/checkpoint.h"
#include "storage/state/lag_settings.h"
#include "storage/state/reset.h"
#include "storage/state/snapshot_file.h"

/* The parts of a namespace that are not in the store. */
static enum code forget_unstored(const struct control_call *call, struct err *err)
{
	const struct lag_settings no_lag = {0};

	if (call->control->service->faults)
		faults_clear(call->control->service->faults, &call->ns);
	if (call->control->service->throughput)
		throughput_clear(call->control->service->throughput, &call->ns);
	if (call->control->service->conflicts)
		conflicts_clear(call->control->service->conflicts, call->ns);
	enum code code = lag_settings_put(call->control->service->catalog, call->ns, &no_lag, err);
	return code != OK ? code
			  : clock_turn(call->control->clock, &call->ns, STR("{\"release\": true}"),
				       err);
}

/*
 * POST reset: the namespace as new. {"keep": "tables"} empties the tables instead of deleting them;
 * {"tables": [...]} concerns these tables only. Answers {"tables": N}, how many were deleted or
 * emptied.
 */
enum code state_reset(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *keep, *tables;
	const struct control_member members[] = {{"keep", JSON_STRING, &keep},
						 {"tables", JSON_ARRAY, &tables}};
	struct reset reset = {.now_ms = call->control->service->now_ms(
				      call->control->service->clock_context, call->ns)};
	struct str *names = NULL;
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);

	if (code != OK)
		return code;
	if (keep && !str_eq(json_string(call->arena, keep), STR("tables")))
		return err_set(err, MSG_RESET_KEEP);
	if (tables) {
		code = control_strings(call, "tables", tables, &names, &reset.n, err);
		if (code != OK)
			return code;
	}
	reset.keeps_tables = keep != NULL;
	reset.is_some = tables != NULL;
	reset.tables = names;
	code = reset_run(call->control->service->catalog, call->ns, &reset, err);
	if (code != OK)
		return code;
	*answer = str_printf(call->arena, "{\"tables\":%zu}", reset.done);
	return reset.is_some ? OK : forget_unstored(call, err);
}

static struct catalog *catalog_of(const struct control_call *call)
{
	return call->control->service->catalog;
}

/* The body's only member, "name". */
static enum code read_state_name(const struct control_call *call, struct str *name, struct err *err)
{
	const struct json *json;
	const struct control_member members[] = {{"name", JSON_STRING, &json}};
	enum code code = control_read(call, members, 1, err);

	if (code != OK)
		return code;
	if (!json)
		return err_set(err, MSG_CONTROL_MISSING, "name");
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

/* POST checkpoints {"name": NAME}: marks the state. GET checkpoints: those that there are, the
 * first made first. */
enum code state_make_checkpoint(const struct control_call *call, struct str *answer,
				struct err *err)
{
	const struct service *service = call->control->service;
	struct checkpoint checkpoint = {.created_ms =
						service->now_ms(service->clock_context, call->ns)};
	enum code code = read_state_name(call, &checkpoint.name, err);

	if (code != OK)
		return code;
	checkpoint.extra = clock_save(call->control->clock, call->ns, call->arena);
	*answer = answer_name(call, checkpoint.name);
	return checkpoint_make(catalog_of(call), call->ns, &checkpoint, err);
}

/* One of a list. */
static void add_state(struct json_out *out, struct str name, int64_t created_ms)
{
	json_out_open(out, '{');
	json_out_field_string(out, "name", name);
	json_out_name(out, STR("created"));
	json_out_time_ms(out, created_ms);
	json_out_close(out, '}');
}

static struct json_out begin_list(const struct control_call *call, struct str name)
{
	struct json_out out = json_out_in(call->arena);

	json_out_open(&out, '{');
	json_out_name(&out, name);
	json_out_open(&out, '[');
	return out;
}

static struct str end_list(struct json_out *out)
{
	json_out_close(out, ']');
	json_out_close(out, '}');
	return json_out_str(out);
}

enum code state_list_checkpoints(const struct control_call *call, struct str *answer,
				 struct err *err)
{
	struct json_out out = begin_list(call, STR("checkpoints"));
	struct checkpoints checkpoints = {0};
	enum code code =
		checkpoint_list(catalog_of(call), call->ns, call->arena, &checkpoints, err);

	for (size_t i = 0; i < checkpoints.n; i++)
		add_state(&out, checkpoints.v[i].name, checkpoints.v[i].created_ms);
	*answer = end_list(&out);
	return code;
}

/* POST checkpoints/NAME/rollback: back to the state. DELETE checkpoints/NAME: forgets the mark, and
 * changes nothing else. */
enum code state_roll_back(const struct control_call *call, struct str *answer, struct err *err)
{
	struct str clock;
	enum code code = read_nothing(call, err);

	if (code != OK)
		return code;
	code = checkpoint_rollback(catalog_of(call), call->ns, call->name, &clock, err);
	if (code != OK)
		return code;
	*answer = answer_name(call, call->name);
	return clock_restore(call->control->clock, call->ns, clock, err);
}

enum code state_remove_checkpoint(const struct control_call *call, struct str *answer,
				  struct err *err)
{
	enum code code = read_nothing(call, err);

	*answer = answer_name(call, call->name);
	if (code != OK)
		return code;
	return checkpoint_remove(catalog_of(call), call->ns, call->name, err);
}

enum code state_list_snapshots(const struct control_call *call, struct str *answer, struct err *err)
{
	struct json_out out = begin_list(call, STR("snapshots"));
	struct snapshots snapshots = {0};
	enum code code = snapshot_list(catalog_of(call), call->ns, call->arena, &snapshots, err);

	for (size_t i = 0; i < snapshots.n; i++)
		add_state(&out, snapshots.v[i].name, snapshots.v[i].created_ms);
	*answer = end_list(&out);
	return code;
}

/* PUT snapshots/NAME: a copy of the namespace. GET snapshots: those that there are. POST
 * snapshots/NAME/restore, DELETE snapshots/NAME. */
enum code state_take_snapshot(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct service *service = call->control->service;
	struct snapshot snapshot = {.name = call->name,
				    .created_ms =
					    service->now_ms(service->clock_context, call->ns)};
	enum code code = read_nothing(call, err);

	if (code != OK)
		return code;
	snapshot.extra = clock_save(call->control->clock, call->ns, call->arena);
	*answer = answer_name(call, call->name);
	return snapshot_take(catalog_of(call), call->ns, &snapshot, err);
}

enum code state_restore_snapshot(const struct control_call *call, struct str *answer,
				 struct err *err)
{
	struct str clock;
	enum code code = read_nothing(call, err);

	if (code != OK)
		return code;
	code = snapshot_restore(catalog_of(call), call->ns, call->name, &clock, err);
	if (code != OK)
		return code;
	*answer = answer_name(call, call->name);
	return clock_restore(call->control->clock, call->ns, clock, err);
}

enum code state_remove_snapshot(const struct control_call *call, struct str *answer,
				struct err *err)
{
	enum code code = read_nothing(call, err);

	*answer = answer_name(call, call->name);
	if (code != OK)
		return code;
	return snapshot_remove(catalog_of(call), call->ns, call->name, err);
}

/* The namespaces of the accounts in the call's region: each another one than `from` and than those
 * before it. */
static enum code read_targets(const struct control_call *call, struct ns from,
			      const struct json *to, struct ns **out, size_t *n, struct err *err)
{
	struct str *accounts;
	enum code code = control_strings(call, "to", to, &accounts, n, err);

	if (code != OK)
		return code;
	if (*n == 0)
		return err_set(err, MSG_CLONE_NOBODY);
	struct ns *targets = ARENA_ARRAY(call->arena, struct ns, *n);
	for (size_t i = 0; i < *n; i++) {
		targets[i] = (struct ns){accounts[i], from.region};
		code = control_check_namespace(targets[i], err);
		if (code != OK)
			return code;
		for (size_t k = 0; k <= i; k++) {
			if (str_eq(accounts[i], k == i ? from.account : accounts[k]))
				return err_set(err, MSG_CLONE_TWICE, STR_ARG(accounts[i]));
		}
	}
	*out = targets;
	return OK;
}

/*
 * POST clone {"from": ACCOUNT, "to": [ACCOUNT, ...], "replace": true}: copies the tables of the
 * account, without "from" those of the namespace, to others in the same region. Answers {"clones":
 * N}.
 */
enum code state_clone(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *from, *to, *replace;
	const struct control_member members[] = {{"from", JSON_STRING, &from},
						 {"to", JSON_ARRAY, &to},
						 {"replace", JSON_BOOLEAN, &replace}};
	struct snapshot_clone clone = {.from = call->ns};
	struct ns *targets;
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);

	if (code != OK)
		return code;
	if (!to)
		return err_set(err, MSG_CONTROL_MISSING, "to");
	if (catalog_options(catalog_of(call))->is_shared)
		return err_set(err, MSG_CLONE_SHARED);
	if (from)
		clone.from.account = json_string(call->arena, from);
	code = control_check_namespace(clone.from, err);
	if (code != OK)
		return code;
	code = read_targets(call, clone.from, to, &targets, &clone.n, err);
	if (code != OK)
		return code;
	clone.to = targets;
	clone.replaces = replace && json_boolean(replace);
	code = snapshot_clone(catalog_of(call), &clone, err);
	for (size_t i = 0; i < clone.n && code == OK; i++)
		code = clock_restore(call->control->clock, targets[i],
				     clock_save(call->control->clock, clone.from, call->arena),
				     err);
	*answer = str_printf(call->arena, "{\"clones\":%zu}", clone.n);
	return code;
}

/*
 * POST snapshots/NAME/dump {"cursor": TEXT}: the next block of its bytes, {"block": BASE64,
 * "cursor": TEXT}; the last answer has no cursor. POST snapshots/NAME/load {"block": BASE64}: takes
 * the next block; {"done": true} with the last one, and the snapshot is there.
 */
enum code state_dump(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *cursor;
	const struct control_member members[] = {{"cursor", JSON_STRING, &cursor}};
	struct json_out out = json_out_in(call->arena);
	struct buf text = buf_in(call->arena);
	struct str block, next;
	enum code code = control_read(call, members, 1, err);

	if (code != OK)
		return code;
	code = snapshot_file_read(catalog_of(call), call->ns, call->name,
				  cursor ? json_string(call->arena, cursor) : STR_ABSENT, &block,
				  &next, err);
	if (code != OK)
		return code;
	base64_encode(block, &text);
	json_out_open(&out, '{');
	json_out_field_string(&out, "block", buf_str(&text));
	if (str_is_set(next))
		json_out_field_string(&out, "cursor", next);
	json_out_close(&out, '}');
	*answer = json_out_str(&out);
	return OK;
}

enum code state_load(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct json *text;
	const struct control_member members[] = {{"block", JSON_STRING, &text}};
	bool is_done = false;
	struct str block;
	enum code code = control_read(call, members, 1, err);

	if (code != OK)
		return code;
	if (!text)
		return err_set(err, MSG_CONTROL_MISSING, "block");
	if (!base64_decode(call->arena, json_string(call->arena, text), &block))
		return err_set(err, MSG_CONTROL_TYPE, "block", "base64");
	code = snapshot_file_write(catalog_of(call), call->ns, call->name, block, &is_done, err);
	if (code != OK)
		return code;
	*answer = is_done ? STR("{\"done\":true}") : STR("{\"done\":false}");
	return OK;
}
