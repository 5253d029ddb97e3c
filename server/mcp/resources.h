/*
 * resources - what an agent can read without a tool: the description of each table, the report of
 * access patterns, and pages of the documents.
 */
#ifndef DYNALITH_SERVER_RESOURCES_H
#define DYNALITH_SERVER_RESOURCES_H

#include "server/mcp/tools.h"

struct resource {
	struct str type; /* of media */
	struct str text;
};

/*
 * Writes an array of a page of resources. `cursor` is what *next was, absent for the first page;
 * *next is absent after the last one. On an error, *err has a line for the caller: ERR_VALIDATION
 * for a cursor that is none.
 */
enum code resources_list(const struct tools *tools, struct arena *arena, struct str cursor,
			 struct json_out *out, struct str *next, struct err *err) WARN_UNUSED;

/* Writes the array of templates of their addresses. */
void resources_templates(struct json_out *out);

/* ERR_RESOURCE_NOT_FOUND: there is none of that address. */
enum code resources_read(const struct tools *tools, struct arena *arena, struct str uri,
			 struct resource *out, struct err *err) WARN_UNUSED;

#endif
