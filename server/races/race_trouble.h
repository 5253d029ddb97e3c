/*
 * race_trouble - what the network and the service may do to one request of a run. Pure.
 */
#ifndef DYNALITH_SERVER_RACE_TROUBLE_H
#define DYNALITH_SERVER_RACE_TROUBLE_H

#include "server/races/race_trace.h"

/* What happens to one request, or at one. */
enum race_trouble_kind {
	TROUBLE_NONE,
	TROUBLE_LOST,      /* it is done, and the connection is closed */
	TROUBLE_THROTTLED, /* a batch leaves one member undone; others are refused */
	TROUBLE_CONFLICT,  /* with a transaction under way */
	TROUBLE_LAGGED,    /* a read does not see what was written since another request began */
	TROUBLE_KEPT,      /* what has expired is there until right before it, and gone then */
	TROUBLE_KINDS
};

struct race_trouble {
	enum race_trouble_kind kind;
	uint64_t request; /* its id; TROUBLE_KEPT with 0: what has expired stays to the end */
	uint64_t since;   /* TROUBLE_LAGGED: the write that is not seen yet; 0: of a stream that has
			     no records yet */
};

/* The member of an order's file that has the request: "lost", "throttled", "conflict", "lagged",
 * "kept". */
const char *race_trouble_name(enum race_trouble_kind kind);

/* Whether that can happen to the request. */
bool race_trouble_fits(enum race_trouble_kind kind, const struct race_request *request);

/* The rules of faults by which it happens, a JSON object; absent where it needs none. */
struct str race_trouble_rules(struct arena *arena, enum race_trouble_kind kind,
			      struct str operation);

#endif
