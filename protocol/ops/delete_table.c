#include "protocol/tables/backup_rules.h"
#include "protocol/tables/describe.h"
#include "protocol/tables/replica_changes.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/tables/replicas.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* The others go on without it. AWS: DDB-TABLE-297. */
static enum code delete_replica(struct call *call, struct table *table,
				struct table *const *replicas, size_t n, struct err *err)
{
	struct replica_changes changes = replica_changes_begin(call, table, replicas, n, 0);

	replica_changes_leave(&changes);
	enum code code = backup_rules_delete_replicas(call, changes.v, changes.n, err);
	if (code != OK) {
		replica_changes_drop(&changes);
		return code;
	}
	return catalog_change_all(call->service->catalog, changes.v, changes.n, err);
}

enum code op_delete_table(struct call *call, const struct delete_table_input *input,
			  struct err *err)
{
	struct table *table, **replicas;
	size_t n;
	enum code code = call_table(call, input->table_name, ABSENT_AT_ALL, &table, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < table_index_total(table) && table->state.status != STATUS_DELETING &&
	     table->state.status != STATUS_CREATING; i++) {
		if (table_index_at(table, i)->status != STATUS_ACTIVE)
			return err_set(err, MSG_TABLE_INDEXES_IN_USE);
	}
	if (table->state.status == STATUS_CREATING || table->state.status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_IN_USE, table_rules_doing(table->state.status),
			       STR_ARG(table->identity.name));
	code = timing_deletable(call, table, err);
	if (code != OK)
		return code;
	if (table->state.status == STATUS_UPDATING)
		return err_set(err, MSG_TABLE_IN_USE_UPDATED, STR_ARG(table->identity.name));
	code = replicas_of(call, table, &replicas, &n, err);
	if (code != OK)
		return code;
	if (n > 0 && table->group.is_strong)
		return err_set(err, MSG_REPLICA_STRONG_ONE);
	if (n > 0)
		code = replica_rules_deletable(call, table, replicas, n, err);
	if (code != OK)
		return code;
	if (table->settings->is_deletion_protected)
		return err_set(err, MSG_TABLE_PROTECTED);
	code = backup_rules_release(call, table, err);
	if (code != OK)
		return code;
	code = describe_table(call, STR("TableDescription"), table, STATUS_DELETING, err);
	if (code != OK)
		return code;
	if (n > 0)
		return delete_replica(call, table, replicas, n, err);
	return backup_rules_delete_table(call, table, err);
}
