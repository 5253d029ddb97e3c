/*
 * replica_group - the replicas of a global table, read from the record of one of them.
 */
#ifndef DYNALITH_STORAGE_REPLICA_GROUP_H
#define DYNALITH_STORAGE_REPLICA_GROUP_H

#include "storage/catalog/catalog.h"

struct replica_group {
	struct table **v; /* the given table, then its other replicas that exist; in the arena */
	size_t n;
};

/* `now_ms` by the clock of the table's region. Skips regions without the table, as after a reset.
 * Free the group also after an error. */
enum code replica_group_read(struct catalog *catalog, struct arena *arena, struct table *table,
			     int64_t now_ms, struct replica_group *group,
			     struct err *err) WARN_UNUSED;
void replica_group_free(const struct replica_group *group);

#endif
