/*
 * snapshot - copies of a namespace, kept beside it under names, and copies of one namespace to
 * another.
 *
 * A snapshot has copies of the tables' keyspaces under numbers of their own, and a keyspace
 * (NUMBER, PART_SNAPSHOT) with the records of these copies and the idempotency tokens. A row of
 * SYSTEM_COUNTERS gives its number by namespace and name. Nobody but this file sees them, so a
 * snapshot outlives resets and rollbacks. Rows are copied by the store (store_copy), not one by
 * one.
 *
 * Not copied are the streams of deleted tables. Checkpoints are no part of a snapshot; restoring
 * one, or being the target of a clone, is a change that a checkpoint of the namespace can undo.
 */
#ifndef DYNALITH_STORAGE_SNAPSHOT_H
#define DYNALITH_STORAGE_SNAPSHOT_H

#include "storage/state/space.h"

struct snapshot {
	struct str name;
	int64_t created_ms;
	struct str extra;   /* the caller's: what is to come back and is not in the store */
	uint64_t number;
};

struct snapshots {
	size_t n;
	struct snapshot *v; /* by name; in the arena */
};

/* ERR_RESOURCE_IN_USE where the name is there. Sets only name, created_ms and extra. */
enum code snapshot_take(struct catalog *catalog, struct ns ns, const struct snapshot *snapshot,
			struct err *err) WARN_UNUSED;

/* Puts the snapshot in the place of all that the namespace has. ERR_RESOURCE_NOT_FOUND where there
 * is no such one. *extra is the snapshot's. */
enum code snapshot_restore(struct catalog *catalog, struct ns ns, struct str name,
			   struct str *extra, struct err *err) WARN_UNUSED;

enum code snapshot_remove(struct catalog *catalog, struct ns ns, struct str name,
			  struct err *err) WARN_UNUSED;
enum code snapshot_list(struct catalog *catalog, struct ns ns, struct arena *arena,
			struct snapshots *snapshots, struct err *err) WARN_UNUSED;

struct snapshot_clone {
	struct ns from;
	size_t n;
	const struct ns *to;
	bool replaces;       /* what the targets have; else they must have no tables */
};

/*
 * Copies the tables of a namespace to others, each in a transaction of its own. Copies are other
 * tables: they have TableIds of their own. ERR_RESOURCE_IN_USE where a target has tables that are
 * not to be replaced, before anything was copied.
 */
enum code snapshot_clone(struct catalog *catalog, const struct snapshot_clone *clone,
			 struct err *err) WARN_UNUSED;

/* Calls `visit` with the number of each table that the snapshot of that number has. */
enum code snapshot_tables(struct store_txn *txn, uint64_t snapshot,
			  void (*visit)(void *context, uint64_t table), void *context,
			  struct err *err) WARN_UNUSED;

/* Whether a row of SYSTEM_COUNTERS with that key names a snapshot. */
bool snapshot_is_key(struct str key);

/* Whether a row of a snapshot's keyspace can be read. */
bool snapshot_is_sound(struct arena *arena, const struct settings_records *records,
		       const struct store_row *row);

#endif
