/*
 * file_salvage - the rows of a damaged data file, read page by page (raw_file.h) without SQLite.
 *
 * A table's leaves are found from its root. Where an inner page is damaged beyond mending, the leaves beneath it are found among the pages that
 * nothing else refers to: they belong to the table whose index has their keys and row numbers, and misses these rows. Pages that were freed keep old
 * rows, so that is done only while the whole list of free pages can be read.
 */
#ifndef DYNALITH_STORAGE_SQLITE_FILE_SALVAGE_H
#define DYNALITH_STORAGE_SQLITE_FILE_SALVAGE_H

#include "core/err.h"
#include "storage/store/salvage.h"
#include "storage/store/sqlite/raw_file.h"

/* The file must stay open and unchanged until the salvage is closed. ERR_INTERNAL where nothing can be read of it, with one line for the operator. */
enum code file_salvage_open(const struct raw_file *file, struct salvage **out, struct err *err) WARN_UNUSED;

#endif
