/*
 * endpoints - the table of endpoints: endpoints.def has one row for each, which is all that it takes to add one.
 */
#ifndef DYNALITH_SERVER_ENDPOINTS_H
#define DYNALITH_SERVER_ENDPOINTS_H

#include "server/control/control.h"

/* Of whom, where signatures are verified: see endpoints.def. */
enum endpoint_needs { NEEDS_NOTHING, NEEDS_SIGNATURE, NEEDS_ACCOUNT, NEEDS_CONTROL };

struct endpoint {
	struct str method, path; /* "checkpoints/NAME/rollback", below /_dynalith/ */
	control_handler *handle;
	enum endpoint_needs needs;
	const char *what;        /* one line */
};

/* All endpoints, in the order of their rows. */
const struct endpoint *endpoint_all(size_t *n);

/* The endpoint of that method and whole path, and the NAME in it; NULL where there is none. */
const struct endpoint *endpoint_find(struct str method, struct str path, struct str *name);

/* Whether the endpoint has that path, by any method. */
bool endpoint_is_at(const struct endpoint *endpoint, struct str path);

/* Checks the namespace and the name in the path, and handles the call. */
enum code endpoint_run(const struct endpoint *endpoint, const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;

#endif
