#include "protocol/tables/insights.h"

#include "protocol/tables/control_messages.h"
#include "protocol/timing/timing.h"

enum code insights_find(const struct call *call, const struct table *table, struct str index_name,
			const struct insights **out, ptrdiff_t *index, struct err *err)
{
	const struct index *found = str_is_set(index_name) ? table_index(table, index_name) : NULL;

	if (str_is_set(index_name) &&
	    (!found || found->is_local || !timing_knows_index(call, table, index_name)))
		return err_set(err, MSG_INSIGHTS_INDEX, STR_ARG(index_name),
			       STR_ARG(table->identity.name));
	*index = found ? found - table->indexes.v : -1;
	*out = found ? &found->settings->insights : &table->settings->insights;
	return OK;
}

/* AWS: the mode is shown once there was one. */
void insights_write(struct call *call, const struct table *table, struct str index_name,
		    const struct insights *insights)
{
	static const char *const statuses[2][2] = {{"DISABLED", "DISABLING"},
						   {"ENABLED", "ENABLING"}};
	bool is_changing = insights->settles_ms > call->now_ms;
	struct json_out *out = &call->out;

	json_out_field_string(out, "TableName", table->identity.name);
	if (str_is_set(index_name))
		json_out_field_string(out, "IndexName", index_name);
	json_out_field_string(out, "ContributorInsightsStatus",
			      str_of(statuses[insights->is_enabled][is_changing]));
	if (insights->changed_ms)
		json_out_field_string(out, "ContributorInsightsMode",
				      insights->is_throttled_only
					      ? STR("THROTTLED_KEYS")
					      : STR("ACCESSED_AND_THROTTLED_KEYS"));
}

bool insights_is_listed(const struct insights *insights, int64_t now_ms)
{
	return insights->is_enabled || insights->settles_ms > now_ms;
}

bool insights_are_counted(const struct table *table)
{
	bool are_counted = table->settings->insights.is_enabled;

	for (size_t i = 0; i < table->indexes.n; i++)
		are_counted = are_counted || table->indexes.v[i].settings->insights.is_enabled;
	return are_counted;
}
