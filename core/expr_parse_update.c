#include "core/expr_internal.h"

static const struct {
	const char *name;
	enum keyword keyword;
} verbs[] = {
	[UPDATE_SET] = {"SET", KEYWORD_SET},
	[UPDATE_REMOVE] = {"REMOVE", KEYWORD_REMOVE},
	[UPDATE_ADD] = {"ADD", KEYWORD_ADD},
	[UPDATE_DELETE] = {"DELETE", KEYWORD_DELETE},
};

#define VERB_COUNT 4

/* An action before its names are resolved. */
struct raw_action {
	enum update_verb verb;
	struct raw *path;
	struct raw *operand;
};

struct raw_update {
	size_t n;
	struct raw_action *actions;
	bool seen[VERB_COUNT];
	const char *twice; /* a section given a second time */
};

static enum code parse_action(struct parser *parser, enum update_verb verb,
			      struct raw_action *action)
{
	enum code code = parse_path(parser, &action->path);

	action->verb = verb;
	if (code != OK || verb == UPDATE_REMOVE)
		return code;
	if (verb == UPDATE_SET) {
		if (!str_eq(parser->token.text, STR("=")))
			return parser_syntax_error(parser);
		parser_advance(parser);
		return parse_set_value(parser, &action->operand);
	}
	if (parser->token.kind != TOKEN_VALUE)
		return parser_syntax_error(parser);
	action->operand = ARENA_NEW(parser->arena, struct raw);
	action->operand->kind = RAW_VALUE;
	action->operand->text = parser->token.text;
	parser_advance(parser);
	return OK;
}

static enum code parse_section(struct parser *parser, enum update_verb verb,
			       struct raw_update *update)
{
	if (update->seen[verb] && !update->twice)
		update->twice = verbs[verb].name;
	update->seen[verb] = true;
	do {
		parser_advance(parser); /* the verb, or a comma */
		update->actions = arena_room(parser->arena, update->actions, update->n,
					     sizeof(*update->actions));
		enum code code = parse_action(parser, verb, &update->actions[update->n]);
		if (code != OK)
			return code;
		update->n++;
	} while (parser_at(parser, ','));
	return OK;
}

static enum code parse_sections(struct parser *parser, struct raw_update *update)
{
	do {
		enum update_verb verb = UPDATE_SET;

		while (verb < VERB_COUNT && parser->token.keyword != verbs[verb].keyword)
			verb++;
		if (verb == VERB_COUNT)
			return parser_syntax_error(parser);
		enum code code = parse_section(parser, verb, update);
		if (code != OK)
			return code;
	} while (parser->token.kind != TOKEN_END);
	return OK;
}

/* AWS: the newer layer has names of its own for two types. */
static const char *operand_name(enum type type, bool is_older)
{
	if (is_older || (type != TYPE_B && type != TYPE_BOOL))
		return type_long_name(type);
	return type == TYPE_B ? "Binary" : "BOOL";
}

/* AWS: the newer layer names the set of ADD's operands for DELETE too. */
static enum code refuse_operand(struct parser *parser, enum update_verb verb, enum type type)
{
	bool is_older = parser->env->is_older;

	return err_set(parser->err, MSG_EXPR_VERB_TYPE, parser->parameter, verbs[verb].name,
		       operand_name(type, is_older), verbs[is_older ? verb : UPDATE_ADD].name);
}

static enum code check_action_usage(struct parser *parser, const struct raw_action *raw)
{
	enum code code = check_usage(parser, raw->path, USE_OPERAND);

	return code == OK && raw->verb == UPDATE_SET ? check_usage(parser, raw->operand, USE_SET)
						     : code;
}

static enum code check_action_operand(struct parser *parser, const struct raw_action *raw,
				      const struct node **out)
{
	struct node *node;

	if (raw->verb == UPDATE_REMOVE)
		return OK;
	if (raw->verb == UPDATE_SET)
		return check_set_value(parser, raw->operand, out);
	node = ARENA_NEW(parser->arena, struct node);
	node->kind = NODE_VALUE;
	enum code code = check_value(parser, raw->operand, &node->value);
	if (code != OK)
		return code;
	if (!type_is_set((enum type)node->value.type) &&
	    (raw->verb != UPDATE_ADD || node->value.type != TYPE_N))
		return refuse_operand(parser, raw->verb, (enum type)node->value.type);
	*out = node;
	return OK;
}

static enum code check_raw_update(struct parser *parser, const struct raw_update *raw,
				  struct update *update)
{
	struct raw **raws = ARENA_ARRAY(parser->arena, struct raw *, raw->n);
	const struct path **paths = ARENA_ARRAY(parser->arena, const struct path *, raw->n);
	enum code code = OK;

	for (size_t i = 0; i < raw->n; i++) {
		raws[i] = raw->actions[i].path;
		code = check_action_usage(parser, &raw->actions[i]);
		if (code != OK)
			return code;
	}
	if (raw->twice)
		return err_set(parser->err, MSG_EXPR_SECTION_TWICE, parser->parameter, raw->twice);
	code = check_paths(parser, raws, raw->n, paths);
	for (size_t i = raw->n; i-- > 0 && code == OK;) {
		update->actions[i].verb = raw->actions[i].verb;
		update->actions[i].path = paths[i];
		code = check_action_operand(parser, &raw->actions[i], &update->actions[i].operand);
	}
	return code;
}

enum code expr_parse_update(struct expr_env *env, struct str text, struct update **out,
			    struct err *err)
{
	struct raw_update raw = {0};
	struct parser parser;
	enum code code = parser_open(&parser, env, EXPR_UPDATE, text, err);

	if (code != OK)
		return code;
	code = parse_sections(&parser, &raw);
	if (code != OK)
		return code;
	struct update *update = ARENA_NEW(env->arena, struct update);
	update->n = raw.n;
	update->actions = ARENA_ARRAY(env->arena, struct update_action, raw.n);
	code = check_raw_update(&parser, &raw, update);
	return RESULT(code, out, update);
}
