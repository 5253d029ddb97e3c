/*
 * verify - the pages of a data file without SQLite's cache: whether each is whole, and a copy of them; internal to storage/store/sqlite.
 *
 * The file's log is empty, and nobody writes meanwhile.
 */
#ifndef DYNALITH_STORAGE_SQLITE_VERIFY_H
#define DYNALITH_STORAGE_SQLITE_VERIFY_H

#include "storage/store/sqlite/connection.h"

struct verify {
	int fd;             /* of the file; not closed, since the locks of a process end with any close */
	const char *path;
	store_tell *tell;
	void *context;
	uint64_t findings;
};

/* Reads every page of the file. A file without checksums is only read. ERR_INTERNAL where it cannot be read. */
enum code verify_pages(struct verify *verify, struct err *err) WARN_UNUSED;

/*
 * Reads up to `n` pages from number `from` while the file is written to: what fails is read again for a while, since it may have been half written.
 * *next is the number to go on with, 0 at the end of the file.
 */
enum code verify_some_pages(struct verify *verify, uint32_t from, uint32_t n, uint32_t *next, struct err *err) WARN_UNUSED;

/* SQLite's own check, over its own file. What it cannot read is a finding. */
void verify_structure(struct verify *verify, struct connection *connection, struct err *err);

/* Copies the file to one that is not there yet, and waits for the disk. On an error there is no copy. */
enum code verify_copy(int fd, const char *path, const char *target, struct err *err) WARN_UNUSED;

/* ERR_INTERNAL where a log is left of an earlier file of this name: it would be moved into the copy. */
enum code verify_no_log(const char *target, struct err *err) WARN_UNUSED;

/* Waits for the disk with the folder of that file: a new name is safe when its folder is. False where that fails. */
bool verify_sync_folder(struct arena *arena, const char *path) WARN_UNUSED;

#endif
