/* machine - the forms of view.h that other programs read: SARIF 2.1.0 and JUnit's XML. */
#include "protocol/wire/json_out.h"
#include "server/report/view.h"
#include "server/version.h"

static void result(const struct view *view, struct json_out *out, struct str rule, const char *level, struct str text)
{
	(void)view;
	json_out_open(out, '{');
	json_out_field_string(out, "ruleId", rule);
	json_out_field_string(out, "level", str_of(level));
	json_out_name(out, STR("message"));
	json_out_open(out, '{');
	json_out_field_string(out, "text", text);
	json_out_close(out, '}');
	json_out_close(out, '}');
}

static struct str sentence(const struct view *view, const struct json *finding)
{
	return str_printf(view->arena, STR_FMT ": " STR_FMT " (" STR_FMT "). " STR_FMT, STR_ARG(view_text(view, finding, "where")),
			  STR_ARG(view_text(view, finding, "what")), STR_ARG(view_text(view, finding, "evidence")), STR_ARG(view_text(view, finding, "advice")));
}

void view_sarif(const struct view *view, struct buf *out)
{
	struct json_out json = json_out_in(view->arena);

	json_out_open(&json, '{');
	json_out_field_string(&json, "$schema", STR("https://json.schemastore.org/sarif-2.1.0.json"));
	json_out_field_string(&json, "version", STR("2.1.0"));
	json_out_name(&json, STR("runs"));
	json_out_open(&json, '[');
	json_out_open(&json, '{');
	json_out_name(&json, STR("tool"));
	json_out_open(&json, '{');
	json_out_name(&json, STR("driver"));
	json_out_open(&json, '{');
	json_out_field_string(&json, "name", STR("dynalith"));
	json_out_field_string(&json, "version", STR(DYNALITH_VERSION));
	json_out_close(&json, '}');
	json_out_close(&json, '}');
	json_out_name(&json, STR("results"));
	json_out_open(&json, '[');
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f))
		result(view, &json, view_text(view, f, "finding"), str_eq(view_text(view, f, "severity"), STR("note")) ? "note" : "warning", sentence(view, f));
	for (size_t i = 0; i < view->problem_count; i++)
		result(view, &json, STR("gate"), "error", view->problems[i]);
	json_out_close(&json, ']');
	json_out_close(&json, '}');
	json_out_close(&json, ']');
	json_out_close(&json, '}');
	buf_add_str(out, json_out_str(&json));
	buf_add_lit(out, "\n");
}

/* In an attribute of XML, which has no control characters. */
static void add_xml(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '&' || c == '<' || c == '>' || c == '"')
			buf_printf(out, "&#%u;", (unsigned)c);
		else
			buf_add_byte(out, c < 0x20 ? ' ' : c);
	}
}

static void test_case(struct buf *out, struct str name, struct str problem)
{
	buf_add_lit(out, "  <testcase classname=\"access patterns\" name=\"");
	add_xml(out, name);
	if (problem.n > 0) {
		buf_add_lit(out, "\"><failure message=\"");
		add_xml(out, problem);
		buf_add_lit(out, "\"/></testcase>\n");
	} else {
		buf_add_lit(out, "\"/>\n");
	}
}

/* A test for each pattern; what the gate found are tests that failed. */
void view_junit(const struct view *view, struct buf *out)
{
	size_t n = view->problem_count;

	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p))
		n++;
	buf_printf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dynalith report\" tests=\"%zu\" failures=\"%zu\">\n", n, view->problem_count);
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p))
		test_case(out, view_line(view, p), STR(""));
	for (size_t i = 0; i < view->problem_count; i++)
		test_case(out, STR("gate"), view->problems[i]);
	buf_add_lit(out, "</testsuite>\n");
}
