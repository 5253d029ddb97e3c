/* draw - which operation comes next. */
#ifndef DYNALITH_SIMULATION_DRAW_H
#define DYNALITH_SIMULATION_DRAW_H

#include "tests/simulation/machine.h"

/* The client's next operation, by its own random numbers and what the model has now. */
void draw_op(struct machine *machine, struct client *client);

#endif
