/*
 * replica - what is done for the replicas of global tables without a request: filling a new one,
 * repeating what waits in queues, forgetting deleted items.
 *
 * Writes reach a new replica from the moment it exists. Meanwhile replica_fill goes through the
 * items of the replica that it was made from, a bounded piece per transaction, and copies each of
 * which the new one has no change yet; how far it came is a row, so another process goes on.
 *
 * Where replication has a lag, or regions cannot reach each other (storage/catalog/links.h),
 * changes wait in the queue of the replica that is to have them. replica_step repeats those that
 * are due, in the order in which they were made. Of several processes one does so for a table, by a
 * lease.
 */
#ifndef DYNALITH_STORAGE_REPLICA_H
#define DYNALITH_STORAGE_REPLICA_H

#include "storage/catalog/catalog.h"
#include "storage/catalog/links.h"

/* Copies up to `rows` items into a replica that is being filled, by the clock of its region. *more:
 * there are further ones; else the replica is whole. */
enum code replica_fill(struct catalog *catalog, struct table *table, size_t rows, int64_t now_ms,
		       bool *more, struct err *err) WARN_UNUSED;

/* What replica_step did and found. */
struct replica_work {
	uint64_t repeated;  /* rows that it took from queues */
	bool is_more;       /* further ones are due */
	bool is_waiting;    /* there are rows that are not due yet, or cannot come through */
};

/* A piece for each replica of the account of `ns` (NULL: of all), by the clocks of the regions. */
enum code replica_step(struct catalog *catalog, const struct times *times, const struct ns *ns,
		       struct replica_work *work, struct err *err) WARN_UNUSED;

/*
 * Forgets the stamps of items that were deleted `kept_ms` ago by the clock of the replica's region,
 * a bounded number for each global table; *more: there are further ones. One transaction takes a
 * stamp from all replicas, where they have the same one, no change that is older waits in a queue,
 * and none of them is being filled: from then on they are equal as if the item had never been, and
 * whatever is written later counts, also by a clock that was turned back.
 */
enum code replica_forget(struct catalog *catalog, const struct times *times, int64_t kept_ms,
			 bool *more, struct err *err) WARN_UNUSED;

/* Changes of one region that another one has not yet. */
struct replica_queue {
	struct str from, to;
	uint64_t rows, bytes;
};

/* The queues of an account that are not empty, by the regions' names; and its links. */
enum code replica_queues(struct catalog *catalog, struct arena *arena, struct str account,
			 struct links *links, struct replica_queue **queues, size_t *n,
			 struct err *err) WARN_UNUSED;

/* Sets the links of an account. */
enum code replica_set_links(struct catalog *catalog, struct str account, const struct links *links,
			    struct err *err) WARN_UNUSED;

#endif
