/* observed_store - the store that the server of a simulation sees: numbers commits, keeps the model
 * beside them, and fails on demand. */
#ifndef DYNALITH_SIMULATION_OBSERVED_STORE_H
#define DYNALITH_SIMULATION_OBSERVED_STORE_H

#include "tests/simulation/machine.h"

/* Around machine->inner, which it closes too. */
struct store *observed_store_new(struct machine *machine);

/* The number of the last commit that the real store has. */
enum code observed_store_number(struct store *inner, struct arena *arena, uint64_t *number,
				struct err *err) WARN_UNUSED;

#endif
