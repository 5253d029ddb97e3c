#include <stdlib.h>

#include "core/expr.h"
#include "core/expr_messages.h"
#include "core/number.h"

/*
 * REMOVE leaves TYPE_NONE in a list until all actions are applied, so that indexes mean those of
 * the old item.
 */

struct change {
	struct arena *arena;
	const struct value *old;
	struct err *err;
	size_t step_count;
	size_t size; /* of the lists, maps and sets that the values are so far; the new item will
			hold them all */
	bool is_too_large;
	bool has_tombstones;
	void **own; /* contents that were copied already, and may be written to */
	size_t own_count;
};

static enum code evaluate_term(struct change *change, const struct node *node, struct value *out);

/* The two operands, which must be of the type. */
static enum code evaluate_two(struct change *change, const struct node *node, enum type type,
			      struct value *a, struct value *b)
{
	enum code code = evaluate_term(change, node->args[0], a);

	if (code != OK)
		return code;
	if (a->type != type)
		return err_set(change->err, MSG_UPDATE_OPERAND);
	code = evaluate_term(change, node->args[1], b);
	if (code != OK)
		return code;
	if (b->type != type)
		return err_set(change->err, MSG_UPDATE_OPERAND);
	return OK;
}

static enum code add_numbers(struct change *change, bool is_subtraction, const struct value *a,
			     const struct value *b, struct value *out)
{
	char *bytes = arena_bytes(change->arena, NUMBER_MAX);
	size_t n;
	enum code code = (is_subtraction ? number_subtract : number_add)(value_str(a), value_str(b),
									 bytes, &n, change->err);

	if (code == OK)
		*out = value_of_str(TYPE_N, (struct str){bytes, n});
	return code;
}

static enum code add_operands(struct change *change, const struct node *node, struct value *out)
{
	struct value a, b;
	enum code code = evaluate_two(change, node, TYPE_N, &a, &b);

	return code != OK ? code : add_numbers(change, false, &a, &b, out);
}

static enum code subtract_operands(struct change *change, const struct node *node,
				   struct value *out)
{
	struct value a, b;
	enum code code = evaluate_two(change, node, TYPE_N, &a, &b);

	return code != OK ? code : add_numbers(change, true, &a, &b, out);
}

static enum code append_lists(struct change *change, const struct node *node, struct value *out)
{
	struct value a, b;
	enum code code = evaluate_two(change, node, TYPE_L, &a, &b);

	if (code != OK)
		return code;
	/* each element is billed; a result that is too large is not built, since an expression can
	 * make a thousand times its item */
	*out = a;
	change->is_too_large = change->is_too_large || change->size + a.n + b.n > ITEM_SIZE_MAX;
	if (change->is_too_large)
		return OK;
	struct value *elements = ARENA_ARRAY(change->arena, struct value, (size_t)a.n + b.n);
	for (uint32_t i = 0; i < a.n; i++)
		elements[i] = a.elements[i];
	for (uint32_t i = 0; i < b.n; i++)
		elements[a.n + i] = b.elements[i];
	*out = (struct value){.type = TYPE_L, .n = a.n + b.n, .elements = elements};
	return OK;
}

static enum code attribute_or(struct change *change, const struct node *node, struct value *out)
{
	const struct value *found = path_get(node->args[0]->path, 0, change->old);

	if (!found)
		return evaluate_term(change, node->args[1], out);
	*out = *found;
	return OK;
}

/* The value of an operand of SET in the old item. Depth is bounded by the parser. */
static enum code evaluate_term(struct change *change, const struct node *node, struct value *out)
{
	static enum code (*const evaluators[NODE_KINDS])(struct change *, const struct node *,
							 struct value *) = {
#define TERM(kind, class, use, form, name, arity, first, others, rules, type, charge, evaluator) \
	[NODE_##kind] = evaluator,
#include "core/nodes.def"
	};

	if (node->kind == NODE_VALUE) {
		*out = node->value;
		return OK;
	}
	if (node->kind != NODE_PATH)
		return evaluators[node->kind](change, node, out);
	const struct value *found = path_get(node->path, 0, change->old);
	if (!found)
		return err_set(change->err, MSG_UPDATE_MISSING);
	*out = *found;
	return OK;
}

/* Both sets in canonical order; keeps the elements of `a`, with those of `b` added or taken away.
 */
static struct value merge_sets(struct arena *arena, const struct value *a, const struct value *b,
			       bool is_removal)
{
	struct value *elements = ARENA_ARRAY(arena, struct value, (size_t)a->n + b->n);
	uint32_t n = 0, i = 0, k = 0;

	while (i < a->n || (k < b->n && !is_removal)) {
		int order = i == a->n   ? 1
			    : k == b->n ? -1
					: value_compare(&a->elements[i], &b->elements[k]);

		if (order < 0 || (order == 0 && !is_removal))
			elements[n++] = a->elements[i];
		else if (order > 0 && !is_removal)
			elements[n++] = b->elements[k];
		i += order <= 0;
		k += order >= 0;
	}
	return (struct value){.type = a->type, .n = n, .elements = elements};
}

/* The value that an action gives to its path; TYPE_NONE: the attribute goes. */
static enum code action_value(struct change *change, const struct update_action *action,
			      struct value *out)
{
	const struct value *current;

	if (action->verb == UPDATE_REMOVE) {
		*out = VALUE_NONE;
		return OK;
	}
	if (action->verb == UPDATE_SET)
		return evaluate_term(change, action->operand, out);
	const struct value *operand = &action->operand->value;
	current = path_get(action->path, 0, change->old);
	if (!current) {
		*out = action->verb == UPDATE_ADD ? *operand : VALUE_NONE;
		return OK;
	}
	if (current->type != operand->type)
		return err_set(change->err, MSG_UPDATE_OPERAND);
	if (operand->type == TYPE_N)
		return add_numbers(change, false, current, operand, out);
	*out = merge_sets(change->arena, current, operand, action->verb == UPDATE_DELETE);
	if (out->n == 0)
		*out = VALUE_NONE;
	return OK;
}

static enum code put_value(struct change *change, const struct value *container,
			   const struct path *path, size_t level, const struct value *leaf,
			   struct value *out);

/* The new value at the step, with the rest of the path applied; TYPE_NONE: none. */
static enum code put_below(struct change *change, const struct value *content,
			   const struct path *path, size_t level, const struct value *leaf,
			   struct value *out)
{
	if (level + 1 == path->n) {
		*out = *leaf;
		return OK;
	}
	if (!content)
		return err_set(change->err, MSG_UPDATE_PATH);
	return put_value(change, content, path, level + 1, leaf, out);
}

/*
 * The members or elements of a container of the new item, to be written to, with room for what all
 * steps may add: each container is copied once. An empty one has no address of its own.
 */
static void *own_content(struct change *change, const void *content, size_t n, size_t size)
{
	for (size_t i = 0; i < change->own_count && n > 0; i++) {
		if (change->own[i] == content)
			return change->own[i];
	}
	void *copy = arena_calloc(change->arena, n + change->step_count, size);
	if (n > 0)
		memcpy(copy, content, n * size);
	change->own =
		arena_room(change->arena, change->own, change->own_count, sizeof(*change->own));
	return change->own[change->own_count++] = copy;
}

static enum code put_member(struct change *change, const struct value *map, const struct path *path,
			    size_t level, const struct value *leaf, struct value *out)
{
	struct str name = path->steps[level].name;
	struct value content;

	if (map->type != TYPE_M)
		return err_set(change->err, MSG_UPDATE_PATH);
	bool is_there;
	uint32_t at = value_place(map, name, &is_there), n = map->n;
	enum code code = put_below(change, is_there ? &map->members[at].value : NULL, path, level,
				   leaf, &content);
	if (code != OK || (!is_there && !value_is_set(&content)))
		return RESULT(code, out, *map);
	struct member *members = own_content(change, map->members, n, sizeof(*members));
	if (!value_is_set(&content)) {
		memmove(&members[at], &members[at + 1], (--n - at) * sizeof(*members));
	} else {
		if (!is_there)
			memmove(&members[at + 1], &members[at], (n++ - at) * sizeof(*members));
		members[at] = (struct member){name, content};
	}
	*out = (struct value){.type = TYPE_M, .n = n, .members = members};
	return OK;
}

static enum code put_element(struct change *change, const struct value *list,
			     const struct path *path, size_t level, const struct value *leaf,
			     struct value *out)
{
	uint32_t index = path->steps[level].index, n = list->n;
	bool is_inside = list->type == TYPE_L && index < n;
	struct value content;

	if (list->type != TYPE_L)
		return err_set(change->err, MSG_UPDATE_PATH);
	enum code code = put_below(change, is_inside ? &list->elements[index] : NULL, path, level,
				   leaf, &content);
	if (code != OK || (!is_inside && !value_is_set(&content)))
		return RESULT(code, out, *list);
	struct value *elements = own_content(change, list->elements, n, sizeof(*elements));
	elements[is_inside ? index : n++] = content;
	change->has_tombstones = change->has_tombstones || !value_is_set(&content);
	*out = (struct value){.type = TYPE_L, .n = n, .elements = elements};
	return OK;
}

/* The container with `leaf` at the path; containers on the way become our own. As deep as the path.
 */
static enum code put_value(struct change *change, const struct value *container,
			   const struct path *path, size_t level, const struct value *leaf,
			   struct value *out)
{
	if (str_is_set(path->steps[level].name))
		return put_member(change, container, path, level, leaf, out);
	return put_element(change, container, path, level, leaf, out);
}

/* The value without tombstones. As deep as the value. */
static struct value without_tombstones(struct arena *arena, const struct value *value)
{
	struct value out = *value;

	if (value->type == TYPE_L) {
		struct value *elements = ARENA_ARRAY(arena, struct value, value->n);

		out.n = 0;
		out.elements = elements;
		for (uint32_t i = 0; i < value->n; i++) {
			if (value_is_set(&value->elements[i]))
				elements[out.n++] = without_tombstones(arena, &value->elements[i]);
		}
	} else if (value->type == TYPE_M) {
		struct member *members = ARENA_ARRAY(arena, struct member, value->n);

		out.members = members;
		for (uint32_t i = 0; i < value->n; i++)
			members[i] = (struct member){
				value->members[i].name,
				without_tombstones(arena, &value->members[i].value)};
	}
	return out;
}

struct step_change {
	const struct path *path;
	struct value value;
};

/* Elements set beyond a list's end are appended in the order of their indexes; all other actions
 * commute. */
static int by_last_index(const void *a, const void *b)
{
	const struct path *x = ((const struct step_change *)a)->path,
			  *y = ((const struct step_change *)b)->path;
	const struct path_step *p = &x->steps[x->n - 1], *q = &y->steps[y->n - 1];
	uint32_t i = str_is_set(p->name) ? 0 : p->index, k = str_is_set(q->name) ? 0 : q->index;

	return (i > k) - (i < k);
}

/* Whether the old item has the container that the path's last step goes into. */
static bool is_valid_path(const struct change *change, const struct path *path)
{
	struct path parent = {path->n - 1, path->steps};
	const struct value *container = path_get(&parent, 0, change->old);

	return container &&
	       container->type == (str_is_set(path->steps[path->n - 1].name) ? TYPE_M : TYPE_L);
}

/* A result that is too large is not measured further: an expression can name a large list a
 * thousand times. */
static enum code charge_size(struct change *change, const struct value *value)
{
	bool is_container = value->type == TYPE_L || value->type == TYPE_M ||
			    type_is_set((enum type)value->type);

	if (is_container && !change->is_too_large) {
		change->size += value_size(value);
		change->is_too_large = change->size > ITEM_SIZE_MAX;
	}
	return arena_works(change->arena, 1) ? OK
					     : err_default(change->err, ERR_SERVICE_UNAVAILABLE);
}

/*
 * The value of every action from the old item. AWS: operands of ADD and DELETE that do not fit come
 * before any path, and paths before the values of SET.
 */
static enum code evaluate_actions(struct change *change, const struct update *update,
				  struct step_change *steps)
{
	enum code code = OK;

	for (size_t i = 0; i < update->n; i++) {
		steps[i].path = update->actions[i].path;
		if (update->actions[i].verb != UPDATE_SET)
			code = action_value(change, &update->actions[i], &steps[i].value);
		if (code != OK)
			return code;
		if (update->actions[i].verb != UPDATE_SET)
			code = charge_size(change, &steps[i].value);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < update->n; i++) {
		if (!is_valid_path(change, steps[i].path))
			code = err_set(change->err, MSG_UPDATE_PATH);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < update->n; i++) {
		if (update->actions[i].verb != UPDATE_SET)
			continue;
		code = action_value(change, &update->actions[i], &steps[i].value);
		if (code != OK)
			return code;
		code = charge_size(change, &steps[i].value);
		if (code != OK)
			return code;
	}
	return OK;
}

/* All steps into the item's own members, at once: a copy of the item for each would take too long
 * where there are many. */
static void put_top_members(struct arena *arena, const struct step_change *steps, size_t n,
			    struct value *item)
{
	struct member *changes = ARENA_ARRAY(arena, struct member, n),
		      *members = ARENA_ARRAY(arena, struct member, item->n + n);
	uint32_t at = 0, count = 0;

	for (size_t i = 0; i < n; i++)
		changes[i] = (struct member){steps[i].path->steps[0].name, steps[i].value};
	n = value_sort_last(changes, n);
	for (size_t i = 0; i < n; i++) {
		while (at < item->n && str_cmp(item->members[at].name, changes[i].name) < 0)
			members[count++] = item->members[at++];
		at += at < item->n && str_eq(item->members[at].name, changes[i].name);
		if (value_is_set(&changes[i].value))
			members[count++] = changes[i];
	}
	while (at < item->n)
		members[count++] = item->members[at++];
	*item = (struct value){.type = TYPE_M, .n = count, .members = members};
}

/* What the steps changed is not too deep. */
static enum code check_steps_depth(const struct step_change *steps, size_t n,
				   const struct value *item, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		struct str name = steps[i].path->steps[0].name;
		bool is_known = i > 0 && str_eq(name, steps[i - 1].path->steps[0].name);
		const struct value *touched = is_known ? NULL : value_member(item, name);

		if (touched && value_depth(touched) >= VALUE_DEPTH_MAX)
			return err_set(err, MSG_UPDATE_DEPTH);
	}
	return OK;
}

enum code expr_update(const struct update *update, struct arena *arena, const struct value *old,
		      struct value *new_item, struct err *err)
{
	static const struct value nothing = {.type = TYPE_M};
	struct change change = {
		.arena = arena, .old = old ? old : &nothing, .err = err, .step_count = update->n};
	struct step_change *steps = ARENA_ARRAY(arena, struct step_change, update->n);
	bool is_deeper = false;
	enum code code = evaluate_actions(&change, update, steps);

	if (code != OK)
		return RESULT_IN(code, new_item);
	for (size_t i = 0; i < update->n; i++)
		is_deeper = is_deeper || steps[i].path->n > 1;
	if (is_deeper)
		qsort(steps, update->n, sizeof(*steps), by_last_index);
	struct value item = *change.old;
	if (!is_deeper)
		put_top_members(arena, steps, update->n, &item);
	for (size_t i = 0; i < update->n && is_deeper; i++) {
		code = err_if_over(arena, err);
		if (code != OK)
			return code;
		code = put_value(&change, &item, steps[i].path, 0, &steps[i].value, &item);
		if (code != OK)
			return code;
	}
	if (change.is_too_large)
		code = err_set(err, MSG_UPDATE_SIZE);
	if (code != OK)
		return code;
	if (change.has_tombstones)
		item = without_tombstones(arena, &item);
	code = check_steps_depth(steps, update->n, &item, err);
	return RESULT(code, new_item, item);
}

bool update_only_takes(const struct update *update)
{
	for (size_t i = 0; i < update->n; i++) {
		if (update->actions[i].verb == UPDATE_SET || update->actions[i].verb == UPDATE_ADD)
			return false;
	}
	return update->n > 0;
}

bool update_touches(const struct update *update, struct str attribute)
{
	for (size_t i = 0; i < update->n; i++) {
		if (str_eq(update->actions[i].path->steps[0].name, attribute))
			return true;
	}
	return false;
}
