#include "server/mcp/resources.h"

#include "server/embedded_file.h"
#include "server/gzip.h"
#include "server/messages.h"
#include "server/seed/json_text.h"

#define SCHEME "dynalith://"
#define TABLES SCHEME "tables/"
#define DOCS SCHEME "docs/"
#define REPORT SCHEME "report"
#define JSON_TYPE "application/json"
#define MARKDOWN "text/markdown"
#define ENDING ".md"
#define TABLES_OF_PAGE "100"
#define ABOUT_REPORT                                                                               \
	"What requests have cost so far, and findings; the server must have --insight on."
#define ABOUT_TABLE "Keys, indexes, streams and billing of a table, as DescribeTable answers."
#define ABOUT_PAGE "A page of Dynalith's documents."

static void add_resource(struct json_out *out, struct str uri, struct str name, struct str title,
			 const char *what, const char *type)
{
	json_out_open(out, '{');
	json_out_field_string(out, "uri", uri);
	json_out_field_string(out, "name", name);
	json_out_field_string(out, "title", title);
	json_out_field_string(out, "description", str_of(what));
	json_out_field_string(out, "mimeType", str_of(type));
	json_out_close(out, '}');
}

static struct str behind(struct str text, size_t n)
{
	return (struct str){text.p + n, text.n - n};
}

/* "testing" of "testing.md". */
static struct str page_name(const struct embedded_file *page)
{
	struct str name = str_of(page->name);

	return (struct str){name.p, name.n - strlen(ENDING)};
}

static bool page_text(struct arena *arena, const struct embedded_file *page, struct str *text)
{
	return gzip_decode(arena, GZIP_GZIP, (struct str){(const char *)page->bytes, page->n},
			   page->plain, text) == GZIP_FINE;
}

static void add_pages(struct arena *arena, struct json_out *out)
{
	for (size_t i = 0; i < mcp_file_count; i++) {
		struct str name = page_name(&mcp_files[i]), text;

		if (!page_text(arena, &mcp_files[i], &text))
			continue;
		struct str title = str_cut(&text, '\n');

		while (title.n > 0 && (title.p[0] == '#' || title.p[0] == ' '))
			title = (struct str){title.p + 1, title.n - 1};
		add_resource(out, str_printf(arena, DOCS STR_FMT, STR_ARG(name)), name, title,
			     ABOUT_PAGE, MARKDOWN);
	}
}

enum code resources_list(const struct tools *tools, struct arena *arena, struct str cursor,
			 struct json_out *out, struct str *next, struct err *err)
{
	struct json_out arguments = json_out_in(arena);
	const struct json *root;
	struct str answer;

	json_out_open(&arguments, '{');
	json_out_name(&arguments, STR("limit"));
	buf_add_lit(&arguments.buf, TABLES_OF_PAGE);
	arguments.needs_comma = true;
	if (str_is_set(cursor))
		json_out_field_string(&arguments, "start_table", cursor);
	json_out_close(&arguments, '}');
	enum code code = tools_call(tools, toolbox_at(TOOL_LIST_TABLES), arena,
				    json_out_str(&arguments), &answer, err);
	if (code != OK)
		return code;
	code = json_parse(arena, answer, &root, err);
	if (code != OK)
		return code;
	json_out_open(out, '[');
	if (!str_is_set(cursor)) {
		add_resource(out, STR(REPORT), STR("report"), STR("Report of access patterns"),
			     ABOUT_REPORT, MARKDOWN);
		add_pages(arena, out);
	}
	const struct json *names = json_text_get(root, "TableNames", JSON_ARRAY);

	for (const struct json *at = names ? json_first(names) : NULL; at; at = json_next(at)) {
		struct str name = json_string(arena, at);

		add_resource(out, str_printf(arena, TABLES STR_FMT, STR_ARG(name)), name, name,
			     ABOUT_TABLE, JSON_TYPE);
	}
	json_out_close(out, ']');
	*next = json_text_string(arena, root, "LastEvaluatedTableName");
	return OK;
}

static void add_template(struct json_out *out, const char *uri, const char *name, const char *title,
			 const char *type)
{
	json_out_open(out, '{');
	json_out_field_string(out, "uriTemplate", str_of(uri));
	json_out_field_string(out, "name", str_of(name));
	json_out_field_string(out, "title", str_of(title));
	json_out_field_string(out, "mimeType", str_of(type));
	json_out_close(out, '}');
}

void resources_templates(struct json_out *out)
{
	json_out_open(out, '[');
	add_template(out, TABLES "{table}", "table", "The description of a table", JSON_TYPE);
	add_template(out, DOCS "{+page}", "page", "A page of Dynalith's documents", MARKDOWN);
	json_out_close(out, ']');
}

static enum code read_table_resource(const struct tools *tools, struct arena *arena,
				     struct str name, struct resource *out, struct err *err)
{
	struct json_out arguments = json_out_in(arena);

	json_out_open(&arguments, '{');
	json_out_field_string(&arguments, "table", name);
	json_out_close(&arguments, '}');
	out->type = STR(JSON_TYPE);
	enum code code = tools_call(tools, toolbox_at(TOOL_DESCRIBE_TABLE), arena,
				    json_out_str(&arguments), &out->text, err);

	if (code != OK && (str_starts_with(err->message, STR("ResourceNotFoundException")) ||
			   str_starts_with(err->message, STR("ValidationException"))))
		return err_set(err, MSG_MCP_NO_RESOURCE);
	return code;
}

static enum code read_report(const struct tools *tools, struct arena *arena, struct resource *out,
			     struct err *err)
{
	const struct json *root;
	struct str answer;

	enum code code = tools_call(tools, toolbox_at(TOOL_REPORT), arena, STR("{}"), &answer, err);
	if (code != OK)
		return code;
	code = json_parse(arena, answer, &root, err);
	if (code != OK)
		return code;
	*out = (struct resource){STR(MARKDOWN), json_text_string(arena, root, "report")};
	return OK;
}

enum code resources_read(const struct tools *tools, struct arena *arena, struct str uri,
			 struct resource *out, struct err *err)
{
	struct str tables = STR(TABLES), docs = STR(DOCS);

	if (str_starts_with(uri, tables))
		return read_table_resource(tools, arena, behind(uri, tables.n), out, err);
	if (str_eq(uri, STR(REPORT)))
		return read_report(tools, arena, out, err);
	for (size_t i = 0; str_starts_with(uri, docs) && i < mcp_file_count; i++) {
		out->type = STR(MARKDOWN);
		if (str_eq(behind(uri, docs.n), page_name(&mcp_files[i])) &&
		    page_text(arena, &mcp_files[i], &out->text))
			return OK;
	}
	return err_set(err, MSG_MCP_NO_RESOURCE);
}
