/*
 * stream_sweep - trimming that does not wait for writers: what is older than the retention, of
 * disabled streams and of deleted tables too.
 */
#ifndef DYNALITH_STORAGE_STREAM_SWEEP_H
#define DYNALITH_STORAGE_STREAM_SWEEP_H

#include "storage/catalog/catalog.h"

/*
 * Deletes all stream records, shards and streams that can no longer be read by the clock of their
 * namespace. Where nothing is due it only reads, at most three rows per table that has a stream.
 * Tables that go meanwhile are skipped. Of several processes one does it, by a lease.
 */
enum code stream_sweep(struct catalog *catalog, const struct times *times,
		       struct err *err) WARN_UNUSED;

#endif
