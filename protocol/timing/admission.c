#include "protocol/timing/internal.h"

#include "protocol/tables/concerns.h"
#include "protocol/tables/control_messages.h"
#include "protocol/tables/encryption_rules.h"
#include "protocol/tables/index_rules.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/timing/messages.h"

#define CLASS_CHANGES_MAX 2
#define ENCRYPTION_CHANGES_MAX 4
#define DECREASES_MAX 4

/* The changes under way on a table. */
struct jobs {
	bool is_iops, becomes_provisioned, is_stream, is_class, is_encryption, is_allocation;
	const char *operation;   /* of the stream */
	struct str table_class;  /* that the table gets */
};

static bool runs(const struct call *call, const struct table *table, enum timing what)
{
	return timing_running(call, table, what, STR("")) != NULL;
}

/* AWS: a change of encryption hides a change of the class that goes on. */
static bool is_class_hidden(const struct table *table)
{
	const struct moment *class = timing_last(table, TIMING_CLASS, STR_ABSENT),
			    *encryption = timing_last(table, TIMING_ENCRYPTION, STR_ABSENT);

	return class && encryption && encryption > class;
}

/* Whether an index gets its resources. */
static bool is_allocating(const struct table *table)
{
	for (size_t i = 0; i < table_index_total(table) && table->state.status == STATUS_UPDATING;
	     i++) {
		if (table_index_at(table, i)->is_backfilling)
			return true;
	}
	return false;
}

static struct jobs jobs_of(const struct call *call, const struct table *table)
{
	bool becomes_provisioned = runs(call, table, TIMING_BILLING_PROVISIONED) ||
				   runs(call, table, TIMING_BILLING_PROVISIONED_AGAIN);

	return (struct jobs){
		.becomes_provisioned =
			becomes_provisioned && table->settings->billing == BILLING_PROVISIONED,
		.is_iops = runs(call, table, TIMING_THROUGHPUT) ||
			   runs(call, table, TIMING_BILLING_ON_DEMAND) ||
			   runs(call, table, TIMING_BILLING_ON_DEMAND_AGAIN) || becomes_provisioned,
		.is_stream = runs(call, table, TIMING_STREAM),
		.is_class = runs(call, table, TIMING_CLASS) && !is_class_hidden(table),
		.is_allocation = is_allocating(table),
		.is_encryption = runs(call, table, TIMING_ENCRYPTION),
		.operation = table->streams.view == STREAM_OFF ? "DISABLE" : "ENABLE",
		.table_class = str_is_set(table->settings->table_class)
				       ? table->settings->table_class
				       : STR("STANDARD"),
	};
}

/* A change that waits for all other jobs; `what` names it in messages. */
static enum code check_jobs(const struct table *table, const struct jobs *jobs, const char *what,
			    const char *when_iops, struct err *err)
{
	if (jobs->is_iops)
		return err_set(err, MSG_TIMING_WHEN_IOPS, when_iops, STR_ARG(table->identity.name));
	if (jobs->is_stream)
		return err_set(err, MSG_TIMING_WHEN_STREAM, what, STR_ARG(table->identity.name),
			       STR_ARG(table->streams.label), jobs->operation);
	if (jobs->is_class)
		return err_set(err, MSG_TIMING_WHEN_CLASS, what, STR_ARG(table->identity.name),
			       STR_ARG(jobs->table_class));
	return OK;
}

/* AWS: ignores a switch back to PAY_PER_REQUEST while that is still the mode. */
static enum code check_units_timing(const struct table *table, const struct jobs *jobs,
				    const struct update_table_input *input, struct err *err)
{
	if (jobs->becomes_provisioned && input->billing_mode == BILLING_MODE_PAY_PER_REQUEST)
		return OK;
	if (jobs->is_iops)
		return err_set(err, MSG_TIMING_IOPS, STR_ARG(table->identity.name));
	/* the mode that is so already changes nothing */
	if (!input->provisioned_throughput &&
	    (input->billing_mode == BILLING_MODE_PAY_PER_REQUEST) ==
		    (table->settings->billing == BILLING_PAY_PER_REQUEST))
		return OK;
	return check_jobs(table, jobs, "change table IOPS", "change table IOPS", err);
}

static enum code check_on_demand(const struct jobs *jobs, struct err *err)
{
	if (jobs->is_iops)
		return err_set(err, MSG_TIMING_ON_DEMAND_BILLING);
	if (jobs->is_stream)
		return err_set(err, MSG_TIMING_ON_DEMAND_STREAM);
	return jobs->is_class ? err_set(err, MSG_TIMING_ON_DEMAND_CLASS, STR_ARG(jobs->table_class))
			      : OK;
}

static enum code check_stream(const struct table *table, const struct jobs *jobs, struct err *err)
{
	if (jobs->is_stream)
		return err_set(err, MSG_TIMING_STREAM, STR_ARG(table->identity.name),
			       STR_ARG(table->streams.label), jobs->operation);
	return check_jobs(table, jobs, "change stream status", "enable or disable stream", err);
}

/* How many moments of the row are younger than the other row's time; *first is the oldest of them.
 */
static size_t count_within(const struct call *call, const struct table *table, enum timing what,
			   enum timing window, const struct moment **first)
{
	size_t n = 0;

	*first = NULL;
	for (size_t i = 0; i < table->settings->moment_count; i++) {
		if (timing_row(&table->settings->moments[i]) == what &&
		    timing_within(call, &table->settings->moments[i], window) && n++ == 0)
			*first = &table->settings->moments[i];
	}
	return n;
}

static enum code check_class(const struct call *call, const struct table *table,
			     const struct jobs *jobs, struct err *err)
{
	const struct moment *first;
	enum code code = check_jobs(table, jobs, "update table class", "update table class", err);

	if (code != OK || count_within(call, table, TIMING_CLASS, TIMING_CLASS_WINDOW, &first) <
				  CLASS_CHANGES_MAX)
		return code;
	return err_set(err, MSG_TIMING_CLASS_BUDGET);
}

static enum code check_encryption(const struct call *call, const struct table *table,
				  const struct jobs *jobs, const struct sse_specification *input,
				  struct err *err)
{
	const struct moment *first, *last = timing_last(table, TIMING_ENCRYPTION, STR_ABSENT);
	size_t n = count_within(call, table, TIMING_ENCRYPTION, TIMING_ENCRYPTION_WINDOW, &first);

	if (jobs->is_encryption)
		return err_set(err, MSG_TIMING_ENCRYPTION);
	if (n < ENCRYPTION_CHANGES_MAX || !timing_within(call, last, TIMING_ENCRYPTION_NEXT))
		return OK;
	/* AWS: the error that nothing would change comes first */
	enum code code = encryption_rules_news(table, input, err);
	if (code != OK)
		return code;
	int64_t ends_ms = first->at_ms + timing_ms(TIMING_ENCRYPTION_WINDOW),
		next_ms = last->at_ms + timing_ms(TIMING_ENCRYPTION_NEXT);
	return err_set(err, MSG_TIMING_ENCRYPTION_BUDGET, STR_ARG(timing_iso(err->arena, ends_ms)),
		       n, STR_ARG(timing_iso(err->arena, last->at_ms)),
		       STR_ARG(timing_iso(err->arena, next_ms < ends_ms ? next_ms : ends_ms)));
}

/* Four decreases in a UTC day, then one an hour after the last; the next UTC day starts again at 0.
 */
static enum code check_decrease(const struct call *call, const struct throughput *current,
				const struct provisioned_throughput *wanted, struct err *err)
{
	int64_t midnight_ms = (call->now_ms / TIMING_DAY_MS + 1) * TIMING_DAY_MS;
	int64_t next_ms = current->last_decrease_ms + timing_ms(TIMING_DECREASE_NEXT);

	if (!wanted || (wanted->read_capacity_units.value >= current->read &&
			wanted->write_capacity_units.value >= current->write))
		return OK;
	if (throughput_rules_decreases(current, call->now_ms) < DECREASES_MAX ||
	    next_ms <= call->now_ms)
		return OK;
	return err_set(
		err, MSG_TIMING_DECREASE_BUDGET,
		(long long)throughput_rules_decreases(current, call->now_ms),
		STR_ARG(timing_prose(err->arena, current->last_decrease_ms)),
		STR_ARG(timing_prose(err->arena, next_ms < midnight_ms ? next_ms : midnight_ms)));
}

static enum code check_decreases(const struct call *call, const struct table *table,
				 const struct update_table_input *input, struct err *err)
{
	if (table->settings->billing != BILLING_PROVISIONED)
		return OK;
	enum code code = check_decrease(call, &table->settings->throughput,
					input->provisioned_throughput, err);
	for (size_t i = 0; i < input->global_secondary_index_updates.n && code == OK; i++) {
		const struct update_global_secondary_index_action *update =
			input->global_secondary_index_updates.v[i].update;
		const struct index *index = update ? table_index(table, update->index_name) : NULL;

		if (index)
			code = check_decrease(call, &index->settings->throughput,
					      update->provisioned_throughput, err);
	}
	return code;
}

static enum code check_protection(const struct call *call, const struct table *table,
				  bool is_wanted, struct err *err)
{
	const struct moment *moment = timing_running(call, table, TIMING_PROTECTION, STR_ABSENT);

	if (!moment || is_wanted == table->settings->is_deletion_protected)
		return OK;
	return err_set(
		err, MSG_TIMING_PROTECTION, STR_ARG(table->identity.name),
		STR_ARG(timing_iso(err->arena, moment->at_ms + timing_ms(TIMING_PROTECTION))));
}

/* Whether an index is being created, before its filling, or deleted: then index_rules decides
 * first. */
static bool has_index_at_work(const struct table *table)
{
	for (size_t i = 0; i < table_index_total(table) && table->state.status == STATUS_UPDATING;
	     i++) {
		if (table_index_at(table, i)->status == STATUS_DELETING)
			return true;
	}
	return is_allocating(table);
}

static enum code check_updates_timing(const struct call *call, const struct table *table,
				      const struct update_table_input *input, struct err *err)
{
	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++) {
		const struct update_global_secondary_index_action *update =
			input->global_secondary_index_updates.v[i].update;

		if (update && timing_running(call, table, TIMING_INDEX_UPDATE, update->index_name))
			return err_set(err, MSG_INDEX_IN_USE, "updated",
				       STR_ARG(table->identity.name), STR_ARG(update->index_name));
	}
	return OK;
}

enum code timing_admits(const struct call *call, const struct table *table,
			const struct update_table_input *input, struct err *err)
{
	struct jobs jobs;
	enum code code = OK;

	if (table->state.status != STATUS_ACTIVE && table->state.status != STATUS_UPDATING)
		return OK;
	if (!timing_is_on(call))
		return table->state.status == STATUS_UPDATING
			       ? index_rules_while_updating(table, input, err)
			       : OK;
	if (runs(call, table, TIMING_REPLICA) || runs(call, table, TIMING_REPLICA_UPDATE) ||
	    runs(call, table, TIMING_REPLICA_DELETE))
		return err_set(err, MSG_REPLICA_IN_USE);
	jobs = jobs_of(call, table);
	code = check_updates_timing(call, table, input, err);
	if (code != OK)
		return code;
	if (has_index_at_work(table))
		code = index_rules_while_updating(table, input, err);
	if (code != OK)
		return code;
	if (input->provisioned_throughput || input->billing_mode)
		code = check_units_timing(table, &jobs, input, err);
	if (code != OK)
		return code;
	if (input->on_demand_throughput)
		code = check_on_demand(&jobs, err);
	if (code != OK)
		return code;
	if (input->stream_specification)
		code = check_stream(table, &jobs, err);
	if (code != OK)
		return code;
	if (str_is_set(input->table_class))
		code = check_class(call, table, &jobs, err);
	if (code != OK)
		return code;
	if (throughput_rules_has_warm(input->warm_throughput) && jobs.is_allocation)
		return err_default(err, ERR_MAINTENANCE);
	if (input->sse_specification)
		code = check_encryption(call, table, &jobs, input->sse_specification, err);
	if (code != OK)
		return code;
	if (concerns_of(input) & (CONCERN_INDEX_CREATE | CONCERN_INDEX_DELETE))
		code = check_jobs(table, &jobs, "create or delete an index",
				  "create or delete indexes", err);
	if (code != OK)
		return code;
	if (input->deletion_protection_enabled.is_set)
		code = check_protection(call, table, input->deletion_protection_enabled.value, err);
	if (code != OK)
		return code;
	return check_decreases(call, table, input, err);
}

/* A policy that DeleteTable waits for. */
static bool has_pending_policy(const struct call *call, const struct table *table)
{
	const struct moment *last = NULL;

	for (size_t i = 0; i < table->settings->moment_count; i++) {
		enum timing row = timing_row(&table->settings->moments[i]);

		if (row == TIMING_POLICY_PUT || row == TIMING_POLICY_REPLACE ||
		    row == TIMING_POLICY_DELETE)
			last = &table->settings->moments[i];
	}
	return last &&
	       timing_within(call, last,
			     timing_row(last) == TIMING_POLICY_DELETE ? TIMING_POLICY_DELETE_HOLDS
								      : TIMING_POLICY_PUT_HOLDS);
}

static bool is_warming(const struct call *call, const struct table *table)
{
	return timing_running(call, table, TIMING_WARM, STR_ABSENT) ||
	       timing_running(call, table, TIMING_WARM_AGAIN, STR_ABSENT);
}

enum code timing_deletable(const struct call *call, const struct table *table, struct err *err)
{
	const struct moment *tags = timing_last(table, TIMING_TAGS, STR_ABSENT);

	if (!timing_is_on(call))
		return OK;
	if (timing_running(call, table, TIMING_INDEX_UPDATE, STR_ABSENT))
		return err_set(err, MSG_TABLE_INDEXES_IN_USE);
	if (runs(call, table, TIMING_STREAM))
		return err_set(err, MSG_TIMING_DELETE_STREAM);
	if (tags && timing_within(call, tags, TIMING_TAGS_LOCK))
		return err_set(err, MSG_TIMING_DELETE_TAGS, STR_ARG(table->identity.name));
	if (has_pending_policy(call, table))
		return err_set(err, MSG_TIMING_DELETE_POLICY, STR_ARG(table->identity.name));
	if (runs(call, table, TIMING_ENCRYPTION) || is_warming(call, table))
		return err_set(err, MSG_TABLE_IN_USE_UPDATED, STR_ARG(table->identity.name));
	return OK;
}

static const struct tag *tag_of(const struct tag *tags, size_t n, struct str key)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(tags[i].key, key))
			return &tags[i];
	}
	return NULL;
}

/* Whether `wanted` has each tag that the change under way set, and none that it removed. */
static bool contains_change(const struct table *table, const struct moment *change,
			    const struct tag_list *wanted)
{
	size_t n = change->before_count / 2, found = 0;

	for (size_t i = 0; i < n; i++)
		found += tag_of(table->settings->tags.v, table->settings->tags.n,
				change->before[2 * i]) != NULL;
	for (size_t i = 0; i < table->settings->tags.n; i++) {
		const struct tag *tag = &table->settings->tags.v[i];
		bool is_old = false, is_wanted = false;

		for (size_t k = 0; k < n; k++)
			is_old = is_old || (str_eq(change->before[2 * k], tag->key) &&
					    str_eq(change->before[2 * k + 1], tag->value));
		for (size_t k = 0; k < wanted->n; k++)
			is_wanted = is_wanted || (str_eq(wanted->v[k].key, tag->key) &&
						  str_eq(wanted->v[k].value, tag->value));
		if (!is_old && !is_wanted)
			return false;
	}
	return found == n;
}

enum code timing_tags_admit(const struct call *call, const struct table *table,
			    const struct tag_list *tags, struct err *err)
{
	const struct moment *change =
		timing_is_on(call) ? timing_last(table, TIMING_TAGS, STR_ABSENT) : NULL;

	if (!change || !timing_within(call, change, TIMING_TAGS_LOCK) ||
	    (tags && contains_change(table, change, tags)))
		return OK;
	return err_set(err, MSG_TIMING_TAGS, STR_ARG(table->identity.name));
}

enum code timing_policy_admits(const struct call *call, const struct table *table, bool is_stream,
			       struct err *err)
{
	const struct policy *policy =
		is_stream ? &table->settings->stream_policy : &table->settings->policy;
	int64_t transient = catalog_options(call->service->catalog)->transient_status_ms;
	int64_t age_ms = call->now_ms - policy->revision;

	if (!timing_is_on(call)) {
		/* AWS: a change must be over before the next; here that takes no longer than other
		 * changes of status */
		return transient > 0 && age_ms >= 0 && age_ms < transient
			       ? err_set(err, MSG_POLICY_PENDING, STR_ARG(table->identity.name))
			       : OK;
	}
	const struct moment *rows[] = {
		timing_last(table, TIMING_POLICY_PUT, is_stream ? STR("stream") : STR("")),
		timing_last(table, TIMING_POLICY_REPLACE, is_stream ? STR("stream") : STR("")),
		timing_last(table, TIMING_POLICY_DELETE, is_stream ? STR("stream") : STR(""))};
	struct str name = is_stream ? table->streams.label : table->identity.name;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i] && timing_within(call, rows[i], TIMING_POLICY_APPLY))
			return err_set(err, MSG_TIMING_POLICY_PENDING,
				       is_stream ? "Stream" : "Table", STR_ARG(name));
	}
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i] && timing_within(call, rows[i], TIMING_POLICY_NEXT))
			return err_set(err, MSG_TIMING_POLICY, is_stream ? "stream" : "table",
				       STR_ARG(name),
				       STR_ARG(timing_iso(err->arena,
							  rows[i]->at_ms +
								  timing_ms(TIMING_POLICY_NEXT))));
	}
	return OK;
}
