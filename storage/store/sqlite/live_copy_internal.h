/*
 * live_copy_internal - what a live copy is made of: the writer's connection and the lock that guards it; internal to storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_LIVE_COPY_INTERNAL_H
#define DYNALITH_STORAGE_SQLITE_LIVE_COPY_INTERNAL_H

#include <pthread.h>
#include <sqlite3.h>

#include "storage/store/sqlite/live_copy.h"

struct live_source {
	sqlite3 *db;
	pthread_mutex_t *mutex;
	const char *path;       /* of the data file; NULL in memory */
};

/* As sqlite_store_copy_live. */
enum code live_copy_begin(const struct live_source *source, struct live_copy **out, struct err *err) WARN_UNUSED;

#endif
