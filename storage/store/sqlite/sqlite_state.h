/*
 * sqlite_state - what the embedded backend is made of; internal to storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_STATE_H
#define DYNALITH_STORAGE_SQLITE_STATE_H

#include <pthread.h>
#include <stdbool.h>

#include "storage/store/sqlite/connection.h"
#include "storage/store/sqlite/pinned.h"
#include "storage/store/sqlite/quota.h"
#include "storage/store/sqlite/wal.h"

struct sqlite_store {
	struct store base;
	bool is_memory;
	bool is_open;                 /* opening came to its end */
	int lock_fd;                  /* holds the flock that keeps other processes out; -1 in memory */
	pthread_mutex_t writer_mutex;
	struct connection writer;
	pthread_rwlock_t memory_lock; /* in memory: held by readers, and by the writer alone, while their transactions last */
	struct wal wal;               /* on disk */
	struct quota quota;
	char *path;                   /* absolute; NULL in memory */
	pthread_mutex_t pool_mutex;
	pthread_cond_t pool_cond;
	struct connection *free_readers;
	unsigned reader_count;
	struct connection *readers;
	struct pinned pinned;         /* rows of SYSTEM_VERSIONS */
	bool has_versions;            /* that keyspace is there; 0.1.0 made files without */
	uint64_t drops;               /* committed transactions that dropped keyspaces; under pool_mutex */
	struct store_usage usage;     /* as it was last read; under pool_mutex */
};

#endif
