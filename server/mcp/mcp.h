/*
 * mcp - `dynalith mcp`: a server of the Model Context Protocol on standard input and output, by
 * which coding agents read tables, and with
 * --allow-writes change them.
 *
 * The shelf server/mcp/ has the command and its loop (mcp), the thread that reads messages
 * (intake), the messages of JSON-RPC (rpc), the table of tools (toolbox, toolbox.def), calls of
 * them (tools), a call's arguments as a request (arguments), what can be read without a tool
 * (resources), and a server of its own that ends with it (child).
 *
 * Sources: modelcontextprotocol.io/specification, revisions 2024-11-05 to 2026-07-28: "Lifecycle",
 * "Transports: stdio", "Tools", "Resources", "Cancellation". JSON-RPC 2.0.
 */
#ifndef DYNALITH_SERVER_MCP_H
#define DYNALITH_SERVER_MCP_H

#include <stdbool.h>

#include "core/arena.h"

/* The process's exit status: 0 when standard input ends, 1 where no server starts, 2 for another
 * command line. */
int mcp_run(struct arena *arena, int argc, char **argv);

#endif
