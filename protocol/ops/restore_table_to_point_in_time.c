#include <time.h>

#include "protocol/tables/arn.h"
#include "protocol/tables/control_messages.h"
#include "protocol/tables/recovery.h"
#include "protocol/tables/restore_rules.h"
#include "protocol/tables/table_messages.h"
#include "protocol/wire/messages.h"

/* AWS: DDB-TABLE-100, 272: the request alone, then recovery, then the time, then the target. */
static enum code check_restore_request(const struct restore_table_to_point_in_time_input *input,
				       struct err *err)
{
	bool is_latest =
		input->use_latest_restorable_time.is_set && input->use_latest_restorable_time.value;

	if (str_is_set(input->source_table_arn) && str_is_set(input->source_table_name))
		return err_set(err, MSG_RESTORE_BOTH_SOURCES);
	if (!str_is_set(input->source_table_arn) && !str_is_set(input->source_table_name))
		return err_set(err, MSG_RESTORE_NO_SOURCE);
	if (is_latest && input->restore_date_time.is_set)
		return err_set(err, MSG_RESTORE_BOTH_TIMES);
	return is_latest || input->restore_date_time.is_set ? OK
							    : err_set(err, MSG_RESTORE_NO_TIME);
}

/* The namespace and the name of the source. */
static enum code read_restore_source(struct call *call,
				     const struct restore_table_to_point_in_time_input *input,
				     struct ns *ns, struct str *name, struct err *err)
{
	struct str named;

	if (str_is_set(input->source_table_name)) {
		*ns = call->ns;
		*name = input->source_table_name;
		return OK;
	}
	if (!str_starts_with(input->source_table_arn, STR("arn:")))
		return err_set(err, MSG_RESTORE_SOURCE_ARN);
	struct arn parts = arn_split(input->source_table_arn);
	if (!str_eq(parts.partition, STR("aws")) || !str_eq(parts.service, STR("dynamodb")) ||
	    parts.region.n == 0 || !str_starts_with(parts.resource, STR("table/")) ||
	    arn_table_part(parts.resource, &named).n > 0 || !call_is_name(named))
		return err_set(err, MSG_RESTORE_SOURCE_ARN);
	if (!call_owns(call, parts.account, call->ns.region))
		return err_set(err, MSG_POLICY_ACCOUNT);
	if (!call_owns(call, call->ns.account, parts.region) && !input->sse_specification_override)
		return err_set(err, MSG_RESTORE_REGION);
	*ns = call->ns;
	if (!call_owns(call, call->ns.account, parts.region))
		ns->region = parts.region;
	*name = named;
	return OK;
}

static struct str iso_of_call_time(struct call *call, int64_t ms)
{
	time_t seconds = (time_t)(ms / 1000);
	char text[40];
	struct tm tm;

	gmtime_r(&seconds, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm);
	return str_copy(call->arena, str_of(text));
}

/* The moment. AWS: while the window is shorter than five minutes, UseLatestRestorableTime is the
 * time when recovery was enabled (DDB-TABLE-086). */
static enum code read_restore_time(struct call *call, const struct table *source,
				   const struct restore_table_to_point_in_time_input *input,
				   int64_t *at_ms, struct err *err)
{
	int64_t earliest_ms, latest_ms, since_ms = source->log.since_ms;

	recovery_window(source, call->now_ms, &earliest_ms, &latest_ms);
	int64_t asked_ms =
		input->restore_date_time.is_set ? input->restore_date_time.value : latest_ms;
	if (asked_ms < earliest_ms || asked_ms / 1000 * 1000 > latest_ms)
		return err_set(err, MSG_RESTORE_TIME, STR_ARG(iso_of_call_time(call, asked_ms)),
			       STR_ARG(iso_of_call_time(call, earliest_ms)),
			       STR_ARG(iso_of_call_time(call, latest_ms)));
	*at_ms = asked_ms < since_ms ? since_ms : asked_ms; /* the rest of its second */
	return OK;
}

static enum code find_restore_source(struct call *call, struct ns ns, struct str name,
				     struct table **source, struct err *err)
{
	enum code code = call_refresh(call, err);

	if (code != OK)
		return code;
	code = catalog_get(call->service->catalog, ns, name, call->now_ms, source, err);
	if (code == ERR_RESOURCE_NOT_FOUND)
		return err_set(err, MSG_TABLE_NOT_FOUND_BACKUP, STR_ARG(name));
	if (code != OK)
		return code;
	call_hold(call, *source);
	/* AWS: a table that is being created or deleted is not there for this (DDB-TABLE-217, 454)
	 */
	if ((*source)->state.status == STATUS_CREATING ||
	    (*source)->state.status == STATUS_DELETING)
		return err_set(err, MSG_TABLE_NOT_FOUND_BACKUP, STR_ARG(name));
	return OK;
}

enum code
op_restore_table_to_point_in_time(struct call *call,
				  const struct restore_table_to_point_in_time_input *input,
				  struct err *err)
{
	const struct restore_overrides overrides = RESTORE_OVERRIDES(input);
	struct restore restore = {.backup = STR_ABSENT, .key = STR_ABSENT};
	struct table *source, *table;
	struct ns ns;
	enum code code = check_restore_request(input, err);

	if (code != OK)
		return code;
	code = read_restore_source(call, input, &ns, &restore.source, err);
	if (code != OK)
		return code;
	code = find_restore_source(call, ns, restore.source, &source, err);
	if (code != OK)
		return code;
	if (!recovery_is_on(source))
		return err_set(err, MSG_RESTORE_OFF, STR_ARG(restore.source));
	code = read_restore_time(call, source, input, &restore.at_ms, err);
	if (code != OK)
		return code;
	code = restore_rules_target(call, input->target_table_name, err);
	if (code != OK)
		return code;
	code = restore_rules_table(call, source, input->target_table_name, &overrides, &table, err);
	if (code != OK)
		return code;
	restore.region = ns.region;
	return restore_rules_start(call, source, table, &restore, err);
}
