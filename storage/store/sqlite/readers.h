/*
 * readers - the connections of a store that read, and who uses them; internal to
 * storage/store/sqlite.
 *
 * The first is opened with the store. One more is opened, up to the number wanted, when all are in
 * use: each takes a quarter of a megabyte and part of a millisecond, which a server that waits for
 * its first request should not have spent. Where one more cannot be opened, the thread waits for
 * one of those that are there. The one that was used last is used next, with its statements and
 * pages in the processor's cache.
 */
#ifndef DYNALITH_STORAGE_SQLITE_READERS_H
#define DYNALITH_STORAGE_SQLITE_READERS_H

#include <pthread.h>
#include <stdatomic.h>

#include "storage/store/sqlite/connection.h"

struct readers_options {
	const char *name;  /* of the file, or a URI; copied */
	int flags;         /* of sqlite3_open_v2() */
	const char *setup; /* SQL; copied */
	unsigned most;     /* connections; 0 is 1 */
	int lock_fd; /* of the data file: none is opened once the path leads to another one, or it
			is empty. -1 in memory */
	struct sqlite_store *store;
};

struct readers {
	pthread_mutex_t mutex;
	pthread_cond_t is_given;
	struct connection *free; /* the one that was used last; under the mutex */
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

/* A connection that no transaction uses; waits until there is one where none is and none can be
 * opened. */
struct connection *readers_take(struct readers *readers);

/* The same, or NULL where all are in use; opens none. */
struct connection *readers_try(struct readers *readers);

/* Gives it back, or for the first time. */
void readers_give(struct readers *readers, struct connection *connection);

/* For writers that wait too long (wal.h), under the writer's lock: remembers the transactions that
 * are under way, and interrupts those of them that still are. */
void readers_note(struct readers *readers);
void readers_end(struct readers *readers);

#endif
