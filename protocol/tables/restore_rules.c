#include "protocol/tables/restore_rules.h"

#include "protocol/tables/control_messages.h"
#include "protocol/tables/describe.h"
#include "protocol/tables/encryption_rules.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/timing/timing.h"
#include "storage/uuid.h"

#define RESTORES_MAX 50 /* AWS: DDB-TABLE-350 */

static bool has_key(const struct key_schema *keys, unsigned i,
		    const struct key_schema_element *element)
{
	return str_eq(keys->attributes[i].name, element->attribute_name) &&
	       (i < keys->hash_count) == (element->key_type == KEY_TYPE_HASH);
}

static bool has_keys(const struct key_schema *keys, const struct key_schema_input *input)
{
	bool is_same = input->n == key_schema_count(keys);

	for (unsigned i = 0; i < input->n && is_same; i++)
		is_same = has_key(keys, i, &input->v[i]);
	return is_same;
}

static bool has_projection(const struct index *index, const struct projection_input *input)
{
	static const enum projection_type types[] = {
		[PROJECTION_TYPE_ALL] = PROJECT_ALL,
		[PROJECTION_TYPE_KEYS_ONLY] = PROJECT_KEYS_ONLY,
		[PROJECTION_TYPE_INCLUDE] = PROJECT_INCLUDE,
	};
	bool is_same = input->projection_type &&
		       types[input->projection_type] == index->projection &&
		       input->non_key_attributes.n == index->included_count;

	for (size_t i = 0; i < index->included_count && is_same; i++) {
		bool is_found = false;

		for (size_t k = 0; k < input->non_key_attributes.n && !is_found; k++)
			is_found = str_eq(input->non_key_attributes.v[k], index->included[i]);
		is_same = is_found;
	}
	return is_same;
}

static bool overrides_vector(const struct vector_spec *spec, const struct vector_index *input)
{
	static const enum vector_distance distances[] = {
		[VECTOR_DISTANCE_FUNCTION_COSINE] = DISTANCE_COSINE,
		[VECTOR_DISTANCE_FUNCTION_EUCLIDEAN] = DISTANCE_EUCLIDEAN,
		[VECTOR_DISTANCE_FUNCTION_DOT_PRODUCT] = DISTANCE_DOT_PRODUCT,
	};
	bool is_same = str_eq(spec->attribute, input->vector_attribute->attribute_name) &&
		       spec->dimensions == input->dimensions.value &&
		       spec->distance == distances[input->distance_function] &&
		       spec->schema_count == input->search_schema.n;

	for (size_t i = 0; i < spec->schema_count && is_same; i++)
		is_same = str_eq(spec->schema[i].attribute.name,
				 input->search_schema.v[i].attribute_name) &&
			  spec->schema[i].is_hash ==
				  (input->search_schema.v[i].search_schema_element_type ==
				   SEARCH_SCHEMA_ELEMENT_TYPE_HASH);
	return is_same;
}

/* A new table's units were never changed. */
static void bare_units(struct throughput *units)
{
	*units = (struct throughput){.read = units->read, .write = units->write};
}

/* What is left of the source: keys, indexes, throughput, encryption. */
static struct table *bare(const struct call *call, const struct table *source, struct str name)
{
	struct table *table = table_clone(source);
	size_t kept = 0;

	table->identity = (struct table_identity){
		.account = str_copy(table->arena, call->ns.account),
		.region = str_copy(table->arena, call->ns.region),
		.name = str_copy(table->arena, name),
		.id = uuid_new(table->arena),
	};
	table->state = (struct table_state){.status = STATUS_ACTIVE, .job = STR_ABSENT};
	table->streams.view = STREAM_OFF;
	table->streams.label = STR_ABSENT;
	table->streams.n = 0;
	table->log = (struct table_log){0};
	table->group = (struct table_group){.id = STR_ABSENT};
	table->ttl = (struct table_ttl){.attribute = STR_ABSENT};
	settings_keep_table(table->settings, SETTINGS_EVERYWHERE);
	bare_units(&table->settings->throughput);
	if (!table->settings->sse_enabled)
		table->settings->sse_key = STR_ABSENT;
	for (size_t i = 0; i < table->indexes.n; i++) {
		if (index_is_kept(&table->indexes.v[i]))
			table->indexes.v[kept++] = table->indexes.v[i];
	}
	table->indexes.n = kept;
	kept = 0;
	for (size_t i = 0; i < table->indexes.vector_n; i++) {
		if (index_is_kept(&table->indexes.vectors[i]))
			table->indexes.vectors[kept++] = table->indexes.vectors[i];
	}
	table->indexes.vector_n = kept;
	for (size_t i = 0; i < table_index_total(table); i++) {
		struct index *index = table_index_at(table, i);

		settings_keep_index(index->settings, SETTINGS_EVERYWHERE);
		bare_units(&index->settings->throughput);
		index->is_backfilling = false;
		index->settles_ms = 0;
	}
	return table;
}

/* Moves index `from` of `n` to the place `to`, before it. */
static void move_index(struct index *indexes, size_t from, size_t to)
{
	struct index moved = indexes[from];

	memmove(&indexes[to + 1], &indexes[to], (from - to) * sizeof(*indexes));
	indexes[to] = moved;
}

static void set_units(struct throughput *throughput, const struct provisioned_throughput *units)
{
	*throughput = (struct throughput){.read = units->read_capacity_units.value,
					  .write = units->write_capacity_units.value};
}

static enum code set_maxima(struct throughput_pair *pair, const struct on_demand_throughput *maxima,
			    struct err *err)
{
	const struct opt_int *read = &maxima->max_read_request_units,
			     *write = &maxima->max_write_request_units;

	if (read->is_set && read->value < 1)
		return err_set(err, MSG_RESTORE_MAXIMA_RANGE, "MaxReadRequestUnits");
	if (write->is_set && write->value < 1)
		return err_set(err, MSG_RESTORE_MAXIMA_RANGE, "MaxWriteRequestUnits");
	*pair = (struct throughput_pair){read->is_set || write->is_set,
					 read->is_set ? read->value : 0,
					 write->is_set ? write->value : 0};
	return OK;
}

static enum code override_local(struct table *table, const struct local_secondary_index *input,
				size_t *kept, struct err *err)
{
	for (size_t i = *kept; i < table->indexes.n; i++) {
		struct index *index = &table->indexes.v[i];

		if (!index->is_local || !has_keys(&index->keys, &input->key_schema) ||
		    !has_projection(index, input->projection))
			continue;
		index->name = str_copy(table->arena, input->index_name);
		move_index(table->indexes.v, i, (*kept)++);
		return OK;
	}
	return err_set(err, MSG_RESTORE_INDEX, STR_ARG(input->index_name));
}

/* The index's own units and maxima, beside what it had. */
static enum code override_units(struct table *table, struct index *index,
				const struct global_secondary_index *input, struct err *err)
{
	bool is_on_demand = table->settings->billing == BILLING_PAY_PER_REQUEST;

	if (is_on_demand && input->provisioned_throughput)
		return err_set(err, MSG_RESTORE_UNITS_INDEX, STR_ARG(input->index_name));
	if (input->provisioned_throughput)
		set_units(&index->settings->throughput, input->provisioned_throughput);
	return input->on_demand_throughput
		       ? set_maxima(&index->settings->on_demand, input->on_demand_throughput, err)
		       : OK;
}

static enum code override_global(struct table *table, const struct global_secondary_index *input,
				 size_t *kept, struct err *err)
{
	for (size_t i = *kept; i < table->indexes.n; i++) {
		struct index *index = &table->indexes.v[i];

		if (index->is_local || !has_keys(&index->keys, &input->key_schema) ||
		    !has_projection(index, input->projection))
			continue;
		enum code code = override_units(table, index, input, err);
		index->name = str_copy(table->arena, input->index_name);
		move_index(table->indexes.v, i, (*kept)++);
		return code;
	}
	return err_set(err, MSG_RESTORE_INDEX, STR_ARG(input->index_name));
}

static enum code override_vector(struct table *table, const struct vector_index *input,
				 size_t *kept, struct err *err)
{
	for (size_t i = *kept; i < table->indexes.vector_n; i++) {
		struct index *index = &table->indexes.vectors[i];

		if (!overrides_vector(index->vector, input) ||
		    !has_projection(index, input->projection))
			continue;
		index->name = str_copy(table->arena, input->index_name);
		move_index(table->indexes.vectors, i, (*kept)++);
		return OK;
	}
	return err_set(err, MSG_RESTORE_INDEX, STR_ARG(input->index_name));
}

/* Local ones come first. A list that was given has all that stay. */
static enum code override_restored_indexes(struct table *table,
					   const struct restore_overrides *overrides,
					   struct err *err)
{
	size_t locals = 0, kept = 0;
	enum code code = OK;

	while (locals < table->indexes.n && table->indexes.v[locals].is_local)
		locals++;
	for (size_t i = 0; i < overrides->locals.n && code == OK; i++)
		code = override_local(table, &overrides->locals.v[i], &kept, err);
	if (overrides->locals.v && code == OK) {
		memmove(&table->indexes.v[kept], &table->indexes.v[locals],
			(table->indexes.n - locals) * sizeof(*table->indexes.v));
		table->indexes.n -= locals - kept;
		locals = kept;
	}
	kept = locals;
	for (size_t i = 0; i < overrides->globals.n && code == OK; i++)
		code = override_global(table, &overrides->globals.v[i], &kept, err);
	if (overrides->globals.v)
		table->indexes.n = kept;
	kept = 0;
	for (size_t i = 0; i < overrides->vectors.n && code == OK; i++)
		code = override_vector(table, &overrides->vectors.v[i], &kept, err);
	if (overrides->vectors.v)
		table->indexes.vector_n = kept;
	return code;
}

static enum code check_restored_billing(const struct table *source,
					const struct restore_overrides *overrides, struct err *err)
{
	bool was_on_demand = source->settings->billing == BILLING_PAY_PER_REQUEST;
	bool is_on_demand = overrides->billing ? overrides->billing == BILLING_MODE_PAY_PER_REQUEST
					       : was_on_demand;

	if (overrides->units && overrides->billing && is_on_demand)
		return err_set(err, MSG_RESTORE_UNITS_ON_DEMAND);
	if (overrides->units && is_on_demand)
		return err_set(err, MSG_RESTORE_UNITS);
	if (!overrides->units && overrides->billing && !is_on_demand)
		return err_set(err, MSG_RESTORE_UNITS_MISSING);
	if (overrides->maxima && !is_on_demand)
		return err_set(err, MSG_RESTORE_MAXIMA,
			       overrides->maxima->max_read_request_units.is_set
				       ? "MaxReadRequestUnits"
				       : "MaxWriteRequestUnits");
	return OK;
}

/* Units and maxima of the billing mode that the new table has. */
static enum code override_billing(struct table *table, const struct restore_overrides *overrides,
				  struct err *err)
{
	bool is_on_demand = table->settings->billing == BILLING_PAY_PER_REQUEST;
	enum code code = OK;

	if (is_on_demand)
		table->settings->throughput = (struct throughput){0};
	else
		table->settings->on_demand = (struct throughput_pair){false, 0, 0};
	if (overrides->units)
		set_units(&table->settings->throughput, overrides->units);
	if (overrides->maxima)
		code = set_maxima(&table->settings->on_demand, overrides->maxima, err);
	for (size_t i = 0; i < table->indexes.n && code == OK; i++) {
		struct index *index = &table->indexes.v[i];

		if (index->is_local)
			continue;
		if (is_on_demand)
			index->settings->throughput = (struct throughput){0};
		else
			index->settings->on_demand = (struct throughput_pair){false, 0, 0};
		if (!is_on_demand && index->settings->throughput.read == 0)
			code = err_set(err, MSG_RESTORE_INDEX_UNITS, STR_ARG(index->name));
	}
	return code;
}

static enum code override_all(struct table *table, const struct restore_overrides *overrides,
			      struct err *err)
{
	enum code code = override_restored_indexes(table, overrides, err);

	if (code != OK)
		return code;
	code = override_billing(table, overrides, err);
	if (code != OK)
		return code;
	if (overrides->sse)
		code = encryption_rules_apply(table, overrides->sse, true, err);
	if (code != OK)
		return code;
	if (overrides->sse && !table->settings->sse_enabled)
		table->settings->sse_key = STR_ABSENT;
	return throughput_rules_limits(NULL, table, err);
}

enum code restore_rules_table(struct call *call, const struct table *source, struct str name,
			      const struct restore_overrides *overrides, struct table **out,
			      struct err *err)
{
	enum code code = check_restored_billing(source, overrides, err);
	struct table *table;

	if (code != OK)
		return code;
	if (overrides->sse)
		code = encryption_rules_check(overrides->sse, err);
	if (code != OK)
		return code;
	table = bare(call, source, name);
	if (overrides->billing)
		table->settings->billing = overrides->billing == BILLING_MODE_PAY_PER_REQUEST
						   ? BILLING_PAY_PER_REQUEST
						   : BILLING_PROVISIONED;
	code = override_all(table, overrides, err);
	if (code != OK) {
		table_unref(table);
		return code;
	}
	table_rules_prune(table);
	*out = table;
	return OK;
}

struct counting {
	struct str name;      /* of the target */
	struct str backup;    /* out: from what it is restored already; absent: it is not */
	size_t n;             /* out: restores under way */
};

static enum code apply_count(struct job_txn *txn, void *context, struct err *err)
{
	struct counting *counting = context;
	struct job *jobs;
	enum code code = job_list_open(txn, RESTORE_KIND, STR_ABSENT, &jobs, &counting->n, err);

	counting->backup = STR_ABSENT;
	if (code != OK)
		return code;
	for (size_t i = 0; i < counting->n; i++) {
		struct restore restore;

		if (!str_eq(jobs[i].subject, counting->name))
			continue;
		code = restore_of(txn->arena, &jobs[i], &restore, err);
		if (code != OK)
			return code;
		counting->backup = str_is_set(restore.backup) ? restore.backup : STR("");
	}
	return OK;
}

enum code restore_rules_target(struct call *call, struct str name, struct err *err)
{
	struct counting counting = {.name = name};
	struct err ignored = err_in(call->arena);
	struct table *table;
	enum code code = job_read(call->service->catalog, call->ns, apply_count, &counting, err);

	if (code != OK)
		return code;
	if (catalog_get(call->service->catalog, call->ns, name, call->now_ms, &table, &ignored) ==
	    OK) {
		call_hold(call, table);
		if (!str_is_set(table->state.job))
			return err_set(err, MSG_RESTORE_EXISTS, STR_ARG(name));
		if (!str_is_set(counting.backup))
			return err_set(err, MSG_RESTORE_CREATING, STR_ARG(name));
	}
	if (str_is_set(counting.backup))
		return err_set(err, MSG_RESTORE_TWICE, STR_ARG(name), STR_ARG(counting.backup));
	return counting.n >= RESTORES_MAX ? err_set(err, MSG_RESTORES_MANY, RESTORES_MAX) : OK;
}

static enum code show_and_run(struct call *call, struct table *created, const struct job *job,
			      struct err *err)
{
	enum code code =
		describe_table(call, STR("TableDescription"), created, STATUS_CREATING, err);

	if (code != OK)
		return code;
	return job_run_now(call->service->jobs, call->ns, RESTORE_KIND, job->id, JOB_PROMPT_STEPS,
			   call->now_ms, err);
}

enum code restore_rules_start(struct call *call, const struct table *source, struct table *table,
			      const struct restore *restore, struct err *err)
{
	struct restore own = *restore;
	struct job job;
	struct table *created;

	own.shown_ms = call->now_ms + timing_lasts(call, TIMING_RESTORE);
	enum code code = restore_begin(call->service->catalog, call->ns, source, table, &own,
				       call->now_ms, &job, &created, err);
	if (code != OK)
		return code == ERR_RESOURCE_IN_USE
			       ? err_set(err, MSG_RESTORE_EXISTS, STR_ARG(job.subject))
			       : code;
	call_hold(call, created);
	code = show_and_run(call, created, &job, err);
	if (call->service->upkeep.wake)
		call->service->upkeep.wake(call->service->upkeep.context);
	return code;
}
