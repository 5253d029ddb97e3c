#include "protocol/iam/known.h"

#include "protocol/iam/pattern.h"
#include "protocol/ops.h"

#define SERVICE STR("dynamodb:")

/* AWS: Service Authorization Reference, "Actions, resources, and condition keys for Amazon
 * DynamoDB": actions that no operation is called by. */
static const char *const more[] = {
	"AssociateTableReplica",
	"ConditionCheckItem",
	"CreateGlobalTableWitness",
	"CreateTableReplica",
	"DeleteGlobalTableWitness",
	"DeleteTableReplica",
	"DescribeReservedCapacity",
	"DescribeReservedCapacityOfferings",
	"DisassociateTableReplica",
	"GetAbacStatus",
	"InjectError",
	"PartiQLDelete",
	"PartiQLInsert",
	"PartiQLSelect",
	"PartiQLUpdate",
	"PurchaseReservedCapacityOfferings",
	"ReadDataForReplication",
	"ReplicateSettings",
	"RestoreTableFromAwsBackup",
	"StartAwsBackupJob",
	"UpdateAbacStatus",
	"UpdateGlobalTableVersion",
	"WriteDataForReplication",
};
/* Judged by the actions of their members. */
static const enum op_id judged_by_members[] = {OP_TransactGetItems, OP_TransactWriteItems,
					       OP_ExecuteStatement, OP_BatchExecuteStatement,
					       OP_ExecuteTransaction};
static const char *const keys[] = {
	"Attributes",  "EnclosingOperation",     "FullTableScan",
	"LeadingKeys", "ReturnConsumedCapacity", "ReturnValues",
	"Select",
};

static bool is_judged_by_members(enum op_id id)
{
	for (size_t i = 0; i < sizeof(judged_by_members) / sizeof(judged_by_members[0]); i++) {
		if (judged_by_members[i] == id)
			return true;
	}
	return false;
}

static bool is_of_service(struct str text)
{
	return text.n > SERVICE.n && str_eq_nocase((struct str){text.p, SERVICE.n}, SERVICE);
}

bool iam_knows_action(struct arena *arena, struct str action)
{
	if (!is_of_service(action))
		return true;
	struct str name = {action.p + SERVICE.n, action.n - SERVICE.n};
	struct str pattern = iam_pattern_read(arena, name, IAM_WILD).text;

	for (enum op_id id = 0; id < OP_COUNT; id++) {
		if (!is_judged_by_members(id) && ops_service(id) != SERVICE_SCALING &&
		    iam_pattern_fits(arena, pattern, ops_name(id), true))
			return true;
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		if (iam_pattern_fits(arena, pattern, str_of(more[i]), true))
			return true;
	}
	return false;
}

bool iam_knows_key(struct str key)
{
	struct str name = {key.p + SERVICE.n, key.n - SERVICE.n};

	if (!is_of_service(key))
		return true;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (str_eq_nocase(name, str_of(keys[i])))
			return true;
	}
	return false;
}
