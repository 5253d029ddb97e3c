#include "protocol/tables/policy_rules.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* AWS: the same policy again, however it is written, changes nothing and has the same revision. */
enum code op_put_resource_policy(struct call *call, const struct put_resource_policy_input *input,
				 struct err *err)
{
	struct json_out *out = &call->out;
	struct table *table;
	struct str text;
	bool is_stream = false;
	enum code code = policy_rules_table(call, input->resource_arn, &table, &is_stream, err);

	struct policy_terms terms = {
		.is_stream = is_stream,
		.may_lock_out = opt_is_true(input->confirm_remove_self_resource_access)};
	if (code != OK)
		return code;
	code = policy_rules_document(call->arena, input->policy, &terms, &text, err);
	if (code != OK)
		return code;
	code = policy_rules_revision(table, is_stream, input->expected_revision_id, err);
	if (code != OK)
		return code;
	const struct policy current = policy_rules_of(table, is_stream);
	int64_t revision = current.revision;
	if (!str_is_set(current.text) || !str_eq(current.text, text))
		code = policy_rules_change(call, table, is_stream, text, &revision, err);
	else if (!timing_policy_repeats(call, table))
		code = table_rules_changeable(table, err);
	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_field_string(out, "RevisionId",
			      str_printf(call->arena, "%lld", (long long)revision));
	json_out_close(out, '}');
	return OK;
}
