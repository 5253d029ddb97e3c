#include "protocol/iam/report.h"

#include "protocol/wire/json_out.h"

#define SEPARATORS "#|:/~"

/* The beginning that all keys share, up to its last separator; empty where it has fewer than two.
 */
static struct str shared_beginning(const struct iam_use *use)
{
	struct str first = use->keys[0];
	size_t last = 0, separators = 0;

	for (size_t i = 1; i < use->shared; i++) {
		bool is_one = strchr(SEPARATORS, first.p[i]) && first.p[i];

		separators += is_one;
		last = is_one ? i + 1 : last;
	}
	return separators >= 2 ? (struct str){first.p, last} : STR("");
}

/* Text in which nothing is a wildcard or a variable. */
static struct str literal(struct arena *arena, struct str text, const char *end)
{
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '*' || text.p[i] == '?' || text.p[i] == '$')
			buf_printf(&buf, "${%c}", text.p[i]);
		else
			buf_add_byte(&buf, text.p[i]);
	}
	buf_printf(&buf, "%s", end);
	return buf_str(&buf);
}

/* The condition as JSON; empty: none. */
static struct str condition_of(struct arena *arena, const struct iam_use *use)
{
	struct str beginning =
		use->has_keys && use->key_count > 1 ? shared_beginning(use) : STR("");
	struct json_out out = json_out_in(arena);

	if (!use->has_keys || use->key_count == 0 || (use->has_more && beginning.n == 0))
		return STR("");
	json_out_open(&out, '{');
	json_out_name(&out, STR("ForAllValues:StringLike"));
	json_out_open(&out, '{');
	json_out_name(&out, STR("dynamodb:LeadingKeys"));
	json_out_open(&out, '[');
	if (beginning.n > 0)
		json_out_string(&out, literal(arena, beginning, "*"));
	for (size_t i = 0; beginning.n == 0 && i < use->key_count; i++)
		json_out_string(&out, literal(arena, use->keys[i], ""));
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

struct rest {
	struct arena *arena;
	const struct iam_use *uses;
	const struct str *conditions;
	size_t n;
	bool *is_done;
	bool is_enforced;
};

/* One statement for all actions on the resource of use `at` under its condition. */
static void write_statement(struct rest *rest, size_t at, struct json_out *out)
{
	const struct iam_use *first = &rest->uses[at];

	json_out_open(out, '{');
	json_out_field_string(out, "Effect", STR("Allow"));
	json_out_name(out, STR("Action"));
	json_out_open(out, '[');
	for (size_t i = at; i < rest->n && str_eq(rest->uses[i].arn, first->arn) &&
			    str_eq(rest->uses[i].resource, first->resource);
	     i++) {
		if (!str_eq(rest->conditions[i], rest->conditions[at]) ||
		    (rest->is_enforced && rest->uses[i].allowed == 0))
			continue;
		rest->is_done[i] = true;
		json_out_string(out, rest->uses[i].action);
	}
	json_out_close(out, ']');
	json_out_field_string(out, "Resource", literal(rest->arena, first->resource, ""));
	if (rest->conditions[at].n > 0) {
		json_out_name(out, STR("Condition"));
		buf_add_str(&out->buf, rest->conditions[at]);
		out->needs_comma = true;
	}
	json_out_close(out, '}');
}

static void write_denials(const struct rest *rest, size_t from, size_t to, struct json_out *out)
{
	json_out_name(out, STR("refused"));
	json_out_open(out, '[');
	for (size_t i = from; i < to; i++) {
		if (rest->uses[i].denied == 0)
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "action", rest->uses[i].action);
		json_out_field_string(out, "resource", rest->uses[i].resource);
		json_out_field_integer(out, "times", (int64_t)rest->uses[i].denied);
		json_out_field_string(out, "why", rest->uses[i].why);
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
}

/* The uses from `from` on of one principal; where the next begins. */
static size_t write_principal(struct rest *rest, size_t from, struct json_out *out)
{
	int64_t allowed = 0, denied = 0;
	size_t to = from;

	for (; to < rest->n && str_eq(rest->uses[to].arn, rest->uses[from].arn); to++) {
		allowed += (int64_t)rest->uses[to].allowed;
		denied += (int64_t)rest->uses[to].denied;
	}
	json_out_open(out, '{');
	json_out_field_string(out, "arn", rest->uses[from].arn);
	json_out_field_integer(out, "allowed", allowed);
	json_out_field_integer(out, "denied", denied);
	write_denials(rest, from, to, out);
	json_out_name(out, STR("policy"));
	json_out_open(out, '{');
	json_out_field_string(out, "Version", STR("2012-10-17"));
	json_out_name(out, STR("Statement"));
	json_out_open(out, '[');
	for (size_t i = from; i < to; i++) {
		if (!rest->is_done[i] && !(rest->is_enforced && rest->uses[i].allowed == 0))
			write_statement(rest, i, out);
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
	json_out_close(out, '}');
	return to;
}

static void write_unused(struct json_out *out, const struct iam_principals *principals,
			 const struct iam_principal *principal, const struct iam_policy *policy,
			 size_t number)
{
	for (size_t i = 0; policy && i < policy->n; i++) {
		if (atomic_load(&principals->uses[policy->statements[i].number]) > 0)
			continue;
		json_out_open(out, '{');
		json_out_field_string(out, "arn", principal->who.arn);
		json_out_field_string(out, "policy", policy->name);
		json_out_field_integer(out, "number", (int64_t)number);
		json_out_field_integer(out, "statement", (int64_t)i);
		if (str_is_set(policy->statements[i].sid))
			json_out_field_string(out, "sid", policy->statements[i].sid);
		json_out_close(out, '}');
	}
}

struct str iam_report(struct arena *arena, struct iam_uses *uses,
		      const struct iam_principals *principals, bool is_enforced)
{
	struct json_out out = json_out_in(arena);
	struct iam_use *list;
	uint64_t left_out;
	size_t n = iam_uses_list(uses, arena, &list, &left_out);
	struct str *conditions = ARENA_ARRAY(arena, struct str, n + 1);
	struct rest rest = {arena,      list, conditions, n, ARENA_ARRAY(arena, bool, n + 1),
			    is_enforced};

	for (size_t i = 0; i < n; i++)
		conditions[i] = condition_of(arena, &list[i]);
	json_out_open(&out, '{');
	json_out_field_string(&out, "mode", is_enforced ? STR("enforce") : STR("report"));
	json_out_field_string(&out, "covers", STR("this server"));
	json_out_field_integer(&out, "left_out", (int64_t)left_out);
	json_out_name(&out, STR("principals"));
	json_out_open(&out, '[');
	for (size_t at = 0; at < n;)
		at = write_principal(&rest, at, &out);
	json_out_close(&out, ']');
	json_out_name(&out, STR("unused"));
	json_out_open(&out, '[');
	for (size_t i = 0; i < principals->n; i++) {
		const struct iam_principal *principal = &principals->v[i];

		for (size_t k = 0; k < principal->own_identity; k++)
			write_unused(&out, principals, principal, &principal->who.identity[k], k);
		write_unused(&out, principals, principal, principal->own_boundary, 0);
		write_unused(&out, principals, principal, principal->who.session, 0);
	}
	json_out_close(&out, ']');
	json_out_close(&out, '}');
	return json_out_str(&out);
}
