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

#include "protocol/faults/fault_effect.h"

/* False where there is no such state. */
bool fault_state_find(struct str name, enum fault_state *state);
struct str fault_state_name(enum fault_state state);

/* The error of an operation on a table in that state; OK: it is done as ever. */
enum code fault_state_error(enum fault_state state, enum op_id operation,
			    const struct fault_about *about, struct err *err) WARN_UNUSED;

#endif
