#include "server/mask/rule.h"

#include <string.h>

#include "core/buf.h"
#include "server/mask/messages.h"
#include "server/seed/json_text.h"

#define REDACTED "REDACTED"
#define DIGITS_MAX 38 /* significant digits of a number of DynamoDB's */

static const char *const action_names[ACTION_COUNT] = {"keep", "drop",     "redact", "hash",
						       "fake", "template", "bucket", "shift"};

static bool add_name(struct rule *rule, struct str name)
{
	if (rule->depth == RULE_DEPTH || name.n == 0)
		return false;
	rule->wild_count += str_eq(name, STR("*"));
	rule->names[rule->depth++] = name;
	return true;
}

/* "a[][]": a, and two levels of elements. */
static bool add_names(struct rule *rule, struct str name)
{
	size_t elements = 0;

	while (name.n >= 2 && name.p[name.n - 2] == '[' && name.p[name.n - 1] == ']') {
		name.n -= 2;
		elements++;
	}
	if (!add_name(rule, name))
		return false;
	while (elements-- > 0) {
		if (!add_name(rule, STR("[]")))
			return false;
	}
	return true;
}

static bool read_path(struct arena *arena, const struct json *path, struct rule *rule)
{
	if (path && json_type(path) == JSON_STRING) {
		struct str rest = json_string(arena, path);

		rule->shown = rest;
		while (rest.n > 0) {
			if (!add_names(rule, str_cut(&rest, '.')))
				return false;
		}
		return rule->depth > 0;
	}
	if (!path || json_type(path) != JSON_ARRAY)
		return false;
	struct buf shown = buf_in(arena);
	for (const struct json *at = json_first(path); at; at = json_next(at)) {
		if (json_type(at) != JSON_STRING || !add_names(rule, json_string(arena, at)))
			return false;
		buf_printf(&shown, "%s" STR_FMT, shown.n > 0 ? "." : "",
			   STR_ARG(json_string(arena, at)));
	}
	rule->shown = buf_str(&shown);
	return rule->depth > 0;
}

static bool find_action(struct str name, enum action *action)
{
	for (size_t i = 0; i < ACTION_COUNT; i++) {
		if (str_eq(name, str_of(action_names[i]))) {
			*action = (enum action)i;
			return true;
		}
	}
	return false;
}

/* Takes the next part off a template: text, or "<action>". False: it is none. */
static bool template_part(struct str *rest, struct str *text, bool *is_hole, enum action *action)
{
	const char *end = memchr(rest->p, rest->p[0] == '<' ? '>' : '<', rest->n);

	*is_hole = rest->p[0] == '<';
	if (*is_hole && !end)
		return false;
	size_t n = end ? (size_t)(end - rest->p) + *is_hole : rest->n;
	*text = (struct str){rest->p, n};
	*rest = (struct str){rest->p + n, rest->n - n};
	return !*is_hole || (find_action((struct str){text->p + 1, n - 2}, action) &&
			     (*action == ACTION_KEEP || *action == ACTION_REDACT ||
			      *action == ACTION_HASH || *action == ACTION_FAKE));
}

static enum code rule_add_template(struct arena *arena, struct rule *rule, struct str text,
				   struct err *err)
{
	struct str rest = text, part;
	bool is_hole, was_hole = false;
	enum action action;

	while (rest.n > 0) {
		if (!template_part(&rest, &part, &is_hole, &action) || (is_hole && was_hole))
			return err_set(err, MSG_MASK_TEMPLATE, STR_ARG(text));
		was_hole = is_hole;
	}
	rule->templates =
		arena_room(arena, rule->templates, rule->template_count, sizeof(*rule->templates));
	rule->templates[rule->template_count++] = text;
	return OK;
}

static enum code rule_read_templates(struct arena *arena, const struct json *root,
				     struct rule *rule, struct err *err)
{
	const struct json *found = json_member(root, "template");
	const struct json *at = found && json_type(found) == JSON_ARRAY ? json_first(found) : found;

	if (rule->action != ACTION_TEMPLATE)
		return OK;
	if (!at)
		return err_set(err, MSG_MASK_TEMPLATE, STR_ARG(STR("")));
	for (; at; at = at == found ? NULL : json_next(at)) {
		struct str text = json_type(at) == JSON_STRING ? json_string(arena, at) : STR("");
		enum code code = text.n == 0 ? err_set(err, MSG_MASK_TEMPLATE, STR_ARG(text))
					     : rule_add_template(arena, rule, text, err);

		if (code != OK)
			return code;
	}
	return OK;
}

static enum code rule_read_conditions(struct arena *arena, const struct json *root,
				      struct rule *rule, struct err *err)
{
	const struct json *when = json_member(root, "when");

	if (when && json_type(when) != JSON_OBJECT)
		return err_set(err, MSG_MASK_WHEN);
	for (const struct json *at = when ? json_first(when) : NULL; at; at = json_next(at)) {
		if (json_type(at) != JSON_STRING)
			return err_set(err, MSG_MASK_WHEN);
		rule->conditions = arena_room(arena, rule->conditions, rule->condition_count,
					      sizeof(*rule->conditions));
		rule->conditions[rule->condition_count++] =
			(struct rule_condition){json_name(arena, at), json_string(arena, at)};
	}
	return OK;
}

enum code rule_read(struct arena *arena, const struct json *root, struct rule *rule,
		    struct err *err)
{
	*rule = (struct rule){.table = json_text_string(arena, root, "table")};
	if (!read_path(arena, json_member(root, "path"), rule))
		return err_set(err, MSG_MASK_PATH, RULE_DEPTH);
	if (!find_action(json_text_string(arena, root, "action"), &rule->action))
		return err_set(err, MSG_MASK_ACTION);
	if (rule->action == ACTION_BUCKET || rule->action == ACTION_SHIFT) {
		const struct json *size = json_text_get(
			root, rule->action == ACTION_BUCKET ? "size" : "days", JSON_NUMBER);

		if (!size || !json_integer(size, &rule->size) || rule->size <= 0)
			return err_set(err, MSG_MASK_SIZE);
	}
	enum code code = rule_read_templates(arena, root, rule, err);
	if (code != OK)
		return code;
	return rule_read_conditions(arena, root, rule, err);
}

static bool is_prefix(const struct str *rule, const struct str *path, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (!str_eq(rule[i], path[i]) && !str_eq(rule[i], STR("*")))
			return false;
	}
	return true;
}

bool rule_covers(const struct rule *rule, const struct rule_path *path)
{
	return rule->depth <= path->depth && is_prefix(rule->names, path->names, rule->depth);
}

bool rule_goes_below(const struct rule *rule, const struct rule_path *path)
{
	return rule->depth > path->depth && is_prefix(rule->names, path->names, path->depth);
}

/* "*" in the pattern stands for anything. */
static bool rule_is_like(struct str text, struct str pattern)
{
	size_t t = 0, p = 0, star = SIZE_MAX, mark = 0;

	while (t < text.n) {
		if (p < pattern.n && pattern.p[p] == '*') {
			star = p++;
			mark = t;
		} else if (p < pattern.n && pattern.p[p] == text.p[t]) {
			p++;
			t++;
		} else if (star != SIZE_MAX) {
			p = star + 1;
			t = ++mark;
		} else {
			return false;
		}
	}
	while (p < pattern.n && pattern.p[p] == '*')
		p++;
	return p == pattern.n;
}

bool rule_text_of(struct arena *arena, struct str item, struct str attribute, struct str *text)
{
	struct str rest = json_text_inside(item), name, value, type, inner;

	while (json_text_member(&rest, &name, &value)) {
		struct str quoted = {name.p - 1, name.n + 2};

		if (!str_eq(json_text_unquoted(arena, quoted), attribute))
			continue;
		value = json_text_inside(value);
		if (!json_text_member(&value, &type, &inner) || type.n != 1 || inner.n == 0 ||
		    inner.p[0] != '"')
			return false; /* not S, N or B */
		*text = json_text_unquoted(arena, inner);
		return true;
	}
	return false;
}

bool rule_condition_holds(struct arena *arena, struct str item,
			  const struct rule_condition *condition)
{
	struct str text;

	return rule_text_of(arena, item, condition->name, &text) &&
	       rule_is_like(text, condition->pattern);
}

static void tell(const struct rule_change *change, struct str before, struct str after)
{
	if (change->seen)
		change->seen(change->context, before, after);
}

static struct str rule_redact(char type)
{
	return type == 'N' ? STR("0") : STR(REDACTED);
}

static struct str rule_hash(const struct rule_change *change, struct arena *arena, char type,
			    struct str text)
{
	return type == 'N' ? fake_hash_number(change->faker, arena, text)
			   : fake_hash(change->faker, arena, text);
}

/* A number whose digits may all change has at most 38 of them; one of more digits has zeros, which
 * say how large it is. */
static struct str rule_fake(const struct rule_change *change, struct arena *arena, char type,
			    struct str text)
{
	if (type == 'B')
		return fake_bytes(change->faker, arena, text);
	if (type == 'N' && (text.n > DIGITS_MAX || memchr(text.p, 'E', text.n)))
		return fake_hash_number(change->faker, arena, text);
	return fake_text(change->faker, arena, text);
}

static struct str rule_part(const struct rule_change *change, struct arena *arena,
			    enum action action, struct str text)
{
	struct str out = text;

	if (action == ACTION_KEEP)
		return out;
	if (action == ACTION_REDACT)
		out = rule_redact('S');
	else if (action == ACTION_HASH)
		out = rule_hash(change, arena, 'S', text);
	else
		out = rule_fake(change, arena, 'S', text);
	tell(change, text, out);
	return out;
}

/* Where the text stands in `rest`; SIZE_MAX: nowhere. */
static size_t find_text(struct str rest, struct str text)
{
	for (size_t i = 0; i + text.n <= rest.n; i++) {
		if (memcmp(rest.p + i, text.p, text.n) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* What stands in a hole, up to the text that follows it. False: that is not there, or the hole is
 * empty. */
static bool take_hole(struct str template, struct str *value, struct str *text)
{
	struct str next, rest = template;
	bool is_hole;
	enum action action;
	size_t n = value->n;

	if (rest.n > 0 && template_part(&rest, &next, &is_hole, &action)) {
		n = find_text(*value, next);
		if (rest.n == 0 && value->n >= next.n) /* the last text of all is at the end */
			n = memcmp(value->p + value->n - next.n, next.p, next.n) == 0
				    ? value->n - next.n
				    : SIZE_MAX;
	}
	if (n == SIZE_MAX || n == 0)
		return false;
	*text = (struct str){value->p, n};
	*value = (struct str){value->p + n, value->n - n};
	return true;
}

static bool fill_template(const struct rule_change *change, struct arena *arena,
			  struct str template, struct str value, struct str *out)
{
	struct buf buf = buf_in(arena);
	struct str part, text;
	bool is_hole;
	enum action action = ACTION_KEEP;

	while (template.n > 0) {
		if (!template_part(&template, &part, &is_hole, &action))
			return false;
		if (is_hole) {
			if (!take_hole(template, &value, &text))
				return false;
			buf_add_str(&buf, rule_part(change, arena, action, text));
			continue;
		}
		if (!str_starts_with(value, part))
			return false;
		buf_add_str(&buf, part);
		value = (struct str){value.p + part.n, value.n - part.n};
	}
	*out = buf_str(&buf);
	return value.n == 0;
}

static bool apply_templates(const struct rule *rule, const struct rule_change *change,
			    struct arena *arena, struct str text, struct str *out)
{
	const struct rule_change quiet = {.faker = change->faker};

	for (size_t i = 0; i < rule->template_count; i++) {
		/* twice, so that a template that does not fit tells nothing */
		if (fill_template(&quiet, arena, rule->templates[i], text, out))
			return fill_template(change, arena, rule->templates[i], text, out);
	}
	return false;
}

/* A number: rounded down to a multiple. Else the first characters. */
static bool apply_bucket(const struct rule *rule, struct arena *arena, char type, struct str text,
			 struct str *out)
{
	bool is_negative = text.n > 0 && text.p[0] == '-';
	int64_t number = 0;
	size_t i = is_negative, characters = 0;

	if (type == 'B')
		return false;
	if (type == 'S') {
		for (i = 0; i < text.n; i++) {
			if (((unsigned char)text.p[i] & 0xC0) != 0x80 &&
			    characters++ == (size_t)rule->size)
				break;
		}
		*out = (struct str){text.p, i};
		return true;
	}
	for (; i < text.n && text.p[i] >= '0' && text.p[i] <= '9'; i++) {
		if (i - is_negative >= 17)
			return false;
		number = number * 10 + (text.p[i] - '0');
	}
	if (i < text.n && text.p[i] != '.')
		return false;
	if (is_negative)
		number = -number - (i < text.n);
	int64_t rest = number % rule->size;
	*out = str_printf(arena, "%lld",
			  (long long)(number - (rest < 0 ? rest + rule->size : rest)));
	return true;
}

bool rule_apply(const struct rule *rule, const struct rule_change *change, struct arena *arena,
		char type, struct str text, struct str *out)
{
	bool is_done = true;

	switch (rule->action) {
	case ACTION_REDACT:
		*out = rule_redact(type);
		break;
	case ACTION_HASH:
		*out = rule_hash(change, arena, type, text);
		break;
	case ACTION_FAKE:
		*out = rule_fake(change, arena, type, text);
		break;
	case ACTION_TEMPLATE:
		return type == 'S' && apply_templates(rule, change, arena, text, out);
	case ACTION_BUCKET:
		is_done = apply_bucket(rule, arena, type, text, out);
		break;
	case ACTION_SHIFT:
		is_done = type != 'B' && fake_shift(change->faker, arena, text, rule->size, out);
		break;
	case ACTION_KEEP:
	case ACTION_DROP:
	case ACTION_COUNT:
		return false;
	}
	if (is_done && !str_eq(text, *out))
		tell(change, text, *out);
	return is_done;
}
