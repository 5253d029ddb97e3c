/*
 * replay - "dynalith replay FILE --endpoint URL": the requests of a recording sent again, and what
 * differs in the answers. "dynalith diff A B": the same of two recordings.
 *
 * Requests go out in the order in which they were answered. Those that were under way together are
 * sent together. What the answers give the client to send back (iterators, tokens, ARNs, sequence
 * numbers) takes the place of what was recorded in later requests.
 */
#ifndef DYNALITH_SERVER_REPLAY_H
#define DYNALITH_SERVER_REPLAY_H

#include <stdbool.h>

#include "core/arena.h"

/* The exit status: 0 where nothing differs, 1 where something does or no answer came, 2 for another
 * command line or a file that is no recording. */
int replay_run(struct arena *arena, int argc, char **argv);

#endif
