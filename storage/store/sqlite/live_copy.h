/*
 * live_copy - a copy of a store that is in use: one moment's state, in bounded memory, while
 * readers and writers go on; internal to storage/store/sqlite.
 *
 * On disk SQLite's backup copies some pages at a time, by the connection of the writer: what that
 * commits afterwards goes to the copy too, so the copy is what the store is when the last page is
 * reached. No state is held, so the log does not grow for it. A transaction that is rolled back
 * makes SQLite begin again; then more pages are copied at a time, so that it comes to an end.
 *
 * The copy is a file without a name, beside the data file; it is gone with the process.
 *
 * In memory nothing is copied: a reader's transaction keeps the pages of its moment
 * (memory_file.h), and they are read where they are. So the copy takes what changes meanwhile.
 */
#ifndef DYNALITH_STORAGE_SQLITE_LIVE_COPY_H
#define DYNALITH_STORAGE_SQLITE_LIVE_COPY_H

#include "storage/store/maintenance.h"
#include "storage/store/sqlite/sqlite_state.h"

/* ERR_INTERNAL with one line for the operator: no file can be made for it. */
enum code live_copy_begin(struct sqlite_store *store, struct live_copy **out,
			  struct err *err) WARN_UNUSED;
void live_copy_end(struct live_copy *copy);

/* Copies for some milliseconds. ERR_STORE_FULL: the folder has too little room. */
enum code live_copy_step(struct live_copy *copy, struct live_copy_progress *progress,
			 struct err *err) WARN_UNUSED;

/* Reads a piece of a whole copy, as it would lie in a data file: `at` a multiple of a page. *n is
 * less at its end. */
enum code live_copy_read(struct live_copy *copy, uint64_t at, void *out, size_t *n,
			 struct err *err) WARN_UNUSED;

#endif
