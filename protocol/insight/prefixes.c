#include "protocol/insight/prefixes.h"

#include "protocol/insight/mask.h"

#define DEPTH_MAX 32

static const struct prefix *find_prefix(const struct prefixes *prefixes, uint64_t hash)
{
	for (size_t i = 0; i < prefixes->n && i < PREFIXES_MAX; i++) {
		if (prefixes->v[i].hash == hash)
			return &prefixes->v[i];
	}
	return NULL;
}

static struct prefix *find_or_add_prefix(struct prefixes *prefixes, struct str text)
{
	uint64_t hash = str_hash(text, 1);
	const struct prefix *found = find_prefix(prefixes, hash);

	if (found)
		return &prefixes->v[found - prefixes->v];
	if (prefixes->n <= PREFIXES_MAX)
		prefixes->n++;
	if (prefixes->n > PREFIXES_MAX)
		return NULL;
	prefixes->v[prefixes->n - 1] =
		(struct prefix){.hash = hash, .is_small = !mask_is_capitals(text)};
	prefixes->small_count += !mask_is_capitals(text);
	return &prefixes->v[prefixes->n - 1];
}

/* `place` distinguishes where a whole word stands. */
static void note_value(struct prefixes *prefixes, const struct value *value, uint64_t place)
{
	struct mask mask = mask_of(value);

	if (mask.prefix.n == 0 || prefixes->n > PREFIXES_MAX)
		return;
	struct prefix *prefix = find_or_add_prefix(prefixes, mask.prefix);
	if (!prefix || prefix->n == PREFIX_VALUES)
		return;
	struct str text = value_str(value), rest = {text.p + mask.prefix.n, text.n - mask.prefix.n};
	if (!mask.is_whole && !mask_is_identifier(mask.prefix, rest))
		return;
	uint64_t own = mask.is_whole ? place : str_hash(text, 2);
	for (unsigned i = 0; i < prefix->n; i++) {
		if (prefix->values[i] == own)
			return;
	}
	prefix->values[prefix->n++] = own;
}

static void note_node(struct prefixes *prefixes, const struct node *node, uint64_t place,
		      unsigned depth)
{
	if (node->kind == NODE_VALUE)
		note_value(prefixes, &node->value, place);
	for (unsigned i = 0; i < node->arg_count && depth < DEPTH_MAX; i++)
		note_node(prefixes, node->args[i], place, depth + 1);
}

static void note_keys(struct prefixes *prefixes, const struct key_schema *keys,
		      const struct value *item, uint64_t place)
{
	for (unsigned i = 0; i < keys->hash_count + keys->range_count; i++) {
		const struct value *value = value_member(item, keys->attributes[i].name);

		if (value)
			note_value(prefixes, value, place);
	}
}

void prefixes_note(struct prefixes *prefixes, const struct access *access)
{
	const struct table *table = access->table;
	uint64_t place = str_is_set(access->row_key) ? str_hash(access->row_key, 3) : 0;

	if (access->keys)
		note_node(prefixes, access->keys, place, 0);
	if (!access->item)
		return;
	note_keys(prefixes, &table->keys, access->item, place);
	for (size_t i = 0; access->kind == ACCESS_PUT && i < table->indexes.n; i++)
		note_keys(prefixes, &table->indexes.v[i].keys, access->item, place);
}

bool prefixes_show(const struct prefixes *prefixes, struct str text)
{
	const struct prefix *prefix = prefixes ? find_prefix(prefixes, str_hash(text, 1)) : NULL;

	return prefix && prefixes->n <= PREFIXES_MAX && prefix->n == PREFIX_VALUES &&
	       !(prefix->is_small && prefixes->small_count > PREFIXES_SMALL);
}
