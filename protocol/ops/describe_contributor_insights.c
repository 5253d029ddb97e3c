#include "protocol/tables/insights.h"
#include "protocol/timing/timing.h"

/* AWS: Developer Guide, "CloudWatch Contributor Insights for DynamoDB: How it works": P and S for
 * the keys, C for access, T for throttling. */
static void write_rules(struct call *call, const struct table *table, struct str index_name,
			const struct insights *insights, bool has_range)
{
	static const struct {
		const char *name;
		bool is_range, is_access;
	} rules[] = {{"PKC", false, true},
		     {"SKC", true, true},
		     {"PKT", false, false},
		     {"SKT", true, false}};
	struct json_out *out = &call->out;
	bool has_index = str_is_set(index_name);

	json_out_name(out, STR("ContributorInsightsRuleList"));
	json_out_open(out, '[');
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
		if ((rules[i].is_range && !has_range) ||
		    (rules[i].is_access && insights->is_throttled_only))
			continue;
		json_out_string(out, str_printf(call->arena,
						"DynamoDBContributorInsights-%s-" STR_FMT
						"%s" STR_FMT "-%lld",
						rules[i].name, STR_ARG(table->identity.name),
						has_index ? "-" : "",
						STR_ARG(has_index ? index_name : STR("")),
						(long long)insights->since_ms));
	}
	json_out_close(out, ']');
}

enum code op_describe_contributor_insights(struct call *call,
					   const struct describe_contributor_insights_input *input,
					   struct err *err)
{
	const struct insights *insights;
	struct json_out *out = &call->out;
	struct table *table;
	ptrdiff_t index;
	enum code code = timing_table(call, input->table_name, TIMING_BY_INSIGHTS, &table, err);

	if (code != OK)
		return code;
	code = insights_find(call, table, input->index_name, &insights, &index, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	insights_write(call, table, input->index_name, insights);
	if (insights->is_enabled && insights->settles_ms <= call->now_ms)
		write_rules(
			call, table, input->index_name, insights,
			(index < 0 ? &table->keys : &table->indexes.v[index].keys)->range_count >
				0);
	if (insights->changed_ms) {
		json_out_name(out, STR("LastUpdateDateTime"));
		json_out_time_ms(out, insights->changed_ms);
	}
	json_out_close(out, '}');
	return OK;
}
