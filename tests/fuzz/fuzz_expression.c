/* Any text as each kind of expression, evaluated against a small item. The first byte picks the kind. */
#include <stdint.h>

#include "core/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct arena *arena;
	struct value text = value_of_str(TYPE_S, STR("hello"));

	if (size < 1)
		return 0;
	if (!arena)
		arena = arena_new(1 << 20);
	arena_reset(arena);
	struct value list_elements[] = {text, text};
	struct value list = {.type = TYPE_L, .n = 2, .elements = list_elements};
	struct member members[] = {{STR("a"), text}, {STR("l"), list}};
	struct value item = {.type = TYPE_M, .n = 2, .members = members};
	struct expr_name names[] = {{STR("#n"), STR("a"), false}};
	struct expr_value values[] = {{STR(":v"), text, false}, {STR(":l"), list, false}};
	struct expr_env env = {arena, 1, names, 2, values};
	struct err err = err_in(arena);
	struct str source = {(const char *)data + 1, size - 1};
	struct subject subject = {arena, &item, STR_ABSENT};
	const struct node *node;
	struct update *update;
	struct projection *projection;
	struct value out;

	switch (data[0] % 3) {
	case 0:
		if (expr_parse_condition(&env, EXPR_CONDITION, source, &node, &err) == OK)
			(void)expr_eval(node, &subject);
		break;
	case 1:
		if (expr_parse_update(&env, source, &update, &err) == OK && expr_update(update, arena, &item, &out, &err) == OK)
			(void)expr_updated(update, arena, &out);
		break;
	default:
		if (expr_parse_projection(&env, source, &projection, &err) == OK)
			(void)expr_project(projection, &subject);
	}
	return 0;
}
