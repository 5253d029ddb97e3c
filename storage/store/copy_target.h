/*
 * copy_target - where a backup goes: written and checked under a name of its own, then given the
 * name that was asked for, which no file has yet.
 */
#ifndef DYNALITH_STORAGE_STORE_COPY_TARGET_H
#define DYNALITH_STORAGE_STORE_COPY_TARGET_H

#include "core/err.h"

/* The name to write to, in the arena; no file has it. ERR_INTERNAL with one line: `target` is
 * there, or a log of a file of that name. */
enum code copy_target_begin(struct arena *arena, const char *target, const char **part,
			    struct err *err) WARN_UNUSED;

/* Makes the file of that name, empty; *fd is the caller's to close. */
enum code copy_target_open(const char *part, int *fd, struct err *err) WARN_UNUSED;

/* Gives it the name, safe on the disk when this returns; never in place of another file. */
enum code copy_target_publish(struct arena *arena, const char *part, const char *target,
			      struct err *err) WARN_UNUSED;

/* The same in place of the file of that name, which nobody has open: ERR_INTERNAL where a log of it
 * is left. */
enum code copy_target_replace(struct arena *arena, const char *part, const char *target,
			      struct err *err) WARN_UNUSED;

/* Removes what was written. */
void copy_target_discard(struct arena *arena, const char *part);

/* ERR_INTERNAL where a log lies beside that name: of an earlier file, so that it would be moved
 * into the copy, or of one that is in use or was not closed. */
enum code copy_target_no_log(const char *target, struct err *err) WARN_UNUSED;

/* Waits for the disk with the folder of that file: a new name is safe when its folder is. False
 * where that fails. */
bool copy_target_sync_folder(struct arena *arena, const char *path) WARN_UNUSED;

#endif
