#include "server/mcp/rpc.h"

#include <string.h>

#include "server/mcp/resources.h"
#include "server/seed/json_text.h"
#include "server/version.h"

#define MODERN "2026-07-28" /* each request names it, and there is no handshake */
#define NEWEST_OF_HANDSHAKE "2025-11-25"
#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define INSTRUCTIONS                                                                               \
	"Tables of a Dynalith server, which speaks the DynamoDB API. Begin with list_tables and "  \
	"describe_table. Prefer query to scan. "                                                   \
	"Tools that change data or the clock are there only if the user started this program "     \
	"with --allow-writes."

enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
	UNSUPPORTED_VERSION = -32022,
	NO_RESOURCE = -32002, /* in revisions with a handshake; later ones call it INVALID_PARAMS */
	INTERNAL_ERROR = -32603
};

static const char *const handshakes[] = {"2024-11-05", "2025-03-26", "2025-06-18",
					 NEWEST_OF_HANDSHAKE};

struct call {
	const struct tools *tools;
	struct arena *arena;
	struct str id;     /* as it stands; absent: a notification */
	struct str text;   /* the message */
	const struct json *params; /* an object, or NULL */
	bool is_modern;
};

static void begin(struct json_out *out, struct str id)
{
	json_out_open(out, '{');
	json_out_field_string(out, "jsonrpc", STR("2.0"));
	json_out_name(out, STR("id"));
	buf_add_str(&out->buf, str_is_set(id) ? id : STR("null"));
	out->needs_comma = true;
}

static struct str refuse_call(struct arena *arena, struct str id, int code, struct str message,
			      struct str data)
{
	struct json_out out = json_out_in(arena);

	begin(&out, id);
	json_out_name(&out, STR("error"));
	json_out_open(&out, '{');
	json_out_field_integer(&out, "code", code);
	json_out_field_string(&out, "message", message);
	if (str_is_set(data)) {
		json_out_name(&out, STR("data"));
		buf_add_str(&out.buf, data);
	}
	json_out_close(&out, '}');
	json_out_close(&out, '}');
	return json_out_str(&out);
}

struct str rpc_too_long(struct arena *arena)
{
	return refuse_call(arena, STR_ABSENT, INVALID_REQUEST,
			   STR("the message is longer than 8 MB"), STR_ABSENT);
}

/* Opens the result; the members of later revisions where the request is of one. */
static void begin_result(const struct call *call, struct json_out *out, bool is_list)
{
	begin(out, call->id);
	json_out_name(out, STR("result"));
	json_out_open(out, '{');
	if (!call->is_modern)
		return;
	json_out_field_string(out, "resultType", STR("complete"));
	if (is_list) {
		json_out_field_integer(out, "ttlMs", 0);
		json_out_field_string(out, "cacheScope", STR("private"));
	}
}

static struct str end_result(struct json_out *out)
{
	json_out_close(out, '}');
	json_out_close(out, '}');
	return json_out_str(out);
}

static void add_self(struct json_out *out)
{
	json_out_open(out, '{');
	json_out_field_string(out, "name", STR("dynalith"));
	json_out_field_string(out, "title", STR("Dynalith"));
	json_out_field_string(out, "version", STR(DYNALITH_VERSION));
	json_out_close(out, '}');
}

static void add_capabilities(struct json_out *out)
{
	json_out_name(out, STR("capabilities"));
	json_out_open(out, '{');
	json_out_name(out, STR("tools"));
	json_out_open(out, '{');
	json_out_close(out, '}');
	json_out_name(out, STR("resources"));
	json_out_open(out, '{');
	json_out_close(out, '}');
	json_out_close(out, '}');
	json_out_field_string(out, "instructions", STR(INSTRUCTIONS));
}

static struct str initialize(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);
	struct str wanted = json_text_string(call->arena, call->params, "protocolVersion"),
		   version = STR(NEWEST_OF_HANDSHAKE);

	if (!str_is_set(wanted))
		return refuse_call(call->arena, call->id, INVALID_PARAMS,
				   STR("initialize wants protocolVersion"), STR_ABSENT);
	for (size_t i = 0; i < sizeof(handshakes) / sizeof(handshakes[0]); i++) {
		if (str_eq(wanted, str_of(handshakes[i])))
			version = wanted;
	}
	begin_result(call, &out, false);
	json_out_field_string(&out, "protocolVersion", version);
	add_capabilities(&out);
	json_out_name(&out, STR("serverInfo"));
	add_self(&out);
	return end_result(&out);
}

static void add_versions(struct json_out *out)
{
	json_out_open(out, '[');
	json_out_string(out, STR(MODERN));
	for (size_t i = sizeof(handshakes) / sizeof(handshakes[0]); i-- > 0;)
		json_out_string(out, str_of(handshakes[i]));
	json_out_close(out, ']');
}

static struct str discover(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);

	begin_result(call, &out, true);
	json_out_name(&out, STR("supportedVersions"));
	add_versions(&out);
	add_capabilities(&out);
	json_out_name(&out, STR("_meta"));
	json_out_open(&out, '{');
	json_out_name(&out, STR("io.modelcontextprotocol/serverInfo"));
	add_self(&out);
	json_out_close(&out, '}');
	return end_result(&out);
}

static struct str ping(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);

	begin_result(call, &out, false);
	return end_result(&out);
}

static struct str answer_tools_list(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);

	if (str_is_set(json_text_string(call->arena, call->params, "cursor")))
		return refuse_call(call->arena, call->id, INVALID_PARAMS,
				   STR("there is no such cursor: all tools are on one page"),
				   STR_ABSENT);
	begin_result(call, &out, true);
	json_out_name(&out, STR("tools"));
	tools_list(call->tools, &out);
	return end_result(&out);
}

/* A page of resources, or why there is none. */
static struct str list_resources(const struct call *call)
{
	struct json_out out = json_out_in(call->arena), page = json_out_in(call->arena);
	struct err err = err_in(call->arena);
	struct str next;
	enum code code = resources_list(call->tools, call->arena,
					json_text_string(call->arena, call->params, "cursor"),
					&page, &next, &err);

	if (code != OK)
		return refuse_call(call->arena, call->id,
				   code == ERR_VALIDATION ? INVALID_PARAMS : INTERNAL_ERROR,
				   err.message, STR_ABSENT);
	begin_result(call, &out, true);
	json_out_name(&out, STR("resources"));
	buf_add_str(&out.buf, json_out_str(&page));
	out.needs_comma = true;
	if (str_is_set(next))
		json_out_field_string(&out, "nextCursor", next);
	return end_result(&out);
}

static struct str list_templates(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);

	begin_result(call, &out, true);
	json_out_name(&out, STR("resourceTemplates"));
	resources_templates(&out);
	return end_result(&out);
}

static struct str refuse_resource(const struct call *call, enum code code, struct str uri,
				  struct str message)
{
	struct json_out data = json_out_in(call->arena);

	if (code != ERR_RESOURCE_NOT_FOUND)
		return refuse_call(call->arena, call->id, INTERNAL_ERROR, message, STR_ABSENT);
	json_out_open(&data, '{');
	json_out_field_string(&data, "uri", uri);
	json_out_close(&data, '}');
	return refuse_call(call->arena, call->id, call->is_modern ? INVALID_PARAMS : NO_RESOURCE,
			   message, json_out_str(&data));
}

static struct str answer_resource(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);
	struct err err = err_in(call->arena);
	struct str uri = json_text_string(call->arena, call->params, "uri");
	struct resource resource = {0};

	if (!str_is_set(uri))
		return refuse_call(call->arena, call->id, INVALID_PARAMS,
				   STR("resources/read wants uri"), STR_ABSENT);
	enum code code = resources_read(call->tools, call->arena, uri, &resource, &err);
	if (code != OK)
		return refuse_resource(call, code, uri, err.message);
	begin_result(call, &out, true);
	json_out_name(&out, STR("contents"));
	json_out_open(&out, '[');
	json_out_open(&out, '{');
	json_out_field_string(&out, "uri", uri);
	json_out_field_string(&out, "mimeType", resource.type);
	json_out_field_string(&out, "text", resource.text);
	json_out_close(&out, '}');
	json_out_close(&out, ']');
	return end_result(&out);
}

static void add_text_content(struct json_out *out, struct str text)
{
	json_out_name(out, STR("content"));
	json_out_open(out, '[');
	json_out_open(out, '{');
	json_out_field_string(out, "type", STR("text"));
	json_out_field_string(out, "text", text);
	json_out_close(out, '}');
	json_out_close(out, ']');
}

static struct str call_tool(const struct call *call)
{
	struct json_out out = json_out_in(call->arena);
	struct err err = err_in(call->arena);
	struct str name = json_text_string(call->arena, call->params, "name"), answer;
	const struct tool *tool = str_is_set(name) ? toolbox_find(name) : NULL;
	const struct json *arguments = call->params ? json_member(call->params, "arguments") : NULL;
	struct str text = STR("{}");

	if (!tool)
		return refuse_call(call->arena, call->id, INVALID_PARAMS,
				   str_printf(call->arena, "unknown tool: " STR_FMT, STR_ARG(name)),
				   STR_ABSENT);
	if (arguments && json_type(arguments) != JSON_OBJECT)
		return refuse_call(call->arena, call->id, INVALID_PARAMS,
				   STR("arguments must be an object"), STR_ABSENT);
	if (arguments) {
		text = json_text_find(json_text_find(call->text, STR("params")), STR("arguments"));
		if (!str_is_set(text)) /* a name in escapes */
			return refuse_call(
				call->arena, call->id, INVALID_PARAMS,
				STR("params and arguments must be written without escapes"),
				STR_ABSENT);
	}
	enum code code = tools_call(call->tools, tool, call->arena, text, &answer, &err);
	begin_result(call, &out, false);
	add_text_content(&out, code == OK ? answer : err.message);
	if (code == OK) {
		json_out_name(&out, STR("structuredContent"));
		buf_add_str(&out.buf, answer);
		out.needs_comma = true;
	}
	json_out_field_boolean(&out, "isError", code != OK);
	return end_result(&out);
}

static const struct {
	const char *name;
	struct str (*answer)(const struct call *call);
} methods[] = {{"initialize", initialize},
	       {"server/discover", discover},
	       {"ping", ping},
	       {"tools/list", answer_tools_list},
	       {"tools/call", call_tool},
	       {"resources/list", list_resources},
	       {"resources/templates/list", list_templates},
	       {"resources/read", answer_resource}};

/* The revision that the request names, where it does; false where it is another than ours. */
static bool read_protocol_version(struct call *call, struct str *requested)
{
	const struct json *meta =
		call->params ? json_text_get(call->params, "_meta", JSON_OBJECT) : NULL;

	*requested = json_text_string(call->arena, meta, META_VERSION);
	call->is_modern = str_is_set(*requested);
	return !call->is_modern || str_eq(*requested, STR(MODERN));
}

static struct str refuse_version(const struct call *call, struct str requested)
{
	struct json_out data = json_out_in(call->arena);

	json_out_open(&data, '{');
	json_out_name(&data, STR("supported"));
	add_versions(&data);
	json_out_field_string(&data, "requested", requested);
	json_out_close(&data, '}');
	return refuse_call(call->arena, call->id, UNSUPPORTED_VERSION,
			   STR("unsupported protocol version"), json_out_str(&data));
}

static struct str answer_rpc_call(struct call *call, struct str method)
{
	struct str requested;

	if (!read_protocol_version(call, &requested))
		return refuse_version(call, requested);
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (str_eq(method, str_of(methods[i].name)))
			return methods[i].answer(call);
	}
	return refuse_call(call->arena, call->id, METHOD_NOT_FOUND,
			   str_printf(call->arena, "there is no method " STR_FMT, STR_ARG(method)),
			   STR_ABSENT);
}

/* An id is a string or a number. */
static bool read_call_id(struct call *call, const struct json *root)
{
	const struct json *id = json_member(root, "id");

	if (!id)
		return true;
	call->id = json_text_find(call->text, STR("id"));
	return (json_type(id) == JSON_STRING || json_type(id) == JSON_NUMBER) &&
	       str_is_set(call->id);
}

static struct str answer_one(const struct tools *tools, struct arena *arena, struct str text,
			     const struct json *root)
{
	struct call call = {.tools = tools, .arena = arena, .text = text};
	bool is_object = json_type(root) == JSON_OBJECT;
	struct str method = is_object ? json_text_string(arena, root, "method") : STR_ABSENT;
	const struct json *params = is_object ? json_member(root, "params") : NULL;

	if (is_object && !str_is_set(method) &&
	    (json_member(root, "result") || json_member(root, "error")))
		return STR(""); /* an answer, and nothing was asked */
	if (!is_object || !read_call_id(&call, root) ||
	    !str_eq(json_text_string(arena, root, "jsonrpc"), STR("2.0")) || !str_is_set(method))
		return refuse_call(arena, STR_ABSENT, INVALID_REQUEST,
				   STR("no request of JSON-RPC 2.0"), STR_ABSENT);
	if (!str_is_set(call.id))
		return STR("");
	if (params && json_type(params) != JSON_OBJECT)
		return refuse_call(arena, call.id, INVALID_PARAMS, STR("params must be an object"),
				   STR_ABSENT);
	call.params = params;
	return answer_rpc_call(&call, method);
}

/* Several messages in an array, which revision 2025-03-26 has. */
static struct str answer_batch(const struct tools *tools, struct arena *arena, struct str text,
			       const struct json *root)
{
	struct buf out = buf_in(arena);
	struct str rest = json_text_inside(text), element;

	for (const struct json *at = json_first(root); at && json_text_element(&rest, &element);
	     at = json_next(at)) {
		struct str answer = answer_one(tools, arena, element, at);

		if (answer.n == 0)
			continue;
		buf_add_lit(&out, ",");
		buf_add_str(&out, answer);
	}
	if (json_count(root) == 0)
		return refuse_call(arena, STR_ABSENT, INVALID_REQUEST,
				   STR("no request of JSON-RPC 2.0"), STR_ABSENT);
	struct str answers = buf_str(&out);
	return answers.n == 0
		       ? answers
		       : str_printf(arena, "[" STR_FMT "]", (int)answers.n - 1, answers.p + 1);
}

struct rpc_sight rpc_look(struct arena *arena, struct str line)
{
	struct err err = err_in(arena);
	const struct json *root;
	struct str text = str_trim(line);
	struct rpc_sight sight = {STR_ABSENT, STR_ABSENT};

	if (line.n > RPC_LINE_MAX || json_parse(arena, text, &root, &err) != OK ||
	    json_type(root) != JSON_OBJECT)
		return sight;
	sight.id = json_text_find(text, STR("id"));
	if (!str_is_set(sight.id) &&
	    str_eq(json_text_string(arena, root, "method"), STR("notifications/cancelled")) &&
	    json_text_get(root, "params", JSON_OBJECT))
		sight.cancels =
			json_text_find(json_text_find(text, STR("params")), STR("requestId"));
	return sight;
}

struct str rpc_answer(const struct tools *tools, struct arena *arena, struct str line)
{
	struct err err = err_in(arena);
	const struct json *root;
	struct str text = str_trim(line);

	if (json_parse(arena, text, &root, &err) != OK)
		return refuse_call(arena, STR_ABSENT, PARSE_ERROR, STR("the line is no JSON"),
				   STR_ABSENT);
	return json_type(root) == JSON_ARRAY ? answer_batch(tools, arena, text, root)
					     : answer_one(tools, arena, text, root);
}
