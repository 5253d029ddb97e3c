/*
 * copy - `dynalith copy --from STORE --to STORE`: all data of one store into another, of any kind,
 * as often as wanted.
 *
 * A source may be in use: a database is read in one snapshot; of a server with a data file,
 * http://HOST:PORT, a backup is taken first. The target must not be. A second copy with --replace
 * writes only what changed since the first, so a move stops writers for a short time only.
 */
#ifndef DYNALITH_SERVER_COPY_H
#define DYNALITH_SERVER_COPY_H

#include <stdbool.h>

#include "core/arena.h"

/*
 * The process's exit status: 0 when the two are equal, 1 where they differ (--compare) or the copy
 * failed, 2 where nothing was done. A line per table and a summary go to stdout, progress and
 * errors to stderr.
 */
int copy_run(struct arena *arena, int argc, char **argv);

#endif
