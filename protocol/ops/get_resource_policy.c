#include "protocol/tables/control_messages.h"
#include "protocol/tables/policy_rules.h"
#include "protocol/timing/timing.h"

/* A document without a version is one of 2008, and is shown so. AWS: IAM User Guide, "Version";
 * recorded. */
static struct str with_version(struct arena *arena, struct str text)
{
	if (str_starts_with(text, STR("{\"Version\"")))
		return text;
	return str_printf(arena, "{\"Version\":\"2008-10-17\",%.*s", (int)text.n - 1, text.p + 1);
}

enum code op_get_resource_policy(struct call *call, const struct get_resource_policy_input *input,
				 struct err *err)
{
	struct json_out *out = &call->out;
	struct table *table;
	bool is_stream;
	enum code code = policy_rules_table(call, input->resource_arn, &table, &is_stream, err);

	if (code != OK)
		return code;
	const struct policy policy = policy_rules_of(timing_seen(call, table), is_stream);
	if (!str_is_set(policy.text))
		return err_set(err, MSG_POLICY_ABSENT, STR_ARG(input->resource_arn));
	json_out_open(out, '{');
	json_out_field_string(out, "Policy", with_version(call->arena, policy.text));
	json_out_field_string(out, "RevisionId",
			      str_printf(call->arena, "%lld", (long long)policy.revision));
	json_out_close(out, '}');
	return OK;
}
