#include "server/mcp/toolbox.h"

static const struct tool tools[] = {
#define TOOL(id, ...) [TOOL_##id] = {TOOL_##id, __VA_ARGS__},
#define PROPERTY(...)
#include "server/mcp/toolbox.def"
};

static const struct property properties[] = {
#define TOOL(...)
#define PROPERTY(id, ...) {TOOL_##id, __VA_ARGS__},
#include "server/mcp/toolbox.def"
};

const struct tool *toolbox_at(enum tool_id id)
{
	return &tools[id];
}

const struct tool *toolbox_find(struct str name)
{
	for (size_t i = 0; i < TOOL_COUNT; i++) {
		if (str_eq(name, str_of(tools[i].name)))
			return &tools[i];
	}
	return NULL;
}

const struct property *toolbox_property(const struct tool *tool, const struct property *last)
{
	for (size_t i = last ? (size_t)(last - properties) + 1 : 0;
	     i < sizeof(properties) / sizeof(properties[0]); i++) {
		if (properties[i].tool == tool->id)
			return &properties[i];
	}
	return NULL;
}
