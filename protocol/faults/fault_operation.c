#include "protocol/faults/fault_operation.h"

_Static_assert(OP_COUNT < FAULT_OPERATIONS_MAX, "a rule's set of operations is too small");

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

/* Which work requests do beside that of their own name. */
static const struct {
	enum op_id request, work;
} doings[] = {
	{OP_BatchGetItem, OP_GetItem},
	{OP_TransactGetItems, OP_GetItem},
	{OP_BatchWriteItem, OP_PutItem},
	{OP_BatchWriteItem, OP_DeleteItem},
	{OP_TransactWriteItems, OP_PutItem},
	{OP_TransactWriteItems, OP_UpdateItem},
	{OP_TransactWriteItems, OP_DeleteItem},
	{OP_ExecuteStatement, OP_GetItem},
	{OP_ExecuteStatement, OP_PutItem},
	{OP_ExecuteStatement, OP_UpdateItem},
	{OP_ExecuteStatement, OP_DeleteItem},
	{OP_ExecuteStatement, OP_Query},
	{OP_ExecuteStatement, OP_Scan},
	{OP_BatchExecuteStatement, OP_GetItem},
	{OP_BatchExecuteStatement, OP_PutItem},
	{OP_BatchExecuteStatement, OP_UpdateItem},
	{OP_BatchExecuteStatement, OP_DeleteItem},
	{OP_ExecuteTransaction, OP_GetItem},
	{OP_ExecuteTransaction, OP_PutItem},
	{OP_ExecuteTransaction, OP_UpdateItem},
	{OP_ExecuteTransaction, OP_DeleteItem},
};

struct fault_operations fault_operations_requests(const struct fault_operations *set)
{
	struct fault_operations requests = *set;

	for (size_t i = 0; i < sizeof(doings) / sizeof(doings[0]); i++) {
		if (fault_operations_have(set, doings[i].work))
			fault_operations_add(&requests, doings[i].request);
	}
	return requests;
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
