/*
 * surface - how an operation tells that a request is not valid.
 *
 * AWS checks requests in one of two layers. The older one knows every operation: it lists all broken constraints ("2 validation errors
 * detected: ..."), and tells any other error bare, of an expression's value with the value's name. The newer one knows the reads and writes of
 * single items, Query and BatchGetItem: its constraints come in stages, it names no values, and writes and Query put the errors of their surface's
 * class into the envelope "1 validation error detected: ".
 *
 * What the newer layer cannot read it leaves to the older one, which then checks the whole request: a required member that is missing, a value of
 * no type or of several, a boolean that is text, a value nested from 63 levels on, a number that had to be cut.
 *
 * A message's class is the code of its macro: ERR_REQUEST, ERR_SELECT, or ERR_VALIDATION for what is bare everywhere. A row of ops.def names the
 * operation's surface. op.c adds the envelope when the handler has failed; nothing else knows of it.
 *
 * Source: recorded answers of AWS, October 2026 (us-east-1); tests/golden/data/layer.json.
 */
#ifndef DYNALITH_PROTOCOL_SURFACE_H
#define DYNALITH_PROTOCOL_SURFACE_H

#include <stdbool.h>

#include "core/err.h"

enum surface {
	SURFACE_OLDER,  /* the older layer */
	SURFACE_READ,   /* the newer layer, all bare */
	SURFACE_QUERY,  /* the newer layer, ERR_SELECT in the envelope */
	SURFACE_WRITE,  /* the newer layer, ERR_REQUEST in the envelope */
	SURFACE_SEARCH, /* SearchVectors, a service of its own: serde.h checks types, the operation the rest; all bare */
	SURFACE_COUNT,
};

/* Whether the newer layer puts errors of that class into the envelope. */
static inline bool surface_envelops(enum surface surface, enum code class)
{
	static const enum code enveloped[SURFACE_COUNT] = {[SURFACE_QUERY] = ERR_SELECT, [SURFACE_WRITE] = ERR_REQUEST};

	return class != OK && enveloped[surface] == class;
}

#endif
