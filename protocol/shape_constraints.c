#include "protocol/shape_walk.h"

#include "core/utf8.h"
#include "protocol/messages.h"

#define ARN_OR "arn:|"     /* begins the pattern of what may be an ARN instead */
#define CONSTRAINTS_MAX 10 /* errors that AWS lists at most */

/* The stages of the newer layer; the older one has the first two. */
enum { STAGE_FIRST, STAGE_NAME, STAGE_MEMBERS, STAGE_SECOND, STAGE_THIRD, STAGE_FOURTH, STAGE_LATE };

enum wording {
	WORDS_USUAL,
	WORDS_BARE,   /* without the envelope */
	WORDS_SILENT, /* the value is not told: "Value at 'Limit'" */
	WORDS_FIXED,  /* MSG_RETURN_VALUES_ENUM, whatever the value */
	WORDS_ABSENT, /* TEXT_PARAMETER_REQUIRED, bare */
};

/*
 * Where the newer layer differs from "all members at once, in the order of the shape". UpdateItem stops at the first of its enumerations. The first
 * row that fits counts.
 */
static const struct rule {
	const struct shape *input; /* NULL: any */
	const char *member;
	const char *value;         /* NULL: any */
	unsigned stage;
	enum wording wording;
	bool is_first;             /* told before those that are told already */
} rules[] = {
	{NULL, "TableName", "", STAGE_FIRST, WORDS_SILENT, false},
	{&shape_query_input, "Limit", NULL, STAGE_FIRST, WORDS_SILENT, true},
	{&shape_query_input, "TableName", NULL, STAGE_MEMBERS, WORDS_USUAL, true},
	{&shape_query_input, "Select", NULL, STAGE_LATE, WORDS_USUAL, false},
	{&shape_update_item_input, "TableName", NULL, STAGE_NAME, WORDS_USUAL, false},
	{&shape_update_item_input, "ReturnValues", NULL, STAGE_MEMBERS, WORDS_FIXED, false},
	{&shape_update_item_input, "ReturnValuesOnConditionCheckFailure", NULL, STAGE_SECOND, WORDS_BARE, false},
	{&shape_update_item_input, "ReturnItemCollectionMetrics", NULL, STAGE_THIRD, WORDS_USUAL, false},
	{&shape_update_item_input, "ReturnConsumedCapacity", NULL, STAGE_FOURTH, WORDS_BARE, false},
	{NULL, "ReturnValues", NULL, STAGE_MEMBERS, WORDS_FIXED, false},
};

static const struct rule *rule_of(const struct walk *walk, const struct place *place, struct str value)
{
	static const struct rule older = {.stage = STAGE_NAME}, usual = {.stage = STAGE_MEMBERS};
	/* the older layer: before all others it tells that CreateTable names no table */
	static const struct rule no_table = {.stage = STAGE_FIRST, .wording = WORDS_ABSENT};

	if (walk->is_older)
		return walk->input == &shape_create_table_input && !place->parent && !str_is_set(value) && str_eq(place->name, STR("TableName"))
			       ? &no_table
			       : &older;
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]) && !place->parent; i++) {
		const struct rule *rule = &rules[i];

		if ((!rule->input || rule->input == walk->input) && str_eq(place->name, str_of(rule->member)) &&
		    (!rule->value || str_eq(value, str_of(rule->value))))
			return rule;
	}
	return &usual;
}

static void write_name(const struct place *place, struct buf *out)
{
	char first = place->name.n ? place->name.p[0] : '\0';

	if (!str_is_set(place->name)) {
		buf_printf(out, "%zu", place->element);
	} else if (place->is_member && first >= 'A' && first <= 'Z') {
		buf_add_byte(out, first - 'A' + 'a');
		buf_add(out, place->name.p + 1, place->name.n - 1);
	} else {
		buf_add_str(out, place->name);
	}
}

static void write_place(const struct place *place, struct buf *out)
{
	if (!place)
		return;
	write_place(place->parent, out);
	if (place->parent)
		buf_add_byte(out, '.');
	write_name(place, out);
	if (!place->is_member)
		buf_add_lit(out, ".member");
}

/* Adds a breach to those that are told. */
static void tell(struct walk *walk, const struct rule *rule, struct str text)
{
	struct constraints *told = &walk->constraints;

	if (told->count == CONSTRAINTS_MAX || (told->count > 0 && rule->stage > told->stage))
		return;
	if (told->count > 0 && rule->stage < told->stage)
		*told = (struct constraints){0};
	told->stage = rule->stage;
	told->is_bare = rule->wording == WORDS_BARE || rule->wording == WORDS_ABSENT;
	if (told->count++ == 0)
		told->text = text;
	else if (rule->is_first)
		told->text = str_printf(walk->arena, STR_FMT "; " STR_FMT, STR_ARG(text), STR_ARG(told->text));
	else
		told->text = str_printf(walk->arena, STR_FMT "; " STR_FMT, STR_ARG(told->text), STR_ARG(text));
}

void shape_breach(struct walk *walk, const struct place *place, struct str value, const char *format, ...)
{
	const struct rule *rule = rule_of(walk, place, value);
	struct buf text = buf_in(walk->arena);
	va_list ap;

	if (rule->wording == WORDS_FIXED) {
		tell(walk, rule, STR(TEXT_RETURN_VALUES));
		return;
	}
	if (rule->wording == WORDS_ABSENT) {
		tell(walk, rule, str_printf(walk->arena, TEXT_PARAMETER_REQUIRED, STR_ARG(place->name)));
		return;
	}
	if (rule->wording == WORDS_SILENT) {
		buf_printf(&text, "Value at '" STR_FMT, STR_ARG(place->name));
	} else {
		if (str_is_set(value))
			buf_printf(&text, "Value '" STR_FMT "' at '", STR_ARG(value));
		else
			buf_add_lit(&text, "Value null at '");
		write_place(place, &text);
	}
	buf_add_lit(&text, "' failed to satisfy constraint: ");
	va_start(ap, format);
	buf_add_str(&text, str_vprintf(walk->arena, format, ap));
	va_end(ap);
	tell(walk, rule, buf_str(&text));
}

void shape_check_length(struct walk *walk, const struct shape *shape, const struct place *place, struct str shown, size_t length)
{
	if (shape->max != NO_MAX && length > (size_t)shape->max)
		shape_breach(walk, place, shown, "Member must have length less than or equal to %ld", shape->max);
	if (shape->min != NO_MIN && length < (size_t)shape->min)
		shape_breach(walk, place, shown, "Member must have length greater than or equal to %ld", shape->min);
}

/* Patterns of the model are all one class repeated, "[a-zA-Z0-9_.-]+": ranges, single characters, a '-' at the end. */
static bool matches(const char *pattern, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		bool found = false;

		for (const char *p = pattern + 1; *p && *p != ']' && !found; p++) {
			if (p[1] == '-' && p[2] != ']') {
				found = s.p[i] >= p[0] && s.p[i] <= p[2];
				p += 2;
			} else {
				found = s.p[i] == *p;
			}
		}
		if (!found)
			return false;
	}
	return s.n > 0;
}

/* The operations on items whose table is a member of the request. */
static bool is_of_items(const struct walk *walk)
{
	static const struct shape *const inputs[] = {
		&shape_put_item_input, &shape_get_item_input, &shape_update_item_input, &shape_delete_item_input, &shape_query_input, &shape_scan_input,
	};

	for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
		if (walk->input == inputs[i])
			return true;
	}
	return false;
}

/* AWS: of the names of tables and indexes the operations on tables tell the length before the letters, an empty one too. */
static void check_name(struct walk *walk, const struct shape *shape, const struct place *place, struct str name, const char *pattern)
{
	shape_check_length(walk, shape, place, name, utf8_utf16_length(name));
	if (!matches(pattern, name))
		shape_breach(walk, place, name, "Member must satisfy regular expression pattern: %s", pattern);
}

/* A table's name. AWS: the newer layer tells its length or else its letters, but of UpdateItem's both. */
static void check_table(struct walk *walk, const struct shape *shape, const struct place *place, struct str name)
{
	const char *pattern = shape->pattern + sizeof(ARN_OR) - 1;
	bool is_one = !walk->is_older && walk->input != &shape_update_item_input;
	size_t length = utf8_utf16_length(name);

	if (str_starts_with(name, STR("arn:")))
		return;
	if (walk->is_older && !place->parent && !is_of_items(walk)) {
		check_name(walk, shape, place, name, pattern);
		return;
	}
	if (name.n == 0) {
		shape_breach(walk, place, name, "Member must have length greater than or equal to 1");
		return;
	}
	if (walk->is_left && length < (size_t)shape->min)
		return; /* AWS: the older layer's least length of a table's name is 1 here; the name is refused when it is looked up */
	if (!matches(pattern, name) && !(is_one && (length < (size_t)shape->min || length > (size_t)shape->max)))
		shape_breach(walk, place, name, "Member must satisfy regular expression pattern: %s", pattern);
	shape_check_length(walk, shape, place, name, length);
}

void shape_check_text(struct walk *walk, const struct shape *shape, const struct place *place, struct str text)
{
	if (shape->pattern && strncmp(shape->pattern, ARN_OR, sizeof(ARN_OR) - 1) == 0) {
		check_table(walk, shape, place, text);
		return;
	}
	if (walk->is_older && strcmp(shape->name, "IndexName") == 0) {
		check_name(walk, shape, place, text, shape->pattern);
		return;
	}
	if (shape->pattern && !matches(shape->pattern, text))
		shape_breach(walk, place, text, "Member must satisfy regular expression pattern: %s", shape->pattern);
	if (shape->max != NO_MAX || shape->min != NO_MIN)
		shape_check_length(walk, shape, place, text, utf8_utf16_length(text));
}

void shape_check_integer(struct walk *walk, const struct shape *shape, const struct place *place, int64_t value)
{
	struct str shown = STR_ABSENT;

	if ((shape->max == NO_MAX || value <= shape->max) && (shape->min == NO_MIN || value >= shape->min))
		return;
	shown = str_printf(walk->arena, "%lld", (long long)value);
	if (shape->max != NO_MAX && value > shape->max)
		shape_breach(walk, place, shown, "Member must have value less than or equal to %ld", shape->max);
	else
		shape_breach(walk, place, shown, "Member must have value greater than or equal to %ld", shape->min);
}

void shape_check_enum(struct walk *walk, const struct shape *shape, const struct place *place, struct str text)
{
	struct buf set = buf_in(walk->arena);

	for (size_t i = 0; i < shape->count; i++)
		buf_printf(&set, "%s%s", i ? ", " : "", shape->texts[i]);
	shape_breach(walk, place, text, "Member must satisfy enum value set: [" STR_FMT "]", STR_ARG(buf_str(&set)));
}

/* PutItem and DeleteItem: the newer layer counts a ReturnValues that they do not know among the constraints. */
static void check_return_values(struct walk *walk, const void *input)
{
	int given = walk->input == &shape_put_item_input ? ((const struct put_item_input *)input)->return_values :
		    walk->input == &shape_delete_item_input ? ((const struct delete_item_input *)input)->return_values : 0;
	static const struct rule rule = {.stage = STAGE_MEMBERS};

	if (!walk->is_older && given && given != RETURN_VALUE_NONE && given != RETURN_VALUE_ALL_OLD)
		tell(walk, &rule, STR(TEXT_RETURN_VALUES_OLD));
}

enum code shape_check_all(struct walk *walk, const void *input, struct err *late_err)
{
	const struct constraints *told = &walk->constraints;

	check_return_values(walk, input);
	if (told->count == 0)
		return OK;
	struct err *err = told->stage == STAGE_LATE ? late_err : walk->err;
	enum code code = told->is_bare ? err_set(err, MSG_CONSTRAINT_BARE, STR_ARG(told->text)) :
					 err_set(err, MSG_CONSTRAINTS, told->count, told->count > 1 ? "s" : "", STR_ARG(told->text));
	return told->stage == STAGE_LATE ? OK : code;
}
