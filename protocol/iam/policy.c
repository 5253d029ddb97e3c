#include "protocol/iam/policy.h"

#include <ctype.h>
#include <stdlib.h>

#include "protocol/iam/messages.h"

#define VERSION_NEW "2012-10-17"
#define VERSION_OLD "2008-10-17"

struct reader {
	struct arena *arena;
	enum iam_policy_kind kind;
	bool has_variables; /* of the newer version */
	struct err *err;
};

static bool is_member(struct str name, const char *const *names)
{
	for (; *names; names++) {
		if (str_eq(name, str_of(*names)))
			return true;
	}
	return false;
}

/* Every member of the object is one of the names. */
static bool has_only(struct arena *arena, const struct json *object, const char *const *names)
{
	for (const struct json *member = json_first(object); member; member = json_next(member)) {
		if (!is_member(json_name(arena, member), names))
			return false;
	}
	return true;
}

/* A scalar as the text that conditions compare. */
static bool scalar(struct arena *arena, const struct json *value, struct str *text)
{
	int64_t integer;

	switch (json_type(value)) {
	case JSON_STRING:
		*text = json_string(arena, value);
		return true;
	case JSON_BOOLEAN:
		*text = json_boolean(value) ? STR("true") : STR("false");
		return true;
	case JSON_NUMBER:
		*text = json_integer(value, &integer) ? str_printf(arena, "%lld", (long long)integer) : str_printf(arena, "%.17g", json_number(value));
		return true;
	default:
		return false;
	}
}

/* A text or a list of texts as patterns. */
static enum code read_patterns(struct reader *reader, const struct json *value, unsigned forms, bool takes_scalars, struct iam_patterns *out)
{
	bool is_list = json_type(value) == JSON_ARRAY;
	struct iam_pattern *patterns = ARENA_ARRAY(reader->arena, struct iam_pattern, is_list ? json_count(value) + 1 : 1);

	if (!reader->has_variables)
		forms &= ~(unsigned)IAM_VARIABLES;
	*out = (struct iam_patterns){0, patterns};
	for (const struct json *one = is_list ? json_first(value) : value; one; one = is_list ? json_next(one) : NULL) {
		struct str text;

		if (!scalar(reader->arena, one, &text) || (!takes_scalars && json_type(one) != JSON_STRING))
			return err_set(reader->err, MSG_IAM_SYNTAX);
		patterns[out->n++] = iam_pattern_read(reader->arena, text, forms);
	}
	return OK;
}

static enum code read_actions(struct reader *reader, const struct json *object, struct iam_statement *statement)
{
	const struct json *action = json_member(object, "Action"), *not_action = json_member(object, "NotAction");
	enum code code;

	if (action && not_action)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	if (!action && !not_action)
		return err_set(reader->err, MSG_IAM_NO_ACTIONS);
	statement->is_not_action = not_action != NULL;
	code = read_patterns(reader, action ? action : not_action, IAM_WILD, false, &statement->actions);
	if (code == OK && statement->actions.n == 0)
		return err_set(reader->err, MSG_IAM_NO_ACTIONS);
	for (size_t i = 0; i < statement->actions.n && code == OK; i++) {
		struct str text = statement->actions.v[i].source;
		const char *colon = memchr(text.p, ':', text.n);

		if (!str_eq(text, STR("*")) && (!colon || colon == text.p))
			return err_set(reader->err, MSG_IAM_VENDOR);
	}
	return code;
}

static enum code read_resources(struct reader *reader, const struct json *object, struct iam_statement *statement)
{
	const struct json *resource = json_member(object, "Resource"), *not_resource = json_member(object, "NotResource");
	enum code code;

	if (resource && not_resource)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	if (!resource && !not_resource)
		return err_set(reader->err, MSG_IAM_NO_RESOURCES);
	statement->is_not_resource = not_resource != NULL;
	code = read_patterns(reader, resource ? resource : not_resource, IAM_WILD | IAM_VARIABLES, false, &statement->resources);
	if (code == OK && statement->resources.n == 0)
		return err_set(reader->err, MSG_IAM_NO_RESOURCES);
	for (size_t i = 0; i < statement->resources.n && code == OK; i++) {
		struct str text = statement->resources.v[i].source;

		if (!str_eq(text, STR("*")) && !str_starts_with(text, STR("arn:")))
			return err_set(reader->err, MSG_IAM_RESOURCE, STR_ARG(text));
	}
	return code;
}

/* "*", or {"AWS": text or list, others}. */
static enum code read_principals(struct reader *reader, const struct json *object, struct iam_statement *statement)
{
	static const char *const kinds[] = {"AWS", "Service", "Federated", "CanonicalUser", NULL};
	const struct json *principal = json_member(object, "Principal"), *not_principal = json_member(object, "NotPrincipal");
	const struct json *value = principal ? principal : not_principal;

	if (reader->kind == IAM_OF_IDENTITY)
		return value ? err_set(reader->err, MSG_IAM_PRINCIPAL) : OK;
	if (principal && not_principal)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	if (!value)
		return err_set(reader->err, MSG_IAM_NO_PRINCIPAL);
	statement->has_principal = true;
	statement->is_not_principal = not_principal != NULL;
	if (json_type(value) == JSON_OBJECT) {
		if (!has_only(reader->arena, value, kinds))
			return err_set(reader->err, MSG_IAM_SYNTAX);
		value = json_member(value, "AWS");
		return value ? read_patterns(reader, value, IAM_LITERAL, false, &statement->principals) : OK;
	}
	if (json_type(value) != JSON_STRING || !str_eq(json_string(reader->arena, value), STR("*")))
		return err_set(reader->err, MSG_IAM_SYNTAX);
	return read_patterns(reader, value, IAM_LITERAL, false, &statement->principals);
}

/* Takes ForAllValues:, ForAnyValue: and IfExists off. */
static bool read_operator(struct str name, struct iam_test *test)
{
	struct str all = STR("ForAllValues:"), any = STR("ForAnyValue:"), end = STR("IfExists");

	test->quantifier = IAM_SINGLE;
	if (name.n > all.n && str_eq_nocase((struct str){name.p, all.n}, all)) {
		test->quantifier = IAM_FOR_ALL;
		name = (struct str){name.p + all.n, name.n - all.n};
	} else if (name.n > any.n && str_eq_nocase((struct str){name.p, any.n}, any)) {
		test->quantifier = IAM_FOR_ANY;
		name = (struct str){name.p + any.n, name.n - any.n};
	}
	test->is_if_exists = name.n > end.n && str_eq_nocase((struct str){name.p + name.n - end.n, end.n}, end);
	if (test->is_if_exists)
		name.n -= end.n;
	test->operator = iam_operator_find(name);
	return test->operator && !(test->is_if_exists && str_eq_nocase(name, STR("Null")));
}

static enum code read_conditions(struct reader *reader, const struct json *condition, struct iam_statement *statement)
{
	struct iam_test *tests = NULL;
	size_t n = 0;

	if (!condition)
		return OK;
	if (json_type(condition) != JSON_OBJECT)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	for (const struct json *block = json_first(condition); block; block = json_next(block)) {
		struct iam_test head = {0};

		if (json_type(block) != JSON_OBJECT || !read_operator(json_name(reader->arena, block), &head))
			return err_set(reader->err, MSG_IAM_SYNTAX);
		for (const struct json *key = json_first(block); key; key = json_next(key)) {
			tests = arena_room(reader->arena, tests, n, sizeof(*tests));
			tests[n] = head;
			tests[n].key = json_name(reader->arena, key);
			if (tests[n].key.n == 0 || !memchr(tests[n].key.p, ':', tests[n].key.n))
				return err_set(reader->err, MSG_IAM_VENDOR);
			enum code code = read_patterns(reader, key, iam_operator_forms(head.operator), true, &tests[n++].values);
			if (code != OK)
				return code;
		}
	}
	statement->tests = tests;
	statement->test_count = n;
	return OK;
}

static enum code read_head(struct reader *reader, const struct json *object, struct iam_statement *statement)
{
	const struct json *effect = json_member(object, "Effect"), *sid = json_member(object, "Sid");
	struct str text = effect && json_type(effect) == JSON_STRING ? json_string(reader->arena, effect) : STR("");
	bool is_canonical = reader->kind == IAM_OF_RESOURCE; /* AWS: the effect in a resource's policy has any case */

	statement->is_deny = is_canonical ? str_eq_nocase(text, STR("Deny")) : str_eq(text, STR("Deny"));
	if (!statement->is_deny && !(is_canonical ? str_eq_nocase(text, STR("Allow")) : str_eq(text, STR("Allow"))))
		return err_set(reader->err, MSG_IAM_SYNTAX);
	statement->sid = STR_ABSENT;
	if (!sid)
		return OK;
	if (json_type(sid) != JSON_STRING)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	statement->sid = json_string(reader->arena, sid);
	for (size_t i = 0; i < statement->sid.n && reader->kind == IAM_OF_IDENTITY; i++) {
		if (!isalnum((unsigned char)statement->sid.p[i]))
			return err_set(reader->err, MSG_IAM_SID);
	}
	return OK;
}

static enum code read_statement(struct reader *reader, const struct json *object, struct iam_statement *statement)
{
	static const char *const members[] = {
		"Sid", "Effect", "Action", "NotAction", "Resource", "NotResource", "Principal", "NotPrincipal", "Condition", NULL,
	};
	enum code code;

	if (json_type(object) != JSON_OBJECT || !has_only(reader->arena, object, members))
		return err_set(reader->err, MSG_IAM_SYNTAX);
	code = read_head(reader, object, statement);
	if (code == OK)
		code = read_principals(reader, object, statement);
	if (code == OK)
		code = read_actions(reader, object, statement);
	if (code == OK)
		code = read_resources(reader, object, statement);
	return code == OK ? read_conditions(reader, json_member(object, "Condition"), statement) : code;
}

static enum code check_ids(const struct iam_statement *statements, size_t n, struct arena *arena, struct err *err)
{
	struct str *ids = ARENA_ARRAY(arena, struct str, n + 1);
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (statements[i].sid.n > 0)
			ids[count++] = statements[i].sid;
	}
	if (count > 1)
		qsort(ids, count, sizeof(*ids), str_order);
	for (size_t i = 1; i < count; i++) {
		if (str_eq(ids[i - 1], ids[i]))
			return err_set(err, MSG_IAM_SIDS);
	}
	return OK;
}

static enum code read_version(struct reader *reader, const struct json *document)
{
	const struct json *version = json_member(document, "Version");
	struct str text = version && json_type(version) == JSON_STRING ? json_string(reader->arena, version) : STR("");

	reader->has_variables = str_eq(text, STR(VERSION_NEW));
	return !version || reader->has_variables || str_eq(text, STR(VERSION_OLD)) ? OK : err_set(reader->err, MSG_IAM_SYNTAX);
}

enum code iam_policy_read(struct arena *arena, const struct json *document, enum iam_policy_kind kind, unsigned *number, struct iam_policy *out,
			  struct err *err)
{
	static const char *const members[] = {"Version", "Id", "Statement", NULL};
	struct reader reader = {.arena = arena, .kind = kind, .err = err};
	const struct json *list;
	enum code code;

	if (json_type(document) != JSON_OBJECT || !has_only(arena, document, members))
		return err_set(err, MSG_IAM_SYNTAX);
	code = read_version(&reader, document);
	list = json_member(document, "Statement");
	if (code != OK || !list || (json_type(list) != JSON_ARRAY && json_type(list) != JSON_OBJECT))
		return err_set(err, MSG_IAM_SYNTAX);
	bool is_list = json_type(list) == JSON_ARRAY;
	size_t n = is_list ? json_count(list) : 1;
	struct iam_statement *statements = ARENA_ARRAY(arena, struct iam_statement, n + 1);

	if (n == 0)
		return err_set(err, MSG_IAM_SYNTAX);
	if (n > IAM_STATEMENTS_MAX || *number > IAM_STATEMENTS_MAX - n)
		return err_set(err, MSG_IAM_TOO_MANY, IAM_STATEMENTS_MAX);
	n = 0;
	for (const struct json *one = is_list ? json_first(list) : list; one && code == OK; one = is_list ? json_next(one) : NULL) {
		statements[n].number = (*number)++;
		code = read_statement(&reader, one, &statements[n++]);
	}
	out->n = n;
	out->statements = statements;
	return code == OK ? check_ids(statements, n, arena, err) : code;
}

static bool has_variable(const struct iam_patterns *patterns, struct str key)
{
	for (size_t i = 0; i < patterns->n; i++) {
		for (size_t k = 0; k < patterns->v[i].n; k++) {
			if (str_is_set(patterns->v[i].parts[k].variable) && str_eq_nocase(patterns->v[i].parts[k].variable, key))
				return true;
		}
	}
	return false;
}

bool iam_policy_mentions(const struct iam_policy *policy, struct str key)
{
	for (size_t i = 0; i < policy->n; i++) {
		const struct iam_statement *statement = &policy->statements[i];

		if (has_variable(&statement->resources, key))
			return true;
		for (size_t k = 0; k < statement->test_count; k++) {
			if (str_eq_nocase(statement->tests[k].key, key) || has_variable(&statement->tests[k].values, key))
				return true;
		}
	}
	return false;
}
