/*
 * Lines that an agent sends: each answer is empty or one line of JSON, and what arguments become is
 * JSON. The first byte chooses the tool that the line's arguments are read for. No server answers.
 */
#include <stdio.h>

#include "protocol/wire/json.h"
#include "server/mcp/arguments.h"
#include "server/mcp/rpc.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tools tools = {.may_write = true};
	struct arena *arena = fuzz_arena();
	struct str input = {(const char *)data, size};
	const struct tool *tool = toolbox_at(fuzz_byte(&input) % TOOL_COUNT);
	struct err err = err_in(arena);
	struct arguments arguments;
	const struct json *root;

	if (!tools.elsewhere)
		tools.elsewhere =
			elsewhere_new("http://127.0.0.1:1", &(struct reach){.wait_ms = 1000});
	struct str answer = rpc_answer(&tools, arena, input);
	MUST(answer.n == 0 || json_parse(arena, answer, &root, &err) == OK);
	MUST(answer.n == 0 || !memchr(answer.p, '\n', answer.n));
	if (json_parse(arena, input, &root, &err) == OK && json_type(root) == JSON_OBJECT &&
	    arguments_read(arena, tool, input, 0, &arguments, &err) == OK)
		MUST(json_parse(arena, arguments.body, &root, &err) == OK);
	return 0;
}
