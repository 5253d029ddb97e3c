/*
 * arguments - the arguments of a call as the path and the body of a request. Values stand in the
 * request as they stand in the call: numbers keep all digits.
 */
#ifndef DYNALITH_SERVER_ARGUMENTS_H
#define DYNALITH_SERVER_ARGUMENTS_H

#include "core/err.h"
#include "server/mcp/toolbox.h"

struct arguments {
	struct str body;
	struct str name;   /* for the path; absent: none */
	int64_t limit;     /* 0: the tool has none */
	const char *operation; /* in place of the tool's; or NULL */
};

/* `limit` 0: as the call says, else this number of rows. ERR_VALIDATION with one line: an argument
 * is missing, unknown or of another type. */
enum code arguments_read(struct arena *arena, const struct tool *tool, struct str text,
			 int64_t limit, struct arguments *out, struct err *err) WARN_UNUSED;

#endif
