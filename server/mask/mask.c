#include "server/mask/mask.h"

#include <stdlib.h>
#include <string.h>

#include "core/base64.h"
#include "protocol/wire/json_out.h"
#include "server/mask/messages.h"
#include "server/mask/rule.h"
#include "server/seed/json_text.h"

struct mask {
	struct arena *arena;
	struct mask_options options;
	struct rule *rules;
	size_t rule_count;
	struct mask_unknown *unknowns;
	size_t unknown_count;
};

/* An item under way. */
struct masking {
	struct mask *mask;
	struct arena *arena;
	struct str table, item;
	struct rule_path path;
};

static struct origin mask_origin(const struct mask *mask, const struct json *value)
{
	return mask->options.source ? source_origin(mask->options.source, value)
				    : (struct origin){NULL, 0};
}

static enum code refuse_form(const struct mask *mask, const struct json *root, struct err *err)
{
	const char *path = mask_origin(mask, root).path;

	return err_set(err, MSG_MASK_RULES, path ? path : "", path ? ": " : "");
}

static enum code refuse_rule(const struct mask *mask, const struct json *rule, size_t number,
			     struct str why, struct err *err)
{
	struct origin origin = mask_origin(mask, rule);

	return origin.path ? err_set(err, MSG_MASK_PLACE, origin.path, origin.line, number,
				     STR_ARG(why))
			   : err_set(err, MSG_MASK_RULE, number, STR_ARG(why));
}

static enum code check_rule_members(const struct mask *mask, const struct json *rule, size_t number,
				    struct err *err)
{
	static const struct {
		const char *name, *action; /* NULL: of every action */
	} known[] = {{"path", NULL},    {"action", NULL},        {"when", NULL},
		     {"table", NULL},   {"comment", NULL},       {"size", "bucket"},
		     {"days", "shift"}, {"template", "template"}};
	struct str action = json_text_string(mask->arena, rule, "action");

	for (const struct json *at = json_first(rule); at; at = json_next(at)) {
		struct str name = json_name(mask->arena, at);
		size_t i = 0;

		while (i < sizeof(known) / sizeof(known[0]) && !str_eq(name, str_of(known[i].name)))
			i++;
		if (i == sizeof(known) / sizeof(known[0]) ||
		    (known[i].action && !str_eq(action, str_of(known[i].action))))
			return refuse_rule(mask, rule, number,
					   str_printf(mask->arena,
						      "unknown member \"" STR_FMT
						      "\" of this action",
						      STR_ARG(name)),
					   err);
	}
	return OK;
}

static enum code add_rule(struct mask *mask, const struct json *root, struct err *err)
{
	size_t number = mask->rule_count + 1;

	if (json_type(root) != JSON_OBJECT)
		return refuse_form(mask, root, err);
	mask->rules = arena_room(mask->arena, mask->rules, mask->rule_count, sizeof(*mask->rules));
	enum code code = rule_read(mask->arena, root, &mask->rules[mask->rule_count], err);
	if (code != OK)
		return refuse_rule(mask, root, number, err->message, err);
	mask->rule_count++;
	return check_rule_members(mask, root, number, err);
}

static enum code mask_read_rules(struct mask *mask, const struct json *root, struct err *err)
{
	const struct json *rules = json_text_get(root, "rules", JSON_ARRAY);

	if (!root)
		return OK;
	if (!rules || json_count(root) > 1)
		return refuse_form(mask, root, err);
	for (const struct json *at = json_first(rules); at; at = json_next(at)) {
		enum code code = add_rule(mask, at, err);

		if (code != OK)
			return code;
	}
	return OK;
}

enum code mask_new(const struct json *root, const struct mask_options *options, struct mask **out,
		   struct err *err)
{
	struct mask *mask = arena_checked(calloc(1, sizeof(*mask)));

	mask->arena = arena_new(0);
	mask->options = *options;
	enum code code = mask_read_rules(mask, root, err);
	if (code != OK)
		mask_free(mask);
	return RESULT(code, out, mask);
}

void mask_free(struct mask *mask)
{
	if (!mask)
		return;
	arena_free(mask->arena);
	free(mask);
}

const struct mask_unknown *mask_unknowns(const struct mask *mask, size_t *n)
{
	*n = mask->unknown_count;
	return mask->unknowns;
}

void mask_forget_unknowns(struct mask *mask)
{
	mask->unknown_count = 0;
}

bool mask_unused(const struct mask *mask, size_t *at, struct str *path)
{
	while (*at < mask->rule_count) {
		const struct rule *rule = &mask->rules[(*at)++];

		if (rule->hits == 0) {
			*path = rule->shown;
			return true;
		}
	}
	return false;
}

static struct str name_of(struct arena *arena, struct str name)
{
	return json_text_unquoted(arena, (struct str){name.p - 1, name.n + 2});
}

static void count_unknown(struct masking *masking)
{
	struct mask *mask = masking->mask;
	struct buf shown = buf_in(masking->arena);

	for (size_t i = 0; i < masking->path.depth; i++)
		buf_printf(&shown, "%s" STR_FMT,
			   i > 0 && !str_eq(masking->path.names[i], STR("[]")) ? "." : "",
			   STR_ARG(masking->path.names[i]));
	for (size_t i = 0; i < mask->unknown_count; i++) {
		if (str_eq(mask->unknowns[i].path, buf_str(&shown)) &&
		    str_eq(mask->unknowns[i].table, masking->table)) {
			mask->unknowns[i].count++;
			return;
		}
	}
	mask->unknowns = arena_room(mask->arena, mask->unknowns, mask->unknown_count,
				    sizeof(*mask->unknowns));
	mask->unknowns[mask->unknown_count++] = (struct mask_unknown){
		str_copy(mask->arena, masking->table), str_copy(mask->arena, buf_str(&shown)), 1};
}

static bool is_for(struct masking *masking, const struct rule *rule)
{
	if (str_is_set(rule->table) && !str_eq(rule->table, masking->table))
		return false;
	for (size_t i = 0; i < rule->condition_count; i++) {
		if (!rule_condition_holds(masking->arena, masking->item, &rule->conditions[i]))
			return false;
	}
	return true;
}

/* Whether `rule` says more exactly than `best` what it is for. */
static bool is_closer(const struct rule *rule, const struct rule *best)
{
	if (!best || rule->depth != best->depth)
		return !best || rule->depth > best->depth;
	if (rule->wild_count != best->wild_count)
		return rule->wild_count < best->wild_count;
	return rule->condition_count > 0 && best->condition_count == 0;
}

/* The rule for what is at the path; NULL: there is none. */
static struct rule *find_rule(struct masking *masking)
{
	struct mask *mask = masking->mask;
	struct rule *best = NULL;

	for (size_t i = 0; i < mask->rule_count; i++) {
		struct rule *rule = &mask->rules[i];

		if (rule_covers(rule, &masking->path) && is_closer(rule, best) &&
		    is_for(masking, rule))
			best = rule;
	}
	return best;
}

static bool goes_below(const struct masking *masking)
{
	for (size_t i = 0; i < masking->mask->rule_count; i++) {
		if (rule_goes_below(&masking->mask->rules[i], &masking->path))
			return true;
	}
	return false;
}

static bool enter(struct masking *masking, struct str name)
{
	if (masking->path.depth == RULE_DEPTH)
		return false;
	masking->path.names[masking->path.depth++] = name;
	return true;
}

/* What a value becomes is written to `out`; false: it is left out. */
static bool mask_value(struct masking *masking, struct str value, struct json_out *out);
static bool mask_json(struct masking *masking, struct str value, struct json_out *out);

typedef bool (*mask_part)(struct masking *masking, struct str value, struct json_out *out);

/* Appends a member or an element, unless its value is left out. */
static void mask_child(struct masking *masking, struct str name, bool is_member, struct str value,
		       mask_part part, struct json_out *out)
{
	struct json_out child = json_out_in(masking->arena);

	if (!enter(masking, name)) {
		count_unknown(masking);
		return;
	}
	bool is_there = part(masking, value, &child);
	masking->path.depth--;
	if (!is_there)
		return;
	if (is_member)
		json_out_name(out, name);
	else if (out->needs_comma)
		buf_add_byte(&out->buf, ',');
	buf_add_str(&out->buf, json_out_str(&child));
	out->needs_comma = true;
}

static void mask_members(struct masking *masking, struct str object, mask_part part,
			 struct json_out *out)
{
	struct str rest = json_text_inside(object), name, value;

	json_out_open(out, '{');
	while (json_text_member(&rest, &name, &value))
		mask_child(masking, name_of(masking->arena, name), true, value, part, out);
	json_out_close(out, '}');
}

static void mask_elements(struct masking *masking, struct str array, mask_part part,
			  struct json_out *out)
{
	struct str rest = json_text_inside(array), value;

	json_out_open(out, '[');
	while (json_text_element(&rest, &value))
		mask_child(masking, STR("[]"), false, value, part, out);
	json_out_close(out, ']');
}

static bool keep(struct str value, struct json_out *out)
{
	buf_add_str(&out->buf, value);
	return true;
}

/* A value without a rule. */
static bool unknown(struct masking *masking, struct str type, struct str value,
		    struct json_out *out)
{
	const struct mask_options *options = &masking->mask->options;
	struct str text = value.n > 0 && value.p[0] == '"'
				  ? json_text_unquoted(masking->arena, value)
				  : STR("");

	if (options->met) {
		if (str_eq(type, STR("B")) && !base64_decode(masking->arena, text, &text))
			text = STR("");
		options->met(options->context, masking->path.names, masking->path.depth, type,
			     text);
		return false;
	}
	if (options->is_lenient)
		return keep(value, out);
	count_unknown(masking);
	return false;
}

/* A set without a rule: `type` is that of its elements. */
static bool unknown_set(struct masking *masking, struct str type, struct str value,
			struct json_out *out)
{
	struct str rest = json_text_inside(value), element;

	if (!masking->mask->options.met)
		return unknown(masking, type, value, out);
	while (json_text_element(&rest, &element))
		(void)unknown(masking, type, element, out);
	return false;
}

/* The text of a string, a number or bytes by its rule. False: it is left out. */
static bool change_text(struct masking *masking, struct rule *rule, char type, struct str text,
			struct str *out)
{
	const struct mask_options *options = &masking->mask->options;
	const struct rule_change change = {options->faker, options->seen, options->context};

	if (rule_apply(rule, &change, masking->arena, type, text, out))
		return true;
	count_unknown(masking);
	return false;
}

static bool change_scalar(struct masking *masking, struct rule *rule, char type, struct str value,
			  struct str *out)
{
	struct str text = json_text_unquoted(masking->arena, value), changed;
	struct buf encoded = buf_in(masking->arena);

	if (type == 'B' && !base64_decode(masking->arena, text, &text)) {
		count_unknown(masking);
		return false;
	}
	if (!change_text(masking, rule, type, text, &changed))
		return false;
	*out = changed;
	if (type == 'B') {
		base64_encode(changed, &encoded);
		*out = buf_str(&encoded);
	}
	return true;
}

/* Strings that are JSON, where a rule is for something in them. */
static bool is_json_inside(struct masking *masking, struct str text)
{
	struct str trimmed = text;
	struct err err = err_in(masking->arena);
	const struct json *root;

	while (trimmed.n > 0 && (trimmed.p[0] == ' ' || trimmed.p[0] == '\n'))
		trimmed = (struct str){trimmed.p + 1, trimmed.n - 1};
	return trimmed.n > 1 && (trimmed.p[0] == '{' || trimmed.p[0] == '[') &&
	       (goes_below(masking) || (masking->mask->options.met && !find_rule(masking))) &&
	       json_parse(masking->arena, text, &root, &err) == OK;
}

/* Sets have each element once, and are not empty. */
static bool mask_set(struct masking *masking, struct rule *rule, char type, struct str value,
		     struct json_out *out)
{
	struct str rest = json_text_inside(value), element, changed, *all = NULL;
	size_t n = 0;

	json_out_open(out, '[');
	while (json_text_element(&rest, &element)) {
		bool is_there = !change_scalar(masking, rule, type, element, &changed);

		for (size_t i = 0; i < n && !is_there; i++)
			is_there = str_eq(all[i], changed);
		if (is_there)
			continue;
		all = arena_room(masking->arena, all, n, sizeof(*all));
		all[n++] = changed;
		json_out_string(out, changed);
	}
	json_out_close(out, ']');
	return n > 0;
}

static bool mask_typed_set(struct masking *masking, struct str type, struct str value,
			   struct json_out *out)
{
	if (!enter(masking, STR("[]")))
		return unknown_set(masking, type, value, out);
	struct rule *rule = find_rule(masking);
	bool is_there;

	if (rule)
		rule->hits++;
	if (!rule)
		is_there = unknown_set(masking, type, value, out);
	else if (rule->action == ACTION_KEEP)
		is_there = keep(value, out);
	else
		is_there = rule->action != ACTION_DROP &&
			   mask_set(masking, rule, type.p[0], value, out);
	masking->path.depth--;
	return is_there;
}

/* A string of JSON, masked inside. */
static void mask_inner(struct masking *masking, struct str text, struct json_out *out)
{
	struct json_out inner = json_out_in(masking->arena);

	(void)mask_json(masking, str_trim(text), &inner);
	json_out_string(out, json_out_str(&inner));
}

static void tell_dropped(struct masking *masking, struct str type, struct str value)
{
	const struct mask_options *options = &masking->mask->options;

	if (options->seen && str_eq(type, STR("S")))
		options->seen(options->context, json_text_unquoted(masking->arena, value), STR(""));
}

static bool mask_leaf(struct masking *masking, struct str type, struct str value,
		      struct json_out *out)
{
	struct rule *rule = find_rule(masking);
	struct str changed;
	bool is_fixed = str_eq(type, STR("BOOL")) || str_eq(type, STR("NULL"));

	if (rule)
		rule->hits++;
	if (!rule)
		return unknown(masking, type, value, out);
	if (rule->action == ACTION_DROP) {
		tell_dropped(masking, type, value);
		return false;
	}
	if (rule->action == ACTION_REDACT && str_eq(type, STR("BOOL"))) {
		json_out_boolean(out, false);
		return true;
	}
	if (rule->action == ACTION_KEEP || is_fixed)
		return keep(value, out);
	if (!change_scalar(masking, rule, type.p[0], value, &changed))
		return false;
	json_out_string(out, changed);
	return true;
}

/* Behind {"S": and the like. */
static bool mask_typed(struct masking *masking, struct str type, struct str value,
		       struct json_out *out)
{
	if (str_eq(type, STR("M"))) {
		mask_members(masking, value, mask_value, out);
		return true;
	}
	if (str_eq(type, STR("L"))) {
		mask_elements(masking, value, mask_value, out);
		return true;
	}
	if (type.n == 2 && type.p[1] == 'S')
		return mask_typed_set(masking, (struct str){type.p, 1}, value, out);
	if (str_eq(type, STR("S"))) {
		struct str text = json_text_unquoted(masking->arena, value);

		if (is_json_inside(masking, text)) {
			mask_inner(masking, text, out);
			return true;
		}
	}
	return mask_leaf(masking, type, value, out);
}

/* A map or a list that is dropped goes as a whole. */
static bool is_dropped(struct masking *masking)
{
	struct rule *rule = find_rule(masking);

	if (!rule || rule->action != ACTION_DROP || goes_below(masking))
		return false;
	rule->hits++;
	return true;
}

static bool mask_value(struct masking *masking, struct str value, struct json_out *out)
{
	struct json_out inner = json_out_in(masking->arena);
	struct str rest = json_text_inside(value), type, typed;

	if (!json_text_member(&rest, &type, &typed) || is_dropped(masking) ||
	    !mask_typed(masking, type, typed, &inner))
		return false;
	json_out_open(out, '{');
	json_out_name(out, type);
	buf_add_str(&out->buf, json_out_str(&inner));
	json_out_close(out, '}');
	return true;
}

/* A value of JSON in a string: strings and numbers as S and N, the others as they are. */
static bool mask_json(struct masking *masking, struct str value, struct json_out *out)
{
	char first = value.n > 0 ? value.p[0] : 'n';
	struct json_out leaf = json_out_in(masking->arena);

	if (is_dropped(masking))
		return false;
	if (first == '{' || first == '[') {
		if (first == '{')
			mask_members(masking, value, mask_json, out);
		else
			mask_elements(masking, value, mask_json, out);
		return true;
	}
	if (first == '"')
		return mask_leaf(masking, STR("S"), value, out);
	if (first == 't' || first == 'f' || first == 'n')
		return mask_leaf(masking, STR("BOOL"), value, out);
	struct str quoted = str_printf(masking->arena, "\"" STR_FMT "\"", STR_ARG(value));
	if (!mask_leaf(masking, STR("N"), quoted, &leaf))
		return false;
	/* without the quotes, which numbers have in DynamoDB's JSON only */
	struct str text = json_out_str(&leaf);
	buf_add(&out->buf, text.p + 1, text.n - 2);
	return true;
}

struct str mask_item(struct mask *mask, struct arena *arena, struct str table, struct str item)
{
	struct masking masking = {.mask = mask, .arena = arena, .table = table, .item = item};
	struct json_out out = json_out_in(arena);

	mask_members(&masking, item, mask_value, &out);
	return json_out_str(&out);
}

static bool has_other_condition(const struct rule *rule, const struct str *names, size_t n)
{
	for (size_t i = 0; i < rule->condition_count; i++) {
		bool is_one = false;

		for (size_t k = 0; k < n; k++)
			is_one = is_one || str_eq(rule->conditions[i].name, names[k]);
		if (!is_one)
			return true;
	}
	return false;
}

bool mask_depends(const struct mask *mask, struct str table, const struct str *names, size_t n)
{
	for (size_t i = 0; i < mask->rule_count; i++) {
		const struct rule *rule = &mask->rules[i];

		if ((str_is_set(rule->table) && !str_eq(rule->table, table)) ||
		    !has_other_condition(rule, names, n))
			continue;
		for (size_t k = 0; k < n; k++) {
			const struct rule_path path = {.names = {names[k]}, .depth = 1};

			if (rule_covers(rule, &path) || rule_goes_below(rule, &path))
				return true;
		}
	}
	return false;
}
