/*
 * endpoints - the table of endpoints: endpoints.def has one row for each, which is all that it
 * takes to add one.
 */
#ifndef DYNALITH_SERVER_ENDPOINTS_H
#define DYNALITH_SERVER_ENDPOINTS_H

#include "server/control/control.h"

/* Of whom, where signatures are verified: see endpoints.def. */
enum endpoint_needs { NEEDS_NOTHING, NEEDS_ACCOUNT, NEEDS_CONTROL };

/* See endpoints.def. */
enum endpoint_trait { PLAIN = 0, VITAL = 1, PUBLIC = 2, ALL = 4 };

struct endpoint {
	struct str method, path; /* "checkpoints/NAME/rollback", below /_dynalith/ */
	control_handler *handle; /* NULL: a PAGE, handled by server/routes */
	enum endpoint_needs needs;
	unsigned traits;         /* of enum endpoint_trait */
	const char *what;        /* one line */
};

/* The handlers of the rows, as state_reset in state.c: each file says what they take and answer. */
#define PAGE(method, path, show, needs, traits, what)
#define ENDPOINT(method, path, handle, needs, what) control_handler handle WARN_UNUSED;
#include "server/control/endpoints.def"

/* All endpoints, in the order of their rows. */
const struct endpoint *endpoint_all(size_t *n);

/* The endpoint of that method (HEAD is GET) and path, and the NAME in it; NULL: there is none. */
const struct endpoint *endpoint_find(struct str method, struct str path, struct str *name);

/* Whether the endpoint has that path, by any method. */
bool endpoint_is_at(const struct endpoint *endpoint, struct str path);

/* ERR_VALIDATION for a parameter that is not the endpoint's or has no '=': it would mean another
 * namespace than its sender thinks. Probes and scrapers (VITAL) may add what they like; X-Amz-...
 * sign. */
enum code endpoint_check_query(const struct endpoint *endpoint, struct arena *arena,
			       struct str query, struct err *err) WARN_UNUSED;

/* Checks the namespace and the name in the path, and handles the call. */
enum code endpoint_run(const struct endpoint *endpoint, const struct control_call *call,
		       struct str *answer, struct err *err) WARN_UNUSED;

#endif
