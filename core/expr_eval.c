#include <stdlib.h>

#include "core/expr_internal.h"
#include "core/image.h"
#include "core/number.h"

#define IN_ORDERED_MIN 16 /* operands from which ordering them pays for a single item */

/* The top-level attribute, or NULL. */
static const struct value *subject_attribute(const struct subject *subject, struct str name)
{
	if (subject->item)
		return value_member(subject->item, name);
	if (!str_is_set(subject->image))
		return NULL;
	struct value found, *value;
	if (!image_get(subject->arena, subject->image, name, &found) || !value_is_set(&found))
		return NULL;
	value = ARENA_NEW(subject->arena, struct value);
	*value = found;
	return value;
}

struct subject subject_whole(const struct subject *subject)
{
	struct value *item = ARENA_NEW(subject->arena, struct value);

	if (subject->item || !str_is_set(subject->image) ||
	    !image_decode(subject->arena, subject->image, item))
		return *subject;
	return (struct subject){subject->arena, item, STR_ABSENT};
}

const struct value *subject_path(const struct subject *subject, const struct path *path)
{
	const struct value *value = subject_attribute(subject, path->steps[0].name);

	return value ? path_get(path, 1, value) : NULL;
}

/* Room for a computed value. Not in the arena, since a page has many rows. */
struct room {
	struct value value;
	char bytes[NUMBER_MAX];
};

/* The value of an operand, or NULL where an attribute is missing. */
typedef const struct value *operand_value(const struct node *, const struct subject *,
					  struct room *);

static const struct value *operand(const struct node *node, const struct subject *subject,
				   struct room *room);

static const struct value *size_of_operand(const struct node *node, const struct subject *subject,
					   struct room *room)
{
	const struct value *of = operand(node->args[0], subject, room);
	long size = of ? value_size_function(of) : -1;

	if (size < 0)
		return NULL;
	room->value =
		value_of_str(TYPE_N, (struct str){room->bytes, number_from_int(size, room->bytes)});
	return &room->value;
}

static bool node_holds(const struct node *node, const struct subject *subject);

/* Whether a condition holds is a BOOL. Depth is bounded by the parser. */
static const struct value *operand(const struct node *node, const struct subject *subject,
				   struct room *room)
{
	static operand_value *const evaluators[NODE_KINDS] = {
#define OPERAND(kind, name, arity, first, others, rules, type, evaluator) [NODE_##kind] = evaluator,
#include "core/nodes.def"
	};

	if (node->kind == NODE_VALUE)
		return &node->value;
	if (node->kind == NODE_PATH)
		return subject_path(subject, node->path);
	if (evaluators[node->kind])
		return evaluators[node->kind](node, subject, room);
	room->value = (struct value){.type = TYPE_BOOL, .boolean = node_holds(node, subject)};
	return &room->value;
}

static bool is_equal(const struct value *a, const struct value *b)
{
	return a && b && value_equal(a, b);
}

static bool is_unequal(const struct value *a, const struct value *b)
{
	return !is_equal(a, b);
}

static bool have_order(const struct value *a, const struct value *b)
{
	return a && b && a->type == b->type && type_is_scalar_key((enum type)a->type);
}

static bool is_less(const struct value *a, const struct value *b)
{
	return have_order(a, b) && value_compare(a, b) < 0;
}

static bool is_at_most(const struct value *a, const struct value *b)
{
	return have_order(a, b) && value_compare(a, b) <= 0;
}

static bool is_greater(const struct value *a, const struct value *b)
{
	return is_less(b, a);
}

static bool is_at_least(const struct value *a, const struct value *b)
{
	return is_at_most(b, a);
}

static bool begins_with(const struct value *a, const struct value *b)
{
	return a && b && a->type == b->type && (a->type == TYPE_S || a->type == TYPE_B) &&
	       str_starts_with(value_str(a), value_str(b));
}

static bool contains(struct arena *arena, const struct value *a, const struct value *b)
{
	if (!a || !b)
		return false;
	if (a->type == TYPE_S || a->type == TYPE_B)
		return a->type == b->type && str_contains(value_str(a), value_str(b));
	if (type_is_set((enum type)a->type))
		return type_element((enum type)a->type) == b->type && value_set_has(a, b);
	for (uint32_t i = 0; a->type == TYPE_L && i < a->n; i++) {
		if (value_equal(&a->elements[i], b))
			return true;
		if (i % ARENA_LOOK == ARENA_LOOK - 1 &&
		    !arena_works(arena, ARENA_LOOK)) /* a list can be long */
			return false;
	}
	return false;
}

/*
 * The cost of a comparison with the value, in steps of the arena. A list or map counts enough to
 * make the arena read the clock, since only a walk would show its size.
 */
static size_t steps_of(const struct value *value)
{
	return value->type == TYPE_L || value->type == TYPE_M ? ARENA_LOOK : 1 + value->n / 8;
}

static bool is_scalar(const struct value *value)
{
	return value->type == TYPE_S || value->type == TYPE_N || value->type == TYPE_B;
}

/* Any order of scalars in which only equal ones are alike: numbers have one form each. */
static int scalar_order(const struct value *a, const struct value *b)
{
	if (a->type != b->type)
		return a->type < b->type ? -1 : 1;
	if (a->n != b->n)
		return a->n < b->n ? -1 : 1;
	return str_cmp(value_str(a), value_str(b));
}

static int by_scalar_order(const void *a, const void *b)
{
	return scalar_order(*(const struct value *const *)a, *(const struct value *const *)b);
}

void expr_order_in(struct arena *arena, struct node *node)
{
	unsigned n = node->arg_count - 1;

	for (unsigned i = 1; i <= n; i++) {
		if (n < IN_ORDERED_MIN || node->args[i]->kind != NODE_VALUE ||
		    !is_scalar(&node->args[i]->value))
			return;
	}
	node->ordered = ARENA_ARRAY(arena, const struct value *, n);
	for (unsigned i = 0; i < n; i++)
		node->ordered[i] = &node->args[i + 1]->value;
	qsort(node->ordered, n, sizeof(*node->ordered), by_scalar_order);
}

/* One in a hundred is found by seven comparisons. */
static bool is_in_ordered(const struct node *node, const struct value *value)
{
	unsigned low = 0, high = node->arg_count - 1;

	while (low < high && is_scalar(value)) {
		unsigned middle = low + (high - low) / 2;
		int order = scalar_order(value, node->ordered[middle]);

		if (order == 0)
			return true;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

static bool is_in(const struct node *node, const struct subject *subject)
{
	struct room room, other;
	const struct value *value = operand(node->args[0], subject, &room);
	size_t steps = value ? steps_of(value) : 1;

	if (node->ordered)
		return value && arena_works(subject->arena, steps) && is_in_ordered(node, value);
	for (unsigned i = 1; value && i < node->arg_count && arena_works(subject->arena, steps);
	     i++) {
		const struct value *candidate = operand(node->args[i], subject, &other);

		if (candidate && value_equal(value, candidate))
			return true;
	}
	return false;
}

static bool is_between(const struct node *node, const struct subject *subject)
{
	struct room room, bound;
	const struct value *value = operand(node->args[0], subject, &room);

	return is_at_least(value, operand(node->args[1], subject, &bound)) &&
		is_at_most(value, operand(node->args[2], subject, &bound));
}

static bool has_type(const struct node *node, const struct subject *subject)
{
	struct room room;
	const struct value *value = operand(node->args[0], subject, &room);

	return value && (enum type)value->type == type_of_name(value_str(&node->args[1]->value));
}

static bool is_there(const struct node *node, const struct subject *subject)
{
	struct room room;

	return operand(node->args[0], subject, &room) != NULL;
}

static bool is_missing(const struct node *node, const struct subject *subject)
{
	return !is_there(node, subject);
}

static bool holds_both(const struct node *node, const struct subject *subject)
{
	return node_holds(node->args[0], subject) && node_holds(node->args[1], subject);
}

static bool holds_either(const struct node *node, const struct subject *subject)
{
	return node_holds(node->args[0], subject) || node_holds(node->args[1], subject);
}

static bool holds_not(const struct node *node, const struct subject *subject)
{
	return !node_holds(node->args[0], subject);
}

typedef bool values_test(const struct value *a, const struct value *b);

static bool holds_of_values(const struct node *node, const struct subject *subject,
			    values_test *test)
{
	struct room left, right;
	const struct value *a = operand(node->args[0], subject, &left),
			   *b = operand(node->args[1], subject, &right);

	return (!a || arena_works(subject->arena, steps_of(a))) && test(a, b);
}

static bool holds_contained(const struct node *node, const struct subject *subject)
{
	struct room left, right;
	const struct value *a = operand(node->args[0], subject, &left);
	const struct value *b = operand(node->args[1], subject, &right);

	return (!a || arena_works(subject->arena, steps_of(a))) && contains(subject->arena, a, b);
}

/* Depth is bounded by the parser. */
static bool node_holds(const struct node *node, const struct subject *subject)
{
	static const struct {
		bool (*of_node)(const struct node *node, const struct subject *subject);
		values_test *of_values;
	} tests[NODE_KINDS] = {
#define OF_NODE(test) {test, NULL}
#define OF_VALUES(test) {NULL, test}
#define CONDITION(kind, class, form, name, shown, arity, types, rules, keys, test) \
	[NODE_##kind] = test,
#define FUNCTION(kind, name, arity, first, others, rules, keys, test) [NODE_##kind] = test,
#include "core/nodes.def"
#undef OF_NODE
#undef OF_VALUES
	};
	values_test *of_values = tests[node->kind].of_values;

	return of_values ? holds_of_values(node, subject, of_values)
		: tests[node->kind].of_node(node, subject);
}

/* Depth is bounded by the parser. */
bool node_walk_paths(const struct node *node, path_visit *visit, void *context)
{
	if (node->kind == NODE_PATH)
		return visit(context, node->path);
	for (unsigned i = 0; i < node->arg_count; i++) {
		if (!node_walk_paths(node->args[i], visit, context))
			return false;
	}
	return true;
}

static bool count_path(void *context, const struct path *path)
{
	unsigned *left = context;

	(void)path;
	return (*left)-- > 0;
}

/* Whether the expression names so many attributes that decoding each from the image, row by row,
 * costs more than decoding the rows. */
static bool is_large(const struct node *condition)
{
	unsigned left = SUBJECT_PATHS_FEW;

	return !node_walk_paths(condition, count_path, &left);
}

bool expr_eval(const struct node *condition, const struct subject *subject)
{
	if (!is_large(condition))
		return node_holds(condition, subject);
	const struct subject whole = subject_whole(subject);

	return node_holds(condition, &whole);
}

struct str node_find_attribute(const struct node *node, const struct str *names, size_t n)
{
	if (node->kind == NODE_PATH) {
		for (size_t i = 0; i < n; i++) {
			if (str_eq(node->path->steps[0].name, names[i]))
				return names[i];
		}
	}
	for (unsigned i = 0; i < node->arg_count; i++) {
		struct str found = node_find_attribute(node->args[i], names, n);

		if (str_is_set(found))
			return found;
	}
	return STR_ABSENT;
}
