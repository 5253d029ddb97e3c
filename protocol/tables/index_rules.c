#include "protocol/tables/index_rules.h"

#include <assert.h>

#include "core/buf.h"
#include "core/seen.h"
#include "protocol/wire/java_order.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/table_rules.h"
#include "protocol/tables/throughput_rules.h"
#include "protocol/vector_messages.h"

static struct str name_of(const struct global_secondary_index_update *update)
{
	return update->create   ? update->create->index_name
	       : update->update ? update->update->index_name
				: update->delete->index_name;
}

static enum code check_index_entries(const struct global_secondary_index_update_list *updates,
				     struct err *err)
{
	assert(updates->v || updates->n == 0);
	for (size_t i = 0; i < updates->n; i++) {
		const struct global_secondary_index_update *update = &updates->v[i];

		switch ((update->create != NULL) + (update->update != NULL) +
			(update->delete != NULL)) {
		case 0:
			return err_set(err, MSG_UPDATE_INDEX_NO_ACTION);
		case 1:
			break;
		default:
			return err_set(err, MSG_UPDATE_INDEX_ACTIONS);
		}
	}
	struct seen seen = seen_new(err->arena, updates->n);
	for (size_t i = 0; i < updates->n; i++) {
		const struct update_global_secondary_index_action *update = updates->v[i].update;

		if (!seen_add(&seen, name_of(&updates->v[i])))
			return err_set(err, MSG_UPDATE_INDEX_TWICE,
				       STR_ARG(name_of(&updates->v[i])));
		if (update && update->warm_throughput &&
		    !throughput_rules_has_warm(update->warm_throughput))
			return err_set(err, MSG_WARM_EMPTY, STR_ARG(update->index_name));
	}
	return OK;
}

static enum code check_vector_entries(const struct vector_index_update_list *updates,
				      struct err *err)
{
	assert(updates->v || updates->n == 0);
	if (updates->v && updates->n == 0)
		return err_set(err, MSG_INDEX_LIST_EMPTY, "VectorIndexUpdates");
	for (size_t i = 0; i < updates->n; i++) {
		if (updates->v[i].create && updates->v[i].delete)
			return err_set(err, MSG_VECTOR_UPDATE_BOTH);
		if (!updates->v[i].create && !updates->v[i].delete)
			return err_set(err, MSG_VECTOR_UPDATE_NEITHER);
	}
	return OK;
}

enum code index_rules_request(const struct update_table_input *input, struct err *err)
{
	const struct global_secondary_index_update_list *updates =
		&input->global_secondary_index_updates;

	if (updates->v && updates->n == 0)
		return err_set(err, MSG_INDEX_LIST_EMPTY, "GlobalSecondaryIndexUpdates");
	enum code code = check_index_entries(updates, err);
	if (code != OK)
		return code;
	return check_vector_entries(&input->vector_index_updates, err);
}

/* The index that is being created or deleted, or NULL. */
static const struct index *index_at_work(const struct table *table)
{
	for (size_t i = 0; i < table_index_total(table); i++) {
		const struct index *index = table_index_at(table, i);

		if (index->is_backfilling || index->status == STATUS_DELETING)
			return index;
	}
	return NULL;
}

/* ACTION_WARM: an update that is about WarmThroughput */
enum action { ACTION_CREATE, ACTION_UPDATE, ACTION_WARM, ACTION_DELETE };

static enum action action_of(const struct global_secondary_index_update *update)
{
	if (update->create)
		return ACTION_CREATE;
	if (update->update)
		return update->update->warm_throughput ? ACTION_WARM : ACTION_UPDATE;
	return ACTION_DELETE;
}

/* Checks the change against the state of `index`, the one of that name or NULL. */
static enum code check_one(const struct table *table, const struct index *index, struct str name,
			   enum action action, struct err *err)
{
	bool is_allocating =
		index && index->is_backfilling && table->state.status == STATUS_UPDATING;

	if (!index && action == ACTION_CREATE)
		return OK;
	if (!index && action == ACTION_WARM)
		return err_set(err, MSG_UPDATE_FAILURE);
	if (!index)
		return err_set(err, MSG_UPDATE_INDEX_ABSENT, STR_ARG(name),
			       STR_ARG(table->identity.name));
	if (index->is_local && action != ACTION_CREATE)
		return err_set(err, MSG_UPDATE_INDEX_LOCAL,
			       action == ACTION_DELETE ? "delete" : "update", STR_ARG(name));
	if (index->status == STATUS_DELETING)
		return err_set(err, MSG_INDEX_IN_USE, "deleted", STR_ARG(table->identity.name),
			       STR_ARG(name));
	if (action == ACTION_CREATE && index->is_backfilling)
		return err_set(err, MSG_INDEX_BEING_CREATED, STR_ARG(table->identity.name),
			       STR_ARG(name));
	if (action == ACTION_CREATE && !index_at_work(table))
		return err_set(err, MSG_INDEX_EXISTS);
	if (action == ACTION_DELETE && is_allocating)
		return err_set(err, MSG_INDEX_ALLOCATING, STR_ARG(table->identity.name),
			       STR_ARG(name));
	if ((action == ACTION_UPDATE || action == ACTION_WARM) && is_allocating)
		return err_set(err, MSG_INDEX_NOT_FILLING, STR_ARG(table->identity.name),
			       STR_ARG(name));
	if ((action == ACTION_UPDATE || action == ACTION_WARM) && index->status == STATUS_UPDATING)
		return err_set(err, MSG_INDEX_IN_USE, "updated", STR_ARG(table->identity.name),
			       STR_ARG(name));
	return OK;
}

/* A creation or deletion while another is at work. */
static enum code check_heavy(const struct table *table, struct str name, enum action action,
			     struct err *err)
{
	const struct index *at_work = index_at_work(table);

	/* deleting the index that is being filled calls its creation off */
	if (at_work && !(action == ACTION_DELETE && str_eq(name, at_work->name)))
		return err_set(err, MSG_UPDATE_INDEX_MANY);
	return OK;
}

/* AWS: one a call, whether the indexes exist or not. */
static enum code check_one_heavy(const struct update_table_input *input, struct err *err)
{
	size_t heavy = input->vector_index_updates.n;

	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++)
		heavy += input->global_secondary_index_updates.v[i].update == NULL;
	return heavy > 1 ? err_set(err, MSG_UPDATE_INDEX_MANY) : OK;
}

enum code index_rules_state(const struct table *table, const struct update_table_input *input,
			    struct err *err)
{
	const struct global_secondary_index_update_list *updates =
		&input->global_secondary_index_updates;
	const struct vector_index_update_list *vectors = &input->vector_index_updates;
	enum code code = check_one_heavy(input, err);

	if (code != OK)
		return code;
	for (size_t i = 0; i < updates->n; i++) {
		struct str name = name_of(&updates->v[i]);
		enum action action = action_of(&updates->v[i]);
		const struct index *index = table_index(table, name);

		if (!index && action == ACTION_CREATE)
			index = table_vector(table, name);
		code = check_one(table, index, name, action, err);
		if (code != OK)
			return code;
		if (!updates->v[i].update)
			code = check_heavy(table, name, action, err);
		if (code != OK)
			return code;
	}
	for (size_t i = 0; i < vectors->n; i++) {
		enum action action = vectors->v[i].create ? ACTION_CREATE : ACTION_DELETE;
		struct str name = vectors->v[i].create ? vectors->v[i].create->index_name
						       : vectors->v[i].delete->index_name;
		const struct index *index = table_vector(table, name);

		if (!index && action == ACTION_CREATE)
			index = table_index(table, name);
		code = check_one(table, index, name, action, err);
		if (code != OK)
			return code;
		code = check_heavy(table, name, action, err);
		if (code != OK)
			return code;
	}
	return OK;
}

/* A table is UPDATING while an index is allocated or deleted: then AWS lets through what does not
 * touch its capacity or stream. */
enum code index_rules_while_updating(const struct table *table,
				     const struct update_table_input *input, struct err *err)
{
	const struct index *at_work = index_at_work(table);
	bool is_creation = at_work && at_work->is_backfilling;
	int billing = table->settings->billing == BILLING_PROVISIONED
			      ? BILLING_MODE_PROVISIONED
			      : BILLING_MODE_PAY_PER_REQUEST;

	if (!at_work || str_is_set(input->table_class))
		return err_set(err, MSG_TABLE_IN_USE, table_rules_doing(table->state.status),
			       STR_ARG(table->identity.name));
	if (input->provisioned_throughput ||
	    (input->billing_mode && input->billing_mode != billing))
		return err_set(err, MSG_UNITS_INDEX_IN_USE, is_creation ? "created" : "deleted",
			       STR_ARG(table->identity.name), STR_ARG(at_work->name));
	if (input->stream_specification)
		return err_set(err, MSG_STREAM_INDEX_IN_USE, is_creation ? "created" : "deleted");
	if (input->on_demand_throughput)
		return err_set(err, MSG_ON_DEMAND_INDEX_IN_USE,
			       is_creation ? "creation" : "deletion", STR_ARG(at_work->name));
	return OK;
}

static struct index *index_named(struct table *table, struct str name)
{
	for (size_t i = 0; i < table_index_total(table); i++) {
		if (str_eq(table_index_at(table, i)->name, name))
			return table_index_at(table, i);
	}
	return NULL;
}

static enum code update_index(struct table *table,
			      const struct update_global_secondary_index_action *input,
			      int64_t now_ms, struct err *err)
{
	struct index *index = index_named(table, input->index_name);
	bool is_on_demand = table->settings->billing == BILLING_PAY_PER_REQUEST;

	assert(index); /* all of them exist: checked before */
	bool is_asked = input->provisioned_throughput || input->warm_throughput ||
			throughput_rules_has_on_demand(input->on_demand_throughput);
	if (is_on_demand && (input->provisioned_throughput || !is_asked))
		return err_set(err, MSG_UPDATE_INDEX_ON_DEMAND, STR_ARG(index->name));
	if (!is_asked)
		return err_set(err, MSG_UNITS_INDEX_REQUIRED, STR_ARG(index->name));
	enum code code = throughput_rules_on_demand(table, index, input->on_demand_throughput,
						    THROUGHPUT_UPDATE, err);
	if (code != OK)
		return code;
	code = throughput_rules_warm(table, index, input->warm_throughput, THROUGHPUT_UPDATE, err);
	if (code != OK)
		return code;
	if (input->provisioned_throughput)
		code = throughput_rules_units(table, index, input->provisioned_throughput, now_ms,
					      err);
	if (code != OK)
		return code;
	if (index->status == STATUS_ACTIVE &&
	    (input->provisioned_throughput ||
	     throughput_rules_has_on_demand(input->on_demand_throughput)))
		index->status = STATUS_UPDATING;
	return OK;
}

/* AWS: the request itself must define the new index's keys, and none as another type than the table
 * has. */
static enum code check_definitions(struct table *table,
				   const struct create_global_secondary_index_action *input,
				   const struct attribute_definitions *definitions, struct err *err)
{
	const struct value types = table_rules_types(err->arena, definitions);
	struct str *keys = ARENA_ARRAY(table->arena, struct str, input->key_schema.n + 1);
	struct str *defined = ARENA_ARRAY(table->arena, struct str, definitions->n + 1);
	bool is_missing = false;

	if (definitions->n == 0)
		return err_set(err, MSG_UPDATE_INDEX_UNDEFINED, STR_ARG(input->index_name));
	for (size_t i = 0; i < definitions->n; i++)
		defined[i] = definitions->v[i].attribute_name;
	for (size_t i = 0; i < input->key_schema.n; i++) {
		const struct key_schema_element *key = &input->key_schema.v[i];
		const struct value *now = value_member(&types, key->attribute_name);

		keys[i] = key->attribute_name;
		is_missing = is_missing || !now;
		for (size_t k = 0; k < table->settings->definition_count && now; k++) {
			const struct key_attribute *old = &table->settings->definitions[k];
			const char *kind = key->key_type == KEY_TYPE_HASH ? "HASH" : "RANGE";

			if (str_eq(old->name, key->attribute_name) &&
			    old->type != (enum type)now->type)
				return err_set(err, MSG_KEYS_REDEFINED, STR_ARG(old->name),
					       type_name(old->type), kind, STR_ARG(old->name),
					       type_name((enum type)now->type), kind);
		}
	}
	if (is_missing && definitions->n < input->key_schema.n)
		return err_set(err, MSG_KEYS_UNDEFINED);
	return is_missing ? err_set(err, MSG_KEYS_MISSING,
				    STR_ARG(java_order_list(err->arena, keys, input->key_schema.n,
							    true)),
				    STR_ARG(java_order_list(err->arena, defined, definitions->n,
							    true)))
			  : OK;
}

/* A new index of a live table, to be filled. */
static void begin(struct table *table, struct index *added)
{
	added->number = table->indexes.next++;
	added->status = STATUS_CREATING;
	added->is_backfilling = true;
	table_index_derive(table, added);
}

static enum code create_global_index(struct table *table,
				     const struct create_global_secondary_index_action *input,
				     const struct attribute_definitions *definitions,
				     struct err *err)
{
	struct global_secondary_index index = {
		.index_name = input->index_name,
		.key_schema = input->key_schema,
		.projection = input->projection,
		.provisioned_throughput = input->provisioned_throughput,
		.on_demand_throughput = input->on_demand_throughput,
		.warm_throughput = input->warm_throughput,
	};
	size_t globals = 0;

	for (size_t i = 0; i < table->indexes.n; i++)
		globals += !table->indexes.v[i].is_local;
	if (globals >= GLOBAL_INDEXES_MAX) /* AWS: another error than CreateTable's */
		return err_set(err, MSG_UPDATE_INDEX_LIMIT, GLOBAL_INDEXES_MAX);
	enum code code = check_definitions(table, input, definitions, err);
	if (code != OK)
		return code;
	if (table->settings->billing == BILLING_PROVISIONED && !input->provisioned_throughput)
		return err_set(err, MSG_UPDATE_INDEX_UNITS_REQUIRED, STR_ARG(input->index_name));
	if (table->settings->billing == BILLING_PAY_PER_REQUEST && input->provisioned_throughput)
		return err_set(err, MSG_UPDATE_INDEX_UNITS_REFUSED, STR_ARG(input->index_name));
	code = table_rules_define(table, definitions, err);
	if (code != OK)
		return code;
	code = table_rules_add_global(table, &index, err);
	if (code != OK)
		return code;
	code = table_rules_not_vector_key(table, &table->indexes.v[table->indexes.n - 1], err);
	if (code != OK)
		return code;
	begin(table, &table->indexes.v[table->indexes.n - 1]);
	return OK;
}

static enum code create_vector(struct table *table, const struct create_vector_index_action *input,
			       const struct attribute_definitions *definitions, struct err *err)
{
	struct vector_index vector = {
		.index_name = input->index_name,
		.vector_attribute = input->vector_attribute,
		.search_schema = input->search_schema,
		.projection = input->projection,
		.dimensions = input->dimensions,
		.distance_function = input->distance_function,
	};

	if (table->settings->billing != BILLING_PAY_PER_REQUEST)
		return err_set(err, MSG_VECTOR_BILLING);
	if (table->indexes.vector_n >= VECTOR_INDEXES_MAX)
		return err_set(err, MSG_VECTOR_COUNT_UPDATE, VECTOR_INDEXES_MAX);
	enum code code = table_rules_define(table, definitions, err);
	if (code != OK)
		return code;
	code = table_rules_add_vector(table, &vector, definitions, err);
	if (code != OK)
		return code;
	begin(table, &table->indexes.vectors[table->indexes.vector_n - 1]);
	return OK;
}

static void delete_index(struct table *table, struct str name)
{
	struct index *index = index_named(table, name);

	assert(index);
	index->status = STATUS_DELETING;
	index->is_backfilling = false;
	table_rules_prune(table);
}

static bool is_updated(const struct update_table_input *input, struct str name)
{
	for (size_t i = 0; i < input->global_secondary_index_updates.n; i++) {
		const struct global_secondary_index_update *update =
			&input->global_secondary_index_updates.v[i];

		if (str_eq(name_of(update), name) &&
		    (!update->update || update->update->provisioned_throughput))
			return true;
	}
	return false;
}

/* AWS: a request that makes a table PROVISIONED gives every index its units; the error names all
 * indexes without. */
static enum code check_all_updated(const struct table *table,
				   const struct update_table_input *input, struct err *err)
{
	struct buf missing = buf_in(err->arena);

	for (size_t i = 0; i < table->indexes.n; i++) {
		if (!table->indexes.v[i].is_local && !is_updated(input, table->indexes.v[i].name))
			buf_printf(&missing, "%s" STR_FMT, missing.n ? "," : "",
				   STR_ARG(table->indexes.v[i].name));
	}
	return missing.n ? err_set(err, MSG_UNITS_INDEX_REQUIRED, STR_ARG(buf_str(&missing))) : OK;
}

enum code index_rules_apply(struct table *table, const struct update_table_input *input,
			    bool becomes_provisioned, int64_t now_ms, struct err *err)
{
	enum code code = becomes_provisioned ? check_all_updated(table, input, err) : OK;

	for (size_t i = 0; i < input->global_secondary_index_updates.n && code == OK; i++) {
		const struct global_secondary_index_update *update =
			&input->global_secondary_index_updates.v[i];

		if (update->create)
			code = create_global_index(table, update->create,
						   &input->attribute_definitions, err);
		else if (update->update)
			code = update_index(table, update->update, now_ms, err);
		else
			delete_index(table, update->delete->index_name);
	}
	for (size_t i = 0; i < input->vector_index_updates.n && code == OK; i++) {
		const struct vector_index_update *update = &input->vector_index_updates.v[i];

		if (update->create)
			code = create_vector(table, update->create, &input->attribute_definitions,
					     err);
		else
			delete_index(table, update->delete->index_name);
	}
	return code;
}
