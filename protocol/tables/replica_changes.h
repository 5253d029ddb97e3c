/*
 * replica_changes - what UpdateTable makes of the replicas of a global table: new ones, ones that
 * go, and settings that one of them has of its own; and how a change of one replica reaches the
 * others.
 *
 * AWS: ReplicaUpdates, version 2019.11.21. Billing, throughput, indexes, table class, the kind of
 * encryption and time to live are those of all replicas; a replica may have its own read capacity
 * and class. Tags, policies, recovery, insights, deletion protection are each region's:
 * DDB-TABLE-230, 251, 296.
 */
#ifndef DYNALITH_PROTOCOL_REPLICA_CHANGES_H
#define DYNALITH_PROTOCOL_REPLICA_CHANGES_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

/* The changes of one request, for catalog_change_all; the first is that of the table that it names.
 */
struct replica_changes {
	size_t n;
	struct catalog_change *v;
};

/* Clones of the table and its replicas, to be changed; room for `more` new ones. */
struct replica_changes replica_changes_begin(struct call *call, struct table *table,
					     struct table *const *replicas, size_t n, size_t more);
/* Gives the clones back, where the changes are not made. */
void replica_changes_drop(struct replica_changes *changes);

/* What the request's ReplicaUpdates make of them; it has been checked (replica_rules.h). */
enum code replica_changes_apply(struct call *call, struct replica_changes *changes,
				const struct update_table_input *input,
				struct err *err) WARN_UNUSED;

/* Takes the table, which is to be deleted, out of the group of the others. */
void replica_changes_leave(struct replica_changes *changes);

/*
 * The part of a request to `table` that concerns its replica too: without what is each region's,
 * without what the replica has of its own, and without units that it has already. Valid for the
 * call.
 */
struct update_table_input replica_changes_narrow(struct call *call, const struct table *table,
						 const struct table *replica,
						 const struct update_table_input *input);

#endif
