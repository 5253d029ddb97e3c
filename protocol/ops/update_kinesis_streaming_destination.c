#include "protocol/tables/control_messages.h"
#include "protocol/tables/destinations.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

static enum code check_destination_update(const struct table *table,
					  const struct destination *current, struct str stream_arn,
					  enum time_precision wanted, int64_t now_ms,
					  struct err *err)
{
	if (!current)
		return err_set(err, MSG_KINESIS_ABSENT, STR_ARG(stream_arn),
			       STR_ARG(table->identity.name));
	if (!current->is_enabled || current->settles_ms > now_ms)
		return err_set(err, MSG_KINESIS_INACTIVE, STR_ARG(table->identity.name),
			       STR_ARG(stream_arn));
	/* one that was never given is in milliseconds */
	if ((current->precision == PRECISION_ABSENT ? PRECISION_MILLISECOND : current->precision) ==
	    wanted)
		return err_set(err, MSG_KINESIS_SAME, destination_precision(wanted).p,
			       STR_ARG(table->identity.id), STR_ARG(stream_arn));
	return table_rules_changeable(table, err);
}

enum code op_update_kinesis_streaming_destination(
	struct call *call, const struct update_kinesis_streaming_destination_input *input,
	struct err *err)
{
	const struct update_kinesis_streaming_configuration *configuration =
		input->update_kinesis_streaming_configuration;
	struct destination changed = {.stream_arn = input->stream_arn,
				      .is_enabled = true,
				      .is_updated = true,
				      .precision = PRECISION_MILLISECOND};
	struct table *table;
	enum code code;

	if (!configuration || !configuration->approximate_creation_date_time_precision)
		return err_set(err, MSG_KINESIS_NOTHING);
	if (configuration->approximate_creation_date_time_precision ==
	    APPROXIMATE_CREATION_DATE_TIME_PRECISION_MICROSECOND)
		changed.precision = PRECISION_MICROSECOND;
	code = timing_table(call, input->table_name, TIMING_BY_KINESIS, &table, err);
	if (code != OK)
		return code;
	code = check_destination_update(table, destination_find(table, input->stream_arn),
					input->stream_arn, changed.precision, call->now_ms, err);
	if (code != OK)
		return code;
	code = destination_replace(call, table, changed, STR("UPDATING"), err);
	destination_write_configuration(&call->out, STR("UpdateKinesisStreamingConfiguration"),
					changed.precision);
	json_out_close(&call->out, '}');
	return code;
}
