/*
 * replica_rules - replicas of global tables in an UpdateTable. No table has replicas here. Requests that AWS refuses get AWS's errors; a
 * new replica, which AWS would create, gets ours.
 */
#ifndef DYNALITH_PROTOCOL_REPLICA_RULES_H
#define DYNALITH_PROTOCOL_REPLICA_RULES_H

#include "protocol/handler.h"

/* The request alone, of a caller in that region. */
enum code replica_rules_check(const struct ns *ns, const struct update_table_input *input, struct err *err) WARN_UNUSED;

/* Checks the rest of it, for a table without replicas. */
enum code replica_rules_table(const struct update_table_input *input, struct err *err) WARN_UNUSED;

/* The name of a GlobalTableSettingsReplicationMode. */
struct str replica_rules_mode(int mode);

#endif
