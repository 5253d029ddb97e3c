#include "storage/key_condition.h"

#include "core/key.h"
#include "storage/messages.h"

#define CONDITIONS_MAX KEY_ATTRIBUTES_MAX

/* One conjunct: an attribute, what is said of it, and the values it is compared with. */
struct conjunct {
	struct str name;
	enum node_kind kind;
	const struct value *values[2];
	unsigned value_count;
};

struct conjuncts {
	size_t n; /* those beyond the array are counted only: they are too many in any case */
	struct conjunct v[CONDITIONS_MAX];
};

/* `:v < pk` says pk > :v. NODE_VALUE: the path must come first. */
static const enum node_kind mirrored[NODE_KINDS] = {
#define COMPARISON(kind, name, types, keys, mirrored, test) [NODE_##kind] = NODE_##mirrored,
#include "core/nodes.def"
};

static enum code read_conjunct(const struct node *node, struct conjunct *out, struct err *err)
{
	struct conjunct read = {.kind = node->kind};
	const struct path *path = NULL;
	unsigned path_at = 0;

	if (!node_info(node->kind)->keys)
		return err_set(err, MSG_KEY_CONDITION_OPERATOR, node_info(node->kind)->name.p);
	for (unsigned i = 0; i < node->arg_count; i++) {
		const struct node *arg = node->args[i];

		if (arg->kind == NODE_PATH) {
			if (arg->path->n > 1)
				return err_set(err, MSG_KEY_CONDITION_DOCUMENT);
			if (path)
				return err_set(err, MSG_KEY_CONDITION_NAMES);
			path = arg->path;
			path_at = i;
		} else if (arg->kind == NODE_VALUE && read.value_count < 2) {
			read.values[read.value_count++] = &arg->value;
		} else {
			return err_set(err, MSG_KEY_CONDITION_NESTED);
		}
	}
	if (!path)
		return err_set(err, MSG_KEY_CONDITION_NO_NAME);
	if (path_at > 0 && mirrored[node->kind] == NODE_VALUE)
		return err_set(err, MSG_KEY_CONDITION_ORDER, node_info(node->kind)->name.p);
	if (path_at > 0)
		read.kind = mirrored[node->kind];
	read.name = path->steps[0].name;
	*out = read;
	return OK;
}

/* Depth is bounded by the parser. */
static enum code collect_conjuncts(const struct node *node, struct conjuncts *all, struct err *err)
{
	struct conjunct conjunct;

	if (node->kind == NODE_AND) {
		enum code code = collect_conjuncts(node->args[0], all, err);

		return code != OK ? code : collect_conjuncts(node->args[1], all, err);
	}
	enum code code = read_conjunct(node, &conjunct, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < all->n && i < CONDITIONS_MAX; i++) {
		if (str_eq(all->v[i].name, conjunct.name))
			return err_set(err, MSG_KEY_CONDITION_TWICE);
	}
	if (all->n < CONDITIONS_MAX)
		all->v[all->n] = conjunct;
	all->n++;
	return OK;
}

static const struct conjunct *find(const struct conjuncts *all, struct str name)
{
	for (size_t i = 0; i < all->n && i < CONDITIONS_MAX; i++) {
		if (str_eq(all->v[i].name, name))
			return &all->v[i];
	}
	return NULL;
}

static enum code check_conjunct_values(const struct index *index,
				       const struct key_attribute *attribute,
				       const struct conjunct *conjunct, size_t size_max,
				       struct err *err)
{
	for (unsigned i = 0; i < conjunct->value_count; i++) {
		const struct value *value = conjunct->values[i];

		if (value->type != attribute->type)
			return err_set(err, MSG_KEY_CONDITION_TYPE);
		const char *kind = value->type == TYPE_S ? "string" : "binary";
		if (value->n == 0 && index)
			return err_set(err, MSG_INDEX_KEY_EMPTY, kind, STR_ARG(index->name),
				       STR_ARG(attribute->name));
		if (value->n == 0)
			return err_set(err, MSG_KEY_EMPTY, kind, STR_ARG(attribute->name));
		if (value_size(value) > size_max && size_max == PARTITION_KEY_SIZE_MAX)
			return err_set(err, MSG_PARTITION_KEY_SIZE);
		if (value_size(value) > size_max)
			return err_set(err, MSG_SORT_KEY_SIZE);
	}
	return OK;
}

/* prefix followed by the element. */
static struct str bound(struct arena *arena, struct str prefix, const struct value *value,
			bool is_prefix)
{
	struct buf buf = buf_in(arena);

	buf_add_str(&buf, prefix);
	if (is_prefix)
		key_add_prefix(&buf, value);
	else
		key_add(&buf, value);
	return buf_str(&buf);
}

/* The range within `prefix` that the conjunct leaves. */
static struct store_range range_of_conjunct(struct arena *arena, struct str prefix,
					    const struct conjunct *conjunct)
{
	struct store_range range = {prefix, key_after_prefix(arena, prefix), false};

	if (!conjunct)
		return range;
	unsigned keys = node_info(conjunct->kind)->keys;
	struct str at = bound(arena, prefix, conjunct->values[0], false);
	if (keys & (KEYS_FROM | KEYS_ABOVE))
		range.low = keys & KEYS_FROM ? at : key_after_prefix(arena, at);
	if (conjunct->value_count > 1)
		at = bound(arena, prefix, conjunct->values[1], false);
	else if (conjunct->kind == NODE_BEGINS_WITH) /* from the value itself, which is the first
							that begins with it */
		at = bound(arena, prefix, conjunct->values[0], true);
	if (keys & (KEYS_BELOW | KEYS_TO))
		range.high = keys & KEYS_BELOW ? at : key_after_prefix(arena, at);
	return range;
}

/* Whether the keys have more attributes of a kind than one; AWS words what is wrong with a
 * condition on such keys in another way. */
static bool is_multiple(const struct key_schema *keys)
{
	return keys->hash_count > 1 || keys->range_count > 1;
}

static void add_name(struct buf *list, struct str name)
{
	buf_printf(list, "%s" STR_FMT, list->n ? ", " : "", STR_ARG(name));
}

/* Each partition key attribute must equal a value. */
static enum code check_partition(struct arena *arena, const struct key_schema *keys,
				 const struct conjuncts *all, struct err *err)
{
	struct buf missing = buf_in(arena);

	for (unsigned i = 0; i < keys->hash_count; i++) {
		const struct conjunct *conjunct = find(all, keys->attributes[i].name);

		if (!conjunct && !is_multiple(keys))
			return err_set(err, MSG_KEY_CONDITION_MISSED,
				       STR_ARG(keys->attributes[i].name));
		if (!is_multiple(keys) && conjunct->kind != NODE_EQ)
			return err_set(err, MSG_KEY_CONDITION_UNSUPPORTED);
		if (!conjunct || conjunct->kind != NODE_EQ)
			add_name(&missing, keys->attributes[i].name);
	}
	return is_multiple(keys) && missing.n
		       ? err_set(err, MSG_KEY_CONDITION_HASH, STR_ARG(buf_str(&missing)))
		       : OK;
}

/* A condition on an attribute that is none of the keys: AWS names the sort key that it expected
 * instead. */
static enum code check_other_attributes(const struct key_schema *keys, const struct conjuncts *all,
					struct err *err)
{
	const struct key_attribute *free_one = NULL;
	size_t known = keys->hash_count;

	for (unsigned i = keys->hash_count; i < key_schema_count(keys); i++) {
		if (find(all, keys->attributes[i].name))
			known++;
		else if (!free_one)
			free_one = &keys->attributes[i];
	}
	if (known < all->n && free_one)
		return err_set(err, MSG_KEY_CONDITION_MISSED, STR_ARG(free_one->name));
	return known < all->n ? err_set(err, MSG_KEY_CONDITION_UNSUPPORTED) : OK;
}

/* Sort key attributes from the left, all but the last by equality; *used is how many. */
static enum code check_sort(struct arena *arena, const struct key_schema *keys,
			    const struct conjuncts *all, unsigned *used, struct err *err)
{
	const struct key_attribute *sorts = keys->attributes + keys->hash_count;
	struct buf missing = buf_in(arena);
	bool is_open = false; /* the last condition met was no equality */
	enum code code = check_other_attributes(keys, all, err);

	*used = 0;
	if (code != OK)
		return code;
	for (unsigned i = 0; i < keys->range_count; i++) {
		const struct conjunct *conjunct = find(all, sorts[i].name);

		if (!conjunct) {
			add_name(&missing, sorts[i].name);
			continue;
		}
		if (missing.n == 0 && is_open)
			add_name(&missing, sorts[i - 1].name);
		if (missing.n)
			return err_set(err, MSG_KEY_CONDITION_RANGE, STR_ARG(buf_str(&missing)),
				       STR_ARG(sorts[i].name));
		is_open = conjunct->kind != NODE_EQ;
		*used = i + 1;
	}
	return OK;
}

static enum code resolve_partition(struct arena *arena, const struct table *table,
				   const struct index *index, const struct conjuncts *all,
				   struct str *partition, struct err *err)
{
	const struct key_schema *keys = index ? &index->keys : &table->keys;
	const struct value *values[KEY_ATTRIBUTES_MAX];
	struct buf buf = buf_in(arena);

	for (unsigned i = 0; i < keys->hash_count; i++) {
		const struct conjunct *conjunct = find(all, keys->attributes[i].name);
		enum code code = check_conjunct_values(index, &keys->attributes[i], conjunct,
						       PARTITION_KEY_SIZE_MAX, err);

		if (code != OK)
			return code;
		if (conjunct->kind != NODE_EQ)
			return err_set(err, MSG_KEY_CONDITION_UNSUPPORTED);
		values[i] = conjunct->values[0];
	}
	key_add_partition(&buf, table->hash, values, keys->hash_count);
	*partition = buf_str(&buf);
	return OK;
}

enum code key_condition_check(const struct node *condition, struct err *err)
{
	struct conjuncts all = {0};

	return collect_conjuncts(condition, &all, err);
}

enum code key_condition_resolve(struct arena *arena, const struct table *table,
				const struct index *index, const struct node *condition,
				struct key_condition *out, struct err *err)
{
	const struct key_schema *keys = index ? &index->keys : &table->keys;
	struct conjuncts all = {0};
	const struct conjunct *last = NULL;
	unsigned used = 0;
	enum code code = collect_conjuncts(condition, &all, err);

	if (code != OK)
		return code;
	if (all.n > key_schema_count(keys))
		return err_set(err, MSG_KEY_CONDITION_COUNT, all.n, key_schema_count(keys));
	code = check_partition(arena, keys, &all, err);
	if (code != OK)
		return code;
	code = resolve_partition(arena, table, index, &all, &out->partition, err);
	if (code != OK)
		return code;
	code = check_sort(arena, keys, &all, &used, err);
	if (code != OK)
		return code;
	struct str prefix = out->partition;
	for (unsigned i = keys->hash_count; i < keys->hash_count + used; i++) {
		const struct conjunct *conjunct = find(&all, keys->attributes[i].name);

		code = check_conjunct_values(index, &keys->attributes[i], conjunct,
					     SORT_KEY_SIZE_MAX, err);
		if (code != OK)
			return code;
		if (last)
			prefix = bound(arena, prefix, last->values[0], false);
		last = conjunct;
	}
	out->range = range_of_conjunct(arena, prefix, last);
	out->condition = condition;
	return OK;
}
