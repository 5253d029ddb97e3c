#include "core/expr.h"

/*
 * The bytes that AWS charges an update's text with. AWS documents none of it: recorded answers at
 * the edge of the limit show these costs, byte by byte. Only the request counts, not the table's
 * content.
 */
#define STATEMENT 3
#define GIVES_VALUE 19 /* SET and ADD */
#define TAKES_VALUE 1  /* REMOVE and DELETE */
#define STEP_OF_TARGET 4
#define PATH_OPERAND 1
#define STEP_OF_OPERAND 14

static size_t step_size(const struct path_step *step)
{
	size_t digits = 1;

	if (str_is_set(step->name))
		return step->name.n;
	for (uint32_t rest = step->index / 10; rest > 0; rest /= 10)
		digits++;
	return digits;
}

static size_t path_charge(const struct path *path, size_t first, size_t later)
{
	size_t charge = first;

	for (size_t i = 0; i < path->n; i++)
		charge += step_size(&path->steps[i]) + (i > 0 ? later : 0);
	return charge;
}

/* Depth is bounded by the parser. */
static size_t operand_charge(const struct node *node)
{
	static const size_t costs[NODE_KINDS] = {
#define TERM(kind, class, use, form, name, arity, first, others, rules, type, charge, evaluator) \
	[NODE_##kind] = charge,
#include "core/nodes.def"
	};

	if (node->kind == NODE_VALUE)
		return value_size(&node->value);
	if (node->kind == NODE_PATH)
		return path_charge(node->path, PATH_OPERAND + STEP_OF_OPERAND, STEP_OF_OPERAND);
	return costs[node->kind] + operand_charge(node->args[0]) + operand_charge(node->args[1]);
}

size_t update_charge(const struct update *update)
{
	size_t charge = STATEMENT;

	for (size_t i = 0; i < update->n; i++) {
		const struct update_action *action = &update->actions[i];
		bool gives = action->verb == UPDATE_SET || action->verb == UPDATE_ADD;

		charge += path_charge(action->path, gives ? GIVES_VALUE : TAKES_VALUE,
				      STEP_OF_TARGET);
		if (gives)
			charge += operand_charge(action->operand);
	}
	return charge;
}
