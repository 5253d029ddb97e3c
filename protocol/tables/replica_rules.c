#include "protocol/tables/replica_rules.h"

#include "protocol/tables/control_messages.h"
#include "protocol/tables/encryption_rules.h"
#include "protocol/tables/table_messages.h"
#include "protocol/tables/replicas.h"
#include "protocol/tables/scaling.h"
#include "protocol/tables/table_rules.h"
#include "storage/catalog/catalog_size.h"
#include "storage/messages.h"

#define SOURCE_MS (24 * 60 * 60 * (int64_t)1000) /* AWS: "in the last 24 hours" */
#define STRONG_REGIONS 3                         /* replicas and a witness */

/* Where global tables can be. AWS: the error of a region that is none lists them in this order. */
static const char regions[] =
	"[ap-south-2, ap-south-1, eu-south-1, eu-south-2, me-central-1, il-central-1, "
	"ca-central-1, ap-east-2, mx-central-1, eu-central-1, "
	"eu-central-2, us-west-1, us-west-2, af-south-1, eu-north-1, eu-west-3, eu-west-2, "
	"eu-west-1, ap-northeast-3, ap-northeast-2, "
	"me-south-1, ap-northeast-1, sa-east-1, ap-east-1, ca-west-1, ap-southeast-1, "
	"ap-southeast-2, ap-southeast-3, ap-southeast-4, "
	"us-east-1, ap-southeast-5, us-east-2, ap-southeast-6, ap-southeast-7]";

/* Where replicas and witnesses with strong consistency can be. AWS: Developer Guide, "How DynamoDB
 * global tables work"; us-west-1 is refused. */
static const char strong_regions[] =
	"[us-east-1, us-east-2, us-west-2, eu-west-1, eu-west-2, eu-west-3, eu-central-1, "
	"ap-northeast-1, ap-northeast-2, ap-northeast-3]";

static bool is_listed_region(const char *list, struct str name)
{
	struct str all = str_of(list);

	for (size_t i = 1; i + name.n < all.n; i++) {
		char before = all.p[i - 1], behind = all.p[i + name.n];

		if ((before == '[' || before == ' ') && (behind == ',' || behind == ']') &&
		    str_eq((struct str){all.p + i, name.n}, name))
			return true;
	}
	return false;
}

/* Where there were global tables of version 2017.11.29, in the order of AWS's error. */
static const char legacy_regions[] =
	"[eu-west-2, eu-west-1, ap-southeast-1, ap-southeast-2, ap-northeast-2, eu-central-1, "
	"ap-northeast-1, us-east-1, us-east-2, us-west-1, us-west-2]";

enum code replica_rules_legacy(const struct ns *ns, struct err *err)
{
	if (is_listed_region(legacy_regions, ns->region))
		return err_set(err, MSG_GLOBAL_LEGACY);
	return err_set(err, MSG_GLOBAL_LEGACY_REGION, STR_ARG(ns->region), legacy_regions);
}

bool replica_rules_is_region(struct str name)
{
	return is_listed_region(regions, name);
}

/* AWS: an Update of nothing is no action; nor is an index without an override. */
static bool changes(const struct update_replication_group_member_action *update)
{
	bool has_index = false;

	for (size_t i = 0; i < update->global_secondary_indexes.n; i++) {
		const struct replica_global_secondary_index *index =
			&update->global_secondary_indexes.v[i];

		has_index = has_index || index->provisioned_throughput_override ||
			    index->on_demand_throughput_override;
	}
	return str_is_set(update->kms_master_key_id) || update->provisioned_throughput_override ||
	       update->on_demand_throughput_override || has_index ||
	       str_is_set(update->table_class_override);
}

static struct replica_change replica_rules_change(const struct replication_group_update *element)
{
	struct replica_change change = {REPLICA_NONE, STR_ABSENT};

	if ((element->create != NULL) + (element->update != NULL) + (element->delete != NULL) +
		    (element->disassociate != NULL) >
	    1)
		change.action = REPLICA_MANY;
	else if (element->create)
		change = (struct replica_change){REPLICA_CREATE, element->create->region_name};
	else if (element->update)
		change = (struct replica_change){changes(element->update) ? REPLICA_UPDATE
									  : REPLICA_NONE,
						 element->update->region_name};
	else if (element->delete)
		change = (struct replica_change){REPLICA_DELETE, element->delete->region_name};
	else if (element->disassociate)
		change = (struct replica_change){REPLICA_DISASSOCIATE,
						 element->disassociate->region_name};
	return change;
}

/* One element, beside the first. */
static enum code check_change(const struct ns *ns, struct replica_change change,
			      struct replica_change first, bool is_strong, struct err *err)
{
	if (change.action == REPLICA_NONE)
		return err_set(err, MSG_REPLICA_NO_ACTION);
	if (change.action == REPLICA_MANY || change.action != first.action)
		return err_set(err, MSG_REPLICA_KINDS);
	if (!str_is_set(change.region))
		return err_set(err, MSG_REPLICA_REGION_ABSENT);
	if (change.action == REPLICA_UPDATE)
		return OK;
	if (change.action == REPLICA_DISASSOCIATE)
		return str_eq(change.region, ns->region)
			       ? OK
			       : err_set(err, MSG_DISASSOCIATE_REGION, STR_ARG(ns->region));
	if (change.action == REPLICA_CREATE && !is_strong && !str_eq(change.region, first.region))
		return err_set(err, MSG_REPLICA_MANY);
	if (str_eq(change.region, ns->region))
		return err_set(err, MSG_REPLICA_LOCAL);
	return replica_rules_is_region(change.region)
		       ? OK
		       : err_set(err, MSG_REPLICA_REGION, STR_ARG(change.region), regions);
}

/* The region of the witness that the request adds, or takes away. */
static struct str witness_region(const struct update_table_input *input, bool is_create)
{
	if (input->global_table_witness_updates.n == 0)
		return STR_ABSENT;
	const struct global_table_witness_group_update *update =
		&input->global_table_witness_updates.v[0];
	if (is_create)
		return update->create ? update->create->region_name : STR_ABSENT;
	return update->delete ? update->delete->region_name : STR_ABSENT;
}

static bool is_twice(const struct replication_group_update_list *updates, size_t i)
{
	for (size_t k = 0; k < i; k++) {
		if (str_eq(replica_rules_change(&updates->v[k]).region,
			   replica_rules_change(&updates->v[i]).region))
			return true;
	}
	return false;
}

static enum code check_strong_region(struct str region, struct err *err)
{
	return is_listed_region(strong_regions, region)
		       ? OK
		       : err_set(err, MSG_REPLICA_STRONG_REGION, STR_ARG(region));
}

/* AWS: DDB-TABLE-257, 202: the number first, then the regions, then whether they differ. */
static enum code check_strong(const struct ns *ns, const struct update_table_input *input,
			      struct err *err)
{
	const struct replication_group_update_list *updates = &input->replica_updates;
	struct str witness = witness_region(input, true);
	enum code code = OK;
	size_t n = 1 + str_is_set(witness);

	for (size_t i = 0; i < updates->n; i++)
		n += !is_twice(updates, i);
	if (n != STRONG_REGIONS)
		return err_set(err, MSG_REPLICA_COUNT);
	for (size_t i = 0; i < updates->n && code == OK; i++)
		code = check_strong_region(updates->v[i].create->region_name, err);
	if (code != OK)
		return code;
	if (str_is_set(witness))
		code = check_strong_region(witness, err);
	if (code != OK)
		return code;
	for (size_t i = 0; i < updates->n; i++) {
		if (str_eq(updates->v[i].create->region_name, witness))
			return err_set(err, MSG_REPLICA_SAME_REGION);
	}
	if (str_eq(witness, ns->region))
		return err_set(err, MSG_REPLICA_WITNESS_LOCAL);
	return OK;
}

enum code replica_rules_check(const struct ns *ns, const struct update_table_input *input,
			      struct err *err)
{
	const struct replication_group_update_list *updates = &input->replica_updates;
	bool is_strong = input->multi_region_consistency == MULTI_REGION_CONSISTENCY_STRONG;
	enum code code = OK;

	for (size_t i = 0; i < updates->n && updates->n > 1; i++) {
		if (updates->v[i].disassociate)
			return err_set(err, MSG_DISASSOCIATE_ALONE);
	}
	for (size_t i = 0; i < updates->n && code == OK; i++)
		code = check_change(ns, replica_rules_change(&updates->v[i]),
				    replica_rules_change(&updates->v[0]), is_strong, err);
	if (code != OK || updates->n == 0)
		return code;
	if (str_is_set(witness_region(input, true)) && !is_strong)
		return err_set(err, MSG_REPLICA_WITNESS);
	if (input->multi_region_consistency && !updates->v[0].create)
		return err_set(err, MSG_REPLICA_CONSISTENCY);
	return is_strong ? check_strong(ns, input, err) : OK;
}

static const struct table *find(struct table *const *replicas, size_t n, struct str region)
{
	for (size_t i = 0; i < n; i++) {
		if (str_eq(replicas[i]->identity.region, region))
			return replicas[i];
	}
	return NULL;
}

/* AWS: keys are of one kind in all regions, each resolved in its own. */
static enum code check_replica_key(const struct table *table,
				   const struct create_replication_group_member_action *create,
				   struct err *err)
{
	struct str key = create->kms_master_key_id;
	bool has_own = table->settings->sse_enabled && !encryption_rules_is_managed(table);

	if (!table->settings->sse_enabled)
		return str_is_set(key) ? err_set(err, MSG_REPLICA_KEY) : OK;
	if (has_own && !str_is_set(key))
		return err_set(err, MSG_REPLICA_KEY);
	if (str_is_set(key) && has_own == encryption_rules_is_managed_name(key))
		return err_set(err, MSG_REPLICA_KEYS);
	return str_is_set(key) ? encryption_rules_region(table, key, create->region_name, err) : OK;
}

static enum code check_strong_table(struct call *call, const struct table *table, struct err *err)
{
	struct table_size *sizes;

	if (table_has_collections(table))
		return err_set(err, MSG_REPLICA_STRONG_LOCAL_INDEX);
	if (table->ttl.is_enabled)
		return err_set(err, MSG_REPLICA_STRONG_TTL);
	enum code code = catalog_sizes(call->service->catalog, table, call->arena, &sizes, err);
	if (code != OK)
		return code;
	return sizes[0].items > 0 ? err_set(err, MSG_REPLICA_STRONG_ITEMS) : OK;
}

/* Whether a replica comes or goes. */
static const struct table *changing(struct table *const *replicas, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (replicas[i]->state.status != STATUS_ACTIVE)
			return replicas[i];
	}
	return NULL;
}

/* AWS: DDB-TABLE-188, 288, 291: each write capacity needs a target and a policy. */
static enum code check_scaled(const struct table *table, bool is_of_indexes, struct err *err)
{
	if (table->settings->billing == BILLING_PAY_PER_REQUEST)
		return OK;
	if (!is_of_indexes && !scaling_is_on(scaling_find(table, STR_ABSENT, true)))
		return err_set(err, MSG_REPLICA_SCALED, "Table");
	for (size_t i = 0; i < table->indexes.n; i++) {
		const struct index *index = &table->indexes.v[i];

		if (!index->is_local && !scaling_is_on(scaling_find(table, index->name, true)))
			return err_set(err, MSG_REPLICA_SCALED, "GSI");
	}
	return OK;
}

static enum code check_create(struct call *call, const struct table *table, size_t n,
			      const struct update_table_input *input, struct err *err)
{
	bool is_strong = input->multi_region_consistency == MULTI_REGION_CONSISTENCY_STRONG;
	enum code code = OK;

	if (n > 0 && input->multi_region_consistency && (is_strong || table->group.is_strong))
		return err_set(err, MSG_REPLICA_STRONG_EXISTING);
	if (n > 0 && table->group.is_strong)
		return err_set(err, MSG_REPLICA_STRONG_FROZEN);
	for (size_t i = 0; i < input->replica_updates.n; i++) {
		const struct create_replication_group_member_action *create =
			input->replica_updates.v[i].create;
		struct table *found;

		code = replicas_find(call, table->identity.name, create->region_name, &found, err);
		if (code != OK)
			return code;
		if (found)
			return err_set(err, MSG_REPLICA_EXISTS, STR_ARG(table->identity.name));
		code = check_replica_key(table, create, err);
		if (code != OK)
			return code;
		code = table_rules_class(create->table_class_override, err);
		if (code != OK)
			return code;
	}
	code = check_scaled(table, false, err);
	if (code != OK)
		return code;
	return is_strong ? check_strong_table(call, table, err) : OK;
}

/* AWS: of a group with strong consistency all other replicas go, and the witness. */
static enum code check_delete_strong(const struct table *table, size_t n,
				     const struct update_table_input *input, struct err *err)
{
	struct str witness = witness_region(input, false);
	size_t deleted = 0;

	for (size_t i = 0; i < input->replica_updates.n; i++)
		deleted += !is_twice(&input->replica_updates, i);
	if (str_is_set(witness) && !str_eq(witness, table->group.witness))
		return err_set(err, MSG_REPLICA_WITNESS_ABSENT, STR_ARG(witness));
	if (str_is_set(table->group.witness) && !str_is_set(witness))
		return err_set(err, MSG_REPLICA_WITNESSES);
	return deleted < n ? err_set(err, MSG_REPLICA_STRONG_ONE) : OK;
}

static enum code check_update(const struct table *replica,
			      const struct update_replication_group_member_action *update,
			      struct err *err)
{
	bool is_provisioned = replica->settings->billing == BILLING_PROVISIONED;
	const struct replica_global_secondary_index_list *indexes =
		&update->global_secondary_indexes;

	if (str_is_set(update->kms_master_key_id))
		return err_set(err, MSG_REPLICA_KEY);
	for (size_t i = 0; i < indexes->n; i++) {
		if (indexes->v[i].provisioned_throughput_override && !is_provisioned)
			return err_set(err, MSG_REPLICA_UNITS);
		if (indexes->v[i].on_demand_throughput_override && is_provisioned)
			return err_set(err, MSG_REPLICA_READ_UNITS);
	}
	if (update->provisioned_throughput_override && !is_provisioned)
		return err_set(err, MSG_REPLICA_UNITS);
	if (update->on_demand_throughput_override && is_provisioned)
		return err_set(err, MSG_REPLICA_READ_UNITS);
	return table_rules_class(update->table_class_override, err);
}

static bool was_source(const struct call *call, struct str source, int64_t added_ms,
		       struct str region)
{
	return str_is_set(source) && str_eq(source, region) && call->now_ms - added_ms < SOURCE_MS;
}

enum code replica_rules_deletable(const struct call *call, const struct table *table,
				  struct table *const *replicas, size_t n, struct err *err)
{
	struct str region = table->identity.region;

	if (table->settings->is_deletion_protected)
		return err_set(err, MSG_REPLICA_PROTECTED, STR_ARG(table->identity.name),
			       STR_ARG(region));
	for (size_t i = 0; i < n; i++) {
		if (was_source(call, replicas[i]->group.source, replicas[i]->group.added_ms,
			       region))
			return err_set(err, MSG_REPLICA_SOURCE);
	}
	return OK;
}

/* The others of the group, as the replica that is to go sees them. */
static size_t others_of(struct call *call, const struct table *table, struct table *const *replicas,
			size_t n, struct str region, struct table ***others)
{
	size_t count = 0;

	*others = ARENA_ARRAY(call->arena, struct table *, n + 1);
	(*others)[count++] = (struct table *)(uintptr_t)table;
	for (size_t i = 0; i < n; i++) {
		if (!str_eq(replicas[i]->identity.region, region))
			(*others)[count++] = replicas[i];
	}
	return count;
}

static enum code check_delete(struct call *call, const struct table *table,
			      struct table *const *replicas, size_t n, const struct table *replica,
			      struct err *err)
{
	struct table **others;
	size_t count = others_of(call, table, replicas, n, replica->identity.region, &others);

	return table->group.is_strong ? OK
				      : replica_rules_deletable(call, replica, others, count, err);
}

static enum code check_members(struct call *call, const struct table *table,
			       struct table *const *replicas, size_t n,
			       const struct update_table_input *input, struct err *err)
{
	const struct replication_group_update_list *updates = &input->replica_updates;
	bool is_delete = updates->v[0].delete != NULL;
	enum code code = OK;

	for (size_t i = 1; i < updates->n && !updates->v[0].update && !table->group.is_strong;
	     i++) {
		if (!str_eq(replica_rules_change(&updates->v[i]).region,
			    replica_rules_change(&updates->v[0]).region))
			return err_set(err, MSG_REPLICA_MANY);
	}
	for (size_t i = 0; i < updates->n; i++) {
		struct str region = replica_rules_change(&updates->v[i]).region;

		if (!find(replicas, n, region))
			return err_set(err, MSG_REPLICA_ABSENT, STR_ARG(region));
	}
	if (is_delete && table->group.is_strong)
		code = check_delete_strong(table, n, input, err);
	for (size_t i = 0; i < updates->n && code == OK; i++) {
		const struct table *replica =
			find(replicas, n, replica_rules_change(&updates->v[i]).region);

		code = is_delete              ? check_delete(call, table, replicas, n, replica, err)
		       : updates->v[i].update ? check_update(replica, updates->v[i].update, err)
					      : OK;
	}
	return code;
}

/* AWS: Developer Guide, "Disassociating a global table replica". */
static enum code check_disassociate(const struct table *table, size_t n, bool is_change,
				    struct err *err)
{
	if (n == 0 || table->group.is_strong)
		return err_set(err, MSG_DISASSOCIATE_NOT_GLOBAL, STR_ARG(table->identity.name));
	if (is_change && !table->settings->may_disassociate)
		return err_set(err, MSG_DISASSOCIATE_PROTECTED, STR_ARG(table->identity.name),
			       STR_ARG(table->identity.region));
	return OK;
}

static enum code check_updates(struct call *call, const struct table *table,
			       struct table *const *replicas, size_t n,
			       const struct update_table_input *input, struct err *err)
{
	const struct replication_group_update *first = &input->replica_updates.v[0];

	if (first->disassociate)
		return check_disassociate(table, n, true, err);
	return first->create ? check_create(call, table, n, input, err)
			     : check_members(call, table, replicas, n, input, err);
}

enum code replica_rules_table(struct call *call, const struct table *table,
			      struct table *const *replicas, size_t n,
			      const struct update_table_input *input, struct err *err)
{
	enum code code;

	if (input->replica_updates.n == 0)
		return OK;
	if (str_is_set(table->group.filling)) /* AWS: the new replica itself answers so */
		return err_set(err, MSG_REPLICA_ADDED, STR_ARG(table->identity.name),
			       STR_ARG(table->identity.region));
	code = check_updates(call, table, replicas, n, input, err);
	if (code != OK)
		return code;
	if (table->state.status != STATUS_ACTIVE || changing(replicas, n))
		return err_set(err, MSG_REPLICA_IN_USE);
	return OK;
}

enum code replica_rules_other(const struct table *table, struct table *const *replicas, size_t n,
			      const struct update_table_input *input, struct err *err)
{
	const struct stream_specification *stream = input->stream_specification;

	if (input->disassociation_protection_enabled.is_set && (n == 0 || table->group.is_strong))
		return check_disassociate(table, n, false, err);
	if (n == 0 && input->global_table_settings_replication_mode ==
			      GLOBAL_TABLE_SETTINGS_REPLICATION_MODE_ENABLED_WITH_OVERRIDES)
		return err_set(err, MSG_REPLICA_MODE);
	if (input->replica_updates.n > 0 || n == 0)
		return OK;
	if (stream && !opt_is_true(stream->stream_enabled))
		return err_set(err, MSG_REPLICA_STREAM);
	enum code code =
		input->global_secondary_index_updates.n > 0 ? check_scaled(table, true, err) : OK;
	if (code != OK)
		return code;
	return changing(replicas, n) ? err_set(err, MSG_REPLICA_IN_USE) : OK;
}

enum code replica_rules_ttl(const struct table *table, struct table *const *replicas, size_t n,
			    struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		if (str_is_set(replicas[i]->group.filling))
			return err_set(err, MSG_REPLICA_ADDED, STR_ARG(table->identity.name),
				       STR_ARG(replicas[i]->identity.region));
	}
	return table->group.is_strong ? err_set(err, MSG_REPLICA_STRONG_TTL) : OK;
}

enum code replica_rules_transaction(const struct table *table, struct err *err)
{
	return table->group.is_strong ? err_set(err, MSG_GROUP_TRANSACTION) : OK;
}

struct str replica_rules_mode(int mode)
{
	static const struct str names[] = {
		[GLOBAL_TABLE_SETTINGS_REPLICATION_MODE_ENABLED] = STR_INIT("ENABLED"),
		[GLOBAL_TABLE_SETTINGS_REPLICATION_MODE_DISABLED] = STR_INIT("DISABLED"),
		[GLOBAL_TABLE_SETTINGS_REPLICATION_MODE_ENABLED_WITH_OVERRIDES] =
			STR_INIT("ENABLED_WITH_OVERRIDES"),
	};

	return names[mode];
}
