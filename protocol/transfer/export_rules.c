#include "protocol/transfer/export_rules.h"

#include <time.h>

#include "protocol/tables/settings.h"
#include "protocol/transfer/messages.h"

#define MINUTE_MS ((int64_t)60000)
#define WINDOW_MIN_MS (15 * MINUTE_MS)
#define WINDOW_MAX_MS (24 * 60 * MINUTE_MS)
#define DAY_MS ((int64_t)86400 * 1000)
#define LAG_MS                                                                                     \
	(5 * MINUTE_MS) /* LatestRestorableDateTime is that long ago, but not before recovery was  \
			   switched on */

static enum code check_export_type(const struct export_table_to_point_in_time_input *input,
				   struct err *err)
{
	const struct incremental_export_specification *window =
		input->incremental_export_specification;
	bool is_incremental = input->export_type == EXPORT_TYPE_INCREMENTAL_EXPORT;

	if (window && !input->export_type)
		return err_set(err, MSG_EXPORT_SPECIFICATION_TYPE);
	if (window && !is_incremental)
		return err_set(err, MSG_EXPORT_SPECIFICATION_FULL);
	if (!window && is_incremental)
		return err_set(err, MSG_EXPORT_SPECIFICATION_ABSENT);
	return window && !window->export_from_time.is_set ? err_set(err, MSG_EXPORT_NO_FROM) : OK;
}

/* As in a Query or a Scan. */
enum code export_rules_filter(struct arena *arena, const struct filter_specification *filter,
			      struct expressions *expressions, struct err *err)
{
	struct call call = {.arena = arena};
	const struct expression_request request = {
		.projection = filter->projection_expression,
		.filter = filter->filter_expression,
		.key_condition = filter->key_condition_expression,
		.valued = "FilterExpression is",
		.names = &filter->expression_attribute_names,
		.values = filter->expression_attribute_values,
	};
	enum code code = expressions_check(&call, &request, err);

	if (code != OK)
		return code;
	return expressions_parse(&call, &request, expressions, err);
}

static enum code check_filter(struct call *call, const struct filter_specification *filter,
			      struct err *err)
{
	struct err reason = err_in(call->arena);
	struct expressions expressions = {0};

	if (!str_is_set(filter->filter_expression) && !str_is_set(filter->projection_expression) &&
	    !str_is_set(filter->key_condition_expression))
		return err_set(err, MSG_EXPORT_FILTER_EMPTY);
	enum code code = export_rules_filter(call->arena, filter, &expressions, &reason);
	return code == OK ? OK : err_set(err, MSG_EXPORT_FILTER, STR_ARG(reason.message));
}

/* AWS: Developer Guide, "Partitions and data distribution": 3,000 reads or 1,000 writes a second
 * each. An export of an empty table on demand has 4 files. */
int64_t export_rules_partitions(const struct table *table)
{
	const struct throughput *throughput = &table->settings->throughput;
	int64_t n = (throughput->read * 10 + throughput->write * 30 + 29999) / 30000;

	if (table->settings->billing != BILLING_PROVISIONED)
		return 4;
	return n < 1 ? 1 : n > 1024 ? 1024 : n;
}

enum code export_rules_check(struct call *call,
			     const struct export_table_to_point_in_time_input *input,
			     struct err *err)
{
	enum code code = check_export_type(input, err);

	if (code != OK)
		return code;
	if (str_is_set(input->s3_sse_kms_key_id) && input->s3_sse_algorithm != S3_SSE_ALGORITHM_KMS)
		return err_set(err, MSG_EXPORT_KMS_KEY);
	if (input->filter_specification)
		code = check_filter(call, input->filter_specification, err);
	return code;
}

static struct str date_of(struct arena *arena, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	struct tm tm;
	char text[32];

	if (!gmtime_r(&seconds, &tm))
		return STR("");
	size_t n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return str_copy(arena, (struct str){text, n});
}

/* AWS: the texts show the time that was given, whatever they say it is (DDB-EXPORT-004). */
static enum code check_window(struct call *call,
			      const struct incremental_export_specification *window,
			      const struct table *table, struct transfer_body *body,
			      struct err *err)
{
	int64_t since = table->settings->recovery_since_ms, from = window->export_from_time.value;
	int64_t to = window->export_to_time.is_set ? window->export_to_time.value : call->now_ms;

	if (from < table->identity.created_ms / 1000 * 1000 ||
	    (window->export_to_time.is_set && from > to))
		return err_set(err, MSG_EXPORT_FROM_EARLY, STR_ARG(date_of(call->arena, from)));
	if (to > call->now_ms)
		return err_set(err, MSG_EXPORT_TO_LATE, STR_ARG(date_of(call->arena, to)));
	if (to - from < WINDOW_MIN_MS)
		return err_set(err, MSG_EXPORT_WINDOW_SHORT);
	if (to - from > WINDOW_MAX_MS)
		return err_set(err, MSG_EXPORT_WINDOW_LONG);
	if (!table->settings->recovery_days || !(table->log.reasons & LOG_RECOVERY))
		return err_set(err, MSG_EXPORT_NO_RECOVERY, STR_ARG(table->identity.name));
	if (from < since / 1000 * 1000 ||
	    from < call->now_ms - table->settings->recovery_days * DAY_MS)
		return err_set(err, MSG_EXPORT_FROM_EARLY, STR_ARG(date_of(call->arena, from)));
	body->from_ms = from;
	body->to_ms = to;
	body->is_incremental = true;
	return OK;
}

enum code export_rules_times(struct call *call,
			     const struct export_table_to_point_in_time_input *input,
			     const struct table *table, struct transfer_body *body, struct err *err)
{
	int64_t since = table->settings->recovery_since_ms, at = input->export_time.value;

	if (input->incremental_export_specification)
		return check_window(call, input->incremental_export_specification, table, body,
				    err);
	if (!table->settings->recovery_days)
		return err_set(err, MSG_EXPORT_NO_RECOVERY, STR_ARG(table->identity.name));
	body->to_ms = call->now_ms;
	if (!input->export_time.is_set)
		return OK;
	if (at > call->now_ms || at < since / 1000 * 1000 ||
	    at < call->now_ms - table->settings->recovery_days * DAY_MS)
		return err_set(err, MSG_EXPORT_TIME);
	int64_t latest = call->now_ms - LAG_MS > since ? call->now_ms - LAG_MS : since;
	if (at > latest || !(table->log.reasons & LOG_RECOVERY) || at < table->log.since_ms)
		return err_set(err, MSG_EXPORT_TIME_LATE);
	body->to_ms = at;
	return OK;
}
