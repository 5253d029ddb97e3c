/*
 * toolbox - the table of tools, toolbox.def: what each is for, what arguments it takes, and what
 * request it stands for.
 */
#ifndef DYNALITH_SERVER_TOOLBOX_H
#define DYNALITH_SERVER_TOOLBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "protocol/ops.h"

#define TOOLBOX_ROWS 25 /* of an answer, unless the call says more */
#define TOOLBOX_ROWS_MAX 1000

enum tool_id {
#define TOOL(id, ...) TOOL_##id,
#define PROPERTY(...)
#include "server/mcp/toolbox.def"
	TOOL_COUNT
};

/* What an argument is, and how it is written into a request. */
enum argument_kind {
	ARGUMENT_STRING,
	ARGUMENT_BOOLEAN,
	ARGUMENT_LIMIT,      /* a number of rows */
	ARGUMENT_MOMENT,     /* a text or a number */
	ARGUMENT_ITEM,       /* an object in plain JSON or in DynamoDB's own */
	ARGUMENT_PARAMETERS, /* an array of such values */
	ARGUMENT_OBJECT,
	ARGUMENT_ARRAY, /* as they stand */
	ARGUMENT_ALONE, /* an object of another operation: UpdateTimeToLive; nothing but the table
			   stands beside it */
	ARGUMENT_BODY,  /* an object that is the whole request */
	ARGUMENT_NAME,  /* in the path */
	ARGUMENT_KEY,   /* of Query: attributes and the values that they equal */
	ARGUMENT_CONDITION,
	ARGUMENT_NAMES,
	ARGUMENT_VALUES, /* of Query: these are joined with what the key became */
};

struct property {
	enum tool_id tool;
	const char *name;
	enum argument_kind kind;
	const char *member; /* of the request; "" where the kind has none */
	bool is_required;
	const char *help;
};

struct tool {
	enum tool_id id;
	const char *name, *title;
	bool is_write, is_destructive, is_idempotent;
	const char *method; /* of test control, with a path; NULL: an operation of the API */
	const char *what;   /* the path below /_dynalith/, or the operation */
	const char *output; /* the schema of its answer */
	const char *help;
};

/* The tool in its place of the table. */
const struct tool *toolbox_at(enum tool_id id);

/* NULL: there is none of that name. */
const struct tool *toolbox_find(struct str name);

/* The next property of the tool behind `last`, the first where that is NULL; NULL at the end. */
const struct property *toolbox_property(const struct tool *tool, const struct property *last);

#endif
