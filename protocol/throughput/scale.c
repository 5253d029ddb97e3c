#include "protocol/throughput/scale.h"

#include <stdlib.h>

#include "protocol/tables/scaling.h"
#include "protocol/throughput/throughput_internal.h"

#define MINUTE_MS 60000

/* A table that was used. */
struct used {
	uint64_t number;
	struct str name;
};

/* Whether the minute is another one. Then *tables are those that the space has meters of. */
static bool starts_minute(struct call *call, struct throughput_space *space, struct used **tables,
			  size_t *n)
{
	int64_t minute = call->now_ms / MINUTE_MS;

	pthread_mutex_lock(&space->lock);
	bool is_other = space->minute != minute;
	space->minute = minute;
	*n = is_other ? space->n : 0;
	*tables = ARENA_ARRAY(call->arena, struct used, *n + 1);
	for (size_t i = 0; i < *n; i++)
		(*tables)[i] = (struct used){space->meters[i]->table,
					     str_copy(call->arena, space->meters[i]->name)};
	pthread_mutex_unlock(&space->lock);
	return is_other;
}

static struct follow_rule rule_of(const struct scaling *scaling)
{
	return (struct follow_rule){
		.least = scaling->least,
		.most = scaling->most,
		.target = strtod(scaling->target.p, NULL),
		.in_cooldown = scaling->in_cooldown,
		.out_cooldown = scaling->out_cooldown,
		.is_in_off = scaling->is_scale_in_disabled || scaling->is_in_suspended,
		.is_out_off = scaling->is_out_suspended,
	};
}

/* The units that one dimension comes to; those that it has where nothing changes. */
static int64_t follow_scaling(struct call *call, struct throughput_space *space,
			      const struct table *table, const struct scaling *scaling,
			      int64_t units)
{
	const struct index *index =
		str_is_set(scaling->index) ? table_index(table, scaling->index) : NULL;
	const struct follow_rule rule = rule_of(scaling);
	struct meter_part *part = NULL;

	pthread_mutex_lock(&space->lock);
	for (size_t i = 0; i < space->n && !part; i++) {
		if (space->meters[i]->table == table->identity.number)
			part = meter_find(space->meters[i],
					  index ? (int64_t)index->number : METER_TABLE);
	}
	if (part)
		units = meter_follow(&part->sides[scaling->is_write ? METER_WRITE : METER_READ],
				     &rule, units, space->settings.all.rules.servers, call->now_ms);
	pthread_mutex_unlock(&space->lock);
	return units;
}

/* Changes `next` by all that scales it. False: nothing does. */
static bool follow_table(struct call *call, struct throughput_space *space,
			 const struct table *table, struct table *next)
{
	const struct table_settings *settings = table->settings;
	bool is_changed = false;

	for (size_t i = 0; i < settings->scaling_count; i++) {
		const struct scaling *scaling = &settings->scalings[i];
		struct throughput *units = scaling_units(next, scaling->index);

		if (!units || !scaling_is_on(scaling))
			continue;
		int64_t has = scaling->is_write ? units->write : units->read,
			wants = follow_scaling(call, space, table, scaling, has);
		if (wants == has)
			continue;
		scaling_set(next, scaling->index, scaling->is_write, wants, call->now_ms);
		is_changed = true;
	}
	return is_changed;
}

/* AWS: write capacity is that of all replicas. */
static struct catalog_change *changes_of_group(struct call *call, struct table *table,
					       struct table *next, size_t *n)
{
	struct catalog_change *changes =
		ARENA_ARRAY(call->arena, struct catalog_change, 1 + table->group.n);
	struct err ignored = err_in(call->arena);

	*n = 1;
	changes[0] =
		(struct catalog_change){.current = table, .next = next, .now_ms = call->now_ms};
	for (size_t i = 0; i < table->group.n; i++) {
		struct ns there = {call->ns.account, table->group.v[i].region};
		struct table *replica;

		if (str_eq(there.region, call->ns.region) ||
		    catalog_get_current(call->service->catalog, there, table->identity.name,
					call->now_ms, &replica, &ignored) != OK)
			continue;
		changes[*n] = (struct catalog_change){
			.current = replica, .next = table_clone(replica), .now_ms = call->now_ms};
		for (size_t k = 0; k < next->settings->scaling_count; k++) {
			const struct scaling *scaling = &next->settings->scalings[k];
			const struct throughput *units = scaling_units(next, scaling->index);

			if (scaling->is_write && units)
				scaling_set(changes[*n].next, scaling->index, true, units->write,
					    call->now_ms);
		}
		(*n)++;
	}
	return changes;
}

static void scale_table(struct call *call, struct throughput_space *space, struct table *table)
{
	struct err ignored = err_in(call->arena);
	struct table *next;
	size_t n;

	if (table->settings->scaling_count == 0 || table->settings->billing != BILLING_PROVISIONED)
		return;
	next = table_clone(table);
	if (!follow_table(call, space, table, next)) {
		table_unref(next);
		return;
	}
	struct catalog_change *changes = changes_of_group(call, table, next, &n);
	(void)!catalog_change_all(call->service->catalog, changes, n, &ignored);
	for (size_t i = 1; i < n; i++)
		table_unref(changes[i].current);
}

void scale_begin(struct call *call)
{
	struct throughput_space *space = throughput_call_of(call)->space;
	struct err ignored = err_in(call->arena);
	struct used *tables;
	size_t n;

	if (!starts_minute(call, space, &tables, &n))
		return;
	for (size_t i = 0; i < n; i++) {
		struct table *table;

		if (catalog_get_current(call->service->catalog, call->ns, tables[i].name,
					call->now_ms, &table, &ignored) != OK)
			continue;
		if (table->identity.number == tables[i].number)
			scale_table(call, space, table);
		table_unref(table);
	}
}
