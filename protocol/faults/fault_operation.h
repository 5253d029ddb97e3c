/*
 * fault_operation - sets of operations: those that a rule is about.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_OPERATION_H
#define DYNALITH_PROTOCOL_FAULTS_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "protocol/ops.h"

#define FAULT_OPERATIONS_MAX 128

/* A set of operations by their numbers. */
struct fault_operations {
	uint64_t bits[FAULT_OPERATIONS_MAX / 64];
};

static inline bool fault_operations_have(const struct fault_operations *set, size_t operation)
{
	return set->bits[operation / 64] >> (operation % 64) & 1;
}

struct fault_operations fault_operations_all(void);
void fault_operations_add(struct fault_operations *set, enum op_id number);
/*
 * The requests that can do the work of these operations: they themselves, and those that do the
 * same in a batch, a transaction or a statement. Of PutItem also BatchWriteItem, ExecuteStatement,
 * ...
 */
struct fault_operations fault_operations_requests(const struct fault_operations *set);
/* Leaves those that have any of `wants` (enum op_subject); whether there are some. */
bool fault_operations_narrow(struct fault_operations *set, unsigned wants);

#endif
