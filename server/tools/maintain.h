/*
 * maintain - the commands for a data file that no server has open: "dynalith check FILE" and
 * "dynalith backup FILE TARGET".
 */
#ifndef DYNALITH_SERVER_MAINTAIN_H
#define DYNALITH_SERVER_MAINTAIN_H

#include <stdbool.h>

#include "core/arena.h"

/*
 * Carries it out; the process's exit status: 0 for a file that is sound, 1 for findings or a copy
 * that failed, 2 where nothing was looked at (usage, no such file, in use). Findings go to stdout,
 * one a line, and a summary behind them. Errors go to stderr.
 */
int maintain_run(struct arena *arena, int argc, char **argv);

#endif
