/*
 * readers - the connections of a store that read; internal to storage/store/sqlite.
 *
 * The first is opened with the store. Others are opened as threads need them (reader_pool.h), up to
 * the number wanted: each takes a quarter of a megabyte and part of a millisecond, which a server
 * that waits for its first request should not have spent. Where one more cannot be opened, the
 * thread waits for one of those that are there.
 */
#ifndef DYNALITH_STORAGE_SQLITE_READERS_H
#define DYNALITH_STORAGE_SQLITE_READERS_H

#include "storage/store/sqlite/reader_pool.h"

struct readers_options {
	const char *name;  /* of the file, or a URI; copied */
	int flags;         /* of sqlite3_open_v2() */
	const char *setup; /* SQL; copied */
	unsigned most;     /* connections; 0 is 1 */
	int lock_fd; /* of the data file: none is opened once the path leads to another one, or it
			is empty. -1 in memory */
	struct sqlite_store *store;
	const _Atomic uint64_t *drops_begun; /* connection.h */
};

struct readers {
	struct reader_pool pool;
	struct connection *v; /* room for `most` */
	atomic_uint n;        /* that are open */
	struct readers_options options;
	char *name, *setup;
};

void readers_init(struct readers *readers);
/* Opens the first. After an error, readers_close() ends what was begun. */
enum code readers_open(struct readers *readers, const struct readers_options *options,
		       struct err *err) WARN_UNUSED;
void readers_close(struct readers *readers);

/* For writers that wait too long (wal.h): which transactions are under way, and the end of those
 * that still are. */
void readers_note(void *readers);
void readers_end(void *readers);

#endif
