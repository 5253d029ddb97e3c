#include "protocol/tables/destinations.h"
#include "protocol/timing/timing.h"
#include "storage/stream/change_log.h"

struct str destination_status(const struct destination *destination, int64_t now_ms)
{
	bool is_changing = destination->settles_ms > now_ms;

	if (destination->is_failed)
		return STR("ENABLE_FAILED");
	if (!destination->is_enabled)
		return is_changing ? STR("DISABLING") : STR("DISABLED");
	return !is_changing              ? STR("ACTIVE")
	       : destination->is_updated ? STR("UPDATING")
					 : STR("ENABLING");
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

/* The number that the table's next change gets. */
static enum code next_change(struct call *call, const struct table *table, int64_t *number,
			     struct err *err)
{
	struct store_txn *txn;
	uint64_t next = 0;

	if (!table_has_log(table)) {
		*number = 0;
		return OK;
	}
	enum code code = store_begin(catalog_store(call->service->catalog), STORE_READ, &txn, err);
	if (code != OK)
		return code;
	code = stream_next(txn, table, &next, err);
	store_abort(txn);
	return RESULT(code, number, (int64_t)next);
}

/* Which changes are sent to a destination that is enabled or disabled now. */
static enum code set_window(struct call *call, const struct table *table,
			    const struct destination *current, struct destination *changed,
			    struct err *err)
{
	bool sends = call->service->sends && call->service->sends();

	changed->first = current ? current->first : 0;
	if (changed->is_updated)
		return OK;
	if (changed->is_enabled)
		return next_change(call, table, &changed->first, err);
	return sends ? next_change(call, table, &changed->until, err) : OK;
}

static void set_log(struct table *next, int64_t now_ms)
{
	unsigned others = next->log.reasons & ~(unsigned)LOG_SENDING;
	bool is_needed = false;

	for (size_t i = 0; i < next->settings->destination_count; i++)
		is_needed = is_needed || next->settings->destinations[i].is_enabled ||
			    next->settings->destinations[i].until > 0;
	change_log_set(next, others | (is_needed ? LOG_SENDING : 0), now_ms);
}

enum code destination_finish(struct catalog *catalog, struct table *table, struct str stream_arn,
			     int64_t now_ms, struct err *err)
{
	const struct destination *current = destination_find(table, stream_arn);

	if (!current || current->is_enabled || current->until == 0)
		return OK;
	struct table *next = table_clone(table);
	next->settings->destinations[current - table->settings->destinations].until = 0;
	set_log(next, now_ms);
	enum code code = catalog_replace(catalog, table, next, err);
	return code == ERR_TABLE_MOVED ? OK : code;
}

enum code destination_fail(struct catalog *catalog, struct table *table, struct str stream_arn,
			   int64_t now_ms, struct err *err)
{
	const struct destination *current = destination_find(table, stream_arn);

	if (!current || !current->is_enabled)
		return OK;
	struct table *next = table_clone(table);
	struct destination *failed =
		&next->settings->destinations[current - table->settings->destinations];
	failed->is_enabled = false;
	failed->is_failed = true;
	failed->settles_ms = 0;
	set_log(next, now_ms);
	enum code code = catalog_replace(catalog, table, next, err);
	return code == ERR_TABLE_MOVED ? OK : code;
}

enum code destination_replace(struct call *call, struct table *table, struct destination changed,
			      struct str shown, struct err *err)
{
	const struct destination *current = destination_find(table, changed.stream_arn);
	struct json_out *out = &call->out;
	enum code code = set_window(call, table, current, &changed, err);

	if (code != OK)
		return code;
	struct table *next = table_clone(table);
	changed.stream_arn = str_copy(next->arena, changed.stream_arn);
	changed.settles_ms =
		call->now_ms + timing_lasts(call, !changed.is_enabled  ? TIMING_KINESIS_DISABLE
						  : changed.is_updated ? TIMING_KINESIS_UPDATE
								       : TIMING_KINESIS_ENABLE);
	if (current) {
		next->settings->destinations[current - table->settings->destinations] = changed;
	} else {
		next->settings->destinations = ARENA_ARRAY(next->arena, struct destination,
							   table->settings->destination_count + 1);
		next->settings->destinations[0] = changed;
		for (size_t i = 0; i < table->settings->destination_count; i++) {
			next->settings->destinations[i + 1] = table->settings->destinations[i];
			next->settings->destinations[i + 1].stream_arn =
				str_copy(next->arena, table->settings->destinations[i].stream_arn);
		}
		next->settings->destination_count++;
	}
	set_log(next, call->now_ms);
	json_out_open(out, '{');
	json_out_field_string(out, "TableName", table->identity.name);
	json_out_field_string(out, "StreamArn", changed.stream_arn);
	json_out_field_string(out, "DestinationStatus", shown);
	return catalog_replace(call->service->catalog, table, next, err);
}

void destination_write_configuration(struct json_out *out, struct str name,
				     enum time_precision precision)
{
	json_out_name(out, name);
	json_out_open(out, '{');
	if (precision != PRECISION_ABSENT)
		json_out_field_string(out, "ApproximateCreationDateTimePrecision",
				      destination_precision(precision));
	json_out_close(out, '}');
}
