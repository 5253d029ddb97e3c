/* machine - the forms of view.h that other programs read: SARIF 2.1.0 and JUnit's XML. */
#include "protocol/wire/json_out.h"
#include "server/report/view.h"
#include "server/version.h"

static void text_member(struct json_out *out, const char *name, struct str text)
{
	json_out_name(out, str_of(name));
	json_out_open(out, '{');
	json_out_field_string(out, "text", text);
	json_out_close(out, '}');
}

static void rule(struct json_out *out, struct str id, struct str what, struct str help,
		 const char *level)
{
	json_out_open(out, '{');
	json_out_field_string(out, "id", id);
	text_member(out, "shortDescription", what);
	text_member(out, "fullDescription", what);
	text_member(out, "help", help);
	json_out_name(out, STR("defaultConfiguration"));
	json_out_open(out, '{');
	json_out_field_string(out, "level", str_of(level));
	json_out_close(out, '}');
	json_out_close(out, '}');
}

static const char *level_of(const struct view *view, const struct json *finding)
{
	return str_eq(view_text(view, finding, "severity"), STR("note")) ? "note" : "warning";
}

/* Whether a finding before it is of the same rule. */
static bool is_repeated(const struct view *view, const struct json *finding)
{
	for (const struct json *f = view_list(view, "findings"); f != finding; f = json_next(f)) {
		if (str_eq(view_text(view, f, "finding"), view_text(view, finding, "finding")))
			return true;
	}
	return false;
}

static void rules(const struct view *view, struct json_out *out)
{
	json_out_name(out, STR("rules"));
	json_out_open(out, '[');
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		if (!is_repeated(view, f))
			rule(out, view_text(view, f, "finding"), view_text(view, f, "what"),
			     view_text(view, f, "advice"), level_of(view, f));
	}
	if (view->problem_count > 0)
		rule(out, STR("gate"), STR("what --fail-on refuses"),
		     STR("See dynalith help report."), "error");
	json_out_close(out, ']');
}

/* No file is known: the table or index, as a name and as a path, which code scanning needs. */
static void location(const struct view *view, struct json_out *out, struct str where)
{
	struct str rest = where, table = str_cut(&rest, ' ');

	json_out_name(out, STR("locations"));
	json_out_open(out, '[');
	json_out_open(out, '{');
	json_out_name(out, STR("physicalLocation"));
	json_out_open(out, '{');
	json_out_name(out, STR("artifactLocation"));
	json_out_open(out, '{');
	json_out_field_string(out, "uri",
			      str_printf(view->arena, "access-patterns/" STR_FMT, STR_ARG(table)));
	json_out_close(out, '}');
	json_out_name(out, STR("region"));
	json_out_open(out, '{');
	json_out_field_integer(out, "startLine", 1);
	json_out_close(out, '}');
	json_out_close(out, '}');
	json_out_name(out, STR("logicalLocations"));
	json_out_open(out, '[');
	json_out_open(out, '{');
	json_out_field_string(out, "fullyQualifiedName", where);
	json_out_field_string(out, "kind", STR("resource"));
	json_out_close(out, '}');
	json_out_close(out, ']');
	json_out_close(out, '}');
	json_out_close(out, ']');
}

struct result {
	struct str rule, where, text, same; /* same: what makes two runs' results one */
	const char *level;
};

static void add_result(const struct view *view, struct json_out *out, const struct result *result)
{
	uint64_t same = str_hash(result->same, str_hash(result->where, str_hash(result->rule, 1)));

	json_out_open(out, '{');
	json_out_field_string(out, "ruleId", result->rule);
	json_out_field_string(out, "level", str_of(result->level));
	text_member(out, "message", result->text);
	location(view, out, result->where);
	json_out_name(out, STR("partialFingerprints"));
	json_out_open(out, '{');
	json_out_field_string(out, "dynalithFinding/v1",
			      str_printf(view->arena, "%016llx", (unsigned long long)same));
	json_out_close(out, '}');
	json_out_close(out, '}');
}

static struct str sentence(const struct view *view, const struct json *finding)
{
	struct str access = view_text(view, finding, "access"),
		   example = view_text(view, finding, "example");

	return str_printf(view->arena,
			  STR_FMT ": " STR_FMT " (" STR_FMT "). " STR_FMT "%s" STR_FMT "%s" STR_FMT,
			  STR_ARG(view_text(view, finding, "where")),
			  STR_ARG(view_text(view, finding, "what")),
			  STR_ARG(view_text(view, finding, "evidence")),
			  STR_ARG(view_text(view, finding, "advice")),
			  access.n ? " Access pattern: " : "", STR_ARG(access),
			  example.n ? " Example: " : "", STR_ARG(example));
}

static void results(const struct view *view, struct json_out *out)
{
	json_out_name(out, STR("results"));
	json_out_open(out, '[');
	for (const struct json *f = view_list(view, "findings"); f; f = json_next(f)) {
		const struct result result = {
			view_text(view, f, "finding"),
			view_text(view, f, "where"),
			sentence(view, f),
			view_text(view, f, "access"),
			level_of(view, f),
		};

		add_result(view, out, &result);
	}
	for (size_t i = 0; i < view->problem_count; i++) {
		const struct result result = {STR("gate"), STR("gate"), view->problems[i],
					      view->problems[i], "error"};

		add_result(view, out, &result);
	}
	json_out_close(out, ']');
}

void view_sarif(const struct view *view, struct buf *out)
{
	struct json_out json = json_out_in(view->arena);

	json_out_open(&json, '{');
	json_out_field_string(&json, "$schema",
			      STR("https://json.schemastore.org/sarif-2.1.0.json"));
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
	rules(view, &json);
	json_out_close(&json, '}');
	json_out_close(&json, '}');
	results(view, &json);
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
	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"dynalith "
		   "report\" tests=\"%zu\" failures=\"%zu\">\n",
		   n, view->problem_count);
	for (const struct json *p = view_list(view, "patterns"); p; p = json_next(p))
		test_case(out, view_line(view, p), STR(""));
	for (size_t i = 0; i < view->problem_count; i++)
		test_case(out, STR("gate"), view->problems[i]);
	buf_add_lit(out, "</testsuite>\n");
}
