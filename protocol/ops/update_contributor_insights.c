#include "protocol/tables/control_messages.h"
#include "protocol/tables/insights.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* AWS: the error of any request while the table or index does not exist yet. */
static enum code check_state(const struct call *call, const struct table *table, ptrdiff_t index,
			     struct err *err)
{
	if (timing_accepts_still(call, table))
		return OK;
	if (table->state.status == STATUS_CREATING ||
	    (timing_is_on(call) && table->state.status == STATUS_DELETING))
		return err_set(err, MSG_INSIGHTS_STATE, "Table");
	if (index >= 0 && table->indexes.v[index].status == STATUS_CREATING)
		return err_set(err, MSG_INSIGHTS_STATE, "Index");
	return table_rules_changeable(table, err);
}

/* AWS: a request for the current state changes nothing; a change of mode enables again; without a
 * mode the wider one counts. */
enum code op_update_contributor_insights(struct call *call,
					 const struct update_contributor_insights_input *input,
					 struct err *err)
{
	bool is_enabled = input->contributor_insights_action == CONTRIBUTOR_INSIGHTS_ACTION_ENABLE;
	bool is_throttled_only =
		input->contributor_insights_mode == CONTRIBUTOR_INSIGHTS_MODE_THROTTLED_KEYS;
	const struct insights *insights;
	struct table *table, *next;
	ptrdiff_t index;
	enum code code = timing_table(call, input->table_name, TIMING_BY_INSIGHTS, &table, err);

	if (code != OK)
		return code;
	code = insights_find(call, table, input->index_name, &insights, &index, err);
	if (code != OK)
		return code;
	code = check_state(call, table, index, err);
	if (code != OK)
		return code;
	bool is_same = insights->is_enabled == is_enabled &&
		       (!is_enabled || insights->is_throttled_only == is_throttled_only);
	struct insights changed = *insights;
	if (!is_same) {
		changed.since_ms =
			is_enabled && !insights->is_enabled ? call->now_ms : insights->since_ms;
		changed.is_enabled = is_enabled;
		changed.is_throttled_only =
			is_enabled ? is_throttled_only : insights->is_throttled_only;
		changed.changed_ms = call->now_ms;
		changed.settles_ms =
			call->now_ms +
			1; /* shown as changing in this answer, whatever the clock does */
	}
	json_out_open(&call->out, '{');
	insights_write(call, table, input->index_name, &changed);
	json_out_close(&call->out, '}');
	if (is_same || table->state.status == STATUS_DELETING)
		return OK;
	changed.settles_ms =
		call->now_ms +
		timing_lasts(call, is_enabled ? TIMING_INSIGHTS_ENABLE : TIMING_INSIGHTS_DISABLE);
	next = table_clone(table);
	*(index < 0 ? &next->settings->insights : &next->indexes.v[index].settings->insights) =
		changed;
	next->settings->counts_keys = insights_are_counted(next);
	return catalog_replace(call->service->catalog, table, next, err);
}
