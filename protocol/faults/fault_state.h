/*
 * fault_state - a table in a state into which only AWS can bring it: what DescribeTable shows, and
 * what the operations answer.
 *
 * AWS: API Reference, TableDescription and ReplicaDescription, for what the states mean;
 * ResourceNotFoundException, of operations on items of a table that is not ACTIVE;
 * docs/testing.md says which answers are known and which follow.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_STATE_H
#define DYNALITH_PROTOCOL_FAULTS_STATE_H

#include <stdbool.h>

#include "core/err.h"
#include "protocol/ops.h"

enum fault_state {
	FAULT_STATE_NONE,
	FAULT_STATE_INACCESSIBLE,
	FAULT_STATE_ARCHIVING,
	FAULT_STATE_ARCHIVED,
	FAULT_STATE_REGION_DISABLED,
};

/* False where there is no such state. */
bool fault_state_find(struct str name, enum fault_state *state);
struct str fault_state_name(enum fault_state state);

/* The error of an operation on a table in that state; OK: it is done as ever. */
enum code fault_state_error(enum fault_state state, enum op_id operation,
			    struct str table, struct err *err) WARN_UNUSED;

#endif
