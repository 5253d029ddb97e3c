#include "protocol/tables/destinations.h"
#include "protocol/timing/timing.h"

struct str destination_status(const struct destination *destination, int64_t now_ms)
{
	bool is_changing = destination->settles_ms > now_ms;

	if (!destination->is_enabled)
		return is_changing ? STR("DISABLING") : STR("DISABLED");
	return !is_changing ? STR("ACTIVE") : destination->is_updated ? STR("UPDATING") : STR("ENABLING");
}

struct str destination_precision(enum time_precision precision)
{
	return precision == PRECISION_MICROSECOND ? STR("MICROSECOND") : STR("MILLISECOND");
}

const struct destination *destination_find(const struct table *table, struct str stream_arn)
{
	for (size_t i = 0; i < table->settings->destination_count; i++) {
		if (str_eq(table->settings->destinations[i].stream_arn, stream_arn))
			return &table->settings->destinations[i];
	}
	return NULL;
}

enum code destination_replace(struct call *call, struct table *table, struct destination changed, struct str shown, struct err *err)
{
	const struct destination *current = destination_find(table, changed.stream_arn);
	struct table *next = table_clone(table);
	struct json_out *out = &call->out;

	changed.stream_arn = str_copy(next->arena, changed.stream_arn);
	changed.settles_ms = call->now_ms + timing_lasts(call, !changed.is_enabled  ? TIMING_KINESIS_DISABLE
							       : changed.is_updated ? TIMING_KINESIS_UPDATE
										    : TIMING_KINESIS_ENABLE);
	if (current) {
		next->settings->destinations[current - table->settings->destinations] = changed;
	} else {
		next->settings->destinations = ARENA_ARRAY(next->arena, struct destination, table->settings->destination_count + 1);
		next->settings->destinations[0] = changed;
		for (size_t i = 0; i < table->settings->destination_count; i++) {
			next->settings->destinations[i + 1] = table->settings->destinations[i];
			next->settings->destinations[i + 1].stream_arn = str_copy(next->arena, table->settings->destinations[i].stream_arn);
		}
		next->settings->destination_count++;
	}
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table->identity.name);
	json_out_field_string(out, "StreamArn", changed.stream_arn);
	json_out_field_string(out, "DestinationStatus", shown);
	return catalog_replace(call->service->catalog, table, next, err);
}

void destination_write_configuration(struct json_out *out, struct str name, enum time_precision precision)
{
	json_out_name(out, name);
	json_out_open(out, '{');
	if (precision != PRECISION_ABSENT)
		json_out_field_string(out, "ApproximateCreationDateTimePrecision", destination_precision(precision));
	json_out_close(out, '}');
}
