#include "protocol/tables/throughput_rules.h"

#include "protocol/tables/table_messages.h"

/* The warm throughput of an on-demand table by default. AWS: Developer Guide, "Warm throughput". */
#define WARM_READ_DEFAULT 12000
#define WARM_WRITE_DEFAULT 4000
#define UNITS_BOUND 1000000000000 /* beyond it AWS has another text than at an account's limit */
#define DAY_MS (24 * 60 * 60 * (int64_t)1000)

static int64_t larger(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* "table", "index NAME": how texts name whose throughput it is. */
static struct str named(const struct table *table, const struct index *index, const char *between)
{
	return index ? str_printf(table->arena, "index%s" STR_FMT, between, STR_ARG(index->name))
		     : STR("table");
}

bool throughput_rules_has_on_demand(const struct on_demand_throughput *input)
{
	return input &&
	       (input->max_read_request_units.is_set || input->max_write_request_units.is_set);
}

bool throughput_rules_has_warm(const struct warm_throughput *input)
{
	return input &&
	       (input->read_units_per_second.is_set || input->write_units_per_second.is_set);
}

void throughput_rules_begin(struct throughput *throughput,
			    const struct provisioned_throughput *input)
{
	throughput->read = input->read_capacity_units.value;
	throughput->write = input->write_capacity_units.value;
}

int64_t throughput_rules_decreases(const struct throughput *throughput, int64_t now_ms)
{
	return throughput->last_decrease_ms / DAY_MS == now_ms / DAY_MS
		       ? throughput->decreases_today
		       : 0;
}

static void note_decrease(struct throughput *throughput, int64_t now_ms)
{
	throughput->decreases_today = throughput_rules_decreases(throughput, now_ms) + 1;
	throughput->last_decrease_ms = now_ms;
}

void throughput_rules_set(struct throughput *throughput, int64_t read, int64_t write,
			  int64_t now_ms)
{
	if (read > throughput->read || write > throughput->write)
		throughput->last_increase_ms = now_ms;
	if (read < throughput->read || write < throughput->write)
		note_decrease(throughput, now_ms);
	throughput->read = read;
	throughput->write = write;
}

enum code throughput_rules_units(struct table *table, struct index *index,
				 const struct provisioned_throughput *input, int64_t now_ms,
				 struct err *err)
{
	struct throughput *throughput =
		index ? &index->settings->throughput : &table->settings->throughput;
	int64_t read = input->read_capacity_units.value, write = input->write_capacity_units.value;
	struct str what = index ? named(table, index, " ") : STR("the table");

	if (read == throughput->read && write == throughput->write)
		return err_set(err, MSG_UPDATE_SAME, index ? "the " : "", STR_ARG(what),
			       STR_ARG(what), (long long)throughput->read, (long long)read,
			       STR_ARG(what), (long long)throughput->write, (long long)write);
	throughput_rules_set(throughput, read, write, now_ms);
	return OK;
}

void throughput_rules_drop_units(struct table *table, int64_t now_ms)
{
	table->settings->throughput.read = table->settings->throughput.write = 0;
	for (size_t i = 0; i < table->indexes.n; i++) {
		struct index *index = &table->indexes.v[i];

		if (index->is_local)
			continue;
		index->settings->throughput.read = index->settings->throughput.write = 0;
		note_decrease(&index->settings->throughput,
			      now_ms); /* AWS: the indexes' counters, not the table's */
	}
}

static const char *on_demand_name(bool is_read)
{
	return is_read ? "MaxReadRequestUnits" : "MaxWriteRequestUnits";
}

static enum code check_on_demand_range(const struct table *table, const struct index *index,
				       const struct opt_int *units, bool is_read,
				       enum throughput_step step, struct err *err)
{
	if (!units->is_set || units->value >= 1 ||
	    (step == THROUGHPUT_UPDATE && units->value == -1))
		return OK;
	return err_set(err, MSG_ON_DEMAND_RANGE, on_demand_name(is_read),
		       STR_ARG(named(table, index, " : ")));
}

static enum code refuse_on_demand(const struct index *index, bool is_read,
				  enum throughput_step step, struct err *err)
{
	if (!index)
		return step == THROUGHPUT_CREATE
			       ? err_set(err, MSG_ON_DEMAND_REFUSED, on_demand_name(is_read))
			       : err_set(err, MSG_ON_DEMAND_REFUSED_UPDATE,
					 on_demand_name(is_read));
	return step == THROUGHPUT_CREATE ? err_set(err, MSG_ON_DEMAND_INDEX_REFUSED,
						   on_demand_name(is_read), STR_ARG(index->name))
					 : err_set(err, MSG_ON_DEMAND_INDEX_REFUSED_UPDATE,
						   on_demand_name(is_read), STR_ARG(index->name));
}

enum code throughput_rules_on_demand(struct table *table, struct index *index,
				     const struct on_demand_throughput *input,
				     enum throughput_step step, struct err *err)
{
	struct throughput_pair *pair =
		index ? &index->settings->on_demand : &table->settings->on_demand;

	if (!throughput_rules_has_on_demand(input))
		return OK;
	if (table->settings->billing == BILLING_PROVISIONED)
		return refuse_on_demand(index, input->max_read_request_units.is_set, step, err);
	enum code code = check_on_demand_range(table, index, &input->max_read_request_units, true,
					       step, err);
	if (code != OK)
		return code;
	code = check_on_demand_range(table, index, &input->max_write_request_units, false, step,
				     err);
	if (code != OK)
		return code;
	*pair = throughput_rules_echo(pair, input);
	pair->read = larger(pair->read, 0);
	pair->write = larger(pair->write, 0);
	pair->is_set = pair->read > 0 || pair->write > 0;
	return OK;
}

struct throughput_pair throughput_rules_echo(const struct throughput_pair *before,
					     const struct on_demand_throughput *input)
{
	struct throughput_pair pair = {true, before->is_set ? larger(before->read, 0) : 0,
				       before->is_set ? larger(before->write, 0) : 0};

	if (input->max_read_request_units.is_set)
		pair.read = input->max_read_request_units.value;
	if (input->max_write_request_units.is_set)
		pair.write = input->max_write_request_units.value;
	return pair;
}

struct throughput_pair throughput_rules_warm_now(const struct table *table,
						 const struct index *index)
{
	const struct throughput *units =
		index ? &index->settings->throughput : &table->settings->throughput;
	struct throughput_pair pair = index ? index->settings->warm : table->settings->warm;
	bool is_provisioned = table->settings->billing == BILLING_PROVISIONED;
	int64_t read = is_provisioned ? units->read : WARM_READ_DEFAULT;
	int64_t write = is_provisioned ? units->write : WARM_WRITE_DEFAULT;

	return (struct throughput_pair){true, pair.is_set ? larger(pair.read, read) : read,
					pair.is_set ? larger(pair.write, write) : write};
}

void throughput_rules_keep_warm(struct table *table)
{
	table->settings->warm = throughput_rules_warm_now(table, NULL);
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (!table->indexes.v[i].is_local)
			table->indexes.v[i].settings->warm =
				throughput_rules_warm_now(table, &table->indexes.v[i]);
	}
}

static enum code refuse_warm(const struct table *table, const struct index *index, bool is_read,
			     enum throughput_step step, struct err *err)
{
	const char *member = is_read ? "ReadUnitsPerSecond" : "WriteUnitsPerSecond";
	struct str what = named(table, index, " ");

	if (step == THROUGHPUT_UPDATE)
		return err_set(err, MSG_WARM_LESS, member, STR_ARG(what));
	if (table->settings->billing == BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_WARM_LOW, member, STR_ARG(what));
	return err_set(err, MSG_WARM_LOW_UNITS, member, STR_ARG(what),
		       is_read ? "ReadCapacityUnits" : "WriteCapacityUnits");
}

enum code throughput_rules_warm(struct table *table, struct index *index,
				const struct warm_throughput *input, enum throughput_step step,
				struct err *err)
{
	struct throughput_pair now = throughput_rules_warm_now(table, index);

	if (!throughput_rules_has_warm(input))
		return OK;
	if (input->read_units_per_second.is_set && input->read_units_per_second.value < now.read)
		return refuse_warm(table, index, true, step, err);
	if (input->write_units_per_second.is_set && input->write_units_per_second.value < now.write)
		return refuse_warm(table, index, false, step, err);
	if (input->read_units_per_second.is_set)
		now.read = input->read_units_per_second.value;
	if (input->write_units_per_second.is_set)
		now.write = input->write_units_per_second.value;
	*(index ? &index->settings->warm : &table->settings->warm) = now;
	return OK;
}

/* One kind of units against the quota: read or write, after a change and before it. */
static enum code check_units_quota(const struct table *table, const struct index *index,
				   bool is_read, int64_t after, int64_t before, struct err *err)
{
	const char *member = is_read ? "ReadCapacityUnits" : "WriteCapacityUnits";

	if (after <= TABLE_UNITS_MAX || after <= before)
		return OK;
	if (after > UNITS_BOUND)
		return index ? err_set(err, MSG_UNITS_INDEX_BOUND, (long long)after, member,
				       STR_ARG(index->name))
			     : err_set(err, MSG_UNITS_BOUND, (long long)after, member);
	return index ? err_set(err, MSG_UNITS_INDEX_LIMIT, member, STR_ARG(index->name),
			       (long long)after, STR_ARG(table->identity.region), TABLE_UNITS_MAX)
		     : err_set(err, MSG_UNITS_LIMIT, member, (long long)after,
			       STR_ARG(table->identity.region), TABLE_UNITS_MAX);
}

static enum code check_pair(const struct table *table, struct str what, const char *members[2],
			    const struct throughput_pair *after,
			    const struct throughput_pair *before, struct err *err)
{
	if (after->is_set && after->read > TABLE_UNITS_MAX &&
	    !(before->is_set && before->read >= after->read))
		return err_set(err, MSG_THROUGHPUT_LIMIT, members[0], STR_ARG(what), "Read",
			       STR_ARG(table->identity.region));
	if (after->is_set && after->write > TABLE_UNITS_MAX &&
	    !(before->is_set && before->write >= after->write))
		return err_set(err, MSG_THROUGHPUT_LIMIT, members[1], STR_ARG(what), "Write",
			       STR_ARG(table->identity.region));
	return OK;
}

static enum code check_limits(const struct table *before, const struct table *after,
			      const struct index *old, const struct index *new, struct err *err)
{
	static const char *on_demand[] = {"MaxReadRequestUnits for OnDemandThroughput",
					  "MaxWriteRequestUnits for OnDemandThroughput"};
	static const char *warm[] = {"ReadUnitsPerSecond for WarmThroughput",
				     "WriteUnitsPerSecond for WarmThroughput"};
	const struct throughput none = {0}, *units = new ? &new->settings->throughput
							 : &after->settings->throughput;
	const struct throughput *had = old             ? &old->settings->throughput
				       : !new &&before ? &before->settings->throughput
						       : &none;
	const struct throughput_pair nothing = {false, 0, 0};
	const struct throughput_pair *limits = old             ? &old->settings->on_demand
					       : !new &&before ? &before->settings->on_demand
							       : &nothing;
	struct throughput_pair heat =
		old || (!new &&before) ? throughput_rules_warm_now(before, old) : nothing;
	struct throughput_pair heated = throughput_rules_warm_now(after, new);

	enum code code = check_units_quota(after, new, true, units->read, had->read, err);
	if (code != OK)
		return code;
	code = check_units_quota(after, new, false, units->write, had->write, err);
	if (code != OK)
		return code;
	code = check_pair(after, named(after, new, " : "), on_demand,
			  new ? &new->settings->on_demand : &after->settings->on_demand, limits,
			  err);
	if (code != OK)
		return code;
	return check_pair(after, named(after, new, " "), warm, &heated, &heat, err);
}

enum code throughput_rules_limits(const struct table *before, const struct table *after,
				  struct err *err)
{
	enum code code = check_limits(before, after, NULL, NULL, err);

	for (size_t i = 0; i < after->indexes.n && code == OK; i++) {
		const struct index *index = &after->indexes.v[i];

		if (!index->is_local)
			code = check_limits(before, after,
					    before ? table_index(before, index->name) : NULL, index,
					    err);
	}
	return code;
}
