/*
 * replica_group - a global table's replicas, as one of them knows them, with references.
 */
#ifndef DYNALITH_STORAGE_REPLICA_GROUP_H
#define DYNALITH_STORAGE_REPLICA_GROUP_H

#include "storage/catalog/catalog.h"

struct replica_group {
	struct table **v; /* the replica that was asked, then the others that are there; in the arena */
	size_t n;
};

/* `now_ms` by the clock of the table's region. A region that was reset has none. The group is to be freed also after an error. */
enum code replica_group_read(struct catalog *catalog, struct arena *arena, struct table *table, int64_t now_ms, struct replica_group *group,
			     struct err *err) WARN_UNUSED;
void replica_group_free(const struct replica_group *group);

#endif
