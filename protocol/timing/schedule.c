#include "protocol/tables/throughput_rules.h"
#include "protocol/timing/internal.h"

/* A change of a table on its way. */
struct change {
	const struct call *call;
	const struct table *table;
	struct table *next;
};

/* The table is UPDATING for the row's time at least. */
static void occupy(const struct change *change, enum timing what)
{
	int64_t until_ms = change->call->now_ms + timing_ms(what);

	change->next->state.status = STATUS_UPDATING;
	if (until_ms > change->next->state.settles_ms)
		change->next->state.settles_ms = until_ms;
}

static void note(const struct change *change, enum timing what, struct str subject,
		 const struct str *before, size_t n)
{
	timing_add(change->call, change->next, what, subject, before, n);
}

/* The warm throughput of the table, or of an index of it, as it was. */
static struct throughput_pair old_warm(const struct change *change, const struct index *index)
{
	return throughput_rules_warm_now(change->table, index);
}

/* Units of the table, or of an index of it, change. */
static void note_units(const struct change *change, enum timing what, const struct index *index)
{
	struct arena *arena = change->call->arena;
	const struct throughput *units =
		index ? &index->settings->throughput : &change->table->settings->throughput;
	struct throughput_pair warm = old_warm(change, index);
	const struct str before[] = {
		timing_number(arena, warm.read), timing_number(arena, warm.write),
		timing_number(arena, units->read), timing_number(arena, units->write),
		timing_number(arena, units->decreases_today)};

	note(change, what, index ? index->name : STR_ABSENT, before, 5);
}

static bool has_other_units(const struct throughput *a, const struct throughput *b)
{
	return a->read != b->read || a->write != b->write;
}

/* AWS: accepts and ignores a request for the mode that the table is about to leave. */
static void take_back_billing(const struct change *change)
{
	struct table *next = change->next;

	next->settings->billing = change->table->settings->billing;
	next->settings->on_demand_since_ms = change->table->settings->on_demand_since_ms;
	next->settings->throughput = change->table->settings->throughput;
	for (size_t i = 0; i < next->indexes.n && i < change->table->indexes.n; i++)
		next->indexes.v[i].settings->throughput =
			change->table->indexes.v[i].settings->throughput;
}

static void schedule_billing(const struct change *change)
{
	const struct call *call = change->call;
	const struct table *table = change->table;
	bool is_on_demand = change->next->settings->billing == BILLING_PAY_PER_REQUEST;
	struct throughput_pair warm = old_warm(change, NULL);
	struct str before[] = {timing_number(call->arena, warm.read),
			       timing_number(call->arena, warm.write),
			       timing_number(call->arena, table->settings->on_demand_since_ms)};
	enum timing what = is_on_demand ? TIMING_BILLING_ON_DEMAND : TIMING_BILLING_PROVISIONED;

	if (is_on_demand &&
	    (timing_running(call, table, TIMING_BILLING_PROVISIONED, STR_ABSENT) ||
	     timing_running(call, table, TIMING_BILLING_PROVISIONED_AGAIN, STR_ABSENT))) {
		take_back_billing(change);
		return;
	}
	if (is_on_demand && table->settings->on_demand_since_ms)
		what = TIMING_BILLING_ON_DEMAND_AGAIN;
	if (!is_on_demand && timing_last(table, TIMING_BILLING_PROVISIONED, STR_ABSENT))
		what = TIMING_BILLING_PROVISIONED_AGAIN;
	note(change, what, STR_ABSENT, before, 3);
	if (is_on_demand)
		change->next->settings->on_demand_since_ms = call->now_ms + timing_ms(what);
	occupy(change, what);
}

static struct str class_of(const struct table *table)
{
	return str_is_set(table->settings->table_class) ? table->settings->table_class
							: STR("STANDARD");
}

static void schedule_class(const struct change *change)
{
	const struct table *table = change->table;

	/* AWS: accepts and ignores one that comes while another, hidden by a change of encryption,
	 * is under way */
	if (timing_running(change->call, table, TIMING_CLASS, STR_ABSENT)) {
		change->next->settings->table_class =
			str_copy(change->next->arena, table->settings->table_class);
		change->next->settings->class_changed_ms = table->settings->class_changed_ms;
		return;
	}

	struct str before[] = {
		str_is_set(table->settings->table_class) ? table->settings->table_class : STR(""),
		timing_number(change->call->arena, table->settings->class_changed_ms)};

	note(change, TIMING_CLASS, STR_ABSENT, before, 2);
	occupy(change, TIMING_CLASS);
}

static void change_encryption(const struct change *change)
{
	const struct table *table = change->table;
	struct str key = table->settings->sse_key;
	struct str before[] = {table->settings->sse_enabled ? STR("1") : STR("0"),
			       str_is_set(key) ? key : STR("")};

	if (timing_running(change->call, table, TIMING_CLASS, STR_ABSENT)) {
		change->next->state.status = STATUS_ACTIVE;
		change->next->state.settles_ms = 0;
	}
	note(change, TIMING_ENCRYPTION, STR_ABSENT, before, 2);
}

static bool has_removal(const struct on_demand_throughput *input)
{
	return input &&
	       ((input->max_read_request_units.is_set && input->max_read_request_units.value < 0) ||
		(input->max_write_request_units.is_set &&
		 input->max_write_request_units.value < 0));
}

/* AWS: shows a removed limit as the request gave it, for a moment. */
static void change_on_demand(const struct change *change, const struct on_demand_throughput *input)
{
	struct throughput_pair pair =
		throughput_rules_echo(&change->table->settings->on_demand, input);
	struct str before[] = {timing_number(change->call->arena, pair.read),
			       timing_number(change->call->arena, pair.write)};

	note(change, TIMING_ON_DEMAND, STR_ABSENT, before, 2);
}

/* AWS: of two requests under way the last wins, at the time of the first. */
static void change_warm(const struct change *change, const struct index *index)
{
	const struct call *call = change->call;
	struct throughput_pair warm = old_warm(change, index);
	struct str before[] = {timing_number(call->arena, warm.read),
			       timing_number(call->arena, warm.write)};
	struct str subject = index ? index->name : STR("");
	bool is_first = !timing_last(change->table, TIMING_WARM, subject);

	if (!timing_running(call, change->table, TIMING_WARM, subject))
		note(change, is_first ? TIMING_WARM : TIMING_WARM_AGAIN, subject, before, 2);
}

static void change_index(const struct change *change, struct index *index)
{
	const struct index *old = table_index_numbered(change->table, index->number);
	int64_t now_ms = change->call->now_ms;

	if (!old) {
		index->settles_ms = now_ms + timing_ms(TIMING_INDEX_CREATE);
		note(change, TIMING_INDEX_CREATE, index->name, NULL, 0);
		occupy(change, TIMING_INDEX_ALLOCATION);
	} else if (index->status == STATUS_DELETING && old->status != STATUS_DELETING) {
		index->settles_ms = now_ms + timing_ms(TIMING_INDEX_DELETE);
		occupy(change, TIMING_INDEX_DELETE);
	} else if (index->status == STATUS_UPDATING && old->status != STATUS_UPDATING) {
		/* only the moment shows it: the table may be UPDATING for longer */
		note_units(change, TIMING_INDEX_UPDATE, old);
		index->status = STATUS_ACTIVE;
	}
}

static void schedule_indexes(const struct change *change, const struct update_table_input *input)
{
	for (size_t i = 0; i < table_index_total(change->next); i++)
		change_index(change, table_index_at(change->next, i));
	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++) {
		const struct update_global_secondary_index_action *update =
			input->global_secondary_index_updates.v[i].update;
		const struct index *old = update && update->warm_throughput
						  ? table_index(change->table, update->index_name)
						  : NULL;

		if (old)
			change_warm(change, old);
	}
}

static void change_replicas(const struct change *change,
			    const struct replication_group_update *update)
{
	enum timing what = update->create   ? TIMING_REPLICA
			   : update->delete ? TIMING_REPLICA_DELETE
					    : TIMING_REPLICA_UPDATE;

	note(change, what, STR_ABSENT, NULL, 0);
	occupy(change, what);
}

void timing_schedule(const struct call *call, const struct update_table_input *input,
		     const struct table *table, struct table *next)
{
	struct change change = {call, table, next};

	if (!timing_is_on(call)) {
		catalog_schedule(call->service->catalog, table, next, call->now_ms);
		return;
	}
	/* AWS: answers UPDATING to a request that changes nothing, but the table is ACTIVE at once
	 */
	next->state.status = table->state.status;
	if (next->settings->billing != table->settings->billing)
		schedule_billing(&change);
	else if (has_other_units(&next->settings->throughput, &table->settings->throughput)) {
		note_units(&change, TIMING_THROUGHPUT, NULL);
		occupy(&change, TIMING_THROUGHPUT);
	}
	if (next->streams.view != table->streams.view) {
		note(&change, TIMING_STREAM, STR_ABSENT, NULL, 0);
		occupy(&change, TIMING_STREAM);
	}
	if (!str_eq(class_of(next), class_of(table)))
		schedule_class(&change);
	if (has_removal(input->on_demand_throughput))
		change_on_demand(&change, input->on_demand_throughput);
	if (next->settings->is_deletion_protected != table->settings->is_deletion_protected)
		note(&change, TIMING_PROTECTION, STR_ABSENT, NULL, 0);
	if (input->sse_specification)
		change_encryption(&change);
	if (input->replica_updates.n)
		change_replicas(&change, &input->replica_updates.v[0]);
	if (throughput_rules_has_warm(input->warm_throughput))
		change_warm(&change, NULL);
	schedule_indexes(&change, input);
}

/* Key, value, key, ...: the tags as they were. */
void timing_tags_changed(const struct call *call, const struct table *table, struct table *next)
{
	const struct tag_set *old = &table->settings->tags, *new = &next->settings->tags;
	struct str *before = ARENA_ARRAY(call->arena, struct str, 2 * old->n + 1);
	bool is_same = old->n == new->n;

	for (size_t i = 0; i < old->n; i++) {
		before[2 * i] = old->v[i].key;
		before[2 * i + 1] = old->v[i].value;
		is_same = is_same && str_eq(old->v[i].key, new->v[i].key) &&
			  str_eq(old->v[i].value, new->v[i].value);
	}
	/* AWS: a request that changes nothing holds no lock */
	if (!is_same)
		timing_add(call, next, TIMING_TAGS, STR_ABSENT, before, 2 * old->n);
}

void timing_policy_changed(const struct call *call, const struct table *table, struct table *next,
			   bool is_stream)
{
	const struct policy *old =
		is_stream ? &table->settings->stream_policy : &table->settings->policy;
	const struct policy *new =
		is_stream ? &next->settings->stream_policy : &next->settings->policy;
	enum timing what = !str_is_set(new->text)  ? TIMING_POLICY_DELETE
			   : str_is_set(old->text) ? TIMING_POLICY_REPLACE
						   : TIMING_POLICY_PUT;
	struct str before[] = {timing_number(call->arena, old->revision), old->text};

	timing_add(call, next, what, is_stream ? STR("stream") : STR_ABSENT, before,
		   str_is_set(old->text) ? 2 : 1);
}
