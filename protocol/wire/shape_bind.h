/*
 * shape_bind - the walker that checks a request's JSON against its shape and binds it to the
 * shape's C struct.
 *
 * It makes two passes over the tables of shape_tables.h, as AWS does:
 *   1. types: the first mismatch is ERR_SERIALIZATION (or ERR_VALIDATION for a mistake inside an
 *      attribute value);
 *   2. constraints (required, length, range, enum, pattern): those that AWS's layer reports
 *      together, collected into one "N validation errors detected: ..." ERR_VALIDATION.
 */
#ifndef DYNALITH_PROTOCOL_SHAPE_BIND_H
#define DYNALITH_PROTOCOL_SHAPE_BIND_H

#include "protocol/wire/shapes.h"

/*
 * The first error inside the attribute values of one action of a transaction, whose actions are
 * checked one by one. AWS: an item or key that is nested too deeply, or has an empty name within a
 * value, comes after the action's expressions, all else before them.
 */
struct action_err {
	struct err err;
	bool is_deep;
};

/* A request that was bound. */
struct shape_bound {
	void *input;          /* the C struct of the shape, in the arena */
	struct err value_err; /* the first error inside an attribute value, or OK: such a value is
				 bound as some valid one and must not be used */
	const struct action_err
		*actions;    /* of a transaction, by their place; value_err does not have them */
	struct err late_err; /* broken constraints that AWS reports after rules of the operation, or
				OK */
	bool is_older;        /* AWS's older layer checked the request: surface.h */
};

/*
 * Binds `json` as an operation of that surface reads it. Returns the first error of types, or
 * broken constraints as one. The first error inside an attribute value goes to value_err alone,
 * since AWS's rules of the parameters come before it.
 */
enum code shape_bind(struct arena *arena, const struct shape *shape, enum surface surface,
		     const struct json *json, struct shape_bound *out, struct err *err) WARN_UNUSED;

/* Whether the shape, of a structure, has a member of that name: others in a request are not looked
 * at. */
bool shape_has(const struct shape *shape, struct str name);

#endif
