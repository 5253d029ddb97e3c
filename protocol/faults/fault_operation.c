#include "protocol/faults/fault_operation.h"

_Static_assert(OP_COUNT <= FAULT_OPERATIONS_MAX, "a rule's set of operations is too small");

void fault_operations_add(struct fault_operations *set, enum op_id number)
{
	set->bits[number / 64] |= (uint64_t)1 << (number % 64);
}

struct fault_operations fault_operations_all(void)
{
	struct fault_operations set = {{0}};

	for (size_t i = 0; i < OP_COUNT; i++) {
		if (ops_is_here((enum op_id)i))
			fault_operations_add(&set, (enum op_id)i);
	}
	return set;
}

bool fault_operations_narrow(struct fault_operations *set, unsigned wants)
{
	struct fault_operations left = {{0}};
	bool is_any = false;

	for (size_t i = 0; i < OP_COUNT; i++) {
		if (fault_operations_have(set, i) && (ops_subjects((enum op_id)i) & wants)) {
			fault_operations_add(&left, (enum op_id)i);
			is_any = true;
		}
	}
	*set = left;
	return is_any;
}
