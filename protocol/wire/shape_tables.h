/*
 * shape_tables - the tables that shapes.def expands into; internal to the walker.
 */
#ifndef DYNALITH_PROTOCOL_SHAPE_TABLES_H
#define DYNALITH_PROTOCOL_SHAPE_TABLES_H

#include "protocol/wire/shapes.h"

enum shape_kind {
	SHAPE_STRING, SHAPE_ENUM, SHAPE_INTEGER, SHAPE_LONG, SHAPE_BOOLEAN, SHAPE_TIMESTAMP, SHAPE_VALUE, SHAPE_PARAMETER, SHAPE_ITEM, SHAPE_STRUCTURE,
	SHAPE_LIST, SHAPE_MAP,
};

struct shape_member {
	const char *name;
	const struct shape *shape;
	size_t offset;
	bool is_required;
};

struct shape {
	enum shape_kind kind;
	const char *name;                 /* in the API model */
	long min, max;                    /* length, items or value */
	const char *pattern;              /* STRING */
	const char *const *texts;         /* ENUM */
	size_t count;                     /* of texts or members */
	const struct shape_member *members;
	const struct shape *element;      /* of a LIST; the value's of a MAP */
	const struct shape *key;          /* of a MAP */
	size_t size;                      /* of the C structure; of a list's element; of a map's entry */
	bool is_expression;               /* ITEM: values of expressions */
	size_t value_offset;              /* of the value in a map's entry */
};

#endif
