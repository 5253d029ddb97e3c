/*
 * sqlite_state - what the embedded backend is made of; internal to storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_STATE_H
#define DYNALITH_STORAGE_SQLITE_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "storage/store/sqlite/connection.h"
#include "storage/store/sqlite/quota.h"
#include "storage/store/sqlite/readers.h"
#include "storage/store/sqlite/wal.h"

struct sqlite_store {
	struct store base;
	bool is_memory;
	struct memory_files *memory;  /* its file system; NULL on disk */
	bool is_open;                 /* opening came to its end */
	int lock_fd; /* holds the flock that keeps other processes out; -1 in memory */
	pthread_mutex_t writer_mutex;
	struct connection writer;
	struct wal wal;               /* on disk */
	struct quota quota;
	char *path;                   /* absolute; NULL in memory */
	_Atomic uint64_t file_bytes;  /* of the data file, when it was looked at last */
	struct readers readers;
	_Atomic uint64_t moves;       /* commits of transactions that created or dropped keyspaces:
					 each is counted before it and after it */
	atomic_bool has_dropped;      /* there may be rows of dropped keyspaces to delete */
	struct store_usage usage;     /* as it was last read; under the pool's mutex */
};

#endif
