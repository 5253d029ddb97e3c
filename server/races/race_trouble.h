/*
 * race_trouble - what the network and the service may do to one request of a run. Pure.
 */
#ifndef DYNALITH_SERVER_RACE_TROUBLE_H
#define DYNALITH_SERVER_RACE_TROUBLE_H

#include "server/races/race_trace.h"

/* What happens to one request; the last two by the rules of faults of docs/testing.md. */
enum race_trouble_kind {
	TROUBLE_NONE,
	TROUBLE_LOST,      /* it is done, and the connection is closed */
	TROUBLE_THROTTLED, /* a batch leaves one member undone; others are refused */
	TROUBLE_CONFLICT,  /* with a transaction under way */
	TROUBLE_KINDS
};

struct race_trouble {
	enum race_trouble_kind kind;
	uint64_t request; /* its id */
};

/* The member of an order's file that has the request: "lost", "throttled", "conflict". */
const char *race_trouble_name(enum race_trouble_kind kind);

/* Whether that can happen to the request. */
bool race_trouble_fits(enum race_trouble_kind kind, const struct race_request *request);

/* The rules of faults by which it happens, a JSON object; absent where it needs none. */
struct str race_trouble_rules(struct arena *arena, enum race_trouble_kind kind,
			      struct str operation);

#endif
