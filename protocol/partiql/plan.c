#include "protocol/partiql/plan.h"

#include <assert.h>
#include <stdlib.h>

#include "protocol/item_messages.h"
#include "protocol/partiql/messages.h"
#include "protocol/rules.h"
#include "storage/messages.h"

#define BRANCHES_MAX 256 /* alternatives of a condition that are followed; more: a Scan */
#define SORTS_MAX 8      /* conditions on the sort key in one alternative; others are left to the filter */

/* One alternative: what it says of the keys. */
struct branch {
	const struct value *partition;
	size_t sort_count;
	const struct node *sorts[SORTS_MAX];
	bool is_exempt;
	bool is_empty;   /* two values for one key */
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
};

static struct planner planner_of(struct arena *arena, const struct table *table, const struct index *index, struct err *err)
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

size_t partiql_conjuncts(struct arena *arena, const struct node *condition, const struct node ***out)
{
	size_t n = 0;

	for (const struct node *node = condition; node; node = node->kind == NODE_AND ? node->args[0] : NULL)
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
			all = arena_grow(arena, all, capacity * sizeof(*all), (capacity * 2 + 4) * sizeof(*all));
			capacity = capacity * 2 + 4;
		}
		all[count++] = node;
	}
	*out = all;
	return count;
}

static bool is_name(const struct node *node, struct str name)
{
	return str_is_set(name) && node->kind == NODE_PATH && node->path->n == 1 && str_eq(node->path->steps[0].name, name);
}

const struct value *partiql_equality(const struct node *node, struct str name)
{
	if (node->kind != NODE_EQ)
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

		branch->is_empty = branch->is_empty || (branch->partition && !value_equal(branch->partition, value));
		branch->partition = value;
	}
}

static void add_sort(struct planner *planner, struct branches *branches, const struct node *node)
{
	for (size_t i = 0; i < branches->n; i++) {
		struct branch *branch = &branches->v[i];

		if (branch->sort_count < SORTS_MAX)
			branch->sorts[branch->sort_count++] = node;
		else
			planner->is_pure = false;
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

/* IN is as many equalities. */
static enum code expand_in(struct planner *planner, const struct node *node, struct branches *branches)
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
	if (paths != 1 || ((node->kind == NODE_BETWEEN || node->kind == NODE_BEGINS_WITH) && !is_name(node->args[0], planner->sort))) {
		planner->is_pure = false;
		return;
	}
	add_sort(planner, branches, node);
}

static void exempt(struct planner *planner, const struct node *node, struct branches *branches)
{
	planner->is_pure = false;
	if (!str_is_set(planner->sort) || !str_is_set(node_find_attribute(node, &planner->sort, 1)))
		return;
	for (size_t i = 0; i < branches->n; i++)
		branches->v[i].is_exempt = true;
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
		struct branches left = copy(planner, branches, 1), right = copy(planner, branches, 1);

		code = expand(planner, node->args[0], &left);
		if (code == OK)
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
	if (node->kind == NODE_IN && (is_name(node->args[0], planner->hash) || is_name(node->args[0], planner->sort)))
		return expand_in(planner, node, branches);
	if (node_info(node->kind)->keys && mentions(planner, node))
		expand_sort(planner, node, branches);
	else
		exempt(planner, node, branches);
	return OK;
}

/* The range of one alternative: the partition, cut by each condition on the sort key; empty where they contradict each other. */
static enum code narrow(struct planner *planner, const struct branch *branch, struct partiql_range *out, bool *is_empty)
{
	const struct node *hash[] = {node_path(planner->arena, path_of_name(planner->arena, planner->hash)),
				     node_value(planner->arena, *branch->partition)};
	const struct node *equality = node_new(planner->arena, NODE_EQ, 2, hash);
	enum code code = key_condition_resolve(planner->arena, planner->table, planner->index, equality, &out->keys, planner->err);

	out->partition = branch->partition;
	out->is_exempt = branch->is_exempt;
	*is_empty = branch->is_empty;
	for (size_t i = 0; i < branch->sort_count && code == OK; i++) {
		const struct node *const both[] = {equality, branch->sorts[i]};
		struct key_condition one;

		code = key_condition_resolve(planner->arena, planner->table, planner->index, node_new(planner->arena, NODE_AND, 2, both), &one,
					     planner->err);
		if (code != OK)
			return code;
		if (str_cmp(one.range.low, out->keys.range.low) > 0)
			out->keys.range.low = one.range.low;
		if (str_cmp(one.range.high, out->keys.range.high) < 0)
			out->keys.range.high = one.range.high;
		out->keys.condition = node_new(planner->arena, NODE_AND, 2, (const struct node *const[]){out->keys.condition, branch->sorts[i]});
	}
	*is_empty = *is_empty || (code == OK && str_cmp(out->keys.range.low, out->keys.range.high) >= 0);
	return code;
}

static int by_key(const void *a, const void *b)
{
	const struct partiql_range *x = a, *y = b;
	int order = value_compare(x->partition, y->partition);

	return order ? order : str_cmp(x->keys.range.low, y->keys.range.low);
}

/* Sorted ranges, made disjoint. AWS refuses those that overlap, but for alternatives with <> or NOT on the sort key. */
static enum code join(struct planner *planner, struct partiql_plan *plan)
{
	size_t kept = 0;

	for (size_t i = 0; i < plan->n; i++) {
		struct partiql_range *last = kept ? &plan->ranges[kept - 1] : NULL, *next = &plan->ranges[i];

		if (!last || !value_equal(last->partition, next->partition) || str_cmp(next->keys.range.low, last->keys.range.high) >= 0) {
			plan->ranges[kept++] = *next;
			continue;
		}
		if (!last->is_exempt && !next->is_exempt)
			return err_set(planner->err, MSG_PARTIQL_OVERLAP);
		if (str_cmp(next->keys.range.high, last->keys.range.high) > 0)
			last->keys.range.high = next->keys.range.high;
		while (last->keys.condition->kind == NODE_AND) /* the partition alone describes both */
			last->keys.condition = last->keys.condition->args[0];
		last->is_exempt = true;
	}
	plan->n = kept;
	return OK;
}

static void reverse(struct partiql_plan *plan)
{
	for (size_t i = 0, k = plan->n; i + 1 < k--; i++) {
		struct partiql_range range = plan->ranges[i];

		plan->ranges[i] = plan->ranges[k];
		plan->ranges[k] = range;
	}
}

static enum code plan_ranges(struct planner *planner, const struct branches *branches, struct partiql_plan *plan)
{
	plan->n = 0;
	plan->ranges = ARENA_ARRAY(planner->arena, struct partiql_range, branches->n);
	for (size_t i = 0; i < branches->n; i++) {
		bool is_empty;
		enum code code = narrow(planner, &branches->v[i], &plan->ranges[plan->n], &is_empty);

		if (code != OK)
			return code;
		plan->n += !is_empty;
	}
	if (plan->n > 1)
		qsort(plan->ranges, plan->n, sizeof(*plan->ranges), by_key);
	return join(planner, plan);
}

static bool is_key_comparison(const struct node *node)
{
	return node_info(node->kind)->keys || node->kind == NODE_NE || node->kind == NODE_IN;
}

/* Whether the node compares the attribute with values; of IN as a filter the list does not count. */
static bool compares(const struct node *node, const struct key_attribute *attribute, bool is_keyed)
{
	for (unsigned i = 0; i < node->arg_count; i++) {
		if (is_name(node->args[i], attribute->name))
			return i == 0 || is_keyed || node->kind != NODE_IN;
	}
	return false;
}

/* One comparison of a key attribute with values: of its type, and none of them empty. Of a list that only filters the first value counts. */
static enum code check_comparison(struct planner *planner, const struct node *node, const struct key_attribute *attribute, bool is_keyed)
{
	bool is_range = is_keyed && node->kind != NODE_NE && node->kind != NODE_CONTAINS;

	if (!compares(node, attribute, is_keyed))
		return OK;
	for (unsigned i = 0; i < node->arg_count; i++) {
		const struct value *value = &node->args[i]->value;

		if (node->args[i]->kind != NODE_VALUE)
			continue;
		if (value->type != attribute->type && node->kind == NODE_IN && !is_keyed && i > 1)
			continue;
		if (value->type != attribute->type)
			return is_range ? err_set(planner->err, MSG_PARTIQL_KEY_TYPE, STR_ARG(attribute->name))
					: err_set(planner->err, MSG_PARTIQL_SCAN_TYPE);
		if (value->n == 0)
			return err_set(planner->err, MSG_KEY_EMPTY, value->type == TYPE_S ? "string" : "binary", STR_ARG(attribute->name));
	}
	return OK;
}

/* All comparisons of a key attribute; those that only filter are worded otherwise. Depth is bounded by the parser. */
static enum code check_attribute(struct planner *planner, const struct node *node, const struct key_attribute *attribute, bool is_keyed)
{
	enum code code = OK;

	if (is_key_comparison(node) || node->kind == NODE_CONTAINS)
		return check_comparison(planner, node, attribute, is_keyed);
	for (unsigned i = 0; i < node->arg_count &&
	     node_info(node->kind)->class == NODE_CLASS_LOGIC && code == OK; i++)
		code = check_attribute(planner, node->args[i], attribute, is_keyed && node->kind != NODE_NOT);
	return code;
}

/* The sort key first. */
static enum code check_types(struct planner *planner, const struct key_schema *keys, const struct node *where, bool is_keyed)
{
	enum code code = OK;

	for (unsigned k = key_schema_count(keys); k-- > 0 && code == OK;)
		code = check_attribute(planner, where, &keys->attributes[k], is_keyed);
	return code;
}

/* Whether every alternative compares the partition key with values. Depth is bounded by the parser. */
static bool is_hash_compared(const struct planner *planner, const struct node *node)
{
	bool has_hash = false, has_other = false;

	if (node->kind == NODE_AND)
		return is_hash_compared(planner, node->args[0]) || is_hash_compared(planner, node->args[1]);
	if (node->kind == NODE_OR)
		return is_hash_compared(planner, node->args[0]) && is_hash_compared(planner, node->args[1]);
	for (unsigned i = 0; is_key_comparison(node) && i < node->arg_count; i++) {
		has_hash = has_hash || is_name(node->args[i], planner->hash);
		has_other = has_other || (node->args[i]->kind != NODE_VALUE && !is_name(node->args[i], planner->hash));
	}
	return has_hash && !has_other;
}

enum code partiql_plan_order(struct call *call, const struct partiql_statement *statement, struct partiql_plan *plan, struct err *err)
{
	struct planner planner = planner_of(call->arena, plan->table, plan->index, err);

	for (size_t i = 0; i < statement->order_count; i++) {
		const struct partiql_order *order = &statement->order[i];
		bool is_sort = str_is_set(planner.sort) && str_eq(order->name, planner.sort);

		if (str_is_set(order->other))
			return err_set(err, MSG_PARTIQL_ORDER_TYPE, STR_ARG(order->other));
		if (!is_sort && !str_eq(order->name, planner.hash))
			return err_set(err, MSG_PARTIQL_ORDER_KEY, STR_ARG(order->name));
		if (is_sort)
			plan->is_reverse = order->is_descending;
		else if (order->is_descending && plan->is_keyed)
			reverse(plan);
	}
	return OK;
}

static bool is_multi_key(const struct index *index)
{
	return index->keys.hash_count > 1 || index->keys.range_count > 1;
}

static enum code plan_source(struct call *call, const struct partiql_statement *statement, struct partiql_plan *plan, struct err *err)
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

enum code partiql_check_index(struct call *call, const struct partiql_statement *statement, struct err *err)
{
	struct partiql_plan plan = {0};

	return plan_source(call, statement, &plan, err);
}

enum code partiql_column_error(struct call *call, const struct partiql_statement *statement, struct err *err)
{
	struct partiql_plan plan = {0};
	struct err own = err_in(call->arena);

	if (plan_source(call, statement, &plan, &own) == ERR_VALIDATION && plan.index && is_multi_key(plan.index))
		*err = own;
	return ERR_VALIDATION;
}

static enum code plan_select(struct call *call, const struct partiql_statement *statement, struct partiql_plan *plan, struct err *err)
{
	struct branch first = {0};
	struct branches branches = {1, &first};

	*plan = (struct partiql_plan){.filter = statement->where};
	enum code code = plan_source(call, statement, plan, err);
	if (code != OK)
		return code;
	struct planner planner = planner_of(call->arena, plan->table, plan->index, err);
	if (statement->order_count && !statement->where)
		return err_set(err, MSG_PARTIQL_ORDER_WHERE);
	if (statement->order_count && !is_hash_compared(&planner, statement->where))
		return err_set(err, MSG_PARTIQL_ORDER_HASH);
	plan->n = 1;
	plan->ranges = ARENA_NEW(call->arena, struct partiql_range);
	if (!statement->where)
		return OK;
	code = expand(&planner, statement->where, &branches);
	plan->is_keyed = !planner.is_too_many;
	for (size_t i = 0; i < branches.n && plan->is_keyed; i++)
		plan->is_keyed = branches.v[i].partition != NULL;
	if (code == OK)
		code = check_types(&planner, plan->index ? &plan->index->keys : &plan->table->keys, statement->where, plan->is_keyed);
	if (code == OK && plan->index)
		code = check_types(&planner, &plan->table->keys, statement->where, false);
	if (code != OK || !plan->is_keyed)
		return code;
	code = plan_ranges(&planner, &branches, plan);
	if (planner.is_pure)
		plan->filter = NULL;
	/* AWS: only the reads of partitions refuse filters on what the index does not project, and only outside of OR */
	if (code == OK && statement->where->kind != NODE_OR)
		code = rules_filter_projected(call->arena, plan->index, statement->where, err);
	return code;
}

enum code partiql_plan_select(struct call *call, const struct partiql_statement *statement, struct partiql_plan *out, struct err *err)
{
	struct partiql_plan plan;
	enum code code = plan_select(call, statement, &plan, err);

	return RESULT(code, out, plan);
}
