#include "protocol/tables/policy_syntax.h"

#include <ctype.h>

#include "protocol/iam/policy.h"
#include "protocol/tables/control_messages.h"

struct walk {
	struct arena *arena;
	struct str text;
	const struct json *root;
	struct err *err;
};

typedef enum code check_fn(const struct walk *walk, const struct json *value);

/* How many values stand before `wanted` in the text, which *n counts. The parser bounds the depth.
 */
static bool count_to(const struct json *value, const struct json *wanted, size_t *n)
{
	enum json_type type = json_type(value);

	if (value == wanted)
		return true;
	++*n;
	if (type != JSON_ARRAY && type != JSON_OBJECT)
		return false;
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		if (count_to(child, wanted, n))
			return true;
	}
	return false;
}

static size_t end_of_string(struct str text, size_t at)
{
	for (at++; at < text.n && text.p[at] != '"'; at++)
		at += text.p[at] == '\\';
	return at + 1;
}

static bool is_name(struct str text, size_t end)
{
	while (end < text.n && isspace((unsigned char)text.p[end]))
		end++;
	return end < text.n && text.p[end] == ':';
}

static size_t end_of_word(struct str text, size_t at)
{
	while (at < text.n && !isspace((unsigned char)text.p[at]) && !strchr(",]}", text.p[at]))
		at++;
	return at;
}

/* Where AWS's parser stands when it has begun to read the value that n others precede: in a string
 * or a container, behind other scalars. */
static size_t parser_place_of(struct str text, size_t n)
{
	size_t at = 0, end;

	while (at < text.n) {
		char c = text.p[at];

		if (c == '"') {
			end = end_of_string(text, at);
			if (!is_name(text, end) && n-- == 0)
				return at + 1;
			at = end;
		} else if (c == '{' || c == '[') {
			at++;
			if (n-- == 0)
				return at;
		} else if (c == '-' || isalnum((unsigned char)c)) {
			at = end_of_word(text, at);
			if (n-- == 0)
				return at;
		} else {
			at++;
		}
	}
	return at;
}

/* In lines and characters, from 1. */
static enum code refuse_at(const struct walk *walk, size_t place)
{
	size_t line = 1, column = 1;

	for (size_t i = 0; i < place && i < walk->text.n; i++) {
		bool is_end = walk->text.p[i] == '\n';

		line += is_end;
		column = is_end ? 1 : column + ((walk->text.p[i] & 0xC0) != 0x80);
	}
	return err_set(walk->err, MSG_POLICY_SYNTAX, line, column);
}

static enum code refuse(const struct walk *walk, const struct json *value)
{
	size_t n = 0;

	(void)count_to(walk->root, value, &n);
	return refuse_at(walk, parser_place_of(walk->text, n));
}

/* An object with something missing: AWS sees that at its end. */
static enum code refuse_root(const struct walk *walk)
{
	size_t end = walk->text.n;

	while (end > 0 && walk->text.p[end - 1] != '}')
		end--;
	return refuse_at(walk, end);
}

static bool is_string(const struct json *value)
{
	return json_type(value) == JSON_STRING;
}

static enum code check_string(const struct walk *walk, const struct json *value)
{
	return is_string(value) ? OK : refuse(walk, value);
}

static enum code check_strings(const struct walk *walk, const struct json *value)
{
	enum code code = OK;

	if (json_type(value) != JSON_ARRAY)
		return check_string(walk, value);
	for (const struct json *one = json_first(value); one && code == OK; one = json_next(one))
		code = check_string(walk, one);
	return code;
}

static enum code check_version(const struct walk *walk, const struct json *value)
{
	struct str version = is_string(value) ? json_string(walk->arena, value) : STR("");

	return str_eq(version, STR("2012-10-17")) || str_eq(version, STR("2008-10-17"))
		       ? OK
		       : refuse(walk, value);
}

/* AWS: in any case. DDB-TABLE-207 */
static enum code check_effect(const struct walk *walk, const struct json *value)
{
	struct str effect = is_string(value) ? json_string(walk->arena, value) : STR("");

	return str_eq_nocase(effect, STR("Allow")) || str_eq_nocase(effect, STR("Deny"))
		       ? OK
		       : refuse(walk, value);
}

static enum code check_principal(const struct walk *walk, const struct json *value)
{
	static const char *const kinds[] = {"AWS", "Service", "Federated", "CanonicalUser"};
	enum code code = OK;

	if (json_type(value) != JSON_OBJECT)
		return is_string(value) && str_eq(json_string(walk->arena, value), STR("*"))
			       ? OK
			       : refuse(walk, value);
	for (const struct json *kind = json_first(value); kind && code == OK;
	     kind = json_next(kind)) {
		struct str name = json_name(walk->arena, kind);
		bool is_known = false;

		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			is_known = is_known || str_eq(name, str_of(kinds[i]));
		code = is_known ? check_strings(walk, kind) : refuse(walk, kind);
	}
	return code;
}

static size_t colons(struct str text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == ':';
	return n;
}

/* A tag's name may have colons: aws:ResourceTag/a:b. */
static enum code check_key(const struct walk *walk, struct str key)
{
	struct str rest = key, head = str_cut(&rest, '/'), tag = STR("tag");
	bool is_tag = head.n < key.n && head.n >= tag.n &&
		      str_eq_nocase((struct str){head.p + head.n - tag.n, tag.n}, tag);

	return colons(is_tag ? head : key) <= 1 ? OK : err_set(walk->err, MSG_POLICY_COLONS);
}

static enum code check_operator_values(const struct walk *walk, const struct iam_operator *operator,
				       const struct json * value)
{
	bool is_list = json_type(value) == JSON_ARRAY;

	for (const struct json *one = is_list ? json_first(value) : value; one;
	     one = is_list ? json_next(one) : NULL) {
		if (!iam_operator_takes(walk->arena, operator, one))
			return refuse(walk, one);
	}
	return OK;
}

/* One operator with its keys. */
static enum code check_block(const struct walk *walk, const struct json *block)
{
	struct str name = json_name(walk->arena, block), rest = name, prefix = str_cut(&rest, ':');
	struct iam_test test = {0};
	enum code code = OK;

	if (prefix.n < name.n && !str_eq_nocase(prefix, STR("ForAllValues")) &&
	    !str_eq_nocase(prefix, STR("ForAnyValue")))
		return err_set(walk->err, MSG_POLICY_PREFIX);
	if (json_type(block) != JSON_OBJECT || !iam_operator_read(name, &test))
		return refuse(walk, block);
	for (const struct json *key = json_first(block); key; key = json_next(key)) {
		code = check_key(walk, json_name(walk->arena, key));
		if (code != OK)
			return code;
		code = check_operator_values(walk, test.operator, key);
		if (code != OK)
			return code;
	}
	return OK;
}

static enum code check_condition_blocks(const struct walk *walk, const struct json *value)
{
	enum code code = OK;

	if (json_type(value) != JSON_OBJECT)
		return refuse(walk, value);
	for (const struct json *block = json_first(value); block && code == OK;
	     block = json_next(block))
		code = check_block(walk, block);
	return code;
}

struct element {
	const char *name;
	const char *other; /* stands in its place, not beside it; or NULL */
	check_fn *check;
};

static const struct element statement_elements[] = {
	{"Sid", NULL, check_string},
	{"Effect", NULL, check_effect},
	{"Principal", "NotPrincipal", check_principal},
	{"NotPrincipal", "Principal", check_principal},
	{"Action", "NotAction", check_strings},
	{"NotAction", "Action", check_strings},
	{"Resource", "NotResource", check_strings},
	{"NotResource", "Resource", check_strings},
	{"Condition", NULL, check_condition_blocks},
};

static const struct element *element_of(struct str name, const struct element *elements, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(name, str_of(elements[i].name)))
			return &elements[i];
	}
	return NULL;
}

/* Whether an element of that name stands before this one. */
static bool stands_before(struct arena *arena, const struct json *object, const struct json *value,
			  const char *name)
{
	for (const struct json *one = json_first(object); name && one != value;
	     one = json_next(one)) {
		if (str_eq(json_name(arena, one), str_of(name)))
			return true;
	}
	return false;
}

static enum code check_elements(const struct walk *walk, const struct json *object,
				const struct element *elements, size_t n)
{
	enum code code = OK;

	for (const struct json *one = json_first(object); one && code == OK; one = json_next(one)) {
		struct str name = json_name(walk->arena, one);
		const struct element *element = element_of(name, elements, n);

		if (!element)
			return err_set(walk->err, MSG_POLICY_UNKNOWN, STR_ARG(name));
		code = stands_before(walk->arena, object, one, element->other)
			       ? refuse(walk, one)
			       : element->check(walk, one);
	}
	return code;
}

static enum code check_statement(const struct walk *walk, const struct json *value)
{
	if (json_type(value) != JSON_OBJECT)
		return refuse(walk, value);
	return check_elements(walk, value, statement_elements,
			      sizeof(statement_elements) / sizeof(statement_elements[0]));
}

/* One may stand without a list. */
static enum code check_statements_syntax(const struct walk *walk, const struct json *value)
{
	enum code code = OK;

	if (json_type(value) != JSON_ARRAY)
		return check_statement(walk, value);
	for (const struct json *one = json_first(value); one && code == OK; one = json_next(one))
		code = check_statement(walk, one);
	return code;
}

enum code policy_syntax_check(struct arena *arena, struct str text, const struct json *root,
			      struct err *err)
{
	static const struct element elements[] = {
		{"Version", NULL, check_version},
		{"Id", NULL, check_string},
		{"Statement", NULL, check_statements_syntax},
	};
	const struct walk walk = {arena, text, root, err};
	enum code code =
		check_elements(&walk, root, elements, sizeof(elements) / sizeof(elements[0]));

	return code == OK && !json_member(root, "Statement") ? refuse_root(&walk) : code;
}
