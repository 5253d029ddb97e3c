#include "protocol/tables/policy_scope.h"

#include <ctype.h>

#include "protocol/tables/arn.h"
#include "protocol/tables/control_messages.h"
#include "protocol/wire/java_order.h"

static const struct action {
	const char *name;
	bool is_of_tables, is_of_streams;
} actions[] = {
#define ACTION(name, is_of_tables, is_of_streams) {name, is_of_tables, is_of_streams},
#include "protocol/tables/policy_actions.def"
#undef ACTION
};

/* The strings of a member that is one string or a list of them. */
static struct str *strings_of(struct arena *arena, const struct json *statement, const char *member, size_t *n)
{
	const struct json *value = json_member(statement, member);
	bool is_list = value && json_type(value) == JSON_ARRAY;
	struct str *strings = ARENA_ARRAY(arena, struct str, is_list ? json_count(value) : 1);

	*n = 0;
	for (const struct json *one = is_list ? json_first(value) : value; one; one = is_list ? json_next(one) : NULL) {
		if (json_type(one) == JSON_STRING)
			strings[(*n)++] = json_string(arena, one);
	}
	return strings;
}

/* IAM's patterns: '*' for any text, '?' for a character; actions are compared without regard to case. */
static bool fits(struct str pattern, const char *name)
{
	size_t at = 0, star = SIZE_MAX, from = 0, n = strlen(name);

	for (size_t i = 0; i < n;) {
		if (at < pattern.n && pattern.p[at] == '*') {
			star = at++;
			from = i;
		} else if (at < pattern.n && (pattern.p[at] == '?' || tolower((unsigned char)pattern.p[at]) == tolower((unsigned char)name[i]))) {
			at++;
			i++;
		} else if (star != SIZE_MAX) {
			at = star + 1;
			i = ++from;
		} else {
			return false;
		}
	}
	while (at < pattern.n && pattern.p[at] == '*')
		at++;
	return at == pattern.n;
}

static bool is_action(struct str pattern, bool is_stream)
{
	struct str vendor = STR("dynamodb:");

	if (!str_starts_with(pattern, vendor))
		return true;
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if ((is_stream ? actions[i].is_of_streams : actions[i].is_of_tables) &&
		    fits((struct str){pattern.p + vendor.n, pattern.n - vendor.n}, actions[i].name))
			return true;
	}
	return false;
}

static enum code check_actions(struct arena *arena, const struct json *statement, bool is_stream, struct err *err)
{
	size_t n, wrong = 0;
	struct str *names = strings_of(arena, statement, "Action", &n);

	for (size_t i = 0; i < n; i++) {
		if (!is_action(names[i], is_stream))
			names[wrong++] = str_printf(arena, "\"" STR_FMT "\"", STR_ARG(names[i]));
	}
	return wrong == 0 ? OK : err_set(err, MSG_POLICY_ACTIONS, STR_ARG(java_order_list(arena, names, wrong, false)));
}

/* AWS: a table's policy may name other tables and indexes, but no stream, and a stream's no table. */
static enum code check_resources(struct arena *arena, const struct json *statement, bool is_stream, struct err *err)
{
	size_t n;
	struct str *arns = strings_of(arena, statement, "Resource", &n);

	for (size_t i = 0; i < n; i++) {
		struct str name, part, resource;

		if (!str_starts_with(arns[i], STR("arn:")))
			continue;
		resource = arn_split(arns[i]).resource;
		if (!str_starts_with(resource, STR("table/")))
			continue;
		part = arn_table_part(resource, &name);
		if (str_starts_with(part, STR("stream/")) != is_stream)
			return err_set(err, MSG_POLICY_RESOURCE, STR_ARG(resource), STR_ARG(arns[i]));
	}
	return OK;
}

enum code policy_scope_check(struct arena *arena, const struct json *statement, bool is_stream, struct err *err)
{
	enum code code = check_resources(arena, statement, is_stream, err);

	return code == OK ? check_actions(arena, statement, is_stream, err) : code;
}
