#include "protocol/faults/fault_operation.h"

static const struct {
	struct str name;
	bool is_here;
} operations[] = {
#define OPERATION(service, name, ...) {STR_INIT(#name), true},
#define ABSENT(service, name) {STR_INIT(#name), false},
#include "protocol/ops.def"
#undef OPERATION
#undef ABSENT
};

#define OPERATIONS (sizeof(operations) / sizeof(operations[0]))

_Static_assert(OPERATIONS <= FAULT_OPERATIONS_MAX, "a rule's set of operations is too small");

/* Those that are not here have a table and nothing else. */
static const struct {
	struct str name;
	unsigned has;
} specials[] = {
	{STR_INIT("BatchExecuteStatement"), FAULT_OF_TABLE | FAULT_OF_ITEM},
	{STR_INIT("BatchGetItem"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_BATCH},
	{STR_INIT("BatchWriteItem"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_BATCH},
	{STR_INIT("DeleteItem"), FAULT_OF_TABLE | FAULT_OF_ITEM},
	{STR_INIT("DescribeEndpoints"), 0},
	{STR_INIT("DescribeLimits"), 0},
	{STR_INIT("ExecuteStatement"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_INDEX | FAULT_OF_PAGE},
	{STR_INIT("ExecuteTransaction"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_TRANSACTION},
	{STR_INIT("GetItem"), FAULT_OF_TABLE | FAULT_OF_ITEM},
	{STR_INIT("GetRecords"), FAULT_OF_TABLE | FAULT_OF_RECORDS},
	{STR_INIT("ListTables"), 0},
	{STR_INIT("PutItem"), FAULT_OF_TABLE | FAULT_OF_ITEM},
	{STR_INIT("Query"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_INDEX | FAULT_OF_PAGE},
	{STR_INIT("Scan"), FAULT_OF_TABLE | FAULT_OF_INDEX | FAULT_OF_PAGE},
	{STR_INIT("SearchVectors"), FAULT_OF_TABLE | FAULT_OF_INDEX},
	{STR_INIT("TransactGetItems"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_TRANSACTION},
	{STR_INIT("TransactWriteItems"), FAULT_OF_TABLE | FAULT_OF_ITEM | FAULT_OF_TRANSACTION},
	{STR_INIT("UpdateItem"), FAULT_OF_TABLE | FAULT_OF_ITEM},
};

unsigned fault_operation_has(size_t number)
{
	bool is_there;
	size_t at = str_search(specials, sizeof(specials) / sizeof(specials[0]), sizeof(specials[0]), operations[number].name, &is_there);

	return is_there ? specials[at].has : FAULT_OF_TABLE;
}

bool fault_operation_find(struct str name, size_t *number)
{
	for (size_t i = 0; i < OPERATIONS; i++) {
		if (str_eq(operations[i].name, name)) {
			*number = i;
			return true;
		}
	}
	return false;
}

bool fault_operation_is_here(size_t number)
{
	return operations[number].is_here;
}

void fault_operations_add(struct fault_operations *set, size_t number)
{
	set->bits[number / 64] |= (uint64_t)1 << (number % 64);
}

struct fault_operations fault_operations_all(void)
{
	struct fault_operations set = {{0}};

	for (size_t i = 0; i < OPERATIONS; i++) {
		if (operations[i].is_here)
			fault_operations_add(&set, i);
	}
	return set;
}

bool fault_operations_narrow(struct fault_operations *set, unsigned wants)
{
	struct fault_operations left = {{0}};
	bool is_any = false;

	for (size_t i = 0; i < OPERATIONS; i++) {
		if (fault_operations_have(set, i) && (fault_operation_has(i) & wants)) {
			fault_operations_add(&left, i);
			is_any = true;
		}
	}
	*set = left;
	return is_any;
}
