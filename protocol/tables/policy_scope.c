#include "protocol/tables/policy_scope.h"

#include "protocol/iam/pattern.h"
#include "protocol/tables/arn.h"
#include "protocol/tables/control_messages.h"
#include "protocol/wire/java_order.h"

static const struct action {
	const char *name;
	bool is_of_tables, is_of_streams;
} actions[] = {
#define ACTION(name, is_of_tables, is_of_streams) {"dynamodb:" name, is_of_tables, is_of_streams},
#include "protocol/tables/policy_actions.def"
#undef ACTION
};

/* The strings of a member that is one string or a list of them. */
static struct str *strings_of(struct arena *arena, const struct json *statement, const char *member,
			      size_t *n)
{
	const struct json *value = json_member(statement, member);
	bool is_list = value && json_type(value) == JSON_ARRAY;
	struct str *strings = ARENA_ARRAY(arena, struct str, is_list ? json_count(value) : 1);

	*n = 0;
	for (const struct json *one = is_list ? json_first(value) : value; one;
	     one = is_list ? json_next(one) : NULL) {
		if (json_type(one) == JSON_STRING)
			strings[(*n)++] = json_string(arena, one);
	}
	return strings;
}

static bool is_vendor(struct str text)
{
	struct str rest = text, vendor = str_cut(&rest, ':');

	return str_eq(text, STR("*")) ||
	       (vendor.n < text.n &&
		(str_eq(vendor, STR("*")) || str_eq_nocase(vendor, STR("dynamodb"))));
}

static bool is_action(struct arena *arena, struct str text, bool is_stream)
{
	struct iam_pattern pattern = iam_pattern_read(arena, text, IAM_WILD);

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]) && is_vendor(text); i++) {
		if ((is_stream ? actions[i].is_of_streams : actions[i].is_of_tables) &&
		    iam_pattern_fits(arena, pattern.text, str_of(actions[i].name), true))
			return true;
	}
	return false;
}

static enum code check_scope_actions(struct arena *arena, const struct json *statement,
				     bool is_stream, struct err *err)
{
	size_t n, wrong = 0;
	struct str *names = strings_of(
		arena, statement, json_member(statement, "Action") ? "Action" : "NotAction", &n);

	for (size_t i = 0; i < n; i++) {
		if (!is_action(arena, names[i], is_stream))
			names[wrong++] = str_printf(arena, "\"" STR_FMT "\"", STR_ARG(names[i]));
	}
	return wrong == 0 ? OK
			  : err_set(err, MSG_POLICY_ACTIONS,
				    STR_ARG(java_order_list(arena, names, wrong, false)));
}

/* Six parts, with a partition and a service. */
static bool is_arn(struct str text)
{
	struct arn arn = arn_split(text);
	size_t colons = 0;

	for (size_t i = 0; i < text.n; i++)
		colons += text.p[i] == ':';
	return str_starts_with(text, STR("arn:")) && colons >= 5 && arn.service.n > 0 &&
	       (str_eq(arn.partition, STR("*")) || str_eq(arn.partition, STR("aws")) ||
		str_starts_with(arn.partition, STR("aws-")));
}

static enum code check_arns(struct arena *arena, const struct json *statement, const char *member,
			    struct err *err)
{
	size_t n;
	struct str *arns = strings_of(arena, statement, member, &n);

	for (size_t i = 0; i < n; i++) {
		if (!is_arn(arns[i]) && !str_eq(arns[i], STR("*")))
			return err_set(err, MSG_POLICY_NO_ARN, STR_ARG(arns[i]));
	}
	return OK;
}

/* AWS: a table's policy may name other tables and indexes, but no stream, and a stream's no table.
 */
static enum code check_scope_resources(struct arena *arena, const struct json *statement,
				       bool is_stream, struct err *err)
{
	size_t n;
	struct str *arns = strings_of(arena, statement, "Resource", &n);
	enum code code = check_arns(arena, statement, "Resource", err);

	if (code != OK)
		return code;
	code = check_arns(arena, statement, "NotResource", err);
	for (size_t i = 0; i < n && code == OK; i++) {
		struct str name, part, resource = arn_split(arns[i]).resource;

		if (!str_starts_with(resource, STR("table/")))
			continue;
		part = arn_table_part(resource, &name);
		if (str_starts_with(part, STR("stream/")) != is_stream)
			code = err_set(err, MSG_POLICY_RESOURCE, STR_ARG(resource),
				       STR_ARG(arns[i]));
	}
	return code;
}

bool policy_scope_is_account(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
	}
	return text.n == 12;
}

/* The unique ID of a user or role that was deleted: AWS shows it in place of the ARN. */
static bool is_unique_id(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if ((text.p[i] < '0' || text.p[i] > '9') && (text.p[i] < 'A' || text.p[i] > 'Z'))
			return false;
	}
	return text.n >= 16 && text.p[0] == 'A';
}

/* AWS: IAM User Guide, "IAM JSON policy elements: Principal": no wildcard within an ARN. Whether
 * the principal exists is not known here. */
static bool is_principal(struct str text)
{
	struct arn arn = arn_split(text);
	bool is_wild = str_contains(text, STR("*")) || str_contains(text, STR("?"));

	if (str_eq(text, STR("*")) || policy_scope_is_account(text) || is_unique_id(text))
		return true;
	if (is_wild || !is_arn(text) || !str_starts_with(arn.partition, STR("aws")) ||
	    arn.region.n > 0)
		return false;
	if (!str_eq(arn.service, STR("iam")) && !str_eq(arn.service, STR("sts")))
		return false;
	return (policy_scope_is_account(arn.account) || str_eq(arn.account, STR("cloudfront"))) &&
	       (str_eq(arn.resource, STR("root")) || str_contains(arn.resource, STR("/")));
}

static enum code check_principals(struct arena *arena, const struct json *statement,
				  const char *member, struct err *err)
{
	const struct json *value = json_member(statement, member);
	size_t n;

	if (!value || json_type(value) != JSON_OBJECT)
		return OK;
	struct str *names = strings_of(arena, value, "AWS", &n);
	if (json_count(value) == 0 || (json_member(value, "AWS") && n == 0))
		return err_set(err, MSG_POLICY_PRINCIPAL);
	for (size_t i = 0; i < n; i++) {
		if (!is_principal(names[i]))
			return err_set(err, MSG_POLICY_PRINCIPAL);
	}
	return OK;
}

enum code policy_scope_check(struct arena *arena, const struct json *statement, bool is_stream,
			     struct err *err)
{
	enum code code = check_scope_resources(arena, statement, is_stream, err);

	if (code != OK)
		return code;
	code = check_scope_actions(arena, statement, is_stream, err);
	if (code != OK)
		return code;
	code = check_principals(arena, statement, "Principal", err);
	if (code != OK)
		return code;
	return check_principals(arena, statement, "NotPrincipal", err);
}
