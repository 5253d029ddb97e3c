#include "protocol/tables/control_messages.h"
#include "protocol/tables/destinations.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* AWS: one destination at a time; those that were disabled stay listed. */
enum code op_enable_kinesis_streaming_destination(
	struct call *call, const struct kinesis_streaming_destination_input *input, struct err *err)
{
	const struct enable_kinesis_streaming_configuration *configuration =
		input->enable_kinesis_streaming_configuration;
	struct destination wanted = {.stream_arn = input->stream_arn, .is_enabled = true};
	struct table *table;
	enum code code = timing_table(call, input->table_name, TIMING_BY_KINESIS, &table, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < table->settings->destination_count; i++) {
		if (table->settings->destinations[i].is_enabled ||
		    table->settings->destinations[i].settles_ms > call->now_ms)
			return err_set(err, MSG_KINESIS_ENABLED);
	}
	code = table_rules_changeable(table, err);
	if (code != OK)
		return code;
	if (configuration && configuration->approximate_creation_date_time_precision)
		wanted.precision =
			configuration->approximate_creation_date_time_precision ==
					APPROXIMATE_CREATION_DATE_TIME_PRECISION_MICROSECOND
				? PRECISION_MICROSECOND
				: PRECISION_MILLISECOND;
	code = destination_replace(call, table, wanted, STR("ENABLING"), err);
	destination_write_configuration(&call->out, STR("EnableKinesisStreamingConfiguration"),
					wanted.precision);
	json_out_close(&call->out, '}');
	return code;
}
