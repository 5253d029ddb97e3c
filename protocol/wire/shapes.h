/*
 * shapes - the request shapes as data.
 *
 * shapes.def has every input structure. It expands here into the C structs that handlers read, and
 * in shape_tables.c into the tables by which shape_bind.h reads a request.
 *
 * The shelf protocol/wire/ holds the text of requests and responses: JSON, shapes, attribute
 * values, echoes. It knows no table and no operation.
 */
#ifndef DYNALITH_PROTOCOL_SHAPES_H
#define DYNALITH_PROTOCOL_SHAPES_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"
#include "core/value.h"
#include "protocol/wire/json.h"
#include "protocol/wire/surface.h"

struct opt_int {
	bool is_set;
	int64_t value;
};

/* A number that may have a fraction. */
struct opt_double {
	bool is_set;
	double value;
};

struct opt_bool {
	bool is_set;
	bool value;
};

/* An attribute value that keeps its own errors (a wrong number, an empty set, ...): a batch reports
 * each in its place. */
struct parameter {
	struct value value;
	enum code code;      /* OK, or ERR_VALIDATION with the message */
	bool is_deep;        /* it is nested too deeply */
	struct str number;   /* N: its text as it was sent, else absent */
	struct str message;
};

/* Given and true. */
static inline bool opt_is_true(struct opt_bool option)
{
	return option.is_set && option.value;
}

#define NO_MIN LONG_MIN
#define NO_MAX LONG_MAX

/* The C types. */
#define STRING(id, name, min, max, pattern)
#define NAME(id, name, min, max, pattern)
#define SUBSET(id, of, name, taken)
#define INTEGER(id, name, min, max)
#define LONG(id, name, min, max)
#define BOOLEAN(id, name)
#define WORDED_BOOLEAN(id, name)
#define TIMESTAMP(id, name)
#define DOUBLE(id, name)
#define ITEM_MAP(id, name)
#define EXPRESSION_VALUES(id, name)
#define START_KEY(id, name)
#define ENUMERATOR(id, constant, text) constant,
#define ENUMERATION(id, name, ...) enum { id##_unset = 0, __VA_ARGS__ id##_count };
#define LATE_ENUMERATION ENUMERATION
#define LIST(id, name, type, element, min, max) \
	struct id {                             \
		size_t n;                       \
		type *v;                        \
	};
#define MAP(id, name, type, key_shape, value_shape, min, max) \
	struct id##_entry {                                   \
		struct str key;                               \
		type value;                                   \
	};                                                    \
	struct id {                                           \
		size_t n;                                     \
		struct id##_entry *v;                         \
	};
#define MEMBER(id, name, field, type, shape, need) type field;
#define STRUCTURE(id, name, ...) \
	struct id {              \
		__VA_ARGS__      \
	};                       \
	extern const struct shape shape_##id;
#define INPUT(id, name, traits, ...) STRUCTURE(id, name, __VA_ARGS__)
struct shape;
#include "protocol/wire/shapes.def"
#undef STRING
#undef NAME
#undef SUBSET
#undef INTEGER
#undef LONG
#undef BOOLEAN
#undef WORDED_BOOLEAN
#undef TIMESTAMP
#undef DOUBLE
#undef ITEM_MAP
#undef EXPRESSION_VALUES
#undef START_KEY
#undef ENUMERATOR
#undef ENUMERATION
#undef LATE_ENUMERATION
#undef LIST
#undef MAP
#undef MEMBER
#undef STRUCTURE
#undef INPUT

#endif
