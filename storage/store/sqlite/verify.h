/*
 * verify - the pages of a data file without SQLite's cache: whether each is whole, and a copy of
 * them; internal to storage/store/sqlite.
 *
 * The file's log is empty, and nobody writes meanwhile.
 */
#ifndef DYNALITH_STORAGE_SQLITE_VERIFY_H
#define DYNALITH_STORAGE_SQLITE_VERIFY_H

#include "storage/store/sqlite/connection.h"

struct verify {
	int fd; /* of the file; not closed, since the locks of a process end with any close */
	const char *path;
	bool is_in_use;     /* others write to it meanwhile */
	store_tell *tell;
	void *context;
	uint64_t *findings; /* counts them */
};

/*
 * Reads up to `n` pages from number `from`: a page that fails its checksum, or is cut short, is a
 * finding. In a file in use, what fails is read again for a while, since it may have been half
 * written. A file without checksums is only read. *next is the number to go on with, 0 at the end
 * of the file. ERR_INTERNAL where it cannot be read.
 */
enum code verify_pages(struct verify *verify, uint32_t from, uint32_t n, uint32_t *next,
		       struct err *err) WARN_UNUSED;

/* SQLite's own check, over its own file. What it cannot read is a finding. */
void verify_structure(struct verify *verify, struct connection *connection, struct err *err);

/* Copies the file to one that is not there yet, and waits for the disk. On an error a piece of it
 * may be left. */
enum code verify_copy(int fd, const char *path, const char *target, struct err *err) WARN_UNUSED;

#endif
