#include "server/mcp/tools.h"

#include <strings.h>

#include "server/mcp/arguments.h"
#include "server/messages.h"
#include "server/report/report.h"
#include "server/seed/json_text.h"

/* The schema of a kind, but for its description. */
static const char *schema_of(enum argument_kind kind)
{
	switch (kind) {
	case ARGUMENT_BOOLEAN:
		return "\"type\":\"boolean\"";
	case ARGUMENT_LIMIT:
		return "\"type\":\"integer\",\"minimum\":1,\"maximum\":1000,\"default\":25";
	case ARGUMENT_MOMENT:
		return "\"type\":[\"string\",\"number\"]";
	case ARGUMENT_PARAMETERS:
		return "\"type\":\"array\",\"items\":{}";
	case ARGUMENT_ARRAY:
		return "\"type\":\"array\",\"items\":{\"type\":\"object\"}";
	case ARGUMENT_NAME:
		return "\"type\":\"string\",\"pattern\":\"^[A-Za-z0-9._-]{1,100}$\"";
	case ARGUMENT_STRING:
	case ARGUMENT_CONDITION:
		return "\"type\":\"string\"";
	default:
		return "\"type\":\"object\"";
	}
}

static void raw(struct json_out *out, struct str text)
{
	if (out->needs_comma)
		buf_add_lit(&out->buf, ",");
	buf_add_str(&out->buf, text);
	out->needs_comma = true;
}

static void write_input(const struct tool *tool, struct json_out *out)
{
	json_out_open(out, '{');
	json_out_field_string(out, "type", STR("object"));
	json_out_name(out, STR("properties"));
	json_out_open(out, '{');
	for (const struct property *p = toolbox_property(tool, NULL); p;
	     p = toolbox_property(tool, p)) {
		json_out_name(out, str_of(p->name));
		json_out_open(out, '{');
		raw(out, str_of(schema_of(p->kind)));
		json_out_field_string(out, "description", str_of(p->help));
		json_out_close(out, '}');
	}
	json_out_close(out, '}');
	json_out_name(out, STR("required"));
	json_out_open(out, '[');
	for (const struct property *p = toolbox_property(tool, NULL); p;
	     p = toolbox_property(tool, p)) {
		if (p->is_required)
			json_out_string(out, str_of(p->name));
	}
	json_out_close(out, ']');
	json_out_field_boolean(out, "additionalProperties", false);
	json_out_close(out, '}');
}

static void write_tool(const struct tool *tool, struct json_out *out)
{
	json_out_open(out, '{');
	json_out_field_string(out, "name", str_of(tool->name));
	json_out_field_string(out, "title", str_of(tool->title));
	json_out_field_string(out, "description", str_of(tool->help));
	json_out_name(out, STR("inputSchema"));
	write_input(tool, out);
	json_out_name(out, STR("outputSchema"));
	raw(out, str_of(tool->output));
	json_out_name(out, STR("annotations"));
	json_out_open(out, '{');
	json_out_field_string(out, "title", str_of(tool->title));
	json_out_field_boolean(out, "readOnlyHint", !tool->is_write);
	json_out_field_boolean(out, "destructiveHint", tool->is_destructive);
	json_out_field_boolean(out, "idempotentHint", tool->is_idempotent);
	json_out_field_boolean(out, "openWorldHint", false);
	json_out_close(out, '}');
	json_out_close(out, '}');
}

void tools_list(const struct tools *tools, struct json_out *out)
{
	json_out_open(out, '[');
	for (enum tool_id id = 0; id < TOOL_COUNT; id++) {
		if (!toolbox_at(id)->is_write || tools->may_write)
			write_tool(toolbox_at(id), out);
	}
	json_out_close(out, ']');
}

static bool send_call(const struct tools *tools, const struct tool *tool, struct arena *arena,
		      const struct arguments *arguments, struct client_reply *reply,
		      const char **problem)
{
	const char *operation = arguments->operation ? arguments->operation : tool->what;
	struct str rest = str_of(tool->what);

	if (!tool->method)
		return elsewhere_send(tools->elsewhere, arena,
				      str_printf(arena, "DynamoDB_20120810.%s", operation),
				      arguments->body, reply, problem);
	if (str_is_set(arguments->name)) {
		struct str before = str_cut(&rest, '/'); /* checkpoints/NAME/rollback */

		str_cut(&rest, '/');
		rest = str_printf(arena, STR_FMT "/" STR_FMT "/" STR_FMT, STR_ARG(before),
				  STR_ARG(arguments->name), STR_ARG(rest));
	}
	bool has_body = strcmp(tool->method, "GET") != 0 && !str_is_set(arguments->name);
	return elsewhere_control(tools->elsewhere, arena, tool->method,
				 str_printf(arena, "/_dynalith/" STR_FMT, STR_ARG(rest)),
				 has_body ? arguments->body : STR(""), reply, problem);
}

/* "ValidationException: ..." from an answer that refuses. */
static enum code refusal(struct arena *arena, const struct client_reply *reply, struct err *err)
{
	struct str type, message;

	json_text_error(arena, reply->body, &type, &message);
	if (!str_is_set(type))
		type = str_printf(arena, "HTTP %d", reply->status);
	return err_set(err, MSG_MCP_REFUSED, STR_ARG(type), STR_ARG(message));
}

/* An object with one member more. */
static struct str with_left(struct arena *arena, struct str object, uint64_t left)
{
	return str_printf(arena, "%.*s,\"left\":%llu}", (int)object.n - 1, object.p,
			  (unsigned long long)left);
}

/* How many tables are behind a page. */
static enum code count_tables(const struct tools *tools, struct arena *arena, struct str last,
			      uint64_t *left, struct err *err)
{
	struct client_reply reply;
	const char *problem;

	for (*left = 0; str_is_set(last);) {
		struct str body = str_printf(
				   arena, "{\"Limit\":100,\"ExclusiveStartTableName\":" STR_FMT "}",
				   STR_ARG(last)),
			   rest, name;

		if (!elsewhere_send(tools->elsewhere, arena, STR("DynamoDB_20120810.ListTables"),
				    body, &reply, &problem))
			return err_set(err, MSG_MCP_SERVER, problem);
		if (reply.status != 200)
			return refusal(arena, &reply, err);
		rest = json_text_inside(json_text_find(reply.body, STR("TableNames")));
		while (json_text_element(&rest, &name))
			++*left;
		last = json_text_find(reply.body, STR("LastEvaluatedTableName"));
	}
	return OK;
}

/* The first of the checkpoints, and how many more there are. */
static struct str cut_checkpoints(struct arena *arena, struct str body, int64_t limit)
{
	struct str list = json_text_find(body, STR("checkpoints")), rest, one;
	struct buf kept = buf_in(arena);
	uint64_t n = 0;

	if (!str_is_set(list))
		return body;
	rest = json_text_inside(list);
	while (json_text_element(&rest, &one)) {
		if (n++ >= (uint64_t)limit)
			continue;
		buf_printf(&kept, "%s" STR_FMT, n > 1 ? "," : "", STR_ARG(one));
	}
	if (n <= (uint64_t)limit)
		return body;
	return with_left(
		arena,
		str_printf(arena, "{\"checkpoints\":[" STR_FMT "]}", STR_ARG(buf_str(&kept))),
		n - (uint64_t)limit);
}

/* Lists say how many they leave out. */
static enum code say_left(const struct tools *tools, const struct tool *tool, struct arena *arena,
			  int64_t limit, struct str *body, struct err *err)
{
	struct str last = json_text_find(*body, STR("LastEvaluatedTableName"));
	uint64_t left;

	if (tool->id == TOOL_LIST_CHECKPOINTS)
		*body = cut_checkpoints(arena, *body, limit);
	if (tool->id != TOOL_LIST_TABLES || !str_is_set(last))
		return OK;
	enum code code = count_tables(tools, arena, last, &left, err);
	if (code != OK)
		return code;
	*body = with_left(arena, *body, left);
	return OK;
}

/* One line: breaks stand only between values. */
static struct str on_one_line(struct arena *arena, struct str text)
{
	char *line = arena_bytes(arena, text.n + 1);

	for (size_t i = 0; i < text.n; i++)
		line[i] = text.p[i] == '\n' || text.p[i] == '\r' ? ' ' : text.p[i];
	return (struct str){line, text.n};
}

static enum code report_refused(struct arena *arena, struct str description, struct str *answer,
				struct err *err)
{
	struct json_out out = json_out_in(arena);
	struct str text;
	enum code code = report_markdown(arena, description, &text, err);

	if (code != OK)
		return code;
	if (text.n > TOOLS_BYTES)
		return err_set(err, MSG_MCP_LONG, text.n, TOOLS_BYTES);
	json_out_open(&out, '{');
	json_out_field_string(&out, "report", text);
	json_out_close(&out, '}');
	*answer = json_out_str(&out);
	return OK;
}

static enum code check_tool_call(const struct tools *tools, const struct tool *tool,
				 struct arena *arena, struct str text, struct err *err)
{
	if (tool->is_write && !tools->may_write)
		return err_set(err, MSG_MCP_WRITES, tool->name);
	if (tool->id == TOOL_EXECUTE_STATEMENT) {
		struct err own = err_in(arena);
		const struct json *root;
		struct str statement = json_parse(arena, text, &root, &own) == OK
					       ? json_text_string(arena, root, "statement")
					       : STR_ABSENT;

		while (statement.n > 0 && memchr(" \t\r\n", statement.p[0], 4))
			statement = (struct str){statement.p + 1, statement.n - 1};
		if (str_is_set(statement) &&
		    (statement.n < 7 || strncasecmp(statement.p, "SELECT", 6) != 0))
			return err_set(err, MSG_MCP_READ);
	}
	return OK;
}

enum code tools_call(const struct tools *tools, const struct tool *tool, struct arena *arena,
		     struct str text, struct str *answer, struct err *err)
{
	enum code code = check_tool_call(tools, tool, arena, text, err);
	struct client_reply reply = {0};
	struct arguments arguments = {0};
	const char *problem;

	/* Fewer rows where so many are too long. */
	for (int64_t limit = 0; code == OK; limit = arguments.limit / 2) {
		code = arguments_read(arena, tool, text, limit, &arguments, err);
		if (code != OK)
			return code;
		if (!send_call(tools, tool, arena, &arguments, &reply, &problem))
			return err_set(err, MSG_MCP_SERVER, problem);
		if (reply.status != 200)
			return refusal(arena, &reply, err);
		if (reply.body.n <= TOOLS_BYTES || arguments.limit <= 1 || tool->id == TOOL_REPORT)
			break;
	}
	if (code != OK)
		return code;
	if (tool->id == TOOL_REPORT)
		return report_refused(arena, reply.body, answer, err);
	code = say_left(tools, tool, arena, arguments.limit, &reply.body, err);
	if (code != OK)
		return code;
	if (reply.body.n > TOOLS_BYTES)
		return err_set(err, MSG_MCP_LONG, reply.body.n, TOOLS_BYTES);
	*answer = on_one_line(arena, reply.body);
	return OK;
}
