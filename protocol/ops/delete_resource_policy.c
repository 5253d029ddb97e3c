#include "protocol/tables/policy_rules.h"

/* AWS: idempotent; answers with the revision that was deleted, later with that of the deletion, and
 * with none where there never was one. */
enum code op_delete_resource_policy(struct call *call,
				    const struct delete_resource_policy_input *input,
				    struct err *err)
{
	struct json_out *out = &call->out;
	struct table *table;
	int64_t unused;
	bool is_stream;
	enum code code = policy_rules_table(call, input->resource_arn, &table, &is_stream, err);

	if (code != OK)
		return code;
	code = policy_rules_revision(table, is_stream, input->expected_revision_id, err);
	if (code != OK)
		return code;
	const struct policy policy = policy_rules_of(table, is_stream);
	json_out_open(out, '{');
	if (policy.revision)
		json_out_field_string(out, "RevisionId",
				      str_printf(call->arena, "%lld", (long long)policy.revision));
	json_out_close(out, '}');
	return str_is_set(policy.text)
		       ? policy_rules_change(call, table, is_stream, STR_ABSENT, &unused, err)
		       : OK;
}
