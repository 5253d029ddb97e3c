/*
 * sqlite_store - the embedded backend: one generated SQLite table per keyspace.
 *
 * On disk: one WAL-mode file, one writer connection under a mutex, a pool of reader connections
 * that each see a snapshot. In memory: the same over a file system that keeps pages in versions
 * (memory_file.h), without a log or journal. Readers and the writer do not wait for each other.
 */
#ifndef DYNALITH_STORAGE_SQLITE_STORE_H
#define DYNALITH_STORAGE_SQLITE_STORE_H

#include "core/err.h"
#include "storage/store/store.h"

/*
 * Format of the data file; a file with a newer one is refused and left alone. A file keeps the
 * format that it was created with. 1: 0.1.0. 2: pages have checksums (page_file.h). 3: SQL tables
 * of one b-tree for small rows (place.h), and rows that stand for others; files of earlier formats
 * have copies of these.
 */
#define SQLITE_STORE_FORMAT 3
#define SQLITE_STORE_FORMAT_REFERENCES 3

#define SQLITE_STORE_READER_MS 5000

struct sqlite_store_options {
	const char *path;           /* data file, created where missing; NULL for memory */
	const char *copied; /* a data file that a store in memory begins as a copy of; NULL: none */
	enum durability durability;
	unsigned readers;           /* reader connections, at least 1 */
	size_t cache_bytes;         /* page cache per connection */
	size_t log_bytes; /* of the write-ahead log, beyond which writers wait; 0: 64 MB, less where
			     limit_bytes is small */
	unsigned reader_ms; /* how long writers wait for a reader before it is interrupted; 0:
			       SQLITE_STORE_READER_MS */
	/*
	 * Of the data and its log, at most; 0: none. Beyond it puts get ERR_DATA_LIMIT; deletes and
	 * reads go on (quota.h).
	 */
	uint64_t limit_bytes;
};

/*
 * Opens or creates a store; the system keyspaces exist in it. One process at a time: others are
 * kept out by a lock on the file, which the kernel lets go of however this process ends. A store
 * that was not opened needs no close.
 *
 * ERR_INTERNAL with one clear line for the operator: cannot open, not a Dynalith file, newer
 * format, locked by another process. A file that is refused keeps its bytes.
 */
enum code sqlite_store_open(const struct sqlite_store_options *options, struct store **out,
			    struct err *err) WARN_UNUSED;

/*
 * Whether a file that is no empty one is there and no other process has it open: sqlite_store_open
 * would create one. ERR_INTERNAL with one line for the operator.
 */
enum code sqlite_store_is_there(const char *path, struct err *err) WARN_UNUSED;

/* The SQLite in use, such as "3.40.1": for the log and for diagnosis. */
const char *sqlite_store_library_version(void);

/* What the operator should know of that version: NULL, or one line without a full stop. */
const char *sqlite_store_library_note(void);

#endif
