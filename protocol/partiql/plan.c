#include "protocol/partiql/plan.h"

#include <assert.h>
#include <stdlib.h>

#include "protocol/item_messages.h"
#include "protocol/partiql/messages.h"
#include "protocol/rules.h"
#include "storage/messages.h"

#define BRANCHES_MAX 256 /* alternatives of a condition that are followed; more: a Scan */
#define SORTS_MAX                                                                                  \
	8 /* conditions on the sort key in one alternative; others are left to the filter */

/* One alternative: what it says of the keys. */
struct branch {
	const struct value *partition;
	size_t sort_count;
	const struct node *sorts[SORTS_MAX]; /* different ones */
	const struct node *lists[2]; /* IN of the partition key, of the sort key; or NULL */
	bool is_twice;   /* two values for the partition key: not a read by key */
};

struct branches {
	size_t n;
	struct branch *v;
};

struct planner {
	struct arena *arena;
	struct err *err;
	const struct table *table;
	const struct index *index;
	struct str hash, sort; /* sort: absent where there is none */
	bool is_too_many;
	bool is_pure;          /* the condition is about keys only, in ways that ranges express */
	bool is_exempt;        /* ranges may overlap. AWS: one alternative has <> or NOT, or two
				  conditions, on the sort key */
};

static struct planner planner_of(struct arena *arena, const struct table *table,
				 const struct index *index, struct err *err)
{
	const struct key_schema *keys = index ? &index->keys : &table->keys;

	return (struct planner){
		.arena = arena,
		.err = err,
		.table = table,
		.index = index,
		.hash = keys->attributes[0].name,
		.sort = keys->range_count ? keys->attributes[keys->hash_count].name : STR_ABSENT,
		.is_pure = true,
	};
}

size_t partiql_conjuncts(struct arena *arena, const struct node *condition,
			 const struct node ***out)
{
	size_t n = 0;

	for (const struct node *node = condition; node;
	     node = node->kind == NODE_AND ? node->args[0] : NULL)
		n++;
	/* the chain grows to the left; parentheses on the right are taken apart too */
	const struct node **left = ARENA_ARRAY(arena, const struct node *, n), **all = left;
	size_t count = 0, capacity = n;
	size_t open_count = 0;
	const struct node **open = ARENA_ARRAY(arena, const struct node *, EXPR_OPERATORS_MAX + 2);

	if (condition)
		open[open_count++] = condition;
	while (open_count > 0) {
		const struct node *node = open[--open_count];

		assert(node);
		if (node->kind == NODE_AND && open_count < EXPR_OPERATORS_MAX) {
			open[open_count++] = node->args[1];
			open[open_count++] = node->args[0];
			continue;
		}
		if (count == capacity) {
			all = arena_grow(arena, all, capacity * sizeof(*all),
					 (capacity * 2 + 4) * sizeof(*all));
			capacity = capacity * 2 + 4;
		}
		all[count++] = node;
	}
	*out = all;
	return count;
}

static bool is_name(const struct node *node, struct str name)
{
	return str_is_set(name) && node->kind == NODE_PATH && node->path->n == 1 &&
	       str_eq(node->path->steps[0].name, name);
}

const struct value *partiql_equality(const struct node *node, struct str name)
{
	if (node->kind != NODE_EQ && (node->kind != NODE_IN || node->arg_count != 2))
		return NULL;
	for (unsigned i = 0; i < 2; i++) {
		if (is_name(node->args[i], name) && node->args[1 - i]->kind == NODE_VALUE)
			return &node->args[1 - i]->value;
	}
	return NULL;
}

static bool mentions(const struct planner *planner, const struct node *node)
{
	struct str names[] = {planner->hash, planner->sort};

	return str_is_set(node_find_attribute(node, names, str_is_set(planner->sort) ? 2 : 1));
}

/* Narrows every alternative to one partition. */
static void pin(struct branches *branches, const struct value *value)
{
	for (size_t i = 0; i < branches->n; i++) {
		struct branch *branch = &branches->v[i];

		branch->is_twice = branch->is_twice ||
				   (branch->partition && !value_equal(branch->partition, value));
		branch->partition = value;
	}
}

/* Both are comparisons of one name with values. */
static bool is_same(const struct node *a, const struct node *b)
{
	bool is_same = a->kind == b->kind;

	for (unsigned i = 0; i < a->arg_count && is_same; i++)
		is_same = a->args[i]->kind == b->args[i]->kind &&
			  (a->args[i]->kind != NODE_VALUE ||
			   value_equal(&a->args[i]->value, &b->args[i]->value));
	return is_same;
}

static void add_sort(struct planner *planner, struct branches *branches, const struct node *node)
{
	for (size_t i = 0; i < branches->n; i++) {
		struct branch *branch = &branches->v[i];
		size_t k = 0;

		while (k < branch->sort_count && !is_same(branch->sorts[k], node))
			k++;
		if (k == SORTS_MAX)
			planner->is_pure = false;
		else if (k == branch->sort_count)
			branch->sorts[branch->sort_count++] = node;
		planner->is_exempt = planner->is_exempt || branch->sort_count > 1;
	}
}

static struct branches copy(struct planner *planner, const struct branches *branches, size_t times)
{
	struct branches out = {branches->n * times, NULL};

	if (out.n > BRANCHES_MAX) {
		planner->is_too_many = true;
		return *branches;
	}
	out.v = ARENA_ARRAY(planner->arena, struct branch, out.n);
	for (size_t i = 0; i < times; i++)
		memcpy(out.v + i * branches->n, branches->v, branches->n * sizeof(*out.v));
	return out;
}

static bool has_value(const struct node *list, const struct node *wanted)
{
	for (unsigned i = 1; i < list->arg_count; i++) {
		if (value_equal(&list->args[i]->value, &wanted->value))
			return true;
	}
	return false;
}

/* Two IN of values. */
static bool is_same_list(const struct node *a, const struct node *b)
{
	for (unsigned i = 1; i < a->arg_count; i++) {
		if (!has_value(b, a->args[i]))
			return false;
	}
	for (unsigned i = 1; i < b->arg_count; i++) {
		if (!has_value(a, b->args[i]))
			return false;
	}
	return true;
}

/* AWS: the same list a second time, in whatever order, says nothing new. */
static bool is_listed(const struct branches *branches, const struct node *node, bool is_hash)
{
	for (size_t i = 0; i < branches->n; i++) {
		const struct node *list = branches->v[i].lists[!is_hash];

		if (!list || !is_same_list(list, node))
			return false;
	}
	return branches->n > 0;
}

static void note_list(struct branches *branches, const struct node *node, bool is_hash)
{
	for (size_t i = 0; i < branches->n; i++)
		branches->v[i].lists[!is_hash] = node;
}

/* IN is as many equalities. */
static enum code expand_in(struct planner *planner, const struct node *node,
			   struct branches *branches)
{
	bool is_hash = is_name(node->args[0], planner->hash);
	unsigned n = node->arg_count - 1;
	struct branches all;

	for (unsigned i = 1; i <= n; i++) {
		if (node->args[i]->kind != NODE_VALUE) {
			planner->is_pure = false;
			return OK;
		}
	}
	if (is_hash && n > PARTIQL_RANGES_MAX)
		return err_set(planner->err, MSG_PARTIQL_IN_KEYS, (size_t)n);
	if (is_listed(branches, node, is_hash))
		return OK;
	all = copy(planner, branches, n);
	if (planner->is_too_many)
		return OK;
	for (unsigned i = 0; i < n; i++) {
		struct branches part = {branches->n, all.v + i * branches->n};
		const struct node *const args[] = {node->args[0], node->args[i + 1]};

		if (is_hash)
			pin(&part, &node->args[i + 1]->value);
		else
			add_sort(planner, &part, node_new(planner->arena, NODE_EQ, 2, args));
	}
	note_list(&all, node, is_hash);
	*branches = all;
	return OK;
}

/* A comparison of the sort key with values. */
static void expand_sort(struct planner *planner, const struct node *node, struct branches *branches)
{
	unsigned paths = 0;

	for (unsigned i = 0; i < node->arg_count; i++) {
		paths += is_name(node->args[i], planner->sort);
		if (node->args[i]->kind != NODE_VALUE && !is_name(node->args[i], planner->sort))
			paths = 99;
	}
	if (paths != 1 || ((node->kind == NODE_BETWEEN || node->kind == NODE_BEGINS_WITH) &&
			   !is_name(node->args[0], planner->sort))) {
		planner->is_pure = false;
		return;
	}
	add_sort(planner, branches, node);
}

/* A condition that no range expresses. */
static void leave(struct planner *planner, const struct node *node)
{
	planner->is_pure = false;
	planner->is_exempt =
		planner->is_exempt || (str_is_set(planner->sort) &&
				       str_is_set(node_find_attribute(node, &planner->sort, 1)));
}

/* Depth is bounded by the parser. */
static enum code expand(struct planner *planner, const struct node *node, struct branches *branches)
{
	enum code code;

	if (planner->is_too_many)
		return OK;
	if (node->kind == NODE_AND) {
		code = expand(planner, node->args[0], branches);
		return code != OK ? code : expand(planner, node->args[1], branches);
	}
	if (node->kind == NODE_OR && mentions(planner, node)) {
		struct branches left = copy(planner, branches, 1),
				right = copy(planner, branches, 1);

		code = expand(planner, node->args[0], &left);
		if (code != OK)
			return code;
		code = expand(planner, node->args[1], &right);
		planner->is_too_many = planner->is_too_many || left.n + right.n > BRANCHES_MAX;
		if (code != OK || planner->is_too_many)
			return code;
		branches->v = ARENA_ARRAY(planner->arena, struct branch, left.n + right.n);
		memcpy(branches->v, left.v, left.n * sizeof(*left.v));
		memcpy(branches->v + left.n, right.v, right.n * sizeof(*right.v));
		branches->n = left.n + right.n;
		return OK;
	}
	const struct value *value = partiql_equality(node, planner->hash);
	if (value) {
		pin(branches, value);
		return OK;
	}
	if (node->kind == NODE_IN &&
	    (is_name(node->args[0], planner->hash) || is_name(node->args[0], planner->sort)))
		return expand_in(planner, node, branches);
	if (node_info(node->kind)->keys && mentions(planner, node))
		expand_sort(planner, node, branches);
	else
		leave(planner, node);
	return OK;
}

static bool is_large(const struct value *value, size_t max)
{
	return value->type != TYPE_N && value->n > max;
}

/* Whether the node compares with a value that no key can have, since it is longer than `max` bytes.
 */
static bool has_large(const struct node *node, size_t max)
{
	bool has_large = false;

	for (unsigned i = 0; i < node->arg_count; i++)
		has_large = has_large || (node->args[i]->kind == NODE_VALUE &&
					  is_large(&node->args[i]->value, max));
	return has_large;
}

/* The same, with the begin of such a value: ranges are made of what can be a key, and their overlap
 * is an error before sizes are. */
static const struct node *fit(struct planner *planner, const struct node *node, size_t max)
{
	const struct node *args[3];

	if (!has_large(node, max))
		return node;
	for (unsigned i = 0; i < node->arg_count; i++) {
		struct value value = node->args[i]->value;

		args[i] = node->args[i];
		if (args[i]->kind != NODE_VALUE || !is_large(&value, max))
			continue;
		value.n = (uint32_t)max;
		args[i] = node_value(planner->arena, value);
	}
	planner->is_pure = false;
	return node_new(planner->arena, node->kind, node->arg_count, args);
}

/* The range of one alternative: the partition, cut by each condition on the sort key; empty where
 * they contradict each other. */
static enum code narrow(struct planner *planner, const struct branch *branch,
			struct partiql_range *out, bool *is_empty)
{
	const struct node *hash[] = {
		node_path(planner->arena, path_of_name(planner->arena, planner->hash)),
		node_value(planner->arena, *branch->partition)};
	const struct node *equality =
		fit(planner, node_new(planner->arena, NODE_EQ, 2, hash), PARTITION_KEY_SIZE_MAX);
	enum code code = key_condition_resolve(planner->arena, planner->table, planner->index,
					       equality, &out->keys, planner->err);

	out->partition = branch->partition;
	for (size_t i = 0; i < branch->sort_count && code == OK; i++) {
		const struct node *const both[] = {
			equality, fit(planner, branch->sorts[i], SORT_KEY_SIZE_MAX)};
		struct key_condition one;

		code = key_condition_resolve(planner->arena, planner->table, planner->index,
					     node_new(planner->arena, NODE_AND, 2, both), &one,
					     planner->err);
		if (code != OK)
			return code;
		if (str_cmp(one.range.low, out->keys.range.low) > 0)
			out->keys.range.low = one.range.low;
		if (str_cmp(one.range.high, out->keys.range.high) < 0)
			out->keys.range.high = one.range.high;
		out->keys.condition = node_new(
			planner->arena, NODE_AND, 2,
			(const struct node *const[]){out->keys.condition, branch->sorts[i]});
	}
	*is_empty = code == OK && str_cmp(out->keys.range.low, out->keys.range.high) >= 0;
	return code;
}

static int by_key(const void *a, const void *b)
{
	const struct partiql_range *x = a, *y = b;
	int order = value_compare(x->partition, y->partition);

	return order ? order : str_cmp(x->keys.range.low, y->keys.range.low);
}

/* Sorted ranges, made disjoint. AWS refuses those that overlap. */
static enum code join(struct planner *planner, struct partiql_plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->n; i++) {
		struct partiql_range *last = kept ? &plan->ranges[kept - 1] : NULL,
				     *next = &plan->ranges[i];

		if (!last || !value_equal(last->partition, next->partition) ||
		    str_cmp(next->keys.range.low, last->keys.range.high) >= 0) {
			plan->ranges[kept++] = *next;
			continue;
		}
		if (!planner->is_exempt)
			return err_set(planner->err, MSG_PARTIQL_OVERLAP);
		if (str_cmp(next->keys.range.high, last->keys.range.high) > 0)
			last->keys.range.high = next->keys.range.high;
		while (last->keys.condition->kind ==
		       NODE_AND) /* the partition alone describes both */
			last->keys.condition = last->keys.condition->args[0];
	}
	plan->n = kept;
	return OK;
}

static void reverse(struct partiql_range *ranges, size_t n)
{
	for (size_t i = 0; i < n / 2; i++) {
		struct partiql_range range = ranges[i];

		ranges[i] = ranges[n - 1 - i];
		ranges[n - 1 - i] = range;
	}
}

/* Sorted ranges: the partitions the one way or the other, and in each the ranges. */
static void direct(struct partiql_plan *plan, bool is_hash_reverse, bool is_sort_reverse)
{
	size_t from = 0;

	if (is_hash_reverse)
		reverse(plan->ranges, plan->n);
	for (size_t i = 1; i <= plan->n && is_hash_reverse != is_sort_reverse; i++) {
		if (i < plan->n &&
		    value_equal(plan->ranges[from].partition, plan->ranges[i].partition))
			continue;
		reverse(plan->ranges + from, i - from);
		from = i;
	}
}

static bool is_one_partition(const struct branches *branches)
{
	for (size_t i = 1; i < branches->n; i++)
		if (!value_equal(branches->v[0].partition, branches->v[i].partition))
			return false;
	return true;
}

/* AWS: a key is measured where the statement reads one partition, or one range of sort keys. Others
 * cannot match. */
static enum code check_sizes(struct planner *planner, const struct branches *branches,
			     struct partiql_plan *plan)
{
	const struct branch *first = branches->v;
	size_t kept = 0;

	if (is_one_partition(branches) && is_large(first->partition, PARTITION_KEY_SIZE_MAX))
		return err_set(planner->err, MSG_PARTITION_KEY_SIZE);
	for (size_t i = 0; i < first->sort_count && branches->n == 1; i++)
		if (has_large(first->sorts[i], SORT_KEY_SIZE_MAX))
			return err_set(planner->err, MSG_SORT_KEY_SIZE);
	for (size_t i = 0; i < plan->n; i++)
		if (!is_large(plan->ranges[i].partition, PARTITION_KEY_SIZE_MAX))
			plan->ranges[kept++] = plan->ranges[i];
	plan->n = kept;
	return OK;
}

static enum code plan_ranges(struct planner *planner, const struct branches *branches,
			     struct partiql_plan *plan)
{
	plan->n = 0;
	plan->ranges = ARENA_ARRAY(planner->arena, struct partiql_range, branches->n);
	for (size_t i = 0; i < branches->n; i++) {
		bool is_empty;
		enum code code =
			narrow(planner, &branches->v[i], &plan->ranges[plan->n], &is_empty);

		if (code != OK)
			return code;
		plan->n += !is_empty;
	}
	if (plan->n > 1)
		qsort(plan->ranges, plan->n, sizeof(*plan->ranges), by_key);
	enum code code = join(planner, plan);
	return code != OK ? code : check_sizes(planner, branches, plan);
}

static enum code check_empty(struct planner *planner, const struct value *value, struct str name)
{
	return value->n || value->type == TYPE_N
		       ? OK
		       : err_set(planner->err, MSG_KEY_EMPTY,
				 value->type == TYPE_S ? "string" : "binary", STR_ARG(name));
}

static enum code check_value(struct planner *planner, const struct value *value,
			     const struct key_attribute *attribute)
{
	if (!type_is_scalar_key((enum type)value->type))
		return err_set(planner->err, MSG_PARTIQL_KEY_SCALAR, STR_ARG(attribute->name),
			       type_name((enum type)value->type));
	if (value->type != attribute->type)
		return err_set(planner->err, MSG_PARTIQL_KEY_TYPE, STR_ARG(attribute->name));
	return check_empty(planner, value, attribute->name);
}

/* The sort key first. */
static enum code check_branch(struct planner *planner, const struct key_schema *keys,
			      const struct branch *branch)
{
	enum code code = OK;

	for (unsigned k = 0; branch->sort_count && k < branch->sorts[0]->arg_count && code == OK;
	     k++)
		if (branch->sorts[0]->args[k]->kind == NODE_VALUE)
			code = check_value(planner, &branch->sorts[0]->args[k]->value,
					   &keys->attributes[keys->hash_count]);
	return code != OK ? code : check_value(planner, branch->partition, &keys->attributes[0]);
}

/*
 * AWS: the keys of the alternatives are checked in the order of the text, up to the first that is
 * no read of one range of one partition. Those behind it are not, and where one of them does not
 * fit, the statement is a Scan.
 */
static enum code check_keys(struct planner *planner, const struct branches *branches,
			    bool *is_keyed)
{
	const struct key_schema *keys =
		planner->index ? &planner->index->keys : &planner->table->keys;
	struct err own = err_in(planner->arena);
	size_t i = 0;

	for (; i < branches->n; i++) {
		const struct branch *branch = &branches->v[i];

		if (!branch->partition || branch->is_twice || branch->sort_count > 1)
			break;
		enum code code = check_branch(planner, keys, branch);
		if (code != OK)
			return code;
	}
	planner->err = i < branches->n ? &own : planner->err;
	for (; i < branches->n && *is_keyed; i++) {
		struct branch one = branches->v[i];

		*is_keyed =
			one.partition && !one.is_twice && check_branch(planner, keys, &one) == OK;
		while (*is_keyed && one.sort_count-- > 1) {
			one.sorts[0] = one.sorts[one.sort_count];
			*is_keyed = check_branch(planner, keys, &one) == OK;
		}
	}
	return OK;
}

/* IN and contains() of a key attribute as a filter; of the list the first value counts. Depth is
 * bounded by the parser. */
static enum code check_filters(struct planner *planner, const struct node *node,
			       const struct key_attribute *attribute)
{
	enum code code = OK;
	bool is_key = false;

	for (unsigned i = 0;
	     node_info(node->kind)->class == NODE_CLASS_LOGIC && i < node->arg_count && code == OK;
	     i++)
		code = check_filters(planner, node->args[i], attribute);
	for (unsigned i = 0; i < (node->kind == NODE_IN         ? 1
				  : node->kind == NODE_CONTAINS ? 2
								: 0);
	     i++)
		is_key = is_key || is_name(node->args[i], attribute->name);
	for (unsigned i = 0; i < node->arg_count && is_key && code == OK; i++) {
		const struct value *value = &node->args[i]->value;

		if (node->args[i]->kind != NODE_VALUE || (value->type != attribute->type && i > 1))
			continue;
		if (value->type != attribute->type)
			return err_set(planner->err, MSG_PARTIQL_SCAN_TYPE);
		code = check_empty(planner, value, attribute->name);
	}
	return code;
}

/* The sort key first. */
static enum code check_all_filters(struct planner *planner, const struct key_schema *keys,
				   const struct node *where)
{
	enum code code = OK;

	for (unsigned k = key_schema_count(keys); k-- > 0 && code == OK;)
		code = check_filters(planner, where, &keys->attributes[k]);
	return code;
}

/* ORDER BY's terms are keys. */
static enum code check_order(struct planner *planner, const struct partiql_statement *statement)
{
	if (statement->order_count && !statement->where)
		return err_set(planner->err, MSG_PARTIQL_ORDER_WHERE);
	for (size_t i = 0; i < statement->order_count; i++) {
		const struct partiql_order *order = &statement->order[i];

		if (str_is_set(order->other))
			return err_set(planner->err, MSG_PARTIQL_ORDER_TYPE, STR_ARG(order->other),
				       STR_ARG(order->position));
		if (!str_eq(order->name, planner->hash) &&
		    !(str_is_set(planner->sort) && str_eq(order->name, planner->sort)))
			return err_set(planner->err, MSG_PARTIQL_ORDER_KEY, STR_ARG(order->name));
	}
	return OK;
}

/*
 * The direction of the ranges and within them, which the first term of each key gives. AWS: without
 * one of the sort key a partition is read from its end.
 */
static enum code set_order(struct planner *planner, const struct partiql_statement *statement,
			   const struct branches *branches, struct partiql_plan *plan)
{
	const struct partiql_order *hash = NULL, *sort = NULL;

	if (!statement->order_count)
		return OK;
	if (!plan->is_keyed)
		return err_set(planner->err, MSG_PARTIQL_ORDER_HASH);
	for (size_t i = statement->order_count; i-- > 0;) {
		if (str_eq(statement->order[i].name, planner->hash))
			hash = &statement->order[i];
		else
			sort = &statement->order[i];
	}
	if (!hash && !is_one_partition(branches))
		return err_set(planner->err, MSG_PARTIQL_ORDER_NEEDS_HASH);
	plan->is_reverse = !sort || sort->is_descending;
	direct(plan, hash && hash->is_descending, plan->is_reverse);
	return OK;
}

static bool is_multi_key(const struct index *index)
{
	return index->keys.hash_count > 1 || index->keys.range_count > 1;
}

static enum code plan_source(struct call *call, const struct partiql_statement *statement,
			     struct partiql_plan *plan, struct err *err)
{
	enum code code = call_table(call, statement->table, ABSENT_RESOURCE, &plan->table, err);

	if (code != OK || !str_is_set(statement->index))
		return code;
	/* AWS: a vector index is refused in Scan's words, whatever the WHERE clause */
	code = rules_not_vector(plan->table, statement->index, (struct opt_bool){0}, true, err);
	if (code != OK)
		return code;
	plan->index = table_index(plan->table, statement->index);
	if (!plan->index || !index_is_kept(plan->index))
		return err_set(err, MSG_PARTIQL_INDEX_UNKNOWN);
	if (plan->index->is_backfilling)
		return err_set(err, MSG_INDEX_BACKFILLING, STR_ARG(plan->index->name));
	if (is_multi_key(plan->index))
		return err_set(err, MSG_PARTIQL_MULTI_KEY);
	return OK;
}

enum code partiql_source_error(struct call *call, const struct partiql_statement *statement,
			       struct err *err)
{
	struct partiql_plan plan = {0};
	struct err own = err_in(call->arena);

	if (plan_source(call, statement, &plan, &own) == ERR_VALIDATION && plan.index &&
	    is_multi_key(plan.index))
		*err = own;
	return ERR_VALIDATION;
}

static enum code plan_select(struct call *call, const struct partiql_statement *statement,
			     struct partiql_plan *plan, struct err *err)
{
	struct branch first = {0};
	struct branches branches = {1, &first};

	*plan = (struct partiql_plan){.filter = statement->where};
	enum code code = plan_source(call, statement, plan, err);
	if (code != OK)
		return code;
	struct planner planner = planner_of(call->arena, plan->table, plan->index, err);
	plan->n = 1;
	plan->ranges = ARENA_NEW(call->arena, struct partiql_range);
	code = check_order(&planner, statement);
	if (code != OK || !statement->where)
		return code;
	code = expand(&planner, statement->where, &branches);
	if (code != OK)
		return code;
	plan->is_keyed = !planner.is_too_many;
	for (size_t i = 0; i < branches.n && plan->is_keyed; i++)
		plan->is_keyed = branches.v[i].partition != NULL;
	code = check_keys(&planner, &branches, &plan->is_keyed);
	if (code != OK)
		return code;
	planner.err = err;
	code = check_all_filters(&planner, plan->index ? &plan->index->keys : &plan->table->keys,
				 statement->where);
	if (code != OK)
		return code;
	if (plan->index) {
		code = check_all_filters(&planner, &plan->table->keys, statement->where);
		if (code != OK)
			return code;
	}
	if (plan->is_keyed) {
		code = plan_ranges(&planner, &branches, plan);
		if (code != OK)
			return code;
	}
	code = set_order(&planner, statement, &branches, plan);
	if (code != OK || !plan->is_keyed)
		return code;
	if (planner.is_pure)
		plan->filter = NULL;
	/* AWS: only the reads of partitions refuse filters on what the index does not project, and
	 * only outside of OR */
	if (statement->where->kind != NODE_OR)
		code = rules_filter_projected(call->arena, plan->index, statement->where, err);
	return code;
}

enum code partiql_plan_select(struct call *call, const struct partiql_statement *statement,
			      struct partiql_plan *out, struct err *err)
{
	struct partiql_plan plan;
	enum code code = plan_select(call, statement, &plan, err);

	return RESULT(code, out, plan);
}

enum code partiql_check_select(struct call *call, const struct partiql_statement *statement,
			       struct err *err)
{
	struct partiql_plan plan = {0};

	return str_is_set(statement->index) ? plan_source(call, statement, &plan, err)
					    : plan_select(call, statement, &plan, err);
}
