/*
 * commit_group - transactions of one thread that SQLite sees as one (store_group_open); internal to storage/store/sqlite.
 *
 * The group's first transaction takes the writer's lock and begins SQLite's, and both stay until the group is committed. Each later one is a member, within a
 * savepoint. The group itself is guarded by that lock; what a thread has open and pending, and what it has lost, is known per thread. A thread has one open
 * group at most, of whichever store.
 */
#ifndef DYNALITH_STORAGE_COMMIT_GROUP_H
#define DYNALITH_STORAGE_COMMIT_GROUP_H

#include <stdatomic.h>

#include "storage/store/store.h"

#define COMMIT_GROUP_REST 100  /* groups that are not opened after one was lost: requests then get their own errors */
#define COMMIT_GROUP_LOSSES 64 /* that a thread remembers */

struct commit_group {
	size_t n, capacity;
	struct {
		store_outcome *call;
		void *context;
	} *outcomes;
	atomic_uint rest;
};

void commit_group_free(struct commit_group *group);

/* By the thread; opening is refused where it has one open, and while the group rests. Nothing may be pending when it is closed. */
bool commit_group_open(struct commit_group *group);
void commit_group_close(struct commit_group *group);

/* Whether the thread's next transaction may be pending: not after a loss. */
bool commit_group_takes(const struct commit_group *group);

/* A transaction is pending. And a member, within the savepoint, begins, is there, and ends: gives whether there was one. */
void commit_group_add(struct commit_group *group, store_outcome *outcome, void *context);
void commit_group_begin_member(struct commit_group *group);
bool commit_group_has_member(const struct commit_group *group);
bool commit_group_end_member(struct commit_group *group);

/* Under the writer's lock: all that was pending is committed, or lost. Nothing where the thread had nothing pending. */
void commit_group_end(struct commit_group *group);
void commit_group_lose(struct commit_group *group);

/* As store_group_pending() and its like. */
uint64_t commit_group_pending(const struct commit_group *group);
uint64_t commit_group_seen(void);
bool commit_group_is_lost(uint64_t number);

#endif
