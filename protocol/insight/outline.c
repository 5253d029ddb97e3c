#include "protocol/insight/outline.h"

#include "protocol/insight/mask.h"

#define DEPTH_MAX 32  /* of conditions; what lies deeper is "..." */
#define MORE "\xE2\x80\xA6"

/* Names of attributes that have bytes of marks are not shown. */
static bool looks_marked(struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] >= OUTLINE_PREFIX && text.p[i] <= OUTLINE_MORE)
			return true;
	}
	return false;
}

static void add(struct outline *outline, struct str text)
{
	if (outline->is_marked && looks_marked(text))
		buf_add_byte(&outline->texts[outline->part], '*');
	else if (outline->texts)
		buf_add_str(&outline->texts[outline->part], text);
	else
		outline->hash = str_hash(text, outline->hash);
}

static void part(struct outline *outline, enum outline_part part)
{
	outline->part = part;
	outline->hash += ((uint64_t)part + 1) * 0x9e3779b97f4a7c15u;
}

/* Names of attributes are shown; names inside documents only where they are words: people keep
 * values there too. */
static void add_path(struct outline *outline, const struct path *path)
{
	for (size_t i = 0; i < path->n; i++) {
		struct str name = path->steps[i].name;

		if (!str_is_set(name)) {
			add(outline, STR("[n]"));
			continue;
		}
		if (i > 0)
			add(outline, STR("."));
		add(outline, i == 0 || mask_is_word(name) ? name : STR("*"));
	}
}

/* `is_key`: the prefix of an entity is shown. */
static void add_value(struct outline *outline, const struct value *value, bool is_key)
{
	struct mask mask = is_key ? mask_of(value) : (struct mask){STR(""), false};

	if (mask.prefix.n == 0) {
		add(outline, STR("?"));
		return;
	}
	if (outline->is_marked) {
		buf_printf(&outline->texts[outline->part], "%c" STR_FMT "%c", OUTLINE_PREFIX,
			   STR_ARG(mask.prefix), mask.is_whole ? OUTLINE_WHOLE : OUTLINE_MORE);
		return;
	}
	add(outline, STR("\""));
	add(outline, mask.prefix);
	add(outline, mask.is_whole ? STR("\"") : STR(MORE "\""));
}

static const struct {
	struct str before, between, after;
} forms[NODE_KINDS] = {
#define CALL(shown) {STR_INIT(shown "("), STR_INIT(", "), STR_INIT(")")}
#define INFIX(shown) {STR_INIT(""), STR_INIT(" " shown " "), STR_INIT("")}
#define ENCLOSED(shown) {STR_INIT("("), STR_INIT(" " shown " "), STR_INIT(")")}
#define NODE(kind, class, use, form, name, shown, ...) [NODE_##kind] = form(shown),
#include "core/nodes.def"
};

static void add_node(struct outline *outline, const struct node *node, bool is_key, unsigned depth)
{
	if (depth > DEPTH_MAX) {
		add(outline, STR(MORE));
		return;
	}
	if (node->kind == NODE_VALUE) {
		add_value(outline, &node->value, is_key);
	} else if (node->kind == NODE_PATH) {
		add_path(outline, node->path);
	} else if (node->kind == NODE_IN) { /* however many there are */
		add_node(outline, node->args[0], is_key, depth + 1);
		add(outline, STR(" in (" MORE ")"));
	} else {
		add(outline, forms[node->kind].before);
		for (unsigned i = 0; i < node->arg_count; i++) {
			if (i > 0)
				add(outline, forms[node->kind].between);
			add_node(outline, node->args[i], is_key, depth + 1);
		}
		add(outline, forms[node->kind].after);
	}
}

/* "PK = "CUSTOMER#..." and SK = "PROFILE"" of an item or a key. */
static void add_key(struct outline *outline, const struct key_schema *keys,
		    const struct value *item)
{
	bool is_first = true;

	for (unsigned i = 0; i < keys->hash_count + keys->range_count; i++) {
		const struct value *value =
			item ? value_member(item, keys->attributes[i].name) : NULL;

		if (!value)
			continue;
		if (!is_first)
			add(outline, STR(" and "));
		is_first = false;
		add(outline, keys->attributes[i].name);
		add(outline, STR(" = "));
		add_value(outline, value, true);
	}
}

static bool is_partition(const struct node *node, struct str name)
{
	return node->kind == NODE_EQ && node->args[0]->kind == NODE_PATH &&
	       str_eq(node->args[0]->path->steps[0].name, name);
}

/* The partition key first, however the request has it. */
static void add_key_condition(struct outline *outline, const struct node *node,
			      struct str partition)
{
	bool is_turned = node->kind == NODE_AND && node->arg_count == 2 &&
			 is_partition(node->args[1], partition) &&
			 !is_partition(node->args[0], partition);

	if (!is_turned) {
		add_node(outline, node, true, 0);
		return;
	}
	add_node(outline, node->args[1], true, 1);
	add(outline, STR(" and "));
	add_node(outline, node->args[0], true, 1);
}

static void add_projection(struct outline *outline, const struct projection *projection)
{
	const struct path **paths = projection->ordered ? projection->ordered : projection->paths;

	for (size_t i = 0; i < projection->n; i++) {
		if (i > 0)
			add(outline, STR(", "));
		add_path(outline, paths[i]);
	}
}

static void add_update(struct outline *outline, const struct update *update)
{
	static const struct str verbs[] = {
		[UPDATE_SET] = STR_INIT("SET "),
		[UPDATE_REMOVE] = STR_INIT("REMOVE "),
		[UPDATE_ADD] = STR_INIT("ADD "),
		[UPDATE_DELETE] = STR_INIT("DELETE "),
	};

	for (size_t i = 0; i < update->n; i++) {
		bool is_same = i > 0 && update->actions[i].verb == update->actions[i - 1].verb;

		add(outline, is_same ? STR(", ") : i > 0 ? STR(" ") : STR(""));
		if (!is_same)
			add(outline, verbs[update->actions[i].verb]);
		add_path(outline, update->actions[i].path);
	}
}

static void add_how(struct outline *outline, unsigned how)
{
	static const struct {
		unsigned how;
		struct str word;
	} words[] = {
		{ACCESS_CONSISTENT, STR_INIT("consistent ")},
		{ACCESS_REVERSE, STR_INIT("descending ")},
		{ACCESS_PARALLEL, STR_INIT("parallel ")},
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (how & words[i].how)
			add(outline, words[i].word);
	}
}

static bool is_write(const struct access *access)
{
	return access->kind >= ACCESS_PUT;
}

void outline_access(struct outline *outline, const struct access *access)
{
	static const struct str kinds[ACCESS_KINDS] = {
		[ACCESS_GET] = STR_INIT("GetItem"),
		[ACCESS_QUERY] = STR_INIT("Query"),
		[ACCESS_SCAN] = STR_INIT("Scan"),
		[ACCESS_SEARCH] = STR_INIT("SearchVectors"),
		[ACCESS_PUT] = STR_INIT("PutItem"),
		[ACCESS_UPDATE] = STR_INIT("UpdateItem"),
		[ACCESS_DELETE] = STR_INIT("DeleteItem"),
		[ACCESS_CHECK] = STR_INIT("ConditionCheck"),
	};
	const struct table *table = access->table;

	part(outline, OUTLINE_KIND);
	add(outline, kinds[access->kind]);
	part(outline, OUTLINE_TABLE);
	add(outline, table->identity.name);
	part(outline, OUTLINE_INDEX);
	if (access->index)
		add(outline, access->index->name);
	part(outline, OUTLINE_KEY);
	if (access->keys)
		add_key_condition(
			outline, access->keys,
			(access->index ? &access->index->keys : &table->keys)->attributes[0].name);
	else if (access->item)
		add_key(outline, &table->keys, access->item);
	part(outline, is_write(access) ? OUTLINE_CONDITION : OUTLINE_FILTER);
	if (access->condition)
		add_node(outline, access->condition, false, 0);
	part(outline, OUTLINE_PROJECTION);
	if (access->how & ACCESS_COUNTS)
		add(outline, STR("COUNT"));
	else if (access->projection)
		add_projection(outline, access->projection);
	part(outline, OUTLINE_UPDATE);
	if (access->update)
		add_update(outline, access->update);
	part(outline, OUTLINE_HOW);
	add_how(outline, access->how);
}

static uint64_t mix(uint64_t key, uint64_t word)
{
	key = (key ^ word) * 0xd6e8feb86659fd93u;
	return key ^ key >> 32;
}

static uint64_t key_path(uint64_t key, const struct path *path)
{
	key = mix(key, path->n);
	for (size_t i = 0; i < path->n; i++)
		key = str_is_set(path->steps[i].name) ? str_hash(path->steps[i].name, key)
						      : mix(key, 1);
	return key;
}

static uint64_t key_value(uint64_t key, const struct value *value)
{
	struct mask mask = mask_of(value);

	return mask.prefix.n ? str_hash(mask.prefix, key + mask.is_whole) : mix(key, 2);
}

static uint64_t key_node(uint64_t key, const struct node *node, bool is_key, unsigned depth)
{
	unsigned args = node->kind == NODE_IN ? 1 : node->arg_count;

	key = mix(key, (uint64_t)node->kind << 32 | args);
	if (depth > DEPTH_MAX)
		return key;
	if (node->kind == NODE_VALUE)
		return is_key ? key_value(key, &node->value) : key;
	if (node->kind == NODE_PATH)
		return key_path(key, node->path);
	for (unsigned i = 0; i < args; i++)
		key = key_node(key, node->args[i], is_key, depth + 1);
	return key;
}

static uint64_t key_item(uint64_t key, const struct key_schema *keys, const struct value *item)
{
	unsigned n = keys->hash_count + keys->range_count;

	for (unsigned i = 0; i < n && item->n == n;
	     i++) /* a key alone: its members lie in the order of their names, which a table's key
		     has once */
		key = key_value(key, &item->members[i].value);
	for (unsigned i = 0; i < n && item->n != n; i++) {
		const struct value *value = value_member(item, keys->attributes[i].name);

		key = value ? key_value(key, value) : mix(key, 3);
	}
	return key;
}

static uint64_t key_lists(uint64_t key, const struct access *access)
{
	const struct projection *projection = access->projection;
	const struct update *update = access->update;

	for (size_t i = 0; projection && i < projection->n; i++)
		key = key_path(key,
			       (projection->ordered ? projection->ordered : projection->paths)[i]);
	for (size_t i = 0; update && i < update->n; i++)
		key = key_path(mix(key, update->actions[i].verb), update->actions[i].path);
	return key;
}

uint64_t outline_key(uint64_t key, const struct access *access)
{
	enum { INDEX = 1, KEYS = 2, ITEM = 4, CONDITION = 8, PROJECTION = 16, UPDATE = 32 };
	uint64_t has = (access->index ? INDEX : 0u) | (access->keys ? KEYS : 0u) |
		       (access->item ? ITEM : 0u) | (access->condition ? CONDITION : 0u) |
		       (access->projection ? PROJECTION : 0u) | (access->update ? UPDATE : 0u);

	key = mix(mix(key, access->table->identity.number),
		  (uint64_t)access->kind << 40 | (uint64_t)access->how << 8 | has);
	if (access->index)
		key = str_hash(access->index->name, key);
	if (access->keys)
		key = key_node(key, access->keys, true, 0);
	else if (access->item)
		key = key_item(key, &access->table->keys, access->item);
	if (access->condition)
		key = key_node(key, access->condition, false, 0);
	return key_lists(key, access);
}
