/*
 * replica_rules - what an UpdateTable may ask of replicas of a global table, and of a table that is
 * one.
 */
#ifndef DYNALITH_PROTOCOL_REPLICA_RULES_H
#define DYNALITH_PROTOCOL_REPLICA_RULES_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

enum replica_action {
	REPLICA_NONE,
	REPLICA_CREATE,
	REPLICA_UPDATE,
	REPLICA_DELETE,
	REPLICA_DISASSOCIATE,
	REPLICA_MANY
};

/* What an element asks for, and where. */
struct replica_change {
	enum replica_action action;
	struct str region;
};

/* The request alone, of a caller in that region. */
enum code replica_rules_check(const struct ns *ns, const struct update_table_input *input,
			      struct err *err) WARN_UNUSED;

/* What it asks of the table's group: that of its other replicas, of which there are `n`. */
enum code replica_rules_table(struct call *call, const struct table *table,
			      struct table *const *replicas, size_t n,
			      const struct update_table_input *input, struct err *err) WARN_UNUSED;

/* Whether other changes of a replica are in order. AWS: its stream stays, and nothing changes while
 * a replica comes or goes. */
enum code replica_rules_other(const struct table *table, struct table *const *replicas, size_t n,
			      const struct update_table_input *input, struct err *err) WARN_UNUSED;

/*
 * Whether a replica may be deleted: `table`, by the caller's own clock. `replicas` are the others
 * of the group. AWS: one that another was made from in the last 24 hours may not; nor one alone of
 * a group with strong consistency.
 */
enum code replica_rules_deletable(const struct call *call, const struct table *table,
				  struct table *const *replicas, size_t n,
				  struct err *err) WARN_UNUSED;

/* Whether UpdateTimeToLive may change the setting of the group. */
enum code replica_rules_ttl(const struct table *table, struct table *const *replicas, size_t n,
			    struct err *err) WARN_UNUSED;

/* Operations that tables with strong consistency do not have. AWS: Developer Guide, "How DynamoDB
 * global tables work". */
enum code replica_rules_transaction(const struct table *table, struct err *err) WARN_UNUSED;

/* The error of an operation that would make a global table of version 2017.11.29. */
enum code replica_rules_legacy(const struct ns *ns, struct err *err) WARN_UNUSED;

/* The name of a GlobalTableSettingsReplicationMode. */
struct str replica_rules_mode(int mode);

/* Whether global tables can be in the region: it is one of AWS's. */
bool replica_rules_is_region(struct str name);

#endif
