#include "protocol/tables/policy_rules.h"

#include <float.h>

#include "protocol/tables/arn.h"
#include "protocol/tables/control_messages.h"
#include "protocol/wire/json.h"
#include "protocol/wire/messages.h"
#include "protocol/tables/policy_scope.h"
#include "protocol/tables/policy_syntax.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* Recorded: which part of the ARN is wrong decides the text. */
static enum code check_arn(struct str arn, const struct arn *parts, struct str rest,
			   struct err *err)
{
	if (rest.n > 0 && str_starts_with(rest, STR("index/")))
		return err_set(err, MSG_POLICY_ARN_PART, STR_ARG(arn));
	if (rest.n > 0 && !str_starts_with(rest, STR("stream/")))
		return err_set(err, MSG_POLICY_ARN_KIND, STR_ARG(arn));
	return str_eq(parts->partition, STR("aws")) ? OK
						    : err_set(err, MSG_POLICY_ARN, STR_ARG(arn));
}

enum code policy_rules_table(struct call *call, struct str arn, struct table **table,
			     bool *is_stream, struct err *err)
{
	struct arn parts = arn_split(arn);
	struct str name, rest;

	if (!str_starts_with(arn, STR("arn:")))
		return err_set(err, MSG_POLICY_ARN_PREFIX, STR_ARG(arn));
	if (!str_eq(parts.service, STR("dynamodb")) ||
	    !str_starts_with(parts.resource, STR("table/")))
		return err_set(err, MSG_POLICY_ARN_KIND, STR_ARG(arn));
	rest = arn_table_part(parts.resource, &name);
	enum code code = check_arn(arn, &parts, rest, err);
	if (code != OK)
		return code;
	code = timing_table(call, name, TIMING_BY_POLICIES, table, err);
	if (code != OK && code != ERR_RESOURCE_NOT_FOUND)
		return code;
	/* a found table's own ARN: with a shared namespace it may be another account's */
	bool is_own = code == OK && str_starts_with(arn, table_arn(call->arena, *table));
	if (!is_own && !str_eq(parts.account, call->ns.account))
		return err_set(err, MSG_POLICY_ACCOUNT);
	if (!is_own && !str_eq(parts.region, call->ns.region))
		return err_set(err, MSG_POLICY_ARN, STR_ARG(arn));
	*is_stream = rest.n > 0;
	if (code != OK)
		return code;
	if (*is_stream && !str_eq((struct str){rest.p + 7, rest.n - 7}, (*table)->streams.label))
		return err_set(err, MSG_POLICY_STREAM, (int)rest.n - 7, rest.p + 7, STR_ARG(name));
	return OK;
}

/* JSON has no infinity. */
static double without_infinity(double number)
{
	return number > DBL_MAX ? DBL_MAX : number < -DBL_MAX ? -DBL_MAX : number;
}

/* A JSON value as it is, without white space; the parser bounds the depth. */
static void write_policy_json(struct arena *arena, struct json_out *out, const struct json *value)
{
	enum json_type type = json_type(value);
	int64_t integer;

	switch (type) {
	case JSON_NULL:
		json_out_null(out);
		return;
	case JSON_BOOLEAN:
		json_out_boolean(out, json_boolean(value));
		return;
	case JSON_NUMBER:
		if (json_integer(value, &integer))
			json_out_integer(out, integer);
		else
			json_out_double(out, without_infinity(json_number(value)));
		return;
	case JSON_STRING:
		json_out_string(out, json_string(arena, value));
		return;
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	json_out_open(out, type == JSON_ARRAY ? '[' : '{');
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		if (type == JSON_OBJECT)
			json_out_name(out, json_name(arena, child));
		write_policy_json(arena, out, child);
	}
	json_out_close(out, type == JSON_ARRAY ? ']' : '}');
}

static void write_one_or_many(struct arena *arena, struct json_out *out, const struct json *value)
{
	write_policy_json(arena, out,
			  json_type(value) == JSON_ARRAY && json_count(value) == 1
				  ? json_first(value)
				  : value);
}

/* AWS: accounts as the ARNs of their roots, each once. */
static void write_principals(struct arena *arena, struct json_out *out, const struct json *value)
{
	bool is_list = json_type(value) == JSON_ARRAY;
	struct str *names = ARENA_ARRAY(arena, struct str, is_list ? json_count(value) : 1);
	size_t n = 0, k;

	for (const struct json *one = is_list ? json_first(value) : value; one;
	     one = is_list ? json_next(one) : NULL) {
		struct str name = json_string(arena, one);

		if (policy_scope_is_account(name))
			name = str_printf(arena, "arn:aws:iam::" STR_FMT ":root", STR_ARG(name));
		for (k = 0; k < n && !str_eq(names[k], name); k++)
			;
		names[k] = name;
		n += k == n;
	}
	if (n != 1)
		json_out_open(out, '[');
	for (size_t i = 0; i < n; i++)
		json_out_string(out, names[i]);
	if (n != 1)
		json_out_close(out, ']');
}

static void write_policy_principal(struct arena *arena, struct json_out *out,
				   const struct json *value)
{
	if (json_type(value) != JSON_OBJECT) {
		write_policy_json(arena, out, value);
		return;
	}
	json_out_open(out, '{');
	for (const struct json *kind = json_first(value); kind; kind = json_next(kind)) {
		json_out_name(out, json_name(arena, kind));
		write_principals(arena, out, kind);
	}
	json_out_close(out, '}');
}

/* In the canonical order. */
static const struct statement_member {
	const char *name;
	void (*write)(struct arena *arena, struct json_out *out, const struct json *value);
} statement_members[] = {
	{"Sid", write_policy_json},
	{"Effect", NULL},
	{"Principal", write_policy_principal},
	{"NotPrincipal", write_policy_principal},
	{"Action", write_one_or_many},
	{"NotAction", write_one_or_many},
	{"Resource", write_one_or_many},
	{"NotResource", write_one_or_many},
	{"Condition", write_policy_json},
};

static bool is_text(struct arena *arena, const struct json *value, struct str text)
{
	return value && json_type(value) == JSON_STRING && str_eq(json_string(arena, value), text);
}

/* AWS reads the effect without regard to case. */
static bool is_effect(struct arena *arena, const struct json *statement, const char *effect)
{
	return str_eq_nocase(json_string(arena, json_member(statement, "Effect")), str_of(effect));
}

static void write_policy_statement(struct arena *arena, struct json_out *out,
				   const struct json *statement)
{
	json_out_open(out, '{');
	for (size_t i = 0; i < sizeof(statement_members) / sizeof(statement_members[0]); i++) {
		const struct statement_member *member = &statement_members[i];
		const struct json *value = json_member(statement, member->name);

		if (!value)
			continue;
		json_out_name(out, str_of(member->name));
		if (member->write)
			member->write(arena, out, value);
		else
			json_out_string(out, is_effect(arena, statement, "Allow") ? STR("Allow")
										  : STR("Deny"));
	}
	json_out_close(out, '}');
}

static bool is_everyone(struct arena *arena, const struct json *principal)
{
	const struct json *accounts = principal && json_type(principal) == JSON_OBJECT
					      ? json_member(principal, "AWS")
					      : principal;

	if (!accounts || json_type(accounts) != JSON_ARRAY)
		return is_text(arena, accounts, STR("*"));
	for (const struct json *one = json_first(accounts); one; one = json_next(one)) {
		if (is_text(arena, one, STR("*")))
			return true;
	}
	return false;
}

/* Whether one of the actions is `action`, or all, or all of DynamoDB's. */
static bool has_policy_action(struct arena *arena, const struct json *actions, const char *action)
{
	bool is_list = actions && json_type(actions) == JSON_ARRAY;

	for (const struct json *one = is_list ? json_first(actions) : actions; one;
	     one = is_list ? json_next(one) : NULL) {
		if (is_text(arena, one, str_of(action)) || is_text(arena, one, STR("*")) ||
		    is_text(arena, one, STR("dynamodb:*")))
			return true;
	}
	return false;
}

/* The first of what a statement must have and has not. */
static const char *missing_of_statement(const struct json *statement)
{
	static const char *const fields[][2] = {{"Effect", NULL},
						{"Principal", "NotPrincipal"},
						{"Action", "NotAction"},
						{"Resource", "NotResource"}};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		const struct json *value = json_member(statement, fields[i][0]);

		value = value || !fields[i][1] ? value : json_member(statement, fields[i][1]);
		if (!value || (json_type(value) == JSON_ARRAY && json_count(value) == 0))
			return fields[i][0];
	}
	return NULL;
}

static enum code check_policy_statement(struct arena *arena, const struct json *statement,
					const struct policy_terms *terms, struct err *err)
{
	const char *field = missing_of_statement(statement);

	if (field)
		return err_set(err, MSG_POLICY_MISSING, field);
	enum code code = policy_scope_check(arena, statement, terms->is_stream, err);
	if (code != OK)
		return code;
	bool is_for_all = is_everyone(arena, json_member(statement, "Principal")) &&
			  !json_member(statement, "Condition");
	if (is_for_all && is_effect(arena, statement, "Allow"))
		return err_set(err, MSG_POLICY_UNBOUNDED);
	if (is_for_all && !terms->may_lock_out &&
	    has_policy_action(arena, json_member(statement, "Action"),
			      "dynamodb:PutResourcePolicy"))
		return err_set(err, MSG_POLICY_LOCKOUT);
	return OK;
}

static enum code check_statement_ids(struct arena *arena, const struct json *statements,
				     struct err *err)
{
	for (const struct json *one = json_first(statements); one; one = json_next(one)) {
		const struct json *sid = json_member(one, "Sid");

		for (const struct json *other = json_first(statements); sid && other != one;
		     other = json_next(other)) {
			const struct json *known = json_member(other, "Sid");

			if (known && json_type(sid) == JSON_STRING &&
			    is_text(arena, known, json_string(arena, sid)))
				return err_set(err, MSG_POLICY_DOCUMENT,
					       "The Statement Ids in the policy are not unique");
		}
	}
	return OK;
}

/* The statements, of which one may stand without a list. */
static enum code check_policy_statements(struct arena *arena, const struct json *statements,
					 const struct policy_terms *terms, struct err *err)
{
	enum code code = OK;

	if (json_type(statements) == JSON_OBJECT)
		return check_policy_statement(arena, statements, terms, err);
	if (json_count(statements) == 0)
		return err_set(err, MSG_POLICY_DOCUMENT,
			       "Could not parse the policy: Statement is empty!");
	for (const struct json *one = json_first(statements); one && code == OK;
	     one = json_next(one))
		code = check_policy_statement(arena, one, terms, err);
	if (code != OK)
		return code;
	return check_statement_ids(arena, statements, err);
}

static enum code parse_policy(struct arena *arena, struct str text, const struct json **root,
			      struct err *err)
{
	struct err unused = err_in(arena);

	if (text.n > POLICY_BYTES_MAX)
		return err_set(err, MSG_POLICY_SIZE, POLICY_BYTES_MAX);
	enum code code = json_parse(arena, text, root, &unused);

	if (code == ERR_SERVICE_UNAVAILABLE)
		return err_default(err, code);
	if (code != OK)
		return err_set(err, MSG_POLICY_DOCUMENT, "This policy contains invalid Json");
	if (json_type(*root) == JSON_NULL)
		return err_set(err, MSG_POLICY_DOCUMENT, "This text appears not to be a policy");
	return json_type(*root) == JSON_OBJECT
		       ? OK
		       : err_set(err, MSG_POLICY_DOCUMENT, "This policy contains invalid Json");
}

enum code policy_rules_document(struct arena *arena, struct str text,
				const struct policy_terms *terms, struct str *canonical,
				struct err *err)
{
	struct json_out out = json_out_in(arena);
	const struct json *root, *statements, *head;
	enum code code = parse_policy(arena, text, &root, err);

	if (code != OK)
		return code;
	statements = json_member(root, "Statement");
	code = policy_syntax_check(arena, text, root, err);
	if (code != OK)
		return code;
	code = check_policy_statements(arena, statements, terms, err);
	if (code != OK)
		return code;
	json_out_open(&out, '{');
	for (size_t i = 0; i < 2; i++) {
		const char *name = i == 0 ? "Version" : "Id";

		head = json_member(root, name);
		if (head) {
			json_out_name(&out, str_of(name));
			write_policy_json(arena, &out, head);
		}
	}
	json_out_name(&out, STR("Statement"));
	json_out_open(&out, '[');
	bool is_list = json_type(statements) == JSON_ARRAY;
	for (const struct json *one = is_list ? json_first(statements) : statements; one;
	     one = is_list ? json_next(one) : NULL)
		write_policy_statement(arena, &out, one);
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	*canonical = json_out_str(&out);
	return OK;
}

enum code policy_rules_revision(const struct table *table, bool is_stream, struct str expected,
				struct err *err)
{
	struct policy policy = policy_rules_of(table, is_stream);
	bool is_there = str_is_set(policy.text);

	if (!str_is_set(expected))
		return OK;
	if (str_eq(expected, STR("NO_POLICY")))
		return is_there ? err_set(err, MSG_POLICY_EXISTS, STR_ARG(table->identity.name),
					  (long long)policy.revision)
				: OK;
	if (policy.revision == 0)
		return err_set(err, MSG_POLICY_REVISION_ABSENT, STR_ARG(expected),
			       STR_ARG(table->identity.name));
	if (!is_there ||
	    !str_eq(expected, str_printf(err->arena, "%lld", (long long)policy.revision)))
		return err_set(err, MSG_POLICY_REVISION, STR_ARG(expected),
			       STR_ARG(table->identity.name), (long long)policy.revision);
	return OK;
}

enum code policy_rules_change(struct call *call, struct table *table, bool is_stream,
			      struct str text, int64_t *revision, struct err *err)
{
	struct policy current = policy_rules_of(table, is_stream);
	struct policy *changed;
	struct table *next;
	enum code code = table_rules_changeable(table, err);

	if (code != OK)
		return code;
	code = timing_policy_admits(call, table, is_stream, err);
	if (code != OK)
		return code;
	next = table_clone(table);
	changed = is_stream ? &next->settings->stream_policy : &next->settings->policy;
	changed->text = str_copy(next->arena, text);
	changed->revision = call->now_ms > current.revision ? call->now_ms : current.revision + 1;
	int64_t own = changed->revision;
	timing_policy_changed(call, table, next, is_stream);
	code = catalog_replace(call->service->catalog, table, next, err);
	return RESULT(code, revision, own);
}
