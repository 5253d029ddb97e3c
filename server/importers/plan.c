#include "server/importers/plan.h"

#include "server/seed/terraform_table.h"
#include "server/seed/import_table.h"
#include "server/seed/json_text.h"
#include "server/seed/pulumi.h"
#include "server/seed/scaling_resource.h"

#define MODULE_DEPTH_MAX 64
#define SCALING_TYPE STR("aws_appautoscaling_")

/* Terraform does not say what comes first, so all resources are gone through three times. */
enum walk { WALK_SCALING, WALK_TABLES, WALK_ITEMS };

enum scaling_kind { SCALING_TARGET, SCALING_POLICY, SCALING_OTHER };

/* A resource of auto scaling. */
struct scaling_row {
	enum scaling_kind kind;
	struct str table; /* whose capacity, or that of an index of it; absent: of no table */
	struct str address;
	const struct json *values;
	bool is_taken;
};

struct scaling {
	size_t n;
	struct scaling_row *v;
};

struct reading {
	struct terraform_resource of; /* that is read */
	enum walk walk;
	size_t found;
	struct scaling scaling;
};

static struct str requests_region(const struct reading *reading)
{
	struct str region = seed_options(reading->of.seed)->write.region;

	return str_is_set(region) ? region : STR("us-east-1");
}

/* Version 6 of Terraform's provider of AWS says the region of each resource. */
static void warn_of_region(const struct reading *reading, const struct json *values)
{
	struct str region = terraform_text(&reading->of, values, "region");

	if (str_is_set(region) && !str_eq(region, requests_region(reading)))
		seed_warn(reading->of.seed,
			  source_origin(reading->of.source, json_member(values, "region")),
			  str_printf(reading->of.arena, STR_FMT ".region",
				     STR_ARG(reading->of.address)),
			  str_printf(reading->of.arena,
				     "the table is made in " STR_FMT ", the requests' region",
				     STR_ARG(requests_region(reading))));
}

/* A number that is set, with what it stands in; or NULL. */
static const struct json *number(const struct terraform_resource *of, const struct json *from,
				 const char *name)
{
	return source_get(of->source, from, name, JSON_NUMBER);
}

static void warn_unscaled(void *context, struct origin origin, struct str path)
{
	seed_warn(context, origin, path, STR("this part of auto scaling is not carried out"));
}

/* What of a target or a policy was not taken. */
static void warn_of_scaling(const struct terraform_resource *of, const struct json *values,
			    const struct json *metric)
{
	static const char *const known[] = {
		"arn",      "id",   "alarm_arns", "policy_type",       "region",
		"role_arn", "tags", "tags_all",   "service_namespace", "__defaults"};

	source_use(of->source, values);
	source_pass_over(of->source, metric, "resource_label");
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		source_pass_over(of->source, values, known[i]);
	terraform_pass_over_unset(of, values, 0);
	source_left_out(of->source, values, of->address, warn_unscaled, of->seed);
}

/* A resource of auto scaling, for the tables behind it. */
static void note_scaling(struct reading *reading, struct str type, const struct json *values)
{
	struct scaling *scaling = &reading->scaling;

	scaling->v = arena_room(reading->of.arena, scaling->v, scaling->n, sizeof(*scaling->v));
	scaling->v[scaling->n++] = (struct scaling_row){
		.address = reading->of.address,
		.values = values,
		.table = scaling_resource_table(
			json_text_string(reading->of.arena, values, "resource_id")),
		.kind = str_eq(type, STR("aws_appautoscaling_target"))   ? SCALING_TARGET
			: str_eq(type, STR("aws_appautoscaling_policy")) ? SCALING_POLICY
									 : SCALING_OTHER,
	};
}

/* A scalable target of the table, or a policy of one. How many requests. */
static size_t add_scaling(const struct terraform_resource *of, struct scaling_row *row,
			  struct seed_request *requests)
{
	const struct json *values = row->values;
	const struct json *tracking = terraform_block(
				  of, values, "target_tracking_scaling_policy_configuration"),
			  *metric =
				  terraform_block(of, tracking, "predefined_metric_specification");
	struct scaling_values scaling = {
		.resource = terraform_text(of, values, "resource_id"),
		.dimension = terraform_text(of, values, "scalable_dimension"),
		.region = STR_ABSENT,
		.least = number(of, values, "min_capacity"),
		.most = number(of, values, "max_capacity"),
		.policy = terraform_text(of, values, "name"),
		.metric = terraform_text(of, metric, "predefined_metric_type"),
		.target = metric ? number(of, tracking, "target_value") : NULL,
		.in_cooldown = number(of, tracking, "scale_in_cooldown"),
		.out_cooldown = number(of, tracking, "scale_out_cooldown"),
		.is_in_disabled =
			source_get(of->source, tracking, "disable_scale_in", JSON_BOOLEAN),
	};

	if (!str_is_set(scaling.dimension))
		return 0;
	size_t n = scaling_resource_requests(of->arena, &scaling, requests);
	if (n == 0)
		return 0;
	row->is_taken = true;
	warn_of_scaling(of, values, metric);
	return n;
}

/* What scales the table and its indexes: targets first. AWS: replicas of a table with provisioned
 * throughput need it. */
static size_t follow_with_scaling(struct reading *reading, struct str name,
				  struct seed_request *follow_ups)
{
	struct terraform_resource of = reading->of;
	size_t n = 0;

	for (enum scaling_kind kind = SCALING_TARGET; kind <= SCALING_POLICY; kind++) {
		for (size_t i = 0; i < reading->scaling.n; i++) {
			struct scaling_row *row = &reading->scaling.v[i];

			if (row->kind != kind || !str_is_set(row->table) ||
			    !str_eq(row->table, name) ||
			    n + SCALING_REQUESTS > TERRAFORM_FOLLOW_UPS_MAX)
				continue;
			of.address = row->address;
			n += add_scaling(&of, row, follow_ups + n);
		}
	}
	return n;
}

/* Auto scaling that no table of the file took. */
static void warn_of_untaken(const struct reading *reading)
{
	for (size_t i = 0; i < reading->scaling.n; i++) {
		const struct scaling_row *row = &reading->scaling.v[i];
		struct str service =
			json_text_string(reading->of.arena, row->values, "service_namespace");

		if (row->is_taken || !str_eq(service, STR("dynamodb")))
			continue;
		seed_warn(reading->of.seed, source_origin(reading->of.source, row->values),
			  row->address,
			  STR("not carried out: it is not target tracking of a table of this "
			      "file"));
	}
}

static enum code read_table(struct reading *reading, const struct json *values, struct err *err)
{
	struct seed_request *follow_ups =
		ARENA_ARRAY(reading->of.arena, struct seed_request, TERRAFORM_FOLLOW_UPS_MAX);
	struct str name = terraform_text(&reading->of, values, "name"), body;
	struct origin origin = source_origin(reading->of.source, values);

	warn_of_region(reading, values);

	if (!str_is_set(name)) {
		seed_refuse(
			reading->of.seed, origin, reading->of.address,
			STR("its name is not known before it is applied; show the state instead"));
		return OK;
	}
	body = terraform_table_body(&reading->of, values, name);
	size_t n = follow_with_scaling(reading, name, follow_ups);
	n = terraform_table_follow_ups(&reading->of, values, name, follow_ups, n);
	const struct json *import = terraform_block(&reading->of, values, "import_table");
	struct str account = seed_options(reading->of.seed)->write.account;
	const struct import_table from = {
		.name = name,
		.create = body,
		.source = terraform_table_import(&reading->of, import),
		.region = requests_region(reading),
		.account = str_is_set(account) ? account : STR("000000000000"),
		.origin = origin,
		.source_origin = source_origin(reading->of.source, import),
		.path = str_printf(reading->of.arena, STR_FMT ".import_table",
				   STR_ARG(reading->of.address)),
	};

	terraform_table_refuse_unused(&reading->of, values);
	if (import)
		return import_table_make(reading->of.seed, &from, follow_ups, n, err);
	return seed_table(reading->of.seed, origin, name, body, follow_ups, n, err);
}

/* What belongs to a table and is not made is refused. */
static void read_other(const struct reading *reading, struct str type, const struct json *resource,
		       bool is_of_tables, bool is_stack)
{
	struct origin origin = source_origin(reading->of.source, resource);

	if (is_of_tables)
		seed_refuse(reading->of.seed, origin, reading->of.address,
			    str_printf(reading->of.arena, STR_FMT " is not carried out",
				       STR_ARG(type)));
	else if (is_stack)
		seed_warn(reading->of.seed, origin, reading->of.address,
			  STR("the tables of a CloudFormation stack are not made; apply reads its "
			      "template"));
}

/* What has no values, or is to go away. */
static enum code read_nothing(const struct reading *reading, struct str type,
			      const struct json *resource, const char *why)
{
	if (reading->walk == WALK_TABLES && str_contains(type, STR("dynamodb")))
		seed_warn(reading->of.seed, source_origin(reading->of.source, resource),
			  reading->of.address, str_of(why));
	return OK;
}

/* A resource with its values, as the walk wants it. */
static enum code read_values(struct reading *reading, struct str type, const struct json *values,
			     struct err *err)
{
	bool is_table = str_eq(type, STR("aws_dynamodb_table")),
	     is_item = str_eq(type, STR("aws_dynamodb_table_item"));

	switch (reading->walk) {
	case WALK_SCALING:
		if (str_starts_with(type, SCALING_TYPE))
			note_scaling(reading, type, values);
		return OK;
	case WALK_TABLES:
		reading->found += is_table || is_item;
		if (is_table)
			return read_table(reading, values, err);
		if (!is_item)
			/* "_dynamodb_": also of the provider awscc */
			read_other(reading, type, values, str_contains(type, STR("_dynamodb_")),
				   str_starts_with(type, STR("aws_cloudformation_stack")));
		return OK;
	case WALK_ITEMS:
		return is_item ? seed_item(reading->of.seed,
					   terraform_text(&reading->of, values, "table_name"),
					   terraform_text(&reading->of, values, "item"),
					   source_origin(reading->of.source, values).line, err)
			       : OK;
	}
	return OK;
}

static bool is_data(const struct reading *reading, const struct json *resource)
{
	return str_eq(json_text_string(reading->of.arena, resource, "mode"), STR("data"));
}

static enum code read_resource(struct reading *reading, const struct json *resource,
			       struct err *err)
{
	const struct json *values = json_text_get(resource, "values", JSON_OBJECT);

	reading->of.address = json_text_string(reading->of.arena, resource, "address");
	if (!str_is_set(reading->of.address))
		reading->of.address = STR("resource");
	struct str type = json_text_string(reading->of.arena, resource, "type");
	if (is_data(reading, resource))
		return OK;
	if (json_text_get(resource, "deposed_key", JSON_STRING))
		return read_nothing(reading, type, resource, "not made: it is to be destroyed");
	return values ? read_values(reading, type, values, err)
		      : read_nothing(reading, type, resource, "not made: it has no values");
}

/* A member that is a list; another one is refused. */
static const struct json *list_in(const struct reading *reading, const struct json *module,
				  const char *name)
{
	const struct json *list = json_text_get(module, name, JSON_ARRAY);

	if (!list && reading->walk == WALK_TABLES && json_type(module) == JSON_OBJECT &&
	    json_member(module, name))
		seed_refuse(reading->of.seed,
			    source_origin(reading->of.source, json_member(module, name)),
			    str_of(name), STR("no list"));
	return list;
}

static enum code read_module(struct reading *reading, const struct json *module, unsigned depth,
			     struct err *err)
{
	const struct json *resources = list_in(reading, module, "resources"),
			  *children = list_in(reading, module, "child_modules");
	enum code code = OK;

	for (const struct json *at = resources ? json_first(resources) : NULL; at && code == OK;
	     at = json_next(at))
		code = read_resource(reading, at, err);
	if (depth == MODULE_DEPTH_MAX && children && reading->walk == WALK_TABLES)
		seed_refuse(reading->of.seed, source_origin(reading->of.source, children),
			    STR("child_modules"), STR("nested too deeply"));
	for (const struct json *at = children && depth < MODULE_DEPTH_MAX ? json_first(children)
									  : NULL;
	     at && code == OK; at = json_next(at))
		code = read_module(reading, at, depth + 1, err);
	return code;
}

/* A file terraform.tfstate, version 4: resources with instances. */
static enum code read_state(struct reading *reading, const struct json *resources, struct err *err)
{
	enum code code = OK;

	for (const struct json *at = json_first(resources); at && code == OK; at = json_next(at)) {
		const struct json *instances = json_text_get(at, "instances", JSON_ARRAY);
		struct str type = json_text_string(reading->of.arena, at, "type"),
			   name = json_text_string(reading->of.arena, at, "name");

		reading->of.address = str_printf(reading->of.arena, STR_FMT "." STR_FMT,
						 STR_ARG(type), STR_ARG(name));
		for (const struct json *one =
			     instances && !is_data(reading, at) ? json_first(instances) : NULL;
		     one && code == OK; one = json_next(one)) {
			const struct json *values = json_text_get(one, "attributes", JSON_OBJECT);

			if (json_text_get(one, "deposed", JSON_STRING))
				code = read_nothing(reading, type, one,
						    "not made: it is to be destroyed");
			else
				code = values ? read_values(reading, type, values, err)
					      : read_nothing(reading, type, one,
							     "not made: it has no attributes");
		}
	}
	return code;
}

static enum code read_pulumi_resource(struct reading *reading, const struct json *resource,
				      struct err *err)
{
	struct str type = json_text_string(reading->of.arena, resource, "type");
	const struct json *outputs = json_text_get(resource, "outputs", JSON_OBJECT), *root;
	struct str known = pulumi_terraform_type(type);

	reading->of.address = json_text_string(reading->of.arena, resource, "urn");
	if (terraform_is_on(&reading->of, resource, "delete"))
		return read_nothing(reading, type, resource, "not made: it is to be destroyed");
	if (!outputs || !str_is_set(known)) {
		if (reading->walk == WALK_TABLES)
			read_other(reading, type, resource,
				   str_starts_with(type, STR("aws:dynamodb/")) ||
					   str_starts_with(type, STR("aws-native:dynamodb:")),
				   str_starts_with(type, STR("aws:cloudformation/stack:")));
		return OK;
	}
	if (reading->walk == WALK_SCALING && !str_starts_with(known, SCALING_TYPE))
		return OK;
	enum code code = pulumi_rename(reading->of.seed, outputs, reading->of.address, &root, err);
	if (code != OK)
		return code;
	return read_values(reading, known, root, err);
}

static const struct json *pulumi_resources(const struct json *root)
{
	return json_text_get(json_text_get(root, "deployment", JSON_OBJECT), "resources",
			     JSON_ARRAY);
}

static const struct json *state_resources(const struct json *root)
{
	bool is_state = json_text_get(root, "terraform_version", JSON_STRING) &&
			json_text_get(root, "lineage", JSON_STRING);

	return is_state ? json_text_get(root, "resources", JSON_ARRAY) : NULL;
}

static const struct json *root_module(const struct json *root)
{
	const struct json *values = json_text_get(root, "planned_values", JSON_OBJECT);

	return json_text_get(values ? values : json_text_get(root, "values", JSON_OBJECT),
			     "root_module", JSON_OBJECT);
}

bool plan_is_in(const struct json *root)
{
	return root_module(root) || state_resources(root) || pulumi_resources(root);
}

static enum code read_all(struct reading *reading, const struct json *root, struct err *err)
{
	enum code code = OK;

	if (root_module(root))
		return read_module(reading, root_module(root), 0, err);
	if (state_resources(root))
		return read_state(reading, state_resources(root), err);
	for (const struct json *at = json_first(pulumi_resources(root)); at && code == OK;
	     at = json_next(at))
		code = read_pulumi_resource(reading, at, err);
	return code;
}

enum code plan_read(struct seed *seed, const struct json *root, struct err *err)
{
	struct reading reading = {
		.of = {.seed = seed, .source = seed_source(seed), .arena = seed_arena(seed)},
		.walk = WALK_SCALING};
	enum code code = read_all(&reading, root, err);

	if (code != OK)
		return code;
	reading.walk = WALK_TABLES;
	code = read_all(&reading, root, err);
	if (code != OK)
		return code;
	if (reading.found == 0)
		seed_refuse(seed, (struct origin){NULL, 0}, STR(""), STR("no tables"));
	warn_of_untaken(&reading);
	reading.walk = WALK_ITEMS;
	return read_all(&reading, root, err);
}
