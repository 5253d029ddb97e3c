/*
 * gate - holds every request of the API on its arrival, and carries out one at a time, in the
 * order that a plan says.
 *
 * It stands between HTTP and the routes. The next request is picked when the one before was
 * answered and the program is quiet: no request arrived for a while and no thread of the program
 * runs, or every request that waited at this point of an earlier run waits again. No thread waits
 * with a held request (http_options.is_held). What is not of the API passes at once.
 */
#ifndef DYNALITH_SERVER_GATE_H
#define DYNALITH_SERVER_GATE_H

#include <sys/types.h>

#include "server/http/http.h"
#include "server/races/race_plan.h"
#include "server/races/race_watch.h"

struct gate;

/* For each order of requests so far: which requests then waited when the program went quiet. All
 * runs share it. */
struct gate_memory;

struct gate_options {
	http_handler *handler; /* of the routes, */
	void *context;         /* with its context */
	bool (*is_held)(const void *hold);
	struct race_trace *trace;     /* is filled; nobody else reads it before gate_open() */
	const struct race_plan *plan; /* NULL: requests pass as they come */
	struct gate_memory *memory;
	struct race_watch *watch; /* looks behind each write; NULL: nobody does */
	unsigned quiet_ms;
	bool expires;                     /* see gate_trouble.h */
	pid_t (*program)(const void *of); /* what platform_works() looks at; 0: nothing runs */
	const void *of;
};

struct gate_memory *gate_memory_new(struct arena *arena);

/* The longest time between an answer and the next request within 100 ms: of a run without a plan.
 */
unsigned gate_gap_ms(struct gate *gate);

struct gate *gate_new(const struct gate_options *options);

/* An http_handler; `context` is the gate. And http_options.is_held. */
bool gate_handle(void *context, const struct http_request *request, struct http_response *response);
bool gate_is_held(const void *hold);

/* From now on requests pass at once, and the trace does not change. */
void gate_open(struct gate *gate);

/* Behind gate_open(): chains anew, by the facts and the plan (race_plan_settle()). */
void gate_settle(struct gate *gate, const struct race_facts *facts);

/* When HTTP has stopped. */
void gate_free(struct gate *gate);

#endif
