/* Any text as a PartiQL statement with two parameters, run against a small item. The first byte tells whether it stands in a transaction. */
#include <stdint.h>

#include "protocol/partiql/partiql.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void run(struct arena *arena, const struct partiql_statement *statement, const struct value *item)
{
	struct subject subject = {arena, item, STR_ABSENT};
	struct err err = err_in(arena);
	struct value out;

	if (statement->where)
		(void)expr_eval(statement->where, &subject);
	if (statement->update && expr_update(statement->update, arena, item, &out, &err) == OK)
		(void)expr_updated(statement->update, arena, &out);
	for (size_t i = 0; statement->columns && i < statement->columns->paths.n; i++)
		(void)subject_path(&subject, statement->columns->paths.paths[i]);
	if (statement->item)
		(void)item_size(statement->item);
}

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
	struct value parameters[] = {text, list};
	struct partiql_statement statement;
	struct err err = err_in(arena);
	struct str source = {(const char *)data + 1, size - 1 < 8192 ? size - 1 : 8192};

	struct service service = {0};
	struct call call = {.service = &service, .arena = arena};
	if (partiql_parse(&call, source, parameters, 2, data[0] & 1, &statement, &err) == OK)
		run(arena, &statement, &item);
	return 0;
}
