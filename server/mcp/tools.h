/*
 * tools - the list of tools with their schemas, and calls of them as requests of the API or of test
 * control.
 */
#ifndef DYNALITH_SERVER_TOOLS_H
#define DYNALITH_SERVER_TOOLS_H

#include <stdbool.h>

#include "core/err.h"
#include "protocol/wire/json_out.h"
#include "server/client/elsewhere.h"
#include "server/mcp/toolbox.h"

#define TOOLS_BYTES ((size_t)128 << 10) /* of an answer */

struct tools {
	struct elsewhere *elsewhere;
	bool may_write;
};

/* The tools that may be called, as an array. */
void tools_list(const struct tools *tools, struct json_out *out);

/* Writes the answer, an object on one line. `arguments` is the text of an object. On an error, *err
 * has a line for the caller. */
enum code tools_call(const struct tools *tools, const struct tool *tool, struct arena *arena,
		     struct str arguments, struct str *answer, struct err *err) WARN_UNUSED;

#endif
