#include "protocol/expressions.h"

#include "protocol/item_messages.h"
#include "protocol/legacy.h"

#define PLACEHOLDER_SIZE_MAX 255

struct text {
	const char *name;
	struct str text;
};

#define TEXT_COUNT 6

/* In the order in which AWS lists them in messages. */
static void list_texts(const struct expression_request *request, struct text texts[TEXT_COUNT])
{
	texts[0] = (struct text){"UpdateExpression", request->update};
	texts[1] = (struct text){"ProjectionExpression", request->projection};
	texts[2] = (struct text){"ConditionExpression", request->condition};
	texts[3] = (struct text){"FilterExpression", request->filter};
	texts[4] = (struct text){"KeyConditionExpression", request->key_condition};
	texts[5] = (struct text){"SearchConditionExpression", request->search};
}

static bool has_text(const struct expression_request *request)
{
	return str_is_set(request->update) || str_is_set(request->projection) ||
	       str_is_set(request->condition) || str_is_set(request->filter) ||
	       str_is_set(request->key_condition) || str_is_set(request->search);
}

static void add_to_list(struct buf *list, const char *name)
{
	if (list->n > 0)
		buf_add_lit(list, ", ");
	buf_add_str(list, str_of(name));
}

static enum code check_mixing(struct arena *arena, const struct expression_request *request,
			      const struct text texts[TEXT_COUNT], struct err *err)
{
	struct buf expressions = buf_in(arena), legacy = buf_in(arena);

	for (size_t i = 0; i < EXPRESSION_LEGACY_MAX && request->legacy[i].name; i++)
		if (request->legacy[i].is_given)
			add_to_list(&legacy, request->legacy[i].name);
	if (legacy.n == 0)
		return OK;
	for (size_t i = 0; i < TEXT_COUNT; i++)
		if (str_is_set(texts[i].text))
			add_to_list(&expressions, texts[i].name);
	return err_set(err, MSG_EXPRESSIONS_MIXED, STR_ARG(buf_str(&legacy)),
		       STR_ARG(buf_str(&expressions)));
}

static bool is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		      c == '_'))
			return false;
	}
	return s.n > 0;
}

static enum code check_placeholder(const char *parameter, char sign, struct str key,
				   struct err *err)
{
	if (key.n == 0)
		return err_set(err, MSG_PLACEHOLDER_EMPTY, parameter);
	if (key.n > PLACEHOLDER_SIZE_MAX)
		return err_set(err, MSG_PLACEHOLDER_LONG, parameter, key.n);
	if (key.p[0] != sign || !is_word((struct str){key.p + 1, key.n - 1}))
		return err_set(err, MSG_PLACEHOLDER_SYNTAX, parameter, STR_ARG(key));
	return OK;
}

static enum code check_name_placeholders(const struct expression_attribute_name_map *names,
					 struct err *err)
{
	if (names->n == 0)
		return err_set(err, MSG_NAMES_EMPTY);
	for (size_t i = 0; i < names->n; i++) {
		enum code code =
			check_placeholder("ExpressionAttributeNames", '#', names->v[i].key, err);

		if (code != OK)
			return code;
		if (names->v[i].value.n == 0)
			return err_set(err, MSG_NAME_EMPTY, STR_ARG(names->v[i].key));
		if (names->v[i].value.n > ATTRIBUTE_NAME_SIZE_MAX)
			return err_set(err, MSG_NAME_TOO_LARGE, STR_ARG(names->v[i].key));
	}
	return OK;
}

static enum code check_value_placeholders(const struct value *values, struct err *err)
{
	if (values->n == 0)
		return err_set(err, MSG_VALUES_EMPTY);
	for (uint32_t i = 0; i < values->n; i++) {
		enum code code = check_placeholder("ExpressionAttributeValues", ':',
						   values->members[i].name, err);

		if (code != OK)
			return code;
	}
	return OK;
}

/* AWS: names and values without an expression are refused later, an empty attribute name among them
 * here. */
static enum code check_idle(const struct expression_request *request, struct err *err)
{
	const struct expression_attribute_name_map *names = request->names;

	for (size_t i = 0; names && i < names->n; i++) {
		if (names->v[i].value.n == 0)
			return err_set(err, MSG_NAME_EMPTY, STR_ARG(names->v[i].key));
	}
	return call_check_action(request->action, false, err);
}

/* AWS: the newer layer does not say which expression is missing in a write. */
static enum code values_without_expression(const struct call *call,
					   const struct expression_request *request,
					   struct err *err)
{
	if (!request->valued || (request->is_write && !call->is_older))
		return err_set(err, MSG_VALUES_WITHOUT_EXPRESSION, "", "", "");
	return err_set(err, MSG_VALUES_WITHOUT_EXPRESSION, ": ", request->valued, " null");
}

enum code expressions_check(struct call *call, const struct expression_request *request,
			    struct err *err)
{
	struct text texts[TEXT_COUNT];
	bool has_expression = has_text(request), has_names = request->names && request->names->v;
	enum code code = OK;

	list_texts(request, texts);
	if (has_expression)
		code = check_mixing(call->arena, request, texts, err);
	if (code != OK)
		return code;
	if (request->action && !has_expression)
		return check_idle(request, err);
	if (request->judge && has_names)
		code = check_name_placeholders(request->names, err);
	if (code != OK)
		return code;
	if (request->judge && request->values)
		code = check_value_placeholders(request->values, err);
	if (code != OK)
		return code;
	if (has_names && !has_expression)
		return err_set(err, MSG_NAMES_WITHOUT_EXPRESSION);
	/* A projection has no values, so alone it does not count. */
	if (request->values && !str_is_set(request->update) && !str_is_set(request->condition) &&
	    !str_is_set(request->filter) && !str_is_set(request->key_condition) &&
	    !str_is_set(request->search))
		return values_without_expression(call, request, err);
	if (has_names)
		code = check_name_placeholders(request->names, err);
	if (code != OK)
		return code;
	if (request->values)
		code = check_value_placeholders(request->values, err);
	if (code != OK)
		return code;
	if (!call->is_older)
		code = legacy_operator(request->conditional_operator, request->condition_count,
				       err);
	if (code != OK)
		return code;
	return request->action ? call_check_action(request->action, false, err)
			       : call_check_values(call, err);
}

static struct expr_env build_env(struct call *call, const struct expression_request *request)
{
	struct arena *arena = call->arena;
	struct expr_env env = {.arena = arena, .is_older = call->is_older};

	if (request->names) {
		env.name_count = request->names->n;
		env.names = ARENA_ARRAY(arena, struct expr_name, env.name_count);
		for (size_t i = 0; i < env.name_count; i++) {
			env.names[i].placeholder = request->names->v[i].key;
			env.names[i].name = request->names->v[i].value;
		}
	}
	if (request->values) {
		env.value_count = request->values->n;
		env.values = ARENA_ARRAY(arena, struct expr_value, env.value_count);
		for (size_t i = 0; i < env.value_count; i++) {
			env.values[i].placeholder = request->values->members[i].name;
			env.values[i].value = request->values->members[i].value;
		}
	}
	return env;
}

enum code expressions_parse(struct call *call, const struct expression_request *request,
			    struct expressions *out, struct err *err)
{
	struct expr_env env = build_env(call, request);
	struct expressions read = {0};
	enum code code = OK;

	if (request->action && !has_text(request)) {
		*out = read;
		return OK;
	}
	if (!call->is_older && str_is_set(request->condition) && request->condition.n == 0)
		code = expr_parse_condition(&env, EXPR_CONDITION, request->condition,
					    &read.condition, err);
	if (code != OK)
		return code;
	if (str_is_set(request->update))
		code = expr_parse_update(&env, request->update, &read.update, err);
	if (code != OK)
		return code;
	if (read.update)
		read.update_charge = update_charge(read.update);
	if (str_is_set(request->condition))
		code = expr_parse_condition(&env, EXPR_CONDITION, request->condition,
					    &read.condition, err);
	if (code != OK)
		return code;
	if (str_is_set(request->filter))
		code = expr_parse_condition(&env, EXPR_FILTER, request->filter, &read.filter, err);
	if (code != OK)
		return code;
	if (str_is_set(request->projection))
		code = expr_parse_projection(&env, request->projection, &read.projection, err);
	if (code != OK)
		return code;
	if (str_is_set(request->key_condition))
		code = expr_parse_condition(&env, EXPR_KEY_CONDITION, request->key_condition,
					    &read.key_condition, err);
	if (code != OK)
		return code;
	if (str_is_set(request->search))
		code = expr_parse_condition(&env, EXPR_SEARCH, request->search, &read.search, err);
	if (code != OK)
		return code;
	if (read.search && request->judge)
		code = request->judge(call->arena, read.search, err);
	if (code != OK)
		return code;
	code = expr_check_unused(&env, err);
	return RESULT(code, out, read);
}
