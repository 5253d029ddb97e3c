/*
 * lag - endpoints that say by how much reads without ConsistentRead are behind: storage/lag.
 */
#include "server/control/endpoints.h"

#include "protocol/handler.h"
#include "protocol/wire/json_out.h"
#include "server/control/absent.h"
#include "server/messages.h"
#include "storage/state/lag_settings.h"

#define SEED_MAX INT64_C(9007199254740991) /* that every JSON reader keeps as it is */

/* The members of one setting, as the body has them. */
struct members {
	const struct json *lag, *index_lag, *jitter, *seed;
};

/* "index_lag" is "lag", unless it is there; jitter and seed are those of `outer`. */
static enum code read_setting(const struct members *members, const struct lag *outer,
			      struct lag *lag, struct err *err)
{
	uint64_t table_ms, index_ms, jitter_ms, seed;
	enum code code = control_integer("lag", members->lag, LAG_MAX_MS, 0, &table_ms, err);

	if (code != OK)
		return code;
	code = control_integer("index_lag", members->index_lag, LAG_MAX_MS, table_ms, &index_ms,
			       err);
	if (code != OK)
		return code;
	code = control_integer("jitter", members->jitter, LAG_MAX_MS, outer->jitter_ms, &jitter_ms,
			       err);
	if (code != OK)
		return code;
	code = control_integer("seed", members->seed, SEED_MAX, outer->seed, &seed, err);
	if (code != OK)
		return code;
	*lag = (struct lag){(uint32_t)table_ms, (uint32_t)index_ms, (uint32_t)jitter_ms, seed};
	return OK;
}

static enum code read_table_lag(const struct control_call *call, const struct json *json,
				const struct lag *outer, struct lag_settings *settings,
				struct err *err)
{
	struct members own;
	const struct control_member members[] = {
		{"lag", JSON_NUMBER, &own.lag},
		{"index_lag", JSON_NUMBER, &own.index_lag},
		{"jitter", JSON_NUMBER, &own.jitter},
		{"seed", JSON_NUMBER, &own.seed},
	};
	struct lag_setting *setting = &settings->v[settings->n];

	setting->name = json_name(call->arena, json);
	if (!call_is_name(setting->name) || json_type(json) != JSON_OBJECT)
		return err_set(err, MSG_LAG_TABLE, STR_ARG(setting->name));
	for (size_t i = 0; i < settings->n; i++) {
		if (str_eq(settings->v[i].name, setting->name))
			return err_set(err, MSG_LAG_TWICE, STR_ARG(setting->name));
	}
	enum code code =
		control_members(call, json, members, sizeof(members) / sizeof(members[0]), err);
	if (code != OK)
		return code;
	code = read_setting(&own, outer, &setting->lag, err);
	settings->n++;
	return code;
}

static enum code read_settings(const struct control_call *call, struct lag_settings *settings,
			       struct err *err)
{
	const struct json *tables;
	struct members own;
	const struct control_member members[] = {
		{"lag", JSON_NUMBER, &own.lag},       {"index_lag", JSON_NUMBER, &own.index_lag},
		{"jitter", JSON_NUMBER, &own.jitter}, {"seed", JSON_NUMBER, &own.seed},
		{"tables", JSON_OBJECT, &tables},
	};
	const struct lag none = {0};
	struct lag whole;
	enum code code = control_read(call, members, sizeof(members) / sizeof(members[0]), err);
	bool is_on = false;

	if (code != OK)
		return code;
	code = read_setting(&own, &none, &whole, err);
	if (code != OK)
		return code;
	*settings = (struct lag_settings){0, ARENA_ARRAY(call->arena, struct lag_setting,
							 (tables ? json_count(tables) : 0) + 1)};
	if (own.lag || own.index_lag)
		settings->v[settings->n++] = (struct lag_setting){STR(""), whole};
	for (const struct json *table = tables ? json_first(tables) : NULL; table && code == OK;
	     table = json_next(table))
		code = read_table_lag(call, table, &whole, settings, err);
	for (size_t i = 0; i < settings->n; i++)
		is_on = is_on || lag_is_on(&settings->v[i].lag);
	return code == OK && !is_on &&
			       !lag_is_on(&catalog_options(call->control->service->catalog)->lag)
		       ? err_set(err, MSG_LAG_NOTHING)
		       : code;
}

static void add_setting(struct json_out *out, const struct lag *lag)
{
	json_out_field_integer(out, "lag", lag->table_ms);
	json_out_field_integer(out, "index_lag", lag->index_ms);
	json_out_field_integer(out, "jitter", lag->jitter_ms);
	json_out_field_integer(out, "seed", (int64_t)lag->seed);
}

static struct str describe_lag(const struct control_call *call, const struct lag_settings *settings)
{
	struct json_out out = json_out_in(call->arena);
	size_t first = settings->n > 0 && settings->v[0].name.n == 0;

	json_out_open(&out, '{');
	if (first)
		add_setting(&out, &settings->v[0].lag);
	if (first < settings->n) {
		json_out_name(&out, STR("tables"));
		json_out_open(&out, '{');
		for (size_t i = first; i < settings->n; i++) {
			json_out_name(&out, settings->v[i].name);
			json_out_open(&out, '{');
			add_setting(&out, &settings->v[i].lag);
			json_out_close(&out, '}');
		}
		json_out_close(&out, '}');
	}
	json_out_close(&out, '}');
	return json_out_str(&out);
}

static enum code show(const struct control_call *call, struct str *answer, struct err *err)
{
	struct lag_settings settings = {0};
	enum code code = lag_settings_list(call->control->service->catalog, call->ns, call->arena,
					   &settings, err);

	*answer = describe_lag(call, &settings);
	return code;
}

/* GET lag: the settings; {} where there are none. */
enum code lag_show(const struct control_call *call, struct str *answer, struct err *err)
{
	enum code code = control_read(call, NULL, 0, err);

	if (code != OK)
		return code;
	return show(call, answer, err);
}

/*
 * PUT lag: {"lag": MS, "index_lag": MS, "jitter": MS, "seed": N, "tables": {NAME: {...}}} in place
 * of the settings there are. A table's own setting stands for the namespace's; "index_lag" is "lag"
 * where it is absent. Answers as GET does.
 */
enum code lag_put_settings(const struct control_call *call, struct str *answer, struct err *err)
{
	struct lag_settings settings;
	enum code code = read_settings(call, &settings, err);

	if (code != OK)
		return code;
	code = lag_settings_put(call->control->service->catalog, call->ns, &settings, err);
	if (code != OK)
		return code;
	code = show(call, answer, err);
	if (code != OK)
		return code;
	absent_warn(call, answer);
	return OK;
}

/* DELETE lag: none. */
enum code lag_delete(const struct control_call *call, struct str *answer, struct err *err)
{
	const struct lag_settings none = {0};
	enum code code = control_read(call, NULL, 0, err);

	if (code != OK)
		return code;
	code = lag_settings_put(call->control->service->catalog, call->ns, &none, err);
	if (code != OK)
		return code;
	return show(call, answer, err);
}
