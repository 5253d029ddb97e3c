/*
 * memory_file - a file system of SQLite's in memory, for stores that are not kept; internal to
 * storage/store/sqlite.
 *
 * Each store in memory registers a VFS of its own, with one database that its connections share. A
 * page that was committed never changes: a writing transaction makes new versions of the pages that
 * it changes, and the commit publishes them in one step. SQLite's locks are these:
 * - SHARED pins the last commit. The connection reads it until it unlocks, whatever is committed
 *   meanwhile.
 * - RESERVED and above make the connection the writer. It sees its own pages. SQLITE_BUSY: another
 *   one writes, or has committed since SHARED.
 * None of them waits for another connection: readers and the writer run beside each other.
 *
 * SQLITE_FCNTL_COMMIT_PHASETWO publishes. What is written and not published before the unlock is
 * undone. So the database needs no journal (journal_mode=OFF), and after a rollback SQLite reads
 * its pages again. Readers see pages where they lie (mmap_size), so a read copies nothing. Set
 * temp_store=MEMORY: there are no other files.
 *
 * A replaced page is freed once no connection has pinned a version that it belongs to: a long
 * reader keeps each page that was changed since, once per transaction.
 */
#ifndef DYNALITH_STORAGE_SQLITE_MEMORY_FILE_H
#define DYNALITH_STORAGE_SQLITE_MEMORY_FILE_H

#include <sqlite3.h>

#include "storage/store/sqlite/quota.h"

struct memory_files;

/*
 * Registers a VFS with an empty database. It takes no more than `quota` allows; its log are the
 * pages that a transaction replaces, which are in memory twice until it ends. They count only while
 * the transaction makes data grow. NULL without memory, or where SQLite refuses.
 */
struct memory_files *memory_file_install(struct quota *quota);

/* After the last connection was closed. NULL is allowed. */
void memory_file_remove(struct memory_files *files);

/* The name of the VFS. */
const char *memory_file_system(const struct memory_files *files);

#endif
