#include "protocol/tables/throughput_view.h"

#include "protocol/tables/throughput_rules.h"

void throughput_view_on_demand(struct json_out *out, const struct throughput_pair *pair)
{
	if (!pair->is_set)
		return;
	json_out_name(out, STR("OnDemandThroughput"));
	json_out_open(out, '{');
	if (pair->read)
		json_out_field_integer(out, "MaxReadRequestUnits", pair->read);
	if (pair->write)
		json_out_field_integer(out, "MaxWriteRequestUnits", pair->write);
	json_out_close(out, '}');
}

void throughput_view_warm(struct json_out *out, const struct table *table,
			  const struct index *index, bool is_updating)
{
	struct throughput_pair pair = index ? index->settings->warm : table->settings->warm;

	if (!pair.is_set)
		pair = throughput_rules_warm_now(table, index);
	json_out_name(out, STR("WarmThroughput"));
	json_out_open(out, '{');
	json_out_field_integer(out, "ReadUnitsPerSecond", pair.read);
	json_out_field_integer(out, "WriteUnitsPerSecond", pair.write);
	json_out_field_string(out, "Status", is_updating ? STR("UPDATING") : STR("ACTIVE"));
	json_out_close(out, '}');
}
