/*
 * pull - `dynalith pull --table NAME --to FILE`: tables of AWS, or of another server, in a new data
 * file, with personal data masked while it is read.
 *
 * The items are written to FILE.pull, with how far each table was read, sealed by the secret. FILE
 * has its name when all tables are whole. A pull that was ended, or that lost the server, goes on
 * where it was when it is run again with the same mask and DYNALITH_MASK_SECRET.
 */
#ifndef DYNALITH_SERVER_PULL_H
#define DYNALITH_SERVER_PULL_H

#include "core/arena.h"

/* The process's exit status: 0; 1 where it failed; 2 for a wrong command line or no consent. */
int pull_run(struct arena *arena, int argc, char **argv);

#endif
