/*
 * rpc - one message of a client, a line of JSON-RPC 2.0, and the answer to it.
 */
#ifndef DYNALITH_SERVER_RPC_H
#define DYNALITH_SERVER_RPC_H

#include "server/mcp/tools.h"

#define RPC_LINE_MAX ((size_t)8 << 20) /* bytes */

/* The answer, without the end of the line; empty where a message wants none. */
struct str rpc_answer(const struct tools *tools, struct arena *arena, struct str line);

/* What a line is before its turn comes. */
struct rpc_sight {
	struct str id;      /* of a request, as it stands; absent: it is none */
	struct str cancels; /* the id of the request that this notification cancels; absent: it is
			       none */
};
struct rpc_sight rpc_look(struct arena *arena, struct str line);

/* The answer to a line that is longer than RPC_LINE_MAX. */
struct str rpc_too_long(struct arena *arena);

#endif
