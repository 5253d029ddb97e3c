#include "server/report/gate.h"

#include <stdlib.h>
#include <string.h>

#include "protocol/wire/json_out.h"
#include "server/messages.h"
#include "server/report/declared.h"

#define NEW_PATTERN "new-pattern"

static const char *const findings[] = {
#define FINDING(id, name, scope, severity, what, advice) name,
#include "protocol/insight/finding.def"
#undef FINDING
};

static void add_problem(struct view *view, struct str problem)
{
	view->problems = arena_room(view->arena, view->problems, view->problem_count,
				    sizeof(*view->problems));
	view->problems[view->problem_count++] = problem;
}

static void judge_finding(struct view *view, const char *name)
{
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		if (str_eq(view_text(view, f, "finding"), str_of(name)))
			add_problem(view, str_printf(view->arena,
						     "%s: " STR_FMT ": " STR_FMT ": " STR_FMT, name,
						     STR_ARG(view_text(view, f, "where")),
						     STR_ARG(view_text(view, f, "what")),
						     STR_ARG(view_text(view, f, "evidence"))));
	}
}

static void judge_discard(struct view *view, double limit)
{
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		double read = view_number(p, "items_read"),
		       returned = view_number(p, "items_returned");

		if (read > 0 && view_text(view, p, "filter").n > 0 &&
		    (read - returned) / read > limit)
			add_problem(view, str_printf(view->arena,
						     "discard>%g: %.2f of what was read: " STR_FMT,
						     limit, (read - returned) / read,
						     STR_ARG(view_line(view, p))));
	}
}

static void judge_units(struct view *view, double limit, bool is_per_call)
{
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		const struct json *sketch = json_member(p, "units");
		double units =
			is_per_call ? (sketch ? view_number(sketch, "p99") : 0)
				    : view_number(p, "read_units") + view_number(p, "write_units");

		if (units > limit)
			add_problem(view, str_printf(view->arena, "units>%g/%s: %.1f: " STR_FMT,
						     limit, is_per_call ? "call" : "pattern", units,
						     STR_ARG(view_line(view, p))));
	}
}

static void tell_unseen(void *context, struct str line)
{
	struct view *view = context;

	add_problem(view, str_printf(view->arena, "new-pattern: - " STR_FMT, STR_ARG(line)));
}

/* A diff: what is new, then what is declared and nobody asked for. Only what is new is a problem.
 */
static enum code judge_new(struct view *view, struct str reviewed, struct err *err)
{
	size_t before = view->problem_count;
	struct declared *declared;
	enum code code = declared_read(view, reviewed, &declared, err);

	for (const struct json *p = code == OK ? view_list(view, "patterns") : NULL; p;
	     p = json_next(p)) {
		if (!declared_has(view, declared, p))
			add_problem(view, str_printf(view->arena, "new-pattern: + " STR_FMT,
						     STR_ARG(view_line(view, p))));
	}
	if (code == OK && view->problem_count > before)
		declared_each_unseen(view, declared, tell_unseen, view);
	return code;
}

/* "discard>0.5": the number behind the sign, and what stands behind that. */
static bool read_limit(const char *rule, const char *name, double *limit, const char **rest)
{
	size_t n = strlen(name);
	char *end;

	if (strncmp(rule, name, n) != 0 || rule[n] != '>')
		return false;
	*limit = strtod(rule + n + 1, &end);
	*rest = end;
	return end != rule + n + 1 && *limit >= 0;
}

static bool is_finding(const char *rule)
{
	for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++) {
		if (strcmp(findings[i], rule) == 0)
			return true;
	}
	return false;
}

static bool is_limit(const char *rule)
{
	const char *rest = "";
	double limit;

	return (read_limit(rule, "discard", &limit, &rest) &&
		(*rest == '\0' || strcmp(rest, "%") == 0)) ||
	       (read_limit(rule, "units", &limit, &rest) &&
		(strcmp(rest, "/pattern") == 0 || strcmp(rest, "/call") == 0));
}

static enum code judge_rule(struct view *view, const char *rule, struct str reviewed,
			    struct err *err)
{
	const char *rest = "";
	double limit;

	if (strcmp(rule, NEW_PATTERN) == 0)
		return judge_new(view, reviewed, err);
	if (is_finding(rule))
		judge_finding(view, rule);
	else if (read_limit(rule, "discard", &limit, &rest))
		judge_discard(view, *rest == '%' ? limit / 100 : limit);
	else if (read_limit(rule, "units", &limit, &rest))
		judge_units(view, limit, strcmp(rest, "/call") == 0);
	return OK;
}

static const char *next_rule(struct arena *arena, struct str *rest)
{
	return str_copy(arena, str_trim(str_cut(rest, ','))).p;
}

enum code gate_check(const char *rules, bool has_reviewed, struct err *err)
{
	struct buf names = buf_in(err->arena);
	struct str rest = str_of(rules);

	while (rest.n > 0) {
		const char *rule = next_rule(err->arena, &rest);
		bool is_new = strcmp(rule, NEW_PATTERN) == 0;

		if (is_new && !has_reviewed)
			return err_set(err, MSG_REPORT_REVIEWED);
		if (is_new || is_finding(rule) || is_limit(rule))
			continue;
		for (size_t i = 0; i < sizeof(findings) / sizeof(findings[0]); i++)
			buf_printf(&names, "%s, ", findings[i]);
		return err_set(err, MSG_REPORT_RULE, rule, STR_ARG(buf_str(&names)));
	}
	return OK;
}

enum code gate_judge(struct view *view, const char *rules, struct str reviewed, struct err *err)
{
	struct str rest = str_of(rules);
	enum code code = OK;

	while (rest.n > 0 && code == OK)
		code = judge_rule(view, next_rule(view->arena, &rest), reviewed, err);
	return code;
}

static int compare(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct str gate_patterns(const struct view *view)
{
	struct buf out = buf_in(view->arena);
	struct str *lines = NULL;
	size_t n = 0;

	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p)) {
		struct json_out line = json_out_in(view->arena);

		json_out_open(&line, '{');
		for (size_t i = 0; i < declared_member_count; i++) {
			struct str text = view_text(view, p, declared_members[i]);

			if (text.n > 0) {
				json_out_name(&line, str_of(declared_members[i]));
				json_out_string(&line, text);
			}
		}
		json_out_close(&line, '}');
		lines = arena_room(view->arena, lines, n, sizeof(*lines));
		lines[n++] = json_out_str(&line);
	}
	if (n > 0)
		qsort(lines, n, sizeof(*lines), compare);
	buf_add_lit(&out, "{\"patterns\": [\n");
	for (size_t i = 0; i < n; i++)
		buf_printf(&out, "  " STR_FMT "%s\n", STR_ARG(lines[i]), i + 1 < n ? "," : "");
	buf_add_lit(&out, "]}\n");
	return buf_str(&out);
}
