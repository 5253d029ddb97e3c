/*
 * who_decides - `dynalith explain OPERATION REQUEST --access-key KEY`: what policies decide about a
 * request, and by which statement. A server that runs is asked, or with --policies FILE that file.
 *
 * By a file alone no table is known, so neither policies nor tags of tables count.
 */
#ifndef DYNALITH_SERVER_WHO_DECIDES_H
#define DYNALITH_SERVER_WHO_DECIDES_H

#include "core/arena.h"

/* The process's exit status: EXIT_DONE where the request is allowed, EXIT_FOUND where it is not. */
int who_decides_run(struct arena *arena, int argc, char **argv);

#endif
