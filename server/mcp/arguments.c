#include "server/mcp/arguments.h"

#include <string.h>

#include "server/messages.h"
#include "server/seed/json_text.h"

#define NAME_MAX_BYTES 100

/* A request as it is put together. */
struct making {
	struct arena *arena;
	const struct tool *tool;
	const struct json *root;
	struct buf body;                     /* members, each with a comma in front */
	struct buf condition, names, values; /* of Query */
	struct arguments arguments;          /* what it becomes */
};

/* Types of JSON that a kind takes, and how the schema and the message name them. */
static const struct {
	unsigned types;
	const char *text;
} kinds[] = {
#define TYPE(type) (1u << (type))
	[ARGUMENT_STRING] = {TYPE(JSON_STRING), "a string"},
	[ARGUMENT_BOOLEAN] = {TYPE(JSON_BOOLEAN), "true or false"},
	[ARGUMENT_LIMIT] = {TYPE(JSON_NUMBER), "a whole number from 1 to 1000"},
	[ARGUMENT_MOMENT] = {TYPE(JSON_STRING) | TYPE(JSON_NUMBER), "a string or a number"},
	[ARGUMENT_ITEM] = {TYPE(JSON_OBJECT), "an object"},
	[ARGUMENT_PARAMETERS] = {TYPE(JSON_ARRAY), "an array"},
	[ARGUMENT_OBJECT] = {TYPE(JSON_OBJECT), "an object"},
	[ARGUMENT_ARRAY] = {TYPE(JSON_ARRAY), "an array"},
	[ARGUMENT_ALONE] = {TYPE(JSON_OBJECT), "an object"},
	[ARGUMENT_BODY] = {TYPE(JSON_OBJECT), "an object"},
	[ARGUMENT_NAME] = {TYPE(JSON_STRING),
			   "a string of 1 to 100 letters, digits, '.', '_' and '-'"},
	[ARGUMENT_KEY] = {TYPE(JSON_OBJECT), "an object"},
	[ARGUMENT_CONDITION] = {TYPE(JSON_STRING), "a string"},
	[ARGUMENT_NAMES] = {TYPE(JSON_OBJECT), "an object"},
	[ARGUMENT_VALUES] = {TYPE(JSON_OBJECT), "an object"},
#undef TYPE
};

static void begin(struct buf *to)
{
	if (to->n > 0)
		buf_add_lit(to, ",");
}

/* An object of values in DynamoDB's JSON, with its brackets. */
static struct str item_object_of(struct arena *arena, struct str text)
{
	struct buf item = buf_in(arena);

	if (json_text_is_item(text))
		return text;
	json_text_add_item(&item, text);
	return buf_str(&item);
}

/* What stands between the brackets. */
static struct str members_of(struct str object)
{
	return object.n < 2 ? STR("") : str_trim((struct str){object.p + 1, object.n - 2});
}

static void add_object_members(struct buf *to, struct str object)
{
	struct str members = members_of(object);

	if (members.n == 0)
		return;
	begin(to);
	buf_add_str(to, members);
}

/* A value in DynamoDB's JSON: that of an item of one attribute. */
static struct str value_of(struct arena *arena, struct str name, struct str value)
{
	struct str item = item_object_of(arena, str_printf(arena, "{\"" STR_FMT "\":" STR_FMT "}",
							   STR_ARG(name), STR_ARG(value)));

	return json_text_find(item, name);
}

static void add_parameters(struct making *making, struct str text)
{
	struct str rest = json_text_inside(text), value;
	bool is_first = true;

	buf_add_lit(&making->body, "[");
	while (json_text_element(&rest, &value)) {
		if (!is_first)
			buf_add_lit(&making->body, ",");
		is_first = false;
		buf_add_str(&making->body, value_of(making->arena, STR("p"), value));
	}
	buf_add_lit(&making->body, "]");
}

/* Attributes and their values as a condition: "#key0 = :key0 AND ...". */
static void add_key_as_condition(struct making *making, struct str text)
{
	struct str rest = json_text_inside(text), name, value;
	size_t n = 0;

	while (json_text_member(&rest, &name, &value)) {
		struct str typed = value_of(making->arena, name, value);

		if (making->condition.n > 0)
			buf_add_lit(&making->condition, " AND ");
		buf_printf(&making->condition, "#key%zu = :key%zu", n, n);
		begin(&making->names);
		buf_printf(&making->names, "\"#key%zu\":\"" STR_FMT "\"", n, STR_ARG(name));
		begin(&making->values);
		buf_printf(&making->values, "\":key%zu\":", n);
		buf_add_str(&making->values, typed);
		n++;
	}
}

static void add_condition(struct making *making, struct str quoted)
{
	if (making->condition.n > 0)
		buf_add_lit(&making->condition, " AND ");
	buf_add(&making->condition, quoted.p + 1, quoted.n - 2);
}

static bool is_argument_name(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		if (!strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-",
			    name.p[i]) ||
		    name.p[i] == '\0')
			return false;
	}
	return name.n > 0 && name.n <= NAME_MAX_BYTES;
}

static bool add_limit(struct making *making, const struct json *value)
{
	return json_integer(value, &making->arguments.limit) && making->arguments.limit >= 1 &&
	       making->arguments.limit <= TOOLBOX_ROWS_MAX;
}

/* False where the value is not right. */
static bool add_argument(struct making *making, const struct property *property,
			 const struct json *value, struct str text)
{
	struct arguments *out = &making->arguments;

	switch (property->kind) {
	case ARGUMENT_LIMIT:
		return add_limit(making, value);
	case ARGUMENT_NAME:
		out->name = json_string(making->arena, value);
		return is_argument_name(out->name);
	case ARGUMENT_BODY:
		out->body = text;
		return true;
	case ARGUMENT_KEY:
		add_key_as_condition(making, text);
		return true;
	case ARGUMENT_CONDITION:
		add_condition(making, text);
		return true;
	case ARGUMENT_NAMES:
		add_object_members(&making->names, text);
		return true;
	case ARGUMENT_VALUES:
		add_object_members(&making->values, item_object_of(making->arena, text));
		return true;
	case ARGUMENT_ALONE:
		out->operation = "UpdateTimeToLive";
		break;
	default:
		break;
	}
	begin(&making->body);
	buf_printf(&making->body, "\"%s\":", property->member);
	if (property->kind == ARGUMENT_PARAMETERS)
		add_parameters(making, text);
	else
		buf_add_str(&making->body, property->kind == ARGUMENT_ITEM
						   ? item_object_of(making->arena, text)
						   : text);
	return true;
}

static enum code add_property(struct making *making, const struct property *property,
			      struct str text, struct err *err)
{
	const struct json *value = json_member(making->root, property->name);
	struct str found = json_text_find(text, str_of(property->name));

	if (property->kind == ARGUMENT_LIMIT)
		making->arguments.limit = TOOLBOX_ROWS;
	if (!value || !str_is_set(found))
		return property->is_required ? err_set(err, MSG_MCP_MISSING, property->name) : OK;
	if (!(kinds[property->kind].types >> json_type(value) & 1) ||
	    !add_argument(making, property, value, found))
		return err_set(err, MSG_MCP_TYPE, property->name, kinds[property->kind].text);
	return OK;
}

static enum code check_argument_names(const struct making *making, struct err *err)
{
	for (const struct json *member = json_first(making->root); member;
	     member = json_next(member)) {
		struct str name = json_name(making->arena, member);
		const struct property *property = toolbox_property(making->tool, NULL);

		while (property && !str_eq(str_of(property->name), name))
			property = toolbox_property(making->tool, property);
		if (!property)
			return err_set(err, MSG_MCP_UNKNOWN, STR_ARG(name), making->tool->name);
	}
	return OK;
}

static void add_joined(struct making *making)
{
	if (making->condition.n > 0) {
		begin(&making->body);
		buf_add_lit(&making->body, "\"KeyConditionExpression\":\"");
		buf_add_str(&making->body, buf_str(&making->condition));
		buf_add_lit(&making->body, "\"");
	}
	if (making->names.n > 0) {
		begin(&making->body);
		buf_add_lit(&making->body, "\"ExpressionAttributeNames\":{");
		buf_add_str(&making->body, buf_str(&making->names));
		buf_add_lit(&making->body, "}");
	}
	if (making->values.n > 0) {
		begin(&making->body);
		buf_add_lit(&making->body, "\"ExpressionAttributeValues\":{");
		buf_add_str(&making->body, buf_str(&making->values));
		buf_add_lit(&making->body, "}");
	}
}

static enum code add_all(struct making *making, struct str text, struct err *err)
{
	enum code code = check_argument_names(making, err);
	bool has_condition = false;

	for (const struct property *p = toolbox_property(making->tool, NULL); p && code == OK;
	     p = toolbox_property(making->tool, p)) {
		has_condition = has_condition || p->kind == ARGUMENT_CONDITION;
		code = add_property(making, p, text, err);
	}
	if (code != OK)
		return code;
	if (making->arguments.operation && json_count(making->root) != 2)
		return err_set(err, MSG_MCP_ALONE);
	if (has_condition && making->condition.n == 0)
		return err_set(err, MSG_MCP_CONDITION);
	return OK;
}

enum code arguments_read(struct arena *arena, const struct tool *tool, struct str text,
			 int64_t limit, struct arguments *out, struct err *err)
{
	struct making making = {
		.arena = arena,
		.tool = tool,
		.body = buf_in(arena),
		.condition = buf_in(arena),
		.names = buf_in(arena),
		.values = buf_in(arena),
		.arguments = {.body = STR_ABSENT},
	};
	enum code code = json_parse(arena, text, &making.root, err);

	struct arguments *arguments = &making.arguments;

	if (code != OK)
		return code;
	code = add_all(&making, text, err);
	if (code != OK || str_is_set(arguments->body))
		return RESULT(code, out, *arguments);
	if (limit > 0)
		arguments->limit = limit;
	add_joined(&making);
	if (arguments->limit > 0) {
		begin(&making.body);
		buf_printf(&making.body, "\"Limit\":%lld", (long long)arguments->limit);
	}
	arguments->body = str_printf(arena, "{" STR_FMT "}", STR_ARG(buf_str(&making.body)));
	return RESULT(OK, out, *arguments);
}
