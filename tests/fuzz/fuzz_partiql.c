/* Any text as a PartiQL statement with two parameters, run against a small item. The first byte
 * tells whether it stands in a transaction. */
#include "protocol/partiql/partiql.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/protocol/service_fixture.h"

#define STATEMENT_MAX 8192

static void run(struct arena *arena, const struct partiql_statement *statement,
		const struct value *item)
{
	struct subject subject = {arena, item, STR_ABSENT};

	if (statement->where)
		(void)expr_eval(statement->where, &subject);
	if (statement->update)
		fuzz_update(arena, statement->update, item);
	for (size_t i = 0; statement->columns && i < statement->columns->paths.n; i++)
		(void)subject_path(&subject, statement->columns->paths.paths[i]);
	if (statement->item)
		(void)item_size(statement->item);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = fuzz_arena();
	struct str input = {(const char *)data, size};
	bool is_transaction = fuzz_byte(&input) & 1;
	static struct service_fixture
		fixture; /* without tables: a column of an index is looked up there */
	struct call call = {.service = &fixture.service,
			    .arena = arena,
			    .ns = {STR_INIT("000000000000"), STR_INIT("us-east-1")}};
	struct partiql_statement statement;
	struct err err = err_in(arena);
	struct fuzz_item it;

	if (!fixture.store)
		service_fixture_open(&fixture, arena);
	fuzz_item_init(&it);
	if (partiql_parse(&call, fuzz_bytes(&input, STATEMENT_MAX), it.parameters, 2,
			  is_transaction, &statement, &err) == OK)
		run(arena, &statement, &it.item);
	return 0;
}
