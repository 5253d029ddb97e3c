/*
 * file_salvage - the rows of a damaged data file.
 *
 * All pages are read by themselves (raw_file.h). A leaf is of the table from whose root it can be
 * reached. Where a page on the way is damaged, others are of the table whose index has their keys
 * and row numbers, and misses these rows. Pages that were freed keep old rows, so that is certain
 * only while the whole list of free pages can be read.
 */
#ifndef DYNALITH_STORAGE_SQLITE_FILE_SALVAGE_H
#define DYNALITH_STORAGE_SQLITE_FILE_SALVAGE_H

#include "core/err.h"
#include "storage/store/salvage.h"
#include "storage/store/sqlite/raw_file.h"

/* The file must stay open and unchanged until the salvage is closed. ERR_INTERNAL where nothing can
 * be read of it, with one line for the operator. */
enum code file_salvage_open(const struct raw_file *file, const char *path, struct salvage **out,
			    struct err *err) WARN_UNUSED;

#endif
