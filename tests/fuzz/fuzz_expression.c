/* Any text as each kind of expression, evaluated against a small item. The first byte picks the
 * kind. */
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = fuzz_arena();
	struct str source = {(const char *)data, size};
	struct fuzz_item it;

	if (size < 1)
		return 0;
	fuzz_item_init(&it);
	struct expr_name names[] = {{STR("#n"), STR("a"), false}};
	struct expr_value values[] = {{STR(":v"), it.parameters[0], false},
				      {STR(":l"), it.parameters[1], false}};
	struct expr_env env = {.arena = arena,
			       .name_count = 1,
			       .names = names,
			       .value_count = 2,
			       .values = values};
	struct err err = err_in(arena);
	struct subject subject = {arena, &it.item, STR_ABSENT};
	const struct node *node;
	struct update *update;
	struct projection *projection;

	switch (fuzz_byte(&source) % 3) {
	case 0:
		if (expr_parse_condition(&env, EXPR_CONDITION, source, &node, &err) == OK)
			(void)expr_eval(node, &subject);
		break;
	case 1:
		if (expr_parse_update(&env, source, &update, &err) == OK)
			fuzz_update(arena, update, &it.item);
		break;
	default:
		if (expr_parse_projection(&env, source, &projection, &err) == OK)
			(void)expr_project(projection, &subject);
	}
	return 0;
}
