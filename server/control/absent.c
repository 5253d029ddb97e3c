#include "server/control/absent.h"

#include "protocol/handler.h"
#include "protocol/iam/known.h"
#include "protocol/tables/arn.h"
#include "server/messages.h"

#define DEPTH_MAX 16
#define WARNINGS_MAX 100

struct search {
	const struct control_call *call;
	size_t n;
	struct str warnings[WARNINGS_MAX];
};

static void add_warning(struct search *search, struct str text)
{
	for (size_t i = 0; i < search->n; i++) {
		if (str_eq(search->warnings[i], text))
			return;
	}
	if (search->n < WARNINGS_MAX)
		search->warnings[search->n++] = text;
}

static struct str text_of_member(const struct search *search, const struct json *object,
				 const char *name)
{
	const struct json *value = json_member(object, name);

	return value && json_type(value) == JSON_STRING ? json_string(search->call->arena, value)
							: STR_ABSENT;
}

/* `index` absent: the table alone. */
static void look_for(struct search *search, struct ns ns, struct str name, struct str index)
{
	const struct control_call *call = search->call;
	struct catalog *catalog = call->control->service->catalog;
	struct err err = err_in(call->arena);
	int64_t now_ms = call->control->service->now_ms(call->control->service->clock_context, ns);
	struct table *table = NULL;

	enum code code = catalog_get_current(catalog, ns, name, now_ms, &table, &err);
	if (code == ERR_RESOURCE_NOT_FOUND)
		add_warning(search, str_printf(call->arena, WARNING_NO_TABLE, STR_ARG(name),
					       STR_ARG(ns.account), STR_ARG(ns.region)));
	if (code != OK)
		return;
	if (str_is_set(index) && !table_index(table, index) && !table_vector(table, index))
		add_warning(search, str_printf(call->arena, WARNING_NO_INDEX, STR_ARG(name),
					       STR_ARG(index)));
	table_unref(table);
}

static bool is_pattern(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '*' || text.p[i] == '?' || text.p[i] == '$')
			return true;
	}
	return text.n == 0;
}

/* arn:aws:dynamodb:REGION:ACCOUNT:table/NAME/..., or another resource. */
static void look_for_arn(struct search *search, struct str text)
{
	struct arn arn = arn_split(text);
	struct str name;

	if (!str_starts_with(text, STR("arn:")) || !str_eq(arn.service, STR("dynamodb")) ||
	    !str_starts_with(arn.resource, STR("table/")))
		return;
	(void)arn_table_part(arn.resource, &name);
	if (!is_pattern(arn.region) && !is_pattern(arn.account) && !is_pattern(name))
		look_for(search, (struct ns){arn.account, arn.region}, name, STR_ABSENT);
}

/* {"StringLike": {"dynamodb:LeadingKeys": ...}} */
static void look_for_keys(struct search *search, const struct json *condition)
{
	struct arena *arena = search->call->arena;

	for (const struct json *tests = json_first(condition); tests; tests = json_next(tests)) {
		for (const struct json *test = json_type(tests) == JSON_OBJECT ? json_first(tests)
									       : NULL;
		     test; test = json_next(test)) {
			struct str key = json_name(arena, test);

			if (!iam_knows_key(key))
				add_warning(search,
					    str_printf(arena, WARNING_NO_KEY, STR_ARG(key)));
		}
	}
}

static void look_at_text(struct search *search, struct str name, struct str text)
{
	bool is_action = str_eq(name, STR("Action")) || str_eq(name, STR("NotAction"));

	if (str_eq(name, STR("Resource")) || str_eq(name, STR("NotResource")))
		look_for_arn(search, text);
	else if (is_action && !iam_knows_action(search->call->arena, text))
		add_warning(search,
			    str_printf(search->call->arena, WARNING_NO_ACTION, STR_ARG(text)));
}

static void look_into(struct search *search, const struct json *json, struct str name,
		      unsigned depth)
{
	struct arena *arena = search->call->arena;
	enum json_type type = json_type(json);

	if (depth > DEPTH_MAX)
		return;
	if (type == JSON_STRING)
		look_at_text(search, name, json_string(arena, json));
	if (type == JSON_OBJECT && str_eq(name, STR("Condition")))
		look_for_keys(search, json);
	if (type != JSON_OBJECT && type != JSON_ARRAY)
		return;
	struct str table = type == JSON_OBJECT ? text_of_member(search, json, "table") : STR_ABSENT;
	if (str_is_set(table))
		look_for(search, search->call->ns, table, text_of_member(search, json, "index"));
	for (const struct json *child = json_first(json); child; child = json_next(child)) {
		struct str own = type == JSON_OBJECT ? json_name(arena, child) : name;

		if (str_eq(name, STR("tables")) && type == JSON_OBJECT)
			look_for(search, search->call->ns, own, STR_ABSENT);
		look_into(search, child, own, depth + 1);
	}
}

size_t absent_find(const struct control_call *call, const struct str **warnings)
{
	struct search *search = ARENA_NEW(call->arena, struct search);
	struct err err = err_in(call->arena);
	const struct json *root;

	*search = (struct search){.call = call};
	*warnings = search->warnings;
	if (!str_is_set(call->body) || json_parse(call->arena, call->body, &root, &err) != OK)
		return 0;
	look_into(search, root, STR(""), 0);
	return search->n;
}

void absent_warn(const struct control_call *call, struct str *answer)
{
	struct json_out out = json_out_in(call->arena);
	const struct str *warnings;
	size_t n = answer->n < 2 ? 0 : absent_find(call, &warnings);

	if (n == 0)
		return;
	json_out_open(&out, '[');
	for (size_t i = 0; i < n; i++)
		json_out_string(&out, warnings[i]);
	json_out_close(&out, ']');
	*answer = str_printf(call->arena, "%.*s%s\"warnings\":" STR_FMT "}", (int)answer->n - 1,
			     answer->p, answer->n > 2 ? "," : "", STR_ARG(json_out_str(&out)));
}
