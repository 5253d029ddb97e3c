/*
 * part_file - a file that a command fills under a name of its own, and publishes or throws away.
 * It is removed when the command ends early, too.
 */
#ifndef DYNALITH_SERVER_PART_FILE_H
#define DYNALITH_SERVER_PART_FILE_H

#include "core/err.h"
#include "server/command/interrupt.h"

/* Stays where it is from part_file_begin() to part_file_end(). */
struct part_file {
	const char *path; /* in the arena of `err` */
	struct interrupt_undo undo;
};

/* For copy_target_publish() as `target`; errors as of copy_target_begin(). Only where it succeeds
 * part_file_end() is to be called. */
enum code part_file_begin(struct part_file *part, const char *target, struct err *err) WARN_UNUSED;
/* The same for a file that is never published, in the folder TMPDIR, or /tmp. */
enum code part_file_begin_temporary(struct part_file *part, const char *name,
				    struct err *err) WARN_UNUSED;
/* Removes what was not published. */
void part_file_end(struct part_file *part, struct arena *arena);

#endif
