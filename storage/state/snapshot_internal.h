/*
 * snapshot_internal - what snapshot and snapshot_file share; not for others.
 */
#ifndef DYNALITH_STORAGE_SNAPSHOT_INTERNAL_H
#define DYNALITH_STORAGE_SNAPSHOT_INTERNAL_H

#include "storage/state/snapshot.h"

/* The keyspace of a snapshot's own rows, and the key of a table's record in it. */
struct keyspace snapshot_keyspace(uint64_t number);
struct str snapshot_table_key(struct arena *arena, struct str name);

/* ERR_RESOURCE_NOT_FOUND where there is no such one. */
enum code snapshot_find(const struct space *space, struct str name, struct snapshot *snapshot,
			struct err *err) WARN_UNUSED;

/* The records of its tables, by name. */
enum code snapshot_records(const struct space *space, uint64_t snapshot,
			   struct space_records *records, struct err *err) WARN_UNUSED;

/* Makes what lies under the number the snapshot of that name. */
enum code snapshot_publish(struct space *space, const struct snapshot *snapshot, uint64_t number,
			   struct err *err) WARN_UNUSED;

/* Drops all that lies under the number. */
enum code snapshot_drop(struct space *space, uint64_t number, struct err *err) WARN_UNUSED;

#endif
