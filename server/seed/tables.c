#include "server/seed/tables.h"

#include "protocol/wire/json_out.h"
#include "server/seed/description.h"
#include "server/seed/json_text.h"

/* The table inside its envelope. */
static const struct json *unwrap(const struct json *root)
{
	static const char *const envelopes[] = {"Table", "TableDescription"};

	for (size_t i = 0; i < sizeof(envelopes) / sizeof(envelopes[0]); i++) {
		const struct json *inner = json_type(root) == JSON_OBJECT ? json_member(root, envelopes[i]) : NULL;

		if (inner && json_type(inner) == JSON_OBJECT)
			return inner;
	}
	return root;
}

static bool is_table(const struct json *root)
{
	const struct json *table = unwrap(root);

	return json_type(table) == JSON_OBJECT && json_member(table, "TableName") && json_member(table, "KeySchema") && json_member(table, "AttributeDefinitions");
}

bool tables_are_in(const struct json *root)
{
	if (json_type(root) != JSON_ARRAY)
		return is_table(root);
	const struct json *at = json_first(root);
	while (at && is_table(at))
		at = json_next(at);
	return !at && json_first(root);
}

/* CreateTable's own body goes as it is; what describes a table has more than that. */
static enum code read_one(struct seed *seed, const struct json *root, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	const struct json *table = unwrap(root), *name = json_member(table, "TableName");
	bool is_described = table != root || json_member(table, "TableStatus");
	struct json_out out = json_out_in(arena);

	if (!is_described)
		json_text_write(&out, arena, table);
	struct str body = is_described ? description_to_create(arena, table) : json_out_str(&out);
	return seed_table(seed, json_type(name) == JSON_STRING ? json_string(arena, name) : STR("?"), body, NULL, 0, err);
}

enum code tables_read(struct seed *seed, const struct json *root, struct err *err)
{
	enum code code = OK;

	if (json_type(root) != JSON_ARRAY)
		return read_one(seed, root, err);
	for (const struct json *at = json_first(root); at && code == OK; at = json_next(at))
		code = read_one(seed, at, err);
	return code;
}
