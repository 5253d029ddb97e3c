/*
 * snapshot_file - a snapshot as bytes, in blocks: what `dynalith dump` writes to a file and
 * `dynalith load` reads from one.
 *
 * A block is a sequence of frames: the sizes of a key and a value, 4 bytes each, big-endian, and
 * the two. Frames, by the first byte of their keys:
 *   'v'                      the format, 4 bytes; the time of the snapshot, 8 bytes; what is the
 *                            caller's. The first frame
 *   't' NAME                 the record of a table. Tables are counted from 0
 *   'r' TABLE PART KEY       a row, by the table's count and the part of the keyspace, 4 bytes each
 *   'b' TABLE INDEX          how far the filling of an index came
 *   'z'                      the number of frames before it, 8 bytes. The last frame
 * Rows and records are as the store has them; their formats have versions of their own. A later
 * version reads the files of this one.
 */
#ifndef DYNALITH_STORAGE_SNAPSHOT_FILE_H
#define DYNALITH_STORAGE_SNAPSHOT_FILE_H

#include "storage/state/snapshot.h"

#define SNAPSHOT_FILE_FORMAT 1

/*
 * The next block of a snapshot: `cursor` is absent for the first one, else what *next was with the
 * one before; absent behind the last. Both blocks and cursors lie in the arena of `err`.
 * ERR_RESOURCE_NOT_FOUND where there is no such snapshot, ERR_VALIDATION for a cursor that is none.
 */
enum code snapshot_file_read(struct catalog *catalog, struct ns ns, struct str name,
			     struct str cursor, struct str *block, struct str *next,
			     struct err *err) WARN_UNUSED;

/*
 * Takes the next block of a file. With the last one *is_done, and the snapshot is there; what was
 * begun under the name and not ended is forgotten with a first one. ERR_VALIDATION for malformed
 * bytes, for a block out of its order, and for a file of a newer format: nothing of the block
 * counts then. ERR_RESOURCE_IN_USE where the snapshot is there.
 */
enum code snapshot_file_write(struct catalog *catalog, struct ns ns, struct str name,
			      struct str block, bool *is_done, struct err *err) WARN_UNUSED;

/* Whether a row of SYSTEM_COUNTERS with that key names one that is being loaded. */
bool snapshot_file_is_key(struct str key);

#endif
