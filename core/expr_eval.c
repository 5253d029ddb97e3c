#include "core/expr.h"

#include "core/image.h"
#include "core/number.h"

#define LARGE_DEPTH 6 /* levels of AND and OR from which an item is decoded once, not for each attribute */

const struct value *subject_attribute(const struct subject *subject, struct str name)
{
	if (subject->item)
		return value_member(subject->item, name);
	if (!str_is_set(subject->image))
		return NULL;
	struct value *value = ARENA_NEW(subject->arena, struct value);
	return image_get(subject->arena, subject->image, name, value) && value_is_set(value) ? value : NULL;
}

struct subject subject_whole(const struct subject *subject)
{
	struct value *item = ARENA_NEW(subject->arena, struct value);

	if (subject->item || !str_is_set(subject->image) || !image_decode(subject->arena, subject->image, item))
		return *subject;
	return (struct subject){subject->arena, item, STR_ABSENT};
}

const struct value *subject_path(const struct subject *subject, const struct path *path)
{
	const struct value *value = subject_attribute(subject, path->steps[0].name);

	return value ? path_get(path, 1, value) : NULL;
}

/* The value of an operand, or NULL where an attribute is missing. */
static const struct value *operand(const struct node *node, const struct subject *subject)
{
	if (node->kind == NODE_VALUE)
		return &node->value;
	if (node->kind == NODE_PATH)
		return subject_path(subject, node->path);
	if (node->kind != NODE_SIZE)
		return NULL;
	const struct value *of = operand(node->args[0], subject);
	long size = of ? value_size_function(of) : -1;
	if (size < 0)
		return NULL;
	struct value *value = ARENA_NEW(subject->arena, struct value);
	char *bytes = arena_bytes(subject->arena, NUMBER_MAX);
	*value = value_of_str(TYPE_N, (struct str){bytes, number_from_int(size, bytes)});
	return value;
}

static bool compare(enum node_kind kind, const struct value *a, const struct value *b)
{
	if (kind == NODE_EQ)
		return a && b && value_equal(a, b);
	if (kind == NODE_NE)
		return !a || !b || !value_equal(a, b);
	if (!a || !b || a->type != b->type || !type_is_scalar_key((enum type)a->type))
		return false;
	int order = value_compare(a, b);
	return kind == NODE_LT ? order < 0 : kind == NODE_LE ? order <= 0 : kind == NODE_GT ? order > 0 : order >= 0;
}

static bool begins_with(const struct value *a, const struct value *b)
{
	return a && b && a->type == b->type && (a->type == TYPE_S || a->type == TYPE_B) && str_starts_with(value_str(a), value_str(b));
}

static bool contains(const struct value *a, const struct value *b)
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
	}
	return false;
}

static bool is_in(const struct node *node, const struct subject *subject)
{
	const struct value *value = operand(node->args[0], subject);

	for (unsigned i = 1; value && i < node->arg_count; i++) {
		const struct value *candidate = operand(node->args[i], subject);

		if (candidate && value_equal(value, candidate))
			return true;
	}
	return false;
}

static bool is_between(const struct node *node, const struct subject *subject)
{
	const struct value *value = operand(node->args[0], subject);

	return compare(NODE_GE, value, operand(node->args[1], subject)) && compare(NODE_LE, value, operand(node->args[2], subject));
}

static bool has_type(const struct node *node, const struct subject *subject)
{
	const struct value *value = operand(node->args[0], subject);

	return value && (enum type)value->type == type_of_name(value_str(&node->args[1]->value));
}

/* Depth is bounded by the parser. */
static bool holds(const struct node *node, const struct subject *subject)
{
	switch (node->kind) {
	case NODE_AND:
		return holds(node->args[0], subject) && holds(node->args[1], subject);
	case NODE_OR:
		return holds(node->args[0], subject) || holds(node->args[1], subject);
	case NODE_NOT:
		return !holds(node->args[0], subject);
	case NODE_BETWEEN:
		return is_between(node, subject);
	case NODE_IN:
		return is_in(node, subject);
	case NODE_ATTRIBUTE_EXISTS:
		return operand(node->args[0], subject) != NULL;
	case NODE_ATTRIBUTE_NOT_EXISTS:
		return operand(node->args[0], subject) == NULL;
	case NODE_ATTRIBUTE_TYPE:
		return has_type(node, subject);
	case NODE_BEGINS_WITH:
		return begins_with(operand(node->args[0], subject), operand(node->args[1], subject));
	case NODE_CONTAINS:
		return contains(operand(node->args[0], subject), operand(node->args[1], subject));
	default:
		return compare(node->kind, operand(node->args[0], subject), operand(node->args[1], subject));
	}
}

/* Whether these are many conditions in a balanced tree: the old parameters', which no length of a text bounds. */
static bool is_large(const struct node *node)
{
	const struct node *first = node, *last = node;

	for (unsigned i = 0; i < LARGE_DEPTH; i++) {
		if ((first->kind != NODE_AND && first->kind != NODE_OR) || (last->kind != NODE_AND && last->kind != NODE_OR))
			return false;
		first = first->args[0];
		last = last->args[1];
	}
	return true;
}

bool expr_eval(const struct node *condition, const struct subject *subject)
{
	if (!is_large(condition))
		return holds(condition, subject);
	const struct subject whole = subject_whole(subject);

	return holds(condition, &whole);
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
