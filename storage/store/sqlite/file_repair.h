/*
 * file_repair - a repaired file in the place of a damaged one.
 *
 * The damaged file gets what its log has, as at any start, and is only read while its successor is
 * made beside it. Then it gets a second name, FILE.before-repair, and the successor takes the first
 * one in a single step. So whenever this ends, by a kill or a power cut too, FILE is the old one or
 * the new one, whole and with all that belongs to it.
 */
#ifndef DYNALITH_STORAGE_SQLITE_FILE_REPAIR_H
#define DYNALITH_STORAGE_SQLITE_FILE_REPAIR_H

#include "core/err.h"
#include "storage/store/salvage.h"

struct file_repair {
	/* Absolute names: of the file, the one under which its successor is to be made, and the one
	 * that the damaged file gets. */
	const char *path, *successor, *kept;
	struct salvage *salvage;
	/* the module's own */
	struct arena *arena;
	int fd;
	struct raw_file *file;
};

/*
 * Keeps other processes out of the file and finds what can be read of it. What an earlier repair
 * left that was cut short is removed. ERR_INTERNAL with one line for the operator: in use, no data
 * file, nothing can be read, its log cannot be moved into it, or FILE.before-repair is there.
 */
enum code file_repair_begin(const char *path, struct file_repair **out,
			    struct err *err) WARN_UNUSED;
void file_repair_end(struct file_repair *repair);

/* Puts the successor, which is closed, in the place of the file. Whatever goes wrong, the old file
 * stays what it was. */
enum code file_repair_publish(struct file_repair *repair, struct err *err) WARN_UNUSED;

/* Removes the successor. */
void file_repair_discard(struct file_repair *repair);

#endif
