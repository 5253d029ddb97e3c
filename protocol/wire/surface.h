/*
 * surface - which validation layer of AWS checks an operation's requests, and which of its errors
 * get an envelope.
 *
 * AWS has two layers. The older layer checks every operation: it lists all broken constraints ("2
 * validation errors detected: ..."), sends every other error bare, and names the expression value
 * that an error is in. The newer layer checks PutItem, UpdateItem, DeleteItem, GetItem,
 * BatchGetItem and Query: it reports constraints in stages and names no values. For writes and
 * Query it wraps one class of errors in the envelope "1 validation error detected: ".
 *
 * The newer layer hands a request that it cannot read to the older one. It cannot read a missing
 * required member, a value of no type or of several types, a boolean written as text, a value
 * nested 63 levels or more, or an integer with a fraction or out of range.
 *
 * The code of a message's macro is its class: ERR_REQUEST, ERR_SELECT, or ERR_VALIDATION, which is
 * bare everywhere. A row of ops.def gives the operation its surface. op.c adds the envelope after
 * the handler failed; no other code knows about it.
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
	SURFACE_SEARCH, /* SearchVectors, a service of its own: serde.h checks types, the operation
			   the rest; all bare */
	SURFACE_COUNT,
};

/* Whether the newer layer puts errors of that class into the envelope. */
static inline bool surface_envelops(enum surface surface, enum code class)
{
	static const enum code enveloped[SURFACE_COUNT] = {
		[SURFACE_QUERY] = ERR_SELECT, [SURFACE_WRITE] = ERR_REQUEST};

	return class != OK && enveloped[surface] == class;
}

#endif
