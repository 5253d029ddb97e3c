#include "protocol/tables/control_messages.h"
#include "protocol/wire/messages.h"
#include "protocol/tables/recovery.h"
#include "protocol/timing/timing.h"

/* AWS: at once and idempotent; the period falls back to its default whenever recovery is switched
 * on without one. */
enum code op_update_continuous_backups(struct call *call,
				       const struct update_continuous_backups_input *input,
				       struct err *err)
{
	const struct point_in_time_recovery_specification *wanted =
		input->point_in_time_recovery_specification;
	bool is_enabled = wanted->point_in_time_recovery_enabled.value;
	struct table *table, *next;

	if (!is_enabled && wanted->recovery_period_in_days.is_set)
		return err_set(err, MSG_RECOVERY_DAYS_REFUSED);
	enum code code = timing_table(call, input->table_name, TIMING_BY_BACKUPS, &table, err);
	if (code != OK)
		return code;
	if (!timing_backups_are_ready(call, table))
		return err_set(err, MSG_BACKUPS_ENABLING, STR_ARG(table->identity.name));
	if (table->state.status == STATUS_DELETING && !timing_accepts_still(call, table))
		return err_set(err, MSG_TABLE_NOT_FOUND_BACKUP, STR_ARG(table->identity.name));
	next = table_clone(table);
	if (is_enabled && !recovery_is_on(table))
		next->settings->recovery_since_ms = call->now_ms;
	if (!is_enabled)
		next->settings->recovery_days = 0;
	else if (wanted->recovery_period_in_days.is_set)
		next->settings->recovery_days = wanted->recovery_period_in_days.value;
	else if (!table->settings->recovery_days)
		next->settings->recovery_days = RECOVERY_DAYS_DEFAULT;
	recovery_log(next, call->now_ms);
	recovery_describe(call, next);
	if (table->state.status == STATUS_DELETING) {
		table_unref(next);
		return OK;
	}
	return catalog_replace(call->service->catalog, table, next, err);
}
