/*
 * shape_tables - the tables that shapes.def expands into; internal to the walker.
 */
#ifndef DYNALITH_PROTOCOL_SHAPE_TABLES_H
#define DYNALITH_PROTOCOL_SHAPE_TABLES_H

#include "protocol/wire/shapes.h"

enum shape_kind {
	SHAPE_STRING,
	SHAPE_ENUM,
	SHAPE_INTEGER,
	SHAPE_LONG,
	SHAPE_BOOLEAN,
	SHAPE_TIMESTAMP,
	SHAPE_DOUBLE,
	SHAPE_VALUE,
	SHAPE_PARAMETER,
	SHAPE_ITEM,
	SHAPE_STRUCTURE,
	SHAPE_LIST,
	SHAPE_MAP,
};

/* Where AWS treats a shape unlike others of its kind. */
enum shape_trait {
	OF_ITEMS = 1,    /* input: of an operation on items of the table that its TableName names */
	ALL_OF_NAME = 2, /* input: the newer layer lists both the length and the letters of a wrong
			    TableName */
	OF_ACTIONS = 4,  /* input: its list holds the actions of a transaction; each reports errors
			    of its values on its own */
	INDEX_FIRST = 8, /* input: the length of an IndexName is checked before all else, and
			    reported bare */
	LENGTH_FIRST = 16,  /* STRING: the older layer checks the length before the pattern */
	TAKES_WORDS = 32,   /* BOOLEAN: words count too */
	CHECKED_LATER = 64, /* ENUM: the newer layer does not check it with the constraints;
			       legacy.c refuses the constant id_count */
	EXPRESSION = 128,   /* ITEM: values of expressions */
	IS_START_KEY = 256, /* ITEM: a start key */
};

struct shape_member {
	const char *name;
	const struct shape *shape;
	size_t offset;
	unsigned short name_size; /* bytes */
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
	size_t size; /* of the C structure; of a list's element; of a map's entry */
	unsigned traits;                  /* of enum shape_trait */
	unsigned taken; /* ENUM: bits of the constants that the newer layer takes; 0: all */
	size_t value_offset;              /* of the value in a map's entry */
};

#endif
