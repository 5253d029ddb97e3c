#include "protocol/tables/replica_rules.h"

#include "protocol/tables/table_messages.h"

enum action { ACTION_NONE, ACTION_CREATE, ACTION_UPDATE, ACTION_DELETE, ACTION_DISASSOCIATE, ACTION_MANY };

/* Where global tables can be. AWS: the error of a region that is none lists them in this order. */
static const char regions[] =
	"[ap-south-2, ap-south-1, eu-south-1, eu-south-2, me-central-1, il-central-1, ca-central-1, ap-east-2, mx-central-1, eu-central-1, "
	"eu-central-2, us-west-1, us-west-2, af-south-1, eu-north-1, eu-west-3, eu-west-2, eu-west-1, ap-northeast-3, ap-northeast-2, "
	"me-south-1, ap-northeast-1, sa-east-1, ap-east-1, ca-west-1, ap-southeast-1, ap-southeast-2, ap-southeast-3, ap-southeast-4, "
	"us-east-1, ap-southeast-5, us-east-2, ap-southeast-6, ap-southeast-7]";

/* What an element asks for, and where. */
struct change {
	enum action action;
	struct str region;
};

/* AWS: an Update of nothing is no action. */
static bool changes(const struct update_replication_group_member_action *update)
{
	return str_is_set(update->kms_master_key_id) || update->provisioned_throughput_override || update->on_demand_throughput_override ||
	       update->global_secondary_indexes.v || str_is_set(update->table_class_override);
}

static struct change change_of(const struct replication_group_update *element)
{
	struct change change = {ACTION_NONE, STR_ABSENT};

	if ((element->create != NULL) + (element->update != NULL) + (element->delete != NULL) + (element->disassociate != NULL) > 1)
		change.action = ACTION_MANY;
	else if (element->create)
		change = (struct change){ACTION_CREATE, element->create->region_name};
	else if (element->update)
		change = (struct change){changes(element->update) ? ACTION_UPDATE : ACTION_NONE, element->update->region_name};
	else if (element->delete)
		change = (struct change){ACTION_DELETE, element->delete->region_name};
	else if (element->disassociate)
		change = (struct change){ACTION_DISASSOCIATE, element->disassociate->region_name};
	return change;
}

static bool is_region(struct str name)
{
	struct str all = str_of(regions);

	for (size_t i = 1; i + name.n < all.n; i++) {
		char before = all.p[i - 1], behind = all.p[i + name.n];

		if ((before == '[' || before == ' ') && (behind == ',' || behind == ']') && str_eq((struct str){all.p + i, name.n}, name))
			return true;
	}
	return false;
}

/* One element, beside the first. */
static enum code check_change(const struct ns *ns, struct change change, struct change first, struct err *err)
{
	if (change.action == ACTION_NONE)
		return err_set(err, MSG_REPLICA_NO_ACTION);
	if (change.action == ACTION_MANY || change.action != first.action)
		return err_set(err, MSG_REPLICA_KINDS);
	if (!str_is_set(change.region))
		return err_set(err, MSG_REPLICA_REGION_ABSENT);
	if (change.action == ACTION_UPDATE)
		return OK;
	if (!str_eq(change.region, first.region))
		return err_set(err, MSG_REPLICA_MANY);
	if (str_eq(change.region, ns->region))
		return err_set(err, MSG_REPLICA_LOCAL);
	return is_region(change.region) ? OK : err_set(err, MSG_REPLICA_REGION, STR_ARG(change.region), regions);
}

enum code replica_rules_check(const struct ns *ns, const struct update_table_input *input, struct err *err)
{
	const struct replication_group_update_list *updates = &input->replica_updates;
	enum code code = OK;

	if (input->global_table_settings_replication_mode == GLOBAL_TABLE_SETTINGS_REPLICATION_MODE_ENABLED_WITH_OVERRIDES)
		return err_set(err, MSG_REPLICA_MODE);
	for (size_t i = 0; i < updates->n && code == OK; i++)
		code = check_change(ns, change_of(&updates->v[i]), change_of(&updates->v[0]), err);
	if (code != OK || updates->n == 0)
		return code;
	if (input->global_table_witness_updates.n && input->multi_region_consistency != MULTI_REGION_CONSISTENCY_STRONG)
		return err_set(err, MSG_REPLICA_WITNESS);
	if (input->multi_region_consistency && !updates->v[0].create)
		return err_set(err, MSG_REPLICA_CONSISTENCY);
	return OK;
}

enum code replica_rules_table(const struct update_table_input *input, struct err *err)
{
	const struct replication_group_update_list *updates = &input->replica_updates;

	if (updates->n == 0)
		return OK;
	if (updates->v[0].create)
		return err_set(err, MSG_FEATURE_ABSENT, "Global table replication");
	return err_set(err, MSG_REPLICA_ABSENT, STR_ARG(change_of(&updates->v[0]).region));
}

struct str replica_rules_mode(int mode)
{
	return mode == GLOBAL_TABLE_SETTINGS_REPLICATION_MODE_ENABLED ? STR("ENABLED") : STR("DISABLED");
}
