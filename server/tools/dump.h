/*
 * dump - `dynalith dump URL FILE` and `dynalith load URL FILE`: a namespace of a server that runs
 * as a file, and back.
 *
 * A file is the line "dynalith snapshot 1" and blocks of storage/state/snapshot_file.h, each with
 * its size and its CRC-32 before it, 4 bytes each, big-endian. The server makes a snapshot for a
 * dump and removes it after; a load is taken as a snapshot, restored when it is whole, and removed.
 */
#ifndef DYNALITH_SERVER_DUMP_H
#define DYNALITH_SERVER_DUMP_H

#include "core/err.h"
#include "server/client/remote.h"
#include "server/tools/remask.h"
#include "storage/catalog/catalog.h"

struct dump_options {
	const char *account, *region; /* the namespace; NULL: that of the signature, or the default
					 one */
	struct remask *remask;        /* what dump_write() writes goes through it; or NULL */
};

/* Writes to a file that is open and empty; errors name it `path`. ERR_INTERNAL with one line for
 * the user; ERR_VALIDATION of the mask. */
enum code dump_write(struct remote *remote, const struct dump_options *options, const char *path,
		     int fd, struct err *err) WARN_UNUSED;

/* Takes the namespace in: its tables are those of that namespace in the catalog then. */
enum code dump_take(struct remote *remote, struct ns ns, struct catalog *catalog,
		    struct err *err) WARN_UNUSED;

/*
 * Puts what is in the file in the place of all that the namespace has. ERR_INTERNAL with one line
 * for the user, also for a file that is damaged, cut off, or of a newer format: then nothing was
 * changed.
 */
enum code dump_load(struct remote *remote, const struct dump_options *options, const char *path,
		    struct err *err) WARN_UNUSED;

/* Writes the dump `path` through the mask to a file that is open and empty, and named `part`. */
enum code dump_remask(struct remask *remask, const char *path, const char *part, int fd,
		      struct err *err) WARN_UNUSED;

#endif
