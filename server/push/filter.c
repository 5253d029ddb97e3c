#include "server/push/filter.h"

#include <string.h>

#include "core/err.h"

/* A rule of a list: {NAME: operand}. `value` is what the record holds there: neither a list nor an
 * object, never NULL. */
struct operator {
	struct str name;
	bool (*is_operand)(struct arena *arena, const struct json *operand);
	bool (*holds)(struct arena *arena, const struct json *operand, const struct json *value);
};

static const struct operator *find_operator(struct arena *arena, const struct json *rule);

static bool is_scalar(const struct json *value)
{
	return json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY;
}

/* AWS: character by character; case counts. */
static bool is_same_json(struct arena *arena, const struct json *a, const struct json *b)
{
	if (json_type(a) != json_type(b))
		return false;
	switch (json_type(a)) {
	case JSON_NULL:
		return true;
	case JSON_BOOLEAN:
		return json_boolean(a) == json_boolean(b);
	case JSON_NUMBER:
		return json_number(a) == json_number(b);
	case JSON_STRING:
		return str_eq(json_string(arena, a), json_string(arena, b));
	case JSON_ARRAY:
	case JSON_OBJECT:
		break;
	}
	return false;
}

static bool is_text(struct arena *arena, const struct json *operand)
{
	(void)arena;
	return json_type(operand) == JSON_STRING;
}

static bool is_flag(struct arena *arena, const struct json *operand)
{
	(void)arena;
	return json_type(operand) == JSON_BOOLEAN;
}

/* Both as texts; false where the value is none. */
static bool as_texts(struct arena *arena, const struct json *operand, const struct json *value,
		     struct str *wanted, struct str *text)
{
	*wanted = json_string(arena, operand);
	*text = json_type(value) == JSON_STRING ? json_string(arena, value) : STR_ABSENT;
	return json_type(value) == JSON_STRING;
}

static bool has_prefix(struct arena *arena, const struct json *operand, const struct json *value)
{
	struct str wanted, text;

	return as_texts(arena, operand, value, &wanted, &text) && str_starts_with(text, wanted);
}

static bool has_suffix(struct arena *arena, const struct json *operand, const struct json *value)
{
	struct str wanted, text;

	return as_texts(arena, operand, value, &wanted, &text) && text.n >= wanted.n &&
	       str_eq((struct str){text.p + text.n - wanted.n, wanted.n}, wanted);
}

static bool is_same_word(struct arena *arena, const struct json *operand, const struct json *value)
{
	struct str wanted, text;

	return as_texts(arena, operand, value, &wanted, &text) && str_eq_nocase(text, wanted);
}

static bool exists(struct arena *arena, const struct json *operand, const struct json *value)
{
	(void)arena, (void)value;
	return json_boolean(operand);
}

enum comparison { EQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, COMPARISONS };

static enum comparison comparison_of(struct arena *arena, const struct json *operator)
{
	static const struct str signs[] = {STR_INIT("="), STR_INIT("<"), STR_INIT("<="),
					   STR_INIT(">"), STR_INIT(">=")};

	for (int i = EQUAL; i < COMPARISONS && json_type(operator) == JSON_STRING; i++) {
		if (str_eq(json_string(arena, operator), signs[i]))
			return (enum comparison)i;
	}
	return COMPARISONS;
}

/* [operator, number], once or twice */
static bool is_range(struct arena *arena, const struct json *operand)
{
	if (json_type(operand) != JSON_ARRAY ||
	    (json_count(operand) != 2 && json_count(operand) != 4))
		return false;
	for (const struct json *at = json_first(operand); at; at = json_next(json_next(at))) {
		if (comparison_of(arena, at) == COMPARISONS ||
		    json_type(json_next(at)) != JSON_NUMBER)
			return false;
	}
	return true;
}

static bool is_within_range(struct arena *arena, const struct json *operand,
			    const struct json *value)
{
	if (json_type(value) != JSON_NUMBER)
		return false;
	for (const struct json *at = json_first(operand); at; at = json_next(json_next(at))) {
		double is = json_number(value), bound = json_number(json_next(at));
		const bool holds[] = {
			[EQUAL] = is == bound,
			[LESS] = is<bound, [LESS_EQUAL] = is <= bound, [GREATER] = is> bound,
			[GREATER_EQUAL] = is >= bound};

		if (!holds[comparison_of(arena, at)])
			return false;
	}
	return true;
}

/* A value, a list of values, or {"prefix": ...} and the like. */
static bool is_exception(struct arena *arena, const struct json *operand)
{
	const struct operator* operator= json_type(operand) == JSON_OBJECT
		? find_operator(arena, operand)
		: NULL;

	if (json_type(operand) == JSON_OBJECT)
		return operator&& operator->is_operand == is_text &&
			is_text(arena, json_first(operand));
	if (json_type(operand) != JSON_ARRAY)
		return json_type(operand) != JSON_NULL;
	for (const struct json *one = json_first(operand); one; one = json_next(one)) {
		if (json_type(one) != JSON_STRING && json_type(one) != JSON_NUMBER)
			return false;
	}
	return json_count(operand) > 0;
}

static bool is_anything_but(struct arena *arena, const struct json *operand,
			    const struct json *value)
{
	if (json_type(operand) == JSON_OBJECT)
		return !find_operator(arena, operand)->holds(arena, json_first(operand), value);
	if (json_type(operand) != JSON_ARRAY)
		return !is_same_json(arena, operand, value);
	for (const struct json *one = json_first(operand); one; one = json_next(one)) {
		if (is_same_json(arena, one, value))
			return false;
	}
	return true;
}

static const struct operator operators[] = {
	{STR_INIT("prefix"), is_text, has_prefix},
	{STR_INIT("suffix"), is_text, has_suffix},
	{STR_INIT("equals-ignore-case"), is_text, is_same_word},
	{STR_INIT("anything-but"), is_exception, is_anything_but},
	{STR_INIT("numeric"), is_range, is_within_range},
	{STR_INIT("exists"), is_flag, exists},
};

/* NULL where the rule is not {NAME: operand} with a name of these. */
static const struct operator *find_operator(struct arena *arena, const struct json *rule)
{
	for (size_t i = 0; json_count(rule) == 1 && i < sizeof(operators) / sizeof(operators[0]);
	     i++) {
		if (str_eq(json_name(arena, json_first(rule)), operators[i].name))
			return &operators[i];
	}
	return NULL;
}

static bool is_rule(struct arena *arena, const struct json *rule)
{
	if (json_type(rule) != JSON_OBJECT)
		return is_scalar(rule);
	const struct operator *operator = find_operator(arena, rule);

	return operator && operator->is_operand(arena, json_first(rule));
}

/* Whether the rule is {"exists": false}, which holds where there is no value. */
static bool wants_nothing(struct arena *arena, const struct json *rule)
{
	if (json_type(rule) != JSON_OBJECT)
		return false;
	const struct operator *operator = find_operator(arena, rule);

	return operator->holds == exists && !json_boolean(json_first(rule));
}

static bool rule_holds(struct arena *arena, const struct json *rule, const struct json *value)
{
	if (json_type(rule) != JSON_OBJECT)
		return is_same_json(arena, rule, value);
	return find_operator(arena, rule)->holds(arena, json_first(rule), value);
}

/* Of a list any element counts, of lists in it too. The depth is bounded by the parser's. */
static bool filter_has_value(struct arena *arena, const struct json *rules,
			     const struct json *value, bool *is_there)
{
	if (json_type(value) == JSON_OBJECT)
		return false;
	if (json_type(value) == JSON_ARRAY) {
		for (const struct json *one = json_first(value); one; one = json_next(one)) {
			if (filter_has_value(arena, rules, one, is_there))
				return true;
		}
		return false;
	}
	*is_there = true;
	for (const struct json *rule = json_first(rules); rule; rule = json_next(rule)) {
		if (rule_holds(arena, rule, value))
			return true;
	}
	return false;
}

/* Whether one of the rules matches the record's value there, or its absence. */
static bool rules_hold(struct arena *arena, const struct json *rules, const struct json *value)
{
	bool is_there = false;

	if (value && filter_has_value(arena, rules, value, &is_there))
		return true;
	for (const struct json *rule = json_first(rules); rule && !is_there;
	     rule = json_next(rule)) {
		if (wants_nothing(arena, rule))
			return true;
	}
	return false;
}

static const struct json *filter_member_of(struct arena *arena, const struct json *object,
					   struct str name)
{
	if (!object || json_type(object) != JSON_OBJECT)
		return NULL;
	for (const struct json *member = json_first(object); member; member = json_next(member)) {
		if (str_eq(json_name(arena, member), name))
			return member;
	}
	return NULL;
}

static bool is_or(struct arena *arena, const struct json *member)
{
	return str_eq(json_name(arena, member), STR("$or")) && json_type(member) == JSON_ARRAY;
}

/* Also of NULL: a pattern may require absence. The depth is bounded by the parser's. */
static bool pattern_matches(struct arena *arena, const struct json *pattern,
			    const struct json *value)
{
	if (value && json_type(value) == JSON_ARRAY) {
		for (const struct json *one = json_first(value); one; one = json_next(one)) {
			if (pattern_matches(arena, pattern, one))
				return true;
		}
		return false;
	}
	for (const struct json *member = json_first(pattern); member; member = json_next(member)) {
		const struct json *at = filter_member_of(arena, value, json_name(arena, member));
		bool holds = false;

		if (is_or(arena, member)) {
			for (const struct json *one = json_first(member); one && !holds;
			     one = json_next(one))
				holds = pattern_matches(arena, one, value);
		} else {
			holds = json_type(member) == JSON_ARRAY
					? rules_hold(arena, member, at)
					: pattern_matches(arena, member, at);
		}
		if (!holds)
			return false;
	}
	return true;
}

bool filter_passes(const struct filter *filter, struct arena *arena, const struct json *record)
{
	for (size_t i = 0; i < filter->n; i++) {
		if (pattern_matches(arena, filter->patterns[i], record))
			return true;
	}
	return filter->n == 0;
}

/* The depth is bounded by the parser's. */
static bool is_filter_pattern(struct arena *arena, const struct json *pattern)
{
	if (json_type(pattern) != JSON_OBJECT || json_count(pattern) == 0)
		return false;
	for (const struct json *member = json_first(pattern); member; member = json_next(member)) {
		bool is_choice = is_or(arena, member);

		if (json_type(member) == JSON_OBJECT) {
			if (!is_filter_pattern(arena, member))
				return false;
			continue;
		}
		if (json_type(member) != JSON_ARRAY || json_count(member) == 0)
			return false;
		for (const struct json *one = json_first(member); one; one = json_next(one)) {
			if (is_choice ? !is_filter_pattern(arena, one) : !is_rule(arena, one))
				return false;
		}
	}
	return true;
}

/* One of "Filters": its pattern, or NULL. */
static const struct json *read_filter_pattern(struct arena *arena, const struct json *one)
{
	const struct json *pattern =
		json_type(one) == JSON_OBJECT ? json_member(one, "Pattern") : NULL;
	struct err err = err_in(arena);

	if (pattern && json_type(pattern) == JSON_STRING &&
	    json_parse(arena, json_string(arena, pattern), &pattern, &err) != OK)
		return NULL;
	return pattern && is_filter_pattern(arena, pattern) ? pattern : NULL;
}

static bool is_criteria(const struct json *value)
{
	const struct json *filters =
		json_type(value) == JSON_OBJECT ? json_member(value, "Filters") : NULL;

	return filters && json_type(filters) == JSON_ARRAY;
}

static bool read_criteria(struct arena *arena, const struct json *criteria, struct filter *out,
			  struct str *problem)
{
	const struct json *filters = json_member(criteria, "Filters");

	*out = (struct filter){0, ARENA_ARRAY(arena, const struct json *, json_count(filters) + 1)};
	for (const struct json *one = json_first(filters); one; one = json_next(one)) {
		const struct json *pattern = read_filter_pattern(arena, one);

		if (!pattern) {
			const struct json *text =
				json_type(one) == JSON_OBJECT ? json_member(one, "Pattern") : NULL;

			*problem = text && json_type(text) == JSON_STRING
					   ? json_string(arena, text)
					   : str_printf(arena, "Filters[%zu]", out->n);
			return false;
		}
		out->patterns[out->n++] = pattern;
	}
	return true;
}

bool filter_read(struct arena *arena, struct str text, struct str table, struct filter *out,
		 struct str *problem)
{
	struct err err = err_in(arena);
	const struct json *root;

	*out = (struct filter){0, NULL};
	*problem = text;
	if (json_parse(arena, text, &root, &err) != OK || json_type(root) != JSON_OBJECT)
		return false;
	if (is_criteria(root))
		return read_criteria(arena, root, out, problem);
	for (const struct json *of = json_first(root); of; of = json_next(of)) {
		struct filter filter;

		*problem = json_name(arena, of);
		if (!is_criteria(of) || !read_criteria(arena, of, &filter, problem))
			return false;
		if (str_eq(json_name(arena, of), table))
			*out = filter;
	}
	return true;
}
