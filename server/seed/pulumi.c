#include "server/seed/pulumi.h"

#include "protocol/wire/json_out.h"
#include "server/seed/json_text.h"

/* A member of what is no plain value, such as a secret. */
#define SIGNATURE "4dabf18193072939515e22adb298388d"

struct str pulumi_terraform_type(struct str type)
{
	static const struct {
		const char *pulumi, *terraform;
	} types[] = {
		{"aws:dynamodb/table:Table", "aws_dynamodb_table"},
		{"aws:dynamodb/tableItem:TableItem", "aws_dynamodb_table_item"},
		{"aws:appautoscaling/target:Target", "aws_appautoscaling_target"},
		{"aws:appautoscaling/policy:Policy", "aws_appautoscaling_policy"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (str_eq(type, str_of(types[i].pulumi)))
			return str_of(types[i].terraform);
	}
	return STR_ABSENT;
}

/* Pulumi writes globalSecondaryIndexes where Terraform writes global_secondary_index. */
static struct str terraform_name(struct arena *arena, struct str name)
{
	static const struct {
		const char *pulumi, *terraform;
	} names[] = {
		{"attributes", "attribute"},
		{"globalSecondaryIndexes", "global_secondary_index"},
		{"localSecondaryIndexes", "local_secondary_index"},
		{"replicas", "replica"},
		{"keySchemas", "key_schema"},
		{"headerLists", "header_list"},
	};
	struct buf buf = buf_in(arena);

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (str_eq(name, str_of(names[i].pulumi)))
			return str_of(names[i].terraform);
	}
	for (size_t i = 0; i < name.n; i++) {
		bool is_capital = name.p[i] >= 'A' && name.p[i] <= 'Z';

		if (is_capital)
			buf_add_byte(&buf, '_');
		buf_add_byte(&buf, is_capital ? name.p[i] - 'A' + 'a' : name.p[i]);
	}
	return buf_str(&buf);
}

struct renaming {
	struct seed *seed;
	struct str address;
	struct json_out out;
	struct origin *origins;
	size_t n;
};

/* As deep as json_parse lets a text be. Names within tags are the user's. */
static void rename_all(struct renaming *renaming, const struct json *value, bool is_ours)
{
	bool is_object = json_type(value) == JSON_OBJECT;
	struct arena *arena = seed_arena(renaming->seed);

	renaming->origins =
		arena_room(arena, renaming->origins, renaming->n, sizeof(*renaming->origins));
	renaming->origins[renaming->n++] = source_origin(seed_source(renaming->seed), value);
	if (!is_object && json_type(value) != JSON_ARRAY) {
		json_text_write(&renaming->out, arena, value);
		return;
	}
	if (is_object && json_member(value, SIGNATURE))
		seed_refuse(renaming->seed, source_origin(seed_source(renaming->seed), value),
			    renaming->address,
			    STR("a secret; pulumi stack export --show-secrets shows it"));
	json_out_open(&renaming->out, is_object ? '{' : '[');
	for (const struct json *child = json_first(value); child; child = json_next(child)) {
		struct str name = is_object ? json_name(arena, child) : STR("");

		if (is_object)
			json_out_name(&renaming->out, is_ours ? terraform_name(arena, name) : name);
		rename_all(renaming, child, is_ours && !str_starts_with(name, STR("tags")));
	}
	json_out_close(&renaming->out, is_object ? '}' : ']');
}

enum code pulumi_rename(struct seed *seed, const struct json *outputs, struct str address,
			const struct json **out, struct err *err)
{
	struct arena *arena = seed_arena(seed);
	struct renaming renaming = {.seed = seed, .address = address, .out = json_out_in(arena)};
	const struct json *root;

	rename_all(&renaming, outputs, true);
	enum code code = json_parse(arena, json_out_str(&renaming.out), &root, err);
	if (code != OK)
		return code;
	source_locate_by(seed_source(seed), root, renaming.origins, renaming.n);
	*out = root;
	return OK;
}
