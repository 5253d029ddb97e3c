#include "server/control/control.h"

#include "server/messages.h"

#define CONTROL_NAME_MAX 64
#define ACCOUNT_SIZE 12
#define REGION_MAX 63

enum code control_check_name(struct str name, struct err *err)
{
	bool is_fine = name.n > 0 && name.n <= CONTROL_NAME_MAX;

	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		is_fine = is_fine && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
				      (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-');
	}
	return is_fine ? OK : err_set(err, MSG_CONTROL_NAME, CONTROL_NAME_MAX, STR_ARG(name));
}

enum code control_check_namespace(struct ns ns, struct err *err)
{
	bool is_fine = ns.account.n == ACCOUNT_SIZE && ns.region.n <= REGION_MAX &&
		       control_check_name(ns.region, err) == OK;

	for (size_t i = 0; i < ns.account.n; i++)
		is_fine = is_fine && ns.account.p[i] >= '0' && ns.account.p[i] <= '9';
	return is_fine ? OK
		       : err_set(err, MSG_CONTROL_NAMESPACE, STR_ARG(ns.account),
				 STR_ARG(ns.region));
}

/* The names that a body may have, for a message. */
static struct str list_members(struct arena *arena, const struct control_member *members, size_t n)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < n; i++)
		buf_printf(&buf, "%s\"%s\"", i ? ", " : "", members[i].name);
	return n ? buf_str(&buf) : STR("no members");
}

static enum code control_read_member(const struct control_call *call,
				     const struct control_member *members, size_t n,
				     const struct json *json, struct err *err)
{
	static const char *const types[] = {
		[JSON_NULL] = "null", [JSON_BOOLEAN] = "true or false", [JSON_NUMBER] = "a number",
		[JSON_STRING] = "a string", [JSON_ARRAY] = "an array", [JSON_OBJECT] = "an object",
	};
	struct str name = json_name(call->arena, json);

	for (size_t i = 0; i < n; i++) {
		if (!str_eq(name, str_of(members[i].name)))
			continue;
		if (json_type(json) != members[i].type)
			return err_set(err, MSG_CONTROL_TYPE, members[i].name,
				       types[members[i].type]);
		*members[i].value = json;
		return OK;
	}
	return err_set(err, MSG_CONTROL_MEMBER, STR_ARG(name),
		       STR_ARG(list_members(call->arena, members, n)));
}

enum code control_members(const struct control_call *call, const struct json *object,
			  const struct control_member *members, size_t n, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < n; i++)
		*members[i].value = NULL;
	for (const struct json *member = json_first(object); member && code == OK;
	     member = json_next(member))
		code = control_read_member(call, members, n, member, err);
	return code;
}

enum code control_read(const struct control_call *call, const struct control_member *members,
		       size_t n, struct err *err)
{
	const struct json *root;

	for (size_t i = 0; i < n; i++)
		*members[i].value = NULL;
	if (call->body.n == 0)
		return OK;
	enum code code = json_parse(call->arena, call->body, &root, err);

	if (code == ERR_SERVICE_UNAVAILABLE)
		return code;
	if (code != OK || json_type(root) != JSON_OBJECT)
		return err_set(err, MSG_CONTROL_BODY,
			       STR_ARG(list_members(call->arena, members, n)));
	return control_members(call, root, members, n, err);
}

enum code control_integer(const char *name, const struct json *json, int64_t max, uint64_t usual,
			  uint64_t *out, struct err *err)
{
	int64_t number;

	*out = usual;
	if (!json)
		return OK;
	if (!json_integer(json, &number) || number < 0 || number > max)
		return err_set(err, MSG_CONTROL_INTEGER, name, (long long)max);
	*out = (uint64_t)number;
	return OK;
}

enum code control_strings(const struct control_call *call, const char *name,
			  const struct json *array, struct str **strings, size_t *n,
			  struct err *err)
{
	*n = 0;
	*strings = ARENA_ARRAY(call->arena, struct str, json_count(array));
	for (const struct json *element = json_first(array); element;
	     element = json_next(element)) {
		if (json_type(element) != JSON_STRING)
			return err_set(err, MSG_CONTROL_STRINGS, name);
		(*strings)[(*n)++] = json_string(call->arena, element);
	}
	return OK;
}
