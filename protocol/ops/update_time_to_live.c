#include "protocol/handler.h"
#include "protocol/tables/replica_changes.h"
#include "protocol/tables/replica_rules.h"
#include "protocol/tables/replicas.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/timing/timing.h"

/* AWS: checks the request before the time since the last change. */
static enum code check_ttl_update(const struct call *call, const struct table *table,
				  const struct time_to_live_specification *wanted, struct err *err)
{
	bool is_early = timing_ttl_opens_ms(call, table) > call->now_ms;

	if (table->state.status == STATUS_CREATING)
		return err_set(err, MSG_TTL_CREATING, STR_ARG(table->identity.name));
	enum code code =
		timing_accepts_still(call, table) ? OK : table_rules_changeable(table, err);

	if (code != OK)
		return code;
	if (table->ttl.is_enabled && !str_eq(table->ttl.attribute, wanted->attribute_name))
		return err_set(err, MSG_TTL_OTHER, STR_ARG(table->ttl.attribute));
	if (table->ttl.is_enabled == wanted->enabled.value)
		return err_set(err, MSG_TTL_SAME, table->ttl.is_enabled ? "enabled" : "disabled");
	return is_early ? err_set(err, MSG_TTL_SOON) : OK;
}

static void set_ttl(const struct call *call, struct table *next,
		    const struct time_to_live_specification *wanted, int64_t now_ms)
{
	next->ttl.is_enabled = wanted->enabled.value;
	next->ttl.attribute = str_copy(next->arena, wanted->attribute_name);
	next->ttl.changed_ms = now_ms;
	/* AWS: ENABLING and DISABLING are documented, but no capture shows them */
	next->ttl.settles_ms =
		now_ms + (timing_is_on(call)
				  ? 0
				  : catalog_options(call->service->catalog)->transient_status_ms);
}

/* AWS: the setting is that of all replicas, from whichever region it comes: DDB-TABLE-230, 297. */
static enum code publish_group(struct call *call, struct table *table,
			       struct table *const *replicas, size_t n,
			       const struct time_to_live_specification *wanted, struct err *err)
{
	struct replica_changes changes = replica_changes_begin(call, table, replicas, n, 0);

	for (size_t i = 0; i < changes.n; i++)
		set_ttl(call, changes.v[i].next, wanted, changes.v[i].now_ms);
	return catalog_change_all(call->service->catalog, changes.v, changes.n, err);
}

/* A table that is being deleted still takes the setting, which goes with it. */
static enum code publish(struct call *call, struct table *table, struct table *next,
			 struct err *err)
{
	if (table->state.status != STATUS_DELETING)
		return catalog_replace(call->service->catalog, table, next, err);
	table_unref(next);
	return OK;
}

enum code op_update_time_to_live(struct call *call, const struct update_time_to_live_input *input,
				 struct err *err)
{
	const struct time_to_live_specification *wanted = input->time_to_live_specification;
	struct json_out *out = &call->out;
	struct table *table, *next, **replicas;
	size_t n;
	enum code code = timing_table(call, input->table_name, TIMING_BY_TTL, &table, err);

	if (code != OK)
		return code;
	code = check_ttl_update(call, table, wanted, err);
	if (code != OK)
		return code;
	code = replicas_of(call, table, &replicas, &n, err);
	if (code != OK)
		return code;
	if (n > 0)
		code = replica_rules_ttl(table, replicas, n, err);
	if (code != OK)
		return code;
	if (n > 0) {
		code = publish_group(call, table, replicas, n, wanted, err);
	} else {
		next = table_clone(table);
		set_ttl(call, next, wanted, call->now_ms);
		code = publish(call, table, next, err);
	}
	if (code != OK)
		return code;
	if (call->service->upkeep.wake) /* of many items the first ones are in the queue, and upkeep
					   does the rest */
		call->service->upkeep.wake(call->service->upkeep.context);
	json_out_open(out, '{');
	json_out_name(out, STR("TimeToLiveSpecification"));
	json_out_open(out, '{');
	json_out_field_boolean(out, "Enabled", wanted->enabled.value);
	json_out_field_string(out, "AttributeName", wanted->attribute_name);
	json_out_close(out, '}');
	json_out_close(out, '}');
	return OK;
}
