/*
 * races - `dynalith races -- COMMAND...`: runs a program again and again, each time with another
 * order of its requests, until it fails; then the order, cut to what is needed, and a file that
 * replays it.
 */
#ifndef DYNALITH_SERVER_RACES_H
#define DYNALITH_SERVER_RACES_H

#include "core/arena.h"

/*
 * The exit status: EXIT_DONE where no order was found, EXIT_FOUND where one was, EXIT_FAILED where
 * the command fails by itself, sends no request or does not fail twice by the same order,
 * EXIT_MISUSE for another command line.
 */
int races_run(struct arena *arena, int argc, char **argv);

#endif
