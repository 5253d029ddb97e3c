/*
 * shapes - the request shapes as data, and the walker that checks and binds them.
 *
 * shapes.def has every input structure. It expands here into the C structs that
 * handlers read, and in shapes.c into tables. shape_bind() walks a request's JSON by
 * those tables in two passes, as AWS does:
 *   1. types: the first mismatch is ERR_SERIALIZATION (or ERR_VALIDATION for what is wrong inside an attribute value);
 *   2. constraints (required, length, range, enum, pattern): those that AWS's layer tells together, collected into one
 *      "N validation errors detected: ..." ERR_VALIDATION.
 *
 * The shelf protocol/wire/ holds the text of requests and responses: JSON, shapes, attribute values, echoes. It knows no table and no operation.
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

struct opt_bool {
	bool is_set;
	bool value;
};

/* An attribute value whose own errors (a number that is none, an empty set, ...) are left to whoever uses it: a batch answers each in its place. */
struct parameter {
	struct value value;
	enum code code;      /* OK, or ERR_VALIDATION with the message */
	bool is_deep;        /* it is nested too deeply */
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
#define INTEGER(id, name, min, max)
#define LONG(id, name, min, max)
#define BOOLEAN(id, name)
#define TIMESTAMP(id, name)
#define ITEM_MAP(id, name)
#define EXPRESSION_VALUES(id, name)
#define ENUMERATOR(id, constant, text) constant,
#define ENUMERATION(id, name, ...) enum { id##_unset = 0, __VA_ARGS__ id##_count };
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
struct shape;
#include "protocol/wire/shapes.def"
#undef STRING
#undef INTEGER
#undef LONG
#undef BOOLEAN
#undef TIMESTAMP
#undef ITEM_MAP
#undef EXPRESSION_VALUES
#undef ENUMERATOR
#undef ENUMERATION
#undef LIST
#undef MAP
#undef MEMBER
#undef STRUCTURE

/* The size in bytes of a structure's C type. */
size_t shape_size(const struct shape *shape);

/*
 * The first error inside the attribute values of one action of a transaction, whose actions are checked one by one. AWS: an item or key that is
 * nested too deeply, or has an empty name within a value, comes after the action's expressions, all else before them.
 */
struct action_err {
	struct err err;
	bool is_deep;
};

/* A request that was bound. */
struct shape_bound {
	void *input;          /* the C struct of the shape, in the arena */
	struct err value_err; /* the first error inside an attribute value, or OK: such a value is bound as some valid one and must not be used */
	const struct action_err *actions; /* of a transaction, by their place; value_err has nothing of theirs */
	struct err late_err;  /* constraints that AWS tells after rules of the operation, or OK */
	bool is_older;        /* AWS's older layer checked the request: surface.h */
};

/*
 * Binds `json` as an operation of that surface reads it. Returns the first error of types, or broken constraints as one. The first error inside an
 * attribute value goes to value_err alone, since AWS's rules of the parameters come before it.
 */
enum code shape_bind(struct arena *arena, const struct shape *shape, enum surface surface, const struct json *json, struct shape_bound *out,
		     struct err *err) WARN_UNUSED;

/* The wire text of an enumeration's constant. */
struct str shape_enum_text(const struct shape *shape, int constant);

/* One attribute value / a map of them from wire JSON: also used for tests. Errors as shape_bind's first pass. */
enum code shape_read_value(struct arena *arena, const struct json *json, struct value *out, struct err *err) WARN_UNUSED;

#endif
