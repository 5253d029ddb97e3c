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
	bool is_odd;        /* AWS's older parser does not read it */
	size_t characters;  /* of its texts so far */
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

/* A text or a list of texts as patterns. */
static enum code read_patterns(struct reader *reader, const struct json *value, unsigned forms,
			       bool takes_scalars, struct iam_patterns *out)
{
	bool is_list = json_type(value) == JSON_ARRAY;
	struct iam_pattern *patterns =
		ARENA_ARRAY(reader->arena, struct iam_pattern, is_list ? json_count(value) + 1 : 1);

	if (!reader->has_variables)
		forms &= ~(unsigned)IAM_VARIABLES;
	size_t n = 0;
	for (const struct json *one = is_list ? json_first(value) : value; one;
	     one = is_list ? json_next(one) : NULL) {
		struct str text;

		if (!iam_scalar(reader->arena, one, &text) ||
		    (!takes_scalars && json_type(one) != JSON_STRING))
			return err_set(reader->err, MSG_IAM_SYNTAX);
		reader->characters += text.n;
		if (reader->characters > IAM_POLICY_CHARACTERS_MAX &&
		    reader->kind == IAM_OF_IDENTITY)
			return err_set(reader->err, MSG_IAM_TOO_LARGE, IAM_POLICY_CHARACTERS_MAX);
		patterns[n++] = iam_pattern_read(reader->arena, text, forms);
	}
	*out = (struct iam_patterns){n, patterns};
	return OK;
}

/* One of the two members; none is for the checks of the whole. */
static enum code read_either(struct reader *reader, const struct json *one,
			     const struct json *other, unsigned forms, bool *is_other,
			     struct iam_patterns *out)
{
	if (one && other)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	enum code code =
		one || other ? read_patterns(reader, one ? one : other, forms, false, out) : OK;
	return RESULT(code, is_other, other != NULL);
}

/* "*", or {"AWS": text or list, others}. */
static enum code read_principals(struct reader *reader, const struct json *object,
				 struct iam_statement *statement)
{
	static const char *const kinds[] = {"AWS", "Service", "Federated", "CanonicalUser", NULL};
	const struct json *principal = json_member(object, "Principal"),
			  *not_principal = json_member(object, "NotPrincipal");
	const struct json *value = principal ? principal : not_principal;

	if (reader->kind == IAM_OF_IDENTITY) {
		statement->has_principal = value != NULL; /* which is refused */
		return OK;
	}
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
		return value ? read_patterns(reader, value, IAM_LITERAL, false,
					     &statement->principals)
			     : OK;
	}
	if (json_type(value) != JSON_STRING || !str_eq(json_string(reader->arena, value), STR("*")))
		return err_set(reader->err, MSG_IAM_SYNTAX);
	return read_patterns(reader, value, IAM_LITERAL, false, &statement->principals);
}

bool iam_operator_read(struct str name, struct iam_test *test)
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
	test->is_if_exists =
		name.n > end.n && str_eq_nocase((struct str){name.p + name.n - end.n, end.n}, end);
	if (test->is_if_exists)
		name.n -= end.n;
	test->operator = iam_operator_find(name);
	return test->operator && !(test->is_if_exists && str_eq_nocase(name, STR("Null")));
}

static bool has(struct str text, char c)
{
	return text.n > 0 && memchr(text.p, c, text.n) != NULL;
}

/* The values are of the operator's type. */
static bool are_of(struct arena *arena, const struct iam_operator *operator,
		   const struct json * value)
{
	bool is_list = json_type(value) == JSON_ARRAY;

	for (const struct json *one = is_list ? json_first(value) : value; one;
	     one = is_list ? json_next(one) : NULL) {
		if (!iam_operator_takes(arena, operator, one))
			return false;
	}
	return true;
}

static enum code read_conditions(struct reader *reader, const struct json *condition,
				 struct iam_statement *statement)
{
	struct iam_test *tests = NULL;
	size_t n = 0;

	if (!condition)
		return OK;
	if (json_type(condition) != JSON_OBJECT)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	for (const struct json *block = json_first(condition); block; block = json_next(block)) {
		struct iam_test head = {0};

		if (json_type(block) != JSON_OBJECT ||
		    (json_first(block) &&
		     !iam_operator_read(json_name(reader->arena, block), &head)))
			return err_set(reader->err, MSG_IAM_SYNTAX);
		for (const struct json *key = json_first(block); key; key = json_next(key)) {
			tests = arena_room(reader->arena, tests, n, sizeof(*tests));
			tests[n] = head;
			tests[n].key = json_name(reader->arena, key);
			enum code code =
				read_patterns(reader, key, iam_operator_forms(head.operator), true,
					      &tests[n].values);
			if (code != OK)
				return code;
			reader->is_odd |= !are_of(reader->arena, head.operator, key);
			n++;
		}
	}
	statement->tests = tests;
	statement->test_count = n;
	return OK;
}

static enum code read_head(struct reader *reader, const struct json *object,
			   struct iam_statement *statement)
{
	const struct json *effect = json_member(object, "Effect"),
			  *sid = json_member(object, "Sid");
	struct str text = effect && json_type(effect) == JSON_STRING
				  ? json_string(reader->arena, effect)
				  : STR("");

	statement->is_deny = str_eq_nocase(text, STR("Deny"));
	if (!statement->is_deny && !str_eq_nocase(text, STR("Allow")))
		return err_set(reader->err, MSG_IAM_SYNTAX);
	reader->is_odd |= !str_eq(text, STR("Deny")) && !str_eq(text, STR("Allow"));
	statement->sid = STR_ABSENT;
	if (!sid)
		return OK;
	if (json_type(sid) != JSON_STRING)
		return err_set(reader->err, MSG_IAM_SYNTAX);
	statement->sid = json_string(reader->arena, sid);
	return OK;
}

static enum code read_statement(struct reader *reader, const struct json *object,
				struct iam_statement *statement)
{
	static const char *const members[] = {
		"Sid",         "Effect",    "Action",       "NotAction", "Resource",
		"NotResource", "Principal", "NotPrincipal", "Condition", NULL,
	};
	enum code code;

	if (json_type(object) != JSON_OBJECT || !has_only(reader->arena, object, members))
		return err_set(reader->err, MSG_IAM_SYNTAX);
	code = read_head(reader, object, statement);
	if (code != OK)
		return code;
	code = read_principals(reader, object, statement);
	if (code != OK)
		return code;
	code = read_either(reader, json_member(object, "Action"), json_member(object, "NotAction"),
			   IAM_WILD, &statement->is_not_action, &statement->actions);
	if (code != OK)
		return code;
	code = read_either(reader, json_member(object, "Resource"),
			   json_member(object, "NotResource"), IAM_WILD | IAM_VARIABLES,
			   &statement->is_not_resource, &statement->resources);
	if (code != OK)
		return code;
	return read_conditions(reader, json_member(object, "Condition"), statement);
}

static enum code check_ids(struct arena *arena, const struct iam_policy *policy, bool is_plain,
			   struct err *err)
{
	struct str *ids = ARENA_ARRAY(arena, struct str, policy->n + 1);
	size_t count = 0;

	for (size_t i = 0; i < policy->n; i++) {
		struct str id = policy->statements[i].sid;

		for (size_t k = 0; k < id.n && is_plain; k++) {
			if (!isalnum((unsigned char)id.p[k]))
				return err_set(err, MSG_IAM_SID);
		}
		if (id.n > 0)
			ids[count++] = id;
	}
	if (count > 1)
		qsort(ids, count, sizeof(*ids), str_order);
	for (size_t i = 1; i < count; i++) {
		if (str_eq(ids[i - 1], ids[i]))
			return err_set(err, MSG_IAM_SIDS);
	}
	return OK;
}

static enum code check_action(struct str text, struct err *err)
{
	struct str rest = text, vendor = str_cut(&rest, ':');

	if (str_eq(text, STR("*")))
		return OK;
	if (!has(text, ':'))
		return err_set(err, MSG_IAM_VENDOR);
	if (has(rest, ':'))
		return err_set(err, MSG_IAM_COLONS);
	if (str_eq(vendor, STR("*")))
		return OK;
	for (size_t i = 0; i < vendor.n; i++) {
		if (!isalnum((unsigned char)vendor.p[i]) && vendor.p[i] != '-' &&
		    vendor.p[i] != '.')
			return err_set(err, MSG_IAM_VENDOR_NAME, STR_ARG(vendor));
	}
	return vendor.n > 0 ? OK : err_set(err, MSG_IAM_VENDOR_NAME, STR_ARG(vendor));
}

static enum code check_actions(const struct iam_policy *policy, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < policy->n && code == OK; i++) {
		for (size_t k = 0; k < policy->statements[i].actions.n && code == OK; k++)
			code = check_action(policy->statements[i].actions.v[k].source, err);
	}
	return code;
}

static enum code refuse_partition(struct str partition, struct str rest, struct err *err)
{
	struct str parts[4];

	for (size_t i = 0; i < 4; i++) {
		bool is_there = i == 0 ? rest.n > 0 : rest.p != NULL;
		bool is_more = has(rest, ':');

		parts[i] = !is_there ? STR("*") : i == 3 ? rest : str_cut(&rest, ':');
		if (!is_more)
			rest = (struct str){NULL, 0};
	}
	return err_set(err, MSG_IAM_PARTITION, STR_ARG(partition), STR_ARG(partition),
		       STR_ARG(parts[0]), STR_ARG(parts[1]), STR_ARG(parts[2]), STR_ARG(parts[3]));
}

static bool is_partition(struct str text)
{
	return str_eq(text, STR("*")) || str_eq(text, STR("aws")) ||
	       str_starts_with(text, STR("aws-"));
}

/* The colons of the six parts of an ARN, and its service. */
static bool is_odd_resource(struct str text)
{
	struct str rest = text;
	size_t colons = 0;
	bool is_double = false;

	for (size_t i = 0; i < text.n; i++) {
		colons += text.p[i] == ':';
		is_double |= i > 0 && text.p[i] == ':' && text.p[i - 1] == ':';
	}
	(void)str_cut(&rest, ':');
	(void)str_cut(&rest, ':');
	return (colons < 5 && is_double) || str_cut(&rest, ':').n == 0;
}

static enum code check_resource(struct str text, struct err *err)
{
	struct str rest = text, partition;

	if (str_eq(text, STR("*")))
		return OK;
	if (!has(text, ':'))
		return err_set(err, MSG_IAM_RESOURCE, STR_ARG(text));
	(void)str_cut(&rest, ':');
	bool has_service = has(rest, ':');
	partition = str_cut(&rest, ':');
	if (!is_partition(partition))
		return refuse_partition(partition, rest, err);
	if (!has_service)
		return err_set(err, MSG_IAM_RESOURCE_VENDOR);
	return is_odd_resource(text) ? err_set(err, MSG_IAM_LEGACY) : OK;
}

static enum code check_resources(const struct iam_policy *policy, struct err *err)
{
	enum code code = OK;

	for (size_t i = 0; i < policy->n && code == OK; i++) {
		for (size_t k = 0; k < policy->statements[i].resources.n && code == OK; k++)
			code = check_resource(policy->statements[i].resources.v[k].source, err);
	}
	return code;
}

/* What AWS refuses where the grammar is right, in its order: as the tests of moto have it, which
 * were compared with CreatePolicy. */
static enum code check(struct arena *arena, const struct iam_policy *policy,
		       enum iam_policy_kind kind, bool is_odd, struct err *err)
{
	bool is_identity = kind == IAM_OF_IDENTITY;

	if (is_odd && is_identity)
		return err_set(err, MSG_IAM_LEGACY);
	enum code code = check_ids(arena, policy, is_identity, err);
	for (size_t i = 0; i < policy->n && code == OK; i++) {
		if (policy->statements[i].actions.n == 0)
			code = err_set(err, MSG_IAM_NO_ACTIONS);
	}
	for (size_t i = 0; i < policy->n && code == OK; i++) {
		if (policy->statements[i].resources.n == 0)
			code = err_set(err, MSG_IAM_NO_RESOURCES);
	}
	if (code != OK)
		return code;
	code = check_resources(policy, err);
	if (code != OK)
		return code;
	code = check_actions(policy, err);
	for (size_t i = 0; i < policy->n && is_identity && code == OK; i++) {
		if (policy->statements[i].has_principal)
			code = err_set(err, MSG_IAM_PRINCIPAL);
	}
	return code;
}

static enum code read_version(struct reader *reader, const struct json *document)
{
	const struct json *version = json_member(document, "Version");
	struct str text = version && json_type(version) == JSON_STRING
				  ? json_string(reader->arena, version)
				  : STR("");

	reader->has_variables = str_eq(text, STR(VERSION_NEW));
	return !version || reader->has_variables || str_eq(text, STR(VERSION_OLD))
		       ? OK
		       : err_set(reader->err, MSG_IAM_SYNTAX);
}

static enum code read_document(struct arena *arena, const struct json *document,
			       enum iam_policy_kind kind, unsigned *number,
			       struct iam_policy *policy, struct err *err)
{
	static const char *const members[] = {"Version", "Id", "Statement", NULL};
	struct reader reader = {.arena = arena, .kind = kind, .err = err};
	const struct json *list;
	enum code code;

	if (json_type(document) != JSON_OBJECT || !has_only(arena, document, members))
		return err_set(err, MSG_IAM_SYNTAX);
	code = read_version(&reader, document);
	list = json_member(document, "Statement");
	if (code != OK || !list ||
	    (json_type(list) != JSON_ARRAY && json_type(list) != JSON_OBJECT))
		return err_set(err, MSG_IAM_SYNTAX);
	bool is_list = json_type(list) == JSON_ARRAY;
	size_t n = is_list ? json_count(list) : 1;
	struct iam_statement *statements = ARENA_ARRAY(arena, struct iam_statement, n + 1);

	if (n == 0)
		return err_set(err, MSG_IAM_SYNTAX);
	if (n > IAM_STATEMENTS_MAX || *number > IAM_STATEMENTS_MAX - n)
		return err_set(err, MSG_IAM_TOO_MANY, IAM_STATEMENTS_MAX);
	n = 0;
	for (const struct json *one = is_list ? json_first(list) : list; one && code == OK;
	     one = is_list ? json_next(one) : NULL) {
		statements[n].number = (*number)++;
		code = read_statement(&reader, one, &statements[n++]);
	}
	*policy = (struct iam_policy){.n = n, .statements = statements};
	if (code != OK)
		return code;
	return check(arena, policy, kind, reader.is_odd, err);
}

enum code iam_policy_read(struct arena *arena, const struct json *document,
			  enum iam_policy_kind kind, unsigned *number, struct iam_policy *out,
			  struct err *err)
{
	struct iam_policy policy = {0};
	enum code code = read_document(arena, document, kind, number, &policy, err);

	return RESULT(code, out, policy);
}
