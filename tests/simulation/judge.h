/* judge - runs an operation of a client, and compares its answer with what the model says. */
#ifndef DYNALITH_SIMULATION_JUDGE_H
#define DYNALITH_SIMULATION_JUDGE_H

#include "tests/simulation/machine.h"

/* Does the client's operation; a difference ends the process. */
void judge_op(struct machine *machine, struct client *client);

/* The answer of a request that is part of an operation: a 5xx is a failure unless a fault came.
 * False: it is one. */
bool judge_status(struct machine *machine, struct client *client);

/* The answer as JSON. */
const struct json *judge_json(struct machine *machine, struct client *client);

/* Reads all that a stream has, and compares it with what the model says was changed. */
void judge_replay(struct machine *machine, struct client *client);

#endif
