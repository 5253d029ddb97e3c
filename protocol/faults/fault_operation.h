/*
 * fault_operation - what a rule can be about in each operation, and sets of operations by their numbers in ops.def.
 */
#ifndef DYNALITH_PROTOCOL_FAULTS_OPERATION_H
#define DYNALITH_PROTOCOL_FAULTS_OPERATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

/* What an operation has that a rule can be about. */
enum fault_subject_kind {
	FAULT_OF_TABLE = 1 << 0,
	FAULT_OF_ITEM = 1 << 1, /* a key at least */
	FAULT_OF_INDEX = 1 << 2,
	FAULT_OF_PAGE = 1 << 3,
	FAULT_OF_BATCH = 1 << 4,
	FAULT_OF_TRANSACTION = 1 << 5,
	FAULT_OF_RECORDS = 1 << 6,
};

#define FAULT_OPERATIONS_MAX 128

/* A set of operations by their numbers. */
struct fault_operations {
	uint64_t bits[FAULT_OPERATIONS_MAX / 64];
};

static inline bool fault_operations_have(const struct fault_operations *set, size_t operation)
{
	return set->bits[operation / 64] >> (operation % 64) & 1;
}

/* The number of the operation of that name, of either service. */
bool fault_operation_find(struct str name, size_t *number);
/* Whether it exists here and not in AWS alone. */
bool fault_operation_is_here(size_t number);

/* What it has: a set of enum fault_subject_kind. */
unsigned fault_operation_has(size_t number);

struct fault_operations fault_operations_all(void);
void fault_operations_add(struct fault_operations *set, size_t number);
/* Leaves those that have any of `wants`; whether there are some. */
bool fault_operations_narrow(struct fault_operations *set, unsigned wants);

#endif
