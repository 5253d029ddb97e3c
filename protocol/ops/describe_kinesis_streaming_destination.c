#include "protocol/tables/destinations.h"
#include "protocol/timing/timing.h"

enum code op_describe_kinesis_streaming_destination(
	struct call *call, const struct describe_kinesis_streaming_destination_input *input,
	struct err *err)
{
	struct json_out *out = &call->out;
	struct table *table;
	enum code code = timing_table(call, input->table_name, TIMING_BY_KINESIS, &table, err);

	if (code != OK)
		return code;
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table->identity.name);
	json_out_name(out, STR("KinesisDataStreamDestinations"));
	json_out_open(out, '[');
	for (size_t i = 0; i < table->settings->destination_count; i++) {
		const struct destination *destination = &table->settings->destinations[i];

		json_out_open(out, '{');
		json_out_field_string(out, "StreamArn", destination->stream_arn);
		json_out_field_string(out, "DestinationStatus",
				      destination_status(destination, call->now_ms));
		if (destination->precision != PRECISION_ABSENT)
			json_out_field_string(out, "ApproximateCreationDateTimePrecision",
					      destination_precision(destination->precision));
		json_out_close(out, '}');
	}
	json_out_close(out, ']');
	json_out_close(out, '}');
	return OK;
}
