/*
 * checkpoint - states of a namespace to which it can return.
 *
 * A checkpoint begins a journal (storage/store/journal.h); a rollback undoes the journals from the
 * latest one down to that of the checkpoint, in one transaction. So its cost follows what was
 * changed since, and other requests see the state before or after. Checkpoints nest; a rollback
 * takes away those that were made after its own, which stays.
 *
 * The rows of a namespace's checkpoints, by the numbers of their journals, are a keyspace (STACK,
 * PART_STACK). The stack's number marks the version rows of the namespace's tables
 * (schema/currency.h), by which transactions learn of it.
 *
 * What is brought back is all that the namespace has in the store, but for versions, which rise: a
 * table that the rollback touches gets a later version, and its vector indexes too, so that nothing
 * that any process remembers of it can be taken for what is there now. Sequence numbers of streams
 * rise as well.
 */
#ifndef DYNALITH_STORAGE_CHECKPOINT_H
#define DYNALITH_STORAGE_CHECKPOINT_H

#include "storage/state/space.h"

struct checkpoint {
	struct str name;
	int64_t created_ms;
	struct str extra;   /* the caller's: what is to come back and is not in the store */
	uint64_t journal;
};

struct checkpoints {
	size_t n;
	struct checkpoint *v; /* the first made first; in the arena */
};

/* ERR_RESOURCE_IN_USE where the name is there. Sets only name, created_ms and extra. */
enum code checkpoint_make(struct catalog *catalog, struct ns ns,
			  const struct checkpoint *checkpoint, struct err *err) WARN_UNUSED;

/* *extra is the checkpoint's. ERR_RESOURCE_NOT_FOUND where there is no such one. */
enum code checkpoint_rollback(struct catalog *catalog, struct ns ns, struct str name,
			      struct str *extra, struct err *err) WARN_UNUSED;

/* Forgets the checkpoint: what was changed since stays, and those made before and after it can
 * still be returned to. */
enum code checkpoint_remove(struct catalog *catalog, struct ns ns, struct str name,
			    struct err *err) WARN_UNUSED;

enum code checkpoint_list(struct catalog *catalog, struct ns ns, struct arena *arena,
			  struct checkpoints *checkpoints, struct err *err) WARN_UNUSED;

/* Forgets all, within a transaction that is not armed. */
enum code checkpoint_remove_all(struct space *space, struct err *err) WARN_UNUSED;

/* Whether the row of a checkpoint can be read. */
bool checkpoint_is_sound(const struct store_row *row);

#endif
