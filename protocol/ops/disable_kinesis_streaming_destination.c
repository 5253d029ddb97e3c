#include "protocol/tables/control_messages.h"
#include "protocol/tables/destinations.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* AWS: a stream that was never enabled gets the error of one that is not active. */
enum code op_disable_kinesis_streaming_destination(
	struct call *call, const struct kinesis_streaming_destination_input *input, struct err *err)
{
	const struct destination *current;
	struct table *table;
	enum code code = timing_table(call, input->table_name, TIMING_BY_KINESIS, &table, err);

	if (code != OK)
		return code;
	if (input->enable_kinesis_streaming_configuration)
		return err_set(err, MSG_KINESIS_DISABLE_WITH);
	current = destination_find(table, input->stream_arn);
	if (!current || !current->is_enabled || current->settles_ms > call->now_ms)
		return err_set(err, MSG_KINESIS_DISABLED);
	code = table_rules_changeable(table, err);
	if (code != OK)
		return code;
	code = destination_replace(call, table,
				   (struct destination){.stream_arn = current->stream_arn},
				   STR("DISABLING"), err);
	json_out_close(&call->out, '}');
	return code;
}
