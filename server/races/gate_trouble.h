/*
 * gate_trouble - makes the trouble of a plan happen, by the endpoints of test control: rules of
 * faults, lag and the clock (docs/testing.md).
 *
 * It asks them as the client of the request would, while no other request is carried out.
 */
#ifndef DYNALITH_SERVER_GATE_TROUBLE_H
#define DYNALITH_SERVER_GATE_TROUBLE_H

#include "server/http/http.h"
#include "server/races/race_plan.h"

struct gate_trouble {
	http_handler *handler;        /* of the routes, */
	void *context;                /* with its context */
	const struct race_plan *plan; /* NULL: no trouble */
	bool expires; /* what has expired goes before each request, unless the plan keeps it */
	/* Its own: */
	bool has_rules, is_lagging, is_over;
	bool is_prevented; /* the program has rules or a lag of its own, so there was no trouble */
	unsigned late;     /* reads since it lags */
};

/* Before a request is carried out, once. True: it is not to be, `response` has its answer. */
bool gate_trouble_begin(struct gate_trouble *trouble, const struct race_request *about,
			const struct http_request *request, struct http_response *response);

/* When it was answered. */
void gate_trouble_end(struct gate_trouble *trouble, const struct race_request *about,
		      const struct http_request *request, struct http_response *response);

#endif
