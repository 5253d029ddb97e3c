#include "protocol/wire/shape_walk.h"

#include "core/utf8.h"
#include "protocol/wire/echo.h"
#include "protocol/wire/messages.h"

#define ARN_OR "arn:|"     /* begins the pattern of what may be an ARN instead */
#define CONSTRAINTS_MAX 10 /* errors that AWS lists at most */

/* The stages of the newer layer; most of the older one's are STAGE_MEMBERS. */
enum {
	STAGE_FIRST,
	STAGE_NAME,
	STAGE_MEMBERS,
	STAGE_SECOND,
	STAGE_THIRD,
	STAGE_FOURTH,
	STAGE_LATE
};

enum wording {
	WORDS_USUAL,
	WORDS_BARE,     /* without the envelope */
	WORDS_SILENT,   /* without the value: "Value at 'Limit'" */
	WORDS_QUIET,    /* the same: "Value at 'sequenceNumber'" */
	WORDS_FIXED,    /* TEXT_RETURN_VALUES, whatever the value */
	WORDS_ABSENT,   /* TEXT_PARAMETER_REQUIRED, bare */
	WORDS_REQUIRED, /* TEXT_BATCH_EMPTY, bare */
};

enum {
	RULE_BEFORE = 1,  /* listed before the breaches that its stage has already */
	RULE_NESTED = 2,  /* the member stands in a structure of the input's */
	RULE_MISSING = 4, /* the member that is not given */
};

/*
 * The newer layer lists the broken constraints of all members in the order of the shape. These rows
 * are its exceptions; the first row that fits counts. UpdateItem stops at its first enumeration.
 */
static const struct rule {
	const struct shape *input; /* NULL: any with the traits */
	const char *member;
	const char *value;         /* NULL: any that is given */
	unsigned stage;
	enum wording wording;
	unsigned which;            /* of RULE_... */
	unsigned traits;           /* of the input */
} rules[] = {
	{NULL, "TableName", "", STAGE_FIRST, WORDS_SILENT, 0, 0},
	{&shape_batch_get_item_input, "RequestItems", "{}", STAGE_FIRST, WORDS_SILENT, 0, 0},
	{&shape_batch_get_item_input, "Keys", "[]", STAGE_FIRST, WORDS_SILENT, RULE_NESTED, 0},
	{&shape_batch_write_item_input, "RequestItems", "{}", STAGE_FIRST, WORDS_SILENT, 0, 0},
	{NULL, "TransactItems", "[]", STAGE_FIRST, WORDS_SILENT, 0, OF_ACTIONS},
	{&shape_scan_input, "Limit", NULL, STAGE_FIRST, WORDS_SILENT, RULE_BEFORE, 0},
	{&shape_scan_input, "Segment", NULL, STAGE_FIRST, WORDS_SILENT, RULE_BEFORE, 0},
	{&shape_scan_input, "TotalSegments", NULL, STAGE_FIRST, WORDS_SILENT, 0, 0},
	{&shape_scan_input, "TableName", NULL, STAGE_MEMBERS, WORDS_USUAL, RULE_BEFORE, 0},
	{&shape_scan_input, "Select", NULL, STAGE_LATE, WORDS_USUAL, 0, 0},
	{&shape_query_input, "Limit", NULL, STAGE_FIRST, WORDS_SILENT, RULE_BEFORE, 0},
	{&shape_query_input, "TableName", NULL, STAGE_MEMBERS, WORDS_USUAL, RULE_BEFORE, 0},
	{&shape_query_input, "Select", NULL, STAGE_LATE, WORDS_USUAL, 0, 0},
	{&shape_update_item_input, "TableName", NULL, STAGE_NAME, WORDS_USUAL, 0, 0},
	{&shape_update_item_input, "ReturnValues", NULL, STAGE_MEMBERS, WORDS_FIXED, 0, 0},
	{&shape_update_item_input, "ReturnValuesOnConditionCheckFailure", NULL, STAGE_SECOND,
	 WORDS_BARE, 0, 0},
	{&shape_update_item_input, "ReturnItemCollectionMetrics", NULL, STAGE_THIRD, WORDS_USUAL, 0,
	 0},
	{&shape_update_item_input, "ReturnConsumedCapacity", NULL, STAGE_FOURTH, WORDS_BARE, 0, 0},
	{NULL, "ReturnValues", NULL, STAGE_MEMBERS, WORDS_FIXED, 0, 0},
};

/*
 * The same of the older layer. It checks the names of a transaction's tables once it knows that
 * each item is one action. In a request about items it lists an ill-formed name behind all other
 * members.
 */
static const struct rule older_rules[] = {
	{&shape_create_table_input, "TableName", NULL, STAGE_FIRST, WORDS_ABSENT, RULE_MISSING, 0},
	{&shape_batch_write_item_input, "RequestItems", "{}", STAGE_FIRST, WORDS_REQUIRED, 0, 0},
	{&shape_batch_get_item_input, "RequestItems", "{}", STAGE_FIRST, WORDS_REQUIRED, 0, 0},
	{NULL, "TableName", "", STAGE_MEMBERS, WORDS_USUAL, 0, 0},
	{&shape_put_item_input, "ReturnValues", NULL, STAGE_MEMBERS, WORDS_USUAL, RULE_BEFORE, 0},
	{NULL, "TableName", NULL, STAGE_SECOND, WORDS_USUAL, 0, OF_ITEMS},
	{NULL, "TableName", NULL, STAGE_LATE, WORDS_USUAL, RULE_NESTED, OF_ACTIONS},
	{&shape_get_shard_iterator_input, "SequenceNumber", NULL, STAGE_MEMBERS, WORDS_QUIET, 0, 0},
};

static bool is_for(const struct rule *rule, const struct walk *walk, const struct place *place,
		   struct str value)
{
	bool is_nested = rule->which & RULE_NESTED, is_missing = rule->which & RULE_MISSING;

	if ((rule->input && rule->input != walk->input) ||
	    (walk->input->traits & rule->traits) != rule->traits)
		return false;
	if (is_nested != (place->parent != NULL) || !str_eq(place->name, str_of(rule->member)))
		return false;
	return rule->value ? str_eq(value, str_of(rule->value)) : is_missing != str_is_set(value);
}

static const struct rule *rule_of(const struct walk *walk, const struct place *place,
				  struct str value)
{
	static const struct rule usual = {.stage = STAGE_MEMBERS};
	const struct rule *table = walk->is_older ? older_rules : rules;
	size_t n = walk->is_older ? sizeof(older_rules) / sizeof(older_rules[0])
				  : sizeof(rules) / sizeof(rules[0]);

	for (size_t i = 0; i < n; i++) {
		if (is_for(&table[i], walk, place, value))
			return &table[i];
	}
	return &usual;
}

/* `is_raw`: capital letters stay. */
static void write_name(const struct place *place, bool is_raw, struct buf *out)
{
	char first = place->name.n ? place->name.p[0] : '\0';

	if (!str_is_set(place->name)) {
		buf_printf(out, "%zu", place->element);
	} else if (!is_raw && place->is_member && first >= 'A' && first <= 'Z') {
		buf_add_byte(out, first - 'A' + 'a');
		buf_add(out, place->name.p + 1, place->name.n - 1);
	} else {
		buf_add_str(out, place->name);
	}
}

static void write_constraint_place(const struct place *place, bool is_raw, struct buf *out)
{
	if (!place)
		return;
	write_constraint_place(place->parent, is_raw, out);
	if (place->parent)
		buf_add_byte(out, '.');
	write_name(place, is_raw, out);
	if (!place->is_member)
		buf_add_lit(out, ".member");
}

/* Adds a breach to the list of the error. */
static void list_breach(struct walk *walk, const struct rule *rule, struct str text)
{
	struct constraints *listed = &walk->constraints;

	if (listed->count == CONSTRAINTS_MAX || (listed->count > 0 && rule->stage > listed->stage))
		return;
	if (listed->count > 0 && rule->stage < listed->stage)
		*listed = (struct constraints){0};
	listed->stage = rule->stage;
	listed->is_bare = rule->wording == WORDS_BARE || rule->wording == WORDS_ABSENT ||
			  rule->wording == WORDS_REQUIRED;
	if (listed->count++ == 0)
		listed->text = text;
	else if (rule->which & RULE_BEFORE)
		listed->text = str_printf(walk->arena, STR_FMT "; " STR_FMT, STR_ARG(text),
					  STR_ARG(listed->text));
	else
		listed->text = str_printf(walk->arena, STR_FMT "; " STR_FMT, STR_ARG(listed->text),
					  STR_ARG(text));
}

static void breach(struct walk *walk, const struct rule *rule, const struct place *place,
		   struct str value, struct str what)
{
	struct buf text = buf_in(walk->arena);

	if (rule->wording == WORDS_FIXED) {
		list_breach(walk, rule, STR(TEXT_RETURN_VALUES));
		return;
	}
	if (rule->wording == WORDS_REQUIRED) {
		const struct str operation = {walk->input->name,
					      strlen(walk->input->name) - strlen("Input")};

		list_breach(walk, rule,
			    str_printf(walk->arena, TEXT_BATCH_EMPTY, STR_ARG(operation)));
		return;
	}
	if (rule->wording == WORDS_ABSENT) {
		list_breach(walk, rule,
			    str_printf(walk->arena, TEXT_PARAMETER_REQUIRED, STR_ARG(place->name)));
		return;
	}
	if (rule->wording == WORDS_SILENT || rule->wording == WORDS_QUIET)
		buf_add_lit(&text, "Value at '");
	else if (str_is_set(value))
		buf_printf(&text, "Value '" STR_FMT "' at '", STR_ARG(value));
	else
		buf_add_lit(&text, "Value null at '");
	write_constraint_place(place, rule->wording == WORDS_SILENT, &text);
	buf_printf(&text, "' failed to satisfy constraint: " STR_FMT, STR_ARG(what));
	list_breach(walk, rule, buf_str(&text));
}

void shape_breach(struct walk *walk, const struct place *place, struct str value,
		  const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	breach(walk, rule_of(walk, place, value), place, value,
	       str_vprintf(walk->arena, format, ap));
	va_end(ap);
}

void shape_check_length(struct walk *walk, const struct shape *shape, const struct place *place,
			struct str shown, size_t length)
{
	if (shape->max != NO_MAX && length > (size_t)shape->max)
		shape_breach(walk, place, shown,
			     "Member must have length less than or equal to %ld", shape->max);
	if (shape->min != NO_MIN && length < (size_t)shape->min)
		shape_breach(walk, place, shown,
			     "Member must have length greater than or equal to %ld", shape->min);
}

/* AWS: operations on tables, and transactions, list the length of a name before its letters, also
 * for an empty name. */
static void check_name(struct walk *walk, const struct shape *shape, const struct place *place,
		       struct str name, const char *pattern)
{
	shape_check_length(walk, shape, place, name, utf8_length(name));
	if (!shape_pattern_matches(pattern, name))
		shape_breach(walk, place, name,
			     "Member must satisfy regular expression pattern: %s", pattern);
}

/* A table's name. AWS: operations on items list its length or else its letters; the newer layer of
 * UpdateItem lists both. */
static void check_table_name_or_arn(struct walk *walk, const struct shape *shape,
				    const struct place *place, struct str name)
{
	const char *pattern = shape->pattern + sizeof(ARN_OR) - 1;
	bool is_of_items = walk->input->traits & OF_ITEMS,
	     is_one = is_of_items && (walk->is_older || !(walk->input->traits & ALL_OF_NAME));
	size_t length = utf8_length(name);

	if (str_starts_with(name, STR("arn:")))
		return;
	if (walk->is_older && (place->parent || !is_of_items)) {
		check_name(walk, shape, place, name, pattern);
		return;
	}
	if (name.n == 0) {
		shape_breach(walk, place, name,
			     "Member must have length greater than or equal to 1");
		return;
	}
	if (!shape_pattern_matches(pattern, name) &&
	    !(is_one && (length < (size_t)shape->min || length > (size_t)shape->max)))
		shape_breach(walk, place, name,
			     "Member must satisfy regular expression pattern: %s", pattern);
	shape_check_length(walk, shape, place, name, length);
}

void shape_check_text(struct walk *walk, const struct shape *shape, const struct place *place,
		      struct str text)
{
	if (shape->pattern && strncmp(shape->pattern, ARN_OR, sizeof(ARN_OR) - 1) == 0) {
		check_table_name_or_arn(walk, shape, place, text);
		return;
	}
	if (walk->input->traits & INDEX_FIRST && shape->traits & LENGTH_FIRST &&
	    utf8_length(text) - (size_t)shape->min > (size_t)(shape->max - shape->min)) {
		static const struct rule rule = {.stage = STAGE_FIRST, .wording = WORDS_BARE};

		list_breach(walk, &rule, STR(TEXT_INDEX_NAME_LENGTH));
		return;
	}
	if (walk->is_older && shape->traits & LENGTH_FIRST) {
		check_name(walk, shape, place, text, shape->pattern);
		return;
	}
	if (shape->pattern && !shape_pattern_matches(shape->pattern, text))
		shape_breach(walk, place, text,
			     "Member must satisfy regular expression pattern: %s", shape->pattern);
	if (shape->max != NO_MAX || shape->min != NO_MIN)
		shape_check_length(walk, shape, place, text, utf8_length(text));
}

void shape_check_integer(struct walk *walk, const struct shape *shape, const struct place *place,
			 int64_t value)
{
	struct str shown = STR_ABSENT;

	if ((shape->max == NO_MAX || value <= shape->max) &&
	    (shape->min == NO_MIN || value >= shape->min))
		return;
	shown = str_printf(walk->arena, "%lld", (long long)value);
	if (shape->max != NO_MAX && value > shape->max)
		shape_breach(walk, place, shown, "Member must have value less than or equal to %ld",
			     shape->max);
	else
		shape_breach(walk, place, shown,
			     "Member must have value greater than or equal to %ld", shape->min);
}

void shape_check_enum(struct walk *walk, const struct shape *shape, const struct place *place,
		      struct str text)
{
	struct buf set = buf_in(walk->arena);

	for (size_t i = 0; i < shape->count; i++)
		buf_printf(&set, "%s%s", i ? ", " : "", shape->texts[i]);
	shape_breach(walk, place, text, "Member must satisfy enum value set: [" STR_FMT "]",
		     STR_ARG(buf_str(&set)));
}

bool shape_is_key(const struct shape *shape, struct str key)
{
	size_t length = utf8_length(key);

	if (str_starts_with(key, STR("arn:")))
		return true;
	return shape_pattern_matches(shape->pattern + sizeof(ARN_OR) - 1, key) &&
	       length >= (size_t)shape->min && length <= (size_t)shape->max;
}

void shape_check_map(struct walk *walk, const struct shape *shape, const struct place *place,
		     const struct json *json, struct broken broken)
{
	static const struct rule late = {.stage = STAGE_LATE}, usual = {.stage = STAGE_MEMBERS};
	const struct shape *key = shape->key, *value = shape->element;
	struct str shown;

	if (!broken.key && !broken.value)
		return;
	shown = walk->is_older ? echo_java(walk->arena, shape, json) : echo_json(walk->arena, json);
	if (broken.value)
		shape_breach(walk, place, shown,
			     "Map value must satisfy constraint: [Member must have length less "
			     "than or equal to %ld, Member "
			     "must have length greater than or equal to %ld]",
			     value->max, value->min);
	if (broken.key)
		breach(walk, walk->is_older ? &late : &usual, place, shown,
		       str_printf(walk->arena,
				  "Map keys must satisfy constraint: [Member must have length less "
				  "than or equal to %ld, Member must "
				  "have length greater than or equal to %ld, Member must satisfy "
				  "regular expression pattern: %s]",
				  key->max, key->min, key->pattern + sizeof(ARN_OR) - 1));
}

enum code shape_check_all(struct walk *walk, struct err *late_err)
{
	const struct constraints *listed = &walk->constraints;
	static const struct rule usual = {.stage = STAGE_MEMBERS};

	if (walk->is_untaken && !walk->is_older)
		list_breach(walk, &usual, STR(TEXT_RETURN_VALUES_OLD));
	if (listed->count == 0)
		return OK;
	if (arena_is_over(walk->arena))
		return err_default(walk->err, ERR_SERVICE_UNAVAILABLE);
	struct err *err = listed->stage == STAGE_LATE ? late_err : walk->err;
	enum code code = listed->is_bare
				 ? err_set(err, MSG_CONSTRAINT_BARE, STR_ARG(listed->text))
				 : err_set(err, MSG_CONSTRAINTS, listed->count,
					   listed->count > 1 ? "s" : "", STR_ARG(listed->text));
	return listed->stage == STAGE_LATE ? OK : code;
}
