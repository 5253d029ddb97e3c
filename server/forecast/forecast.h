/*
 * forecast - `dynalith forecast FILE`: where tables will throttle, and what they will cost.
 *
 * The shelf server/forecast/ holds the input (plan; recorded and seen make one), virtual time
 * (model, with spread), dollars (bill) and the report (show).
 */
#ifndef DYNALITH_SERVER_FORECAST_H
#define DYNALITH_SERVER_FORECAST_H

#include "core/arena.h"

/* The exit status: EXIT_FOUND where a rule of --fail-on is broken. */
int forecast_run(struct arena *arena, int argc, char **argv);

#endif
