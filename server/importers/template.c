#include "server/importers/template.h"

#include "server/importers/intrinsics.h"
#include "server/importers/judge.h"
#include "server/importers/plugin_seeds.h"
#include "server/seed/scaling_resource.h"
#include "server/importers/table_resource.h"
#include "server/seed/document.h"
#include "server/seed/json_text.h"
#include "server/seed/messages.h"

#define STACKS_MAX 16 /* nested within each other */
#define EACH_MAX 16   /* Fn::ForEach within each other */

/* A scalable target of a template, or a policy. Members beyond `values` are a policy's. */
struct scaling_row {
	const struct json *resource;
	bool is_policy, is_taken;
	struct scaling_values values; /* of a policy: the place of its target alone */
	struct str target;            /* ScalingTargetId; or absent */
};

/* In their order in the templates. */
struct scaling {
	bool is_found;
	size_t n;
	struct scaling_row *v;
};

/* A template that is read, or the outputs of one. */
struct reading {
	struct seed *seed;
	struct intrinsics *in;
	const struct json *globals; /* of SAM: Globals.SimpleTable, or NULL */
	struct str path;            /* of its resources */
	bool is_left_out;           /* a table's condition does not hold */
	struct scaling scaling;
	size_t tables, made;
};

static enum code read_templates(struct reading *reading, struct err *err);

/* The problem of the functions, as an error. `near`: what was read, or NULL. */
static enum code cannot_resolve(struct reading *reading, const struct json *near, struct str path,
				struct err *err)
{
	struct intrinsics *in = reading->in;
	struct origin origin = in->problem_at;

	if (!origin.path && near)
		origin = source_origin(in->source, near);
	err_set(err, MSG_SEED_TEMPLATE, STR_ARG(path), STR_ARG(in->problem));
	return seed_at_origin(reading->seed, origin, err);
}

/* Members of a resource that say how AWS treats it; all others are looked at or refused. */
static void pass_over_attributes(struct reading *reading, const struct json *resource)
{
	static const char *const passed[] = {
		"Type",      "Properties", "Condition",    "DeletionPolicy", "UpdateReplacePolicy",
		"DependsOn", "Metadata",   "UpdatePolicy", "CreationPolicy", "Connectors"};

	source_use(seed_source(reading->seed), resource);
	for (size_t i = 0; i < sizeof(passed) / sizeof(passed[0]); i++)
		source_pass_over(seed_source(reading->seed), resource, passed[i]);
}

/* Whether a resource is to be made: its condition holds. False also for a problem. */
static bool is_wanted(struct reading *reading, const struct json *resource, struct str path)
{
	struct intrinsics *in = reading->in;
	const struct json *named =
		json_type(resource) == JSON_OBJECT ? json_member(resource, "Condition") : NULL;
	struct str condition = json_text_string(in->arena, resource, "Condition");

	if (named && !str_is_set(condition))
		seed_refuse(reading->seed, source_origin(in->source, named), path,
			    STR("its Condition is no name of a condition"));
	bool is_wanted = !str_is_set(condition) || intrinsics_holds(in, condition);

	reading->is_left_out = reading->is_left_out || !is_wanted;
	return is_wanted && !str_is_set(in->problem);
}

/* ------------------------------------------------------------------ auto scaling */

#define SCALING_TYPE STR("AWS::ApplicationAutoScaling::")
#define SCALING_TARGET STR("AWS::ApplicationAutoScaling::ScalableTarget")
#define SCALING_POLICY STR("AWS::ApplicationAutoScaling::ScalingPolicy")
#define SCALING_MAX 128 /* requests for a table and its indexes: 64 targets with their policies */

/* A member of a resource's properties without functions; NULL: none, or it cannot be resolved. */
static const struct json *property(struct intrinsics *in, const struct json *resource,
				   const char *name)
{
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT);
	const struct json *member = properties ? json_member(properties, name) : NULL;
	const struct json *value = member ? intrinsics_resolve(in, member) : NULL;

	if (str_is_set(in->problem))
		value = NULL;
	in->problem = STR_ABSENT;
	return value;
}

static struct str text_property(struct intrinsics *in, const struct json *resource,
				const char *name)
{
	const struct json *value = property(in, resource, name);

	return value && json_type(value) == JSON_STRING ? json_string(in->arena, value)
							: STR_ABSENT;
}

/* A resource of auto scaling that is made. */
static void add_scaling_row(struct reading *reading, const struct json *resource, bool is_policy)
{
	struct intrinsics *in = reading->in;
	struct scaling *scaling = &reading->scaling;
	struct str condition = json_text_string(in->arena, resource, "Condition");
	bool is_made = !str_is_set(condition) || intrinsics_holds(in, condition);

	in->problem = STR_ABSENT;
	if (!is_made)
		return;
	struct scaling_row row = {
		.resource = resource,
		.is_policy = is_policy,
		.values = {.resource = text_property(in, resource, "ResourceId"),
			   .dimension = text_property(in, resource, "ScalableDimension"),
			   .region = STR_ABSENT},
	};
	if (is_policy) {
		row.target = text_property(in, resource, "ScalingTargetId");
	} else {
		row.values.least = property(in, resource, "MinCapacity");
		row.values.most = property(in, resource, "MaxCapacity");
	}
	scaling->v = arena_room(in->arena, scaling->v, scaling->n, sizeof(*scaling->v));
	scaling->v[scaling->n++] = row;
}

/* All of the templates, once. They stand in no Fn::ForEach. */
static void find_scaling(struct reading *reading)
{
	struct intrinsics *in = reading->in;
	const struct loop *loop = in->loop;

	if (reading->scaling.is_found)
		return;
	reading->scaling.is_found = true;
	in->loop = NULL;
	for (size_t i = 0; i < in->template_count; i++) {
		const struct json *one = intrinsics_peel(in, in->templates[i]);
		const struct json *resources =
			one && json_type(one) == JSON_OBJECT
				? json_text_get(one, "Resources", JSON_OBJECT)
				: NULL;

		for (const struct json *at = resources ? json_first(resources) : NULL; at;
		     at = json_next(at)) {
			struct str type = json_text_string(in->arena, at, "Type");
			bool is_policy = str_eq(type, SCALING_POLICY);

			if (is_policy || str_eq(type, SCALING_TARGET))
				add_scaling_row(reading, at, is_policy);
		}
	}
	in->loop = loop;
}

static void take_scaling(struct reading *reading, struct scaling_row *row)
{
	struct intrinsics *in = reading->in;

	row->is_taken = true;
	judge_scaled(reading->seed, in, row->resource,
		     str_printf(in->arena, STR_FMT "." STR_FMT ".Properties",
				STR_ARG(reading->path),
				STR_ARG(json_name(in->arena, row->resource))));
}

static void warn_scaling(struct reading *reading, const struct json *resource)
{
	struct intrinsics *in = reading->in;

	seed_warn(reading->seed, source_origin(in->source, resource),
		  str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(reading->path),
			     STR_ARG(json_name(in->arena, resource))),
		  STR("not carried out: it is not target tracking of a table of this file"));
}

static void add_policy(struct reading *reading, struct scaling_row *row,
		       struct scaling_values *values)
{
	struct intrinsics *in = reading->in;
	const struct json *policy = row->resource;
	const struct json *tracking =
		property(in, policy, "TargetTrackingScalingPolicyConfiguration");

	values->policy = text_property(in, policy, "PolicyName");
	values->metric = json_text_string(
		in->arena, json_text_get(tracking, "PredefinedMetricSpecification", JSON_OBJECT),
		"PredefinedMetricType");
	values->target = tracking ? json_member(tracking, "TargetValue") : NULL;
	values->in_cooldown = tracking ? json_member(tracking, "ScaleInCooldown") : NULL;
	values->out_cooldown = tracking ? json_member(tracking, "ScaleOutCooldown") : NULL;
	values->is_in_disabled = tracking ? json_member(tracking, "DisableScaleIn") : NULL;
	take_scaling(reading, row);
	if (values->target && str_is_set(values->metric))
		return;
	values->target = NULL;
	warn_scaling(reading, policy);
}

/* AWS: a policy names its target by ScalingTargetId, or by the same place. */
static void find_policy(struct reading *reading, struct str target, struct scaling_values *values)
{
	struct str name = intrinsics_resource_name(reading->in, target);

	for (size_t i = 0; i < reading->scaling.n && !values->target; i++) {
		struct scaling_row *row = &reading->scaling.v[i];

		if (!row->is_policy)
			continue;
		if (str_is_set(row->target)
			    ? str_eq(row->target, name)
			    : str_eq(row->values.resource, values->resource) &&
				      str_eq(row->values.dimension, values->dimension))
			add_policy(reading, row, values);
	}
}

/* What scales the table of that name and its indexes. */
static void add_scaling(struct reading *reading, struct str name, struct table_resource *table)
{
	struct intrinsics *in = reading->in;
	struct seed_request *requests = ARENA_ARRAY(in->arena, struct seed_request, SCALING_MAX);

	find_scaling(reading);
	table->scaling = requests;
	for (size_t i = 0; i < reading->scaling.n; i++) {
		struct scaling_row *row = &reading->scaling.v[i];
		struct scaling_values values = row->values;

		if (row->is_policy || !str_is_set(values.dimension) ||
		    !str_is_set(values.resource) ||
		    !scaling_resource_is_of(values.resource, name) ||
		    table->scaling_count + SCALING_REQUESTS > SCALING_MAX)
			continue;
		take_scaling(reading, row);
		find_policy(reading, json_name(in->arena, row->resource), &values);
		table->scaling_count += scaling_resource_requests(in->arena, &values,
								  &requests[table->scaling_count]);
	}
}

/* AWS: capacity of tables that Application Auto Scaling changes. */
static bool scales_tables(struct intrinsics *in, const struct json *resource)
{
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT);

	return str_starts_with(json_text_string(in->arena, resource, "Type"), SCALING_TYPE) &&
	       (str_eq(text_property(in, resource, "ServiceNamespace"), STR("dynamodb")) ||
		(properties && judge_is_about_tables(in, properties)));
}

/* Auto scaling that no table of the file took: targets, then policies. */
static void judge_scaling(struct reading *reading)
{
	find_scaling(reading);
	for (int is_policy = 0; is_policy < 2; is_policy++) {
		for (size_t i = 0; i < reading->scaling.n; i++) {
			const struct scaling_row *row = &reading->scaling.v[i];

			if (row->is_policy == is_policy && !row->is_taken &&
			    scales_tables(reading->in, row->resource))
				warn_scaling(reading, row->resource);
		}
	}
}

/* ------------------------------------------------------------------ tables */

static enum code read_table(struct reading *reading, const struct json *resource,
			    enum table_kind kind, struct str id, struct err *err)
{
	struct intrinsics *in = reading->in;
	const struct json *own = json_member(resource, "Properties");
	struct str path =
		str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(reading->path), STR_ARG(id));
	struct table_resource table = {
		.kind = kind,
		.name = id,
		.region = in->region,
		.account = in->account,
		.path = str_printf(in->arena, STR_FMT ".Properties", STR_ARG(path)),
		.origin = source_origin(in->source, resource)};

	reading->tables++;
	if (!is_wanted(reading, resource, path))
		return str_is_set(in->problem) ? cannot_resolve(reading, resource, path, err) : OK;
	pass_over_attributes(reading, resource);
	seed_refuse_unused(reading->seed, resource, path);
	own = own ? intrinsics_peel(in, own) : NULL;
	table.properties = own && !str_is_set(in->problem) ? intrinsics_resolve(in, own) : NULL;
	if (str_is_set(in->problem))
		return cannot_resolve(reading, resource, path, err);
	if (table.properties && json_type(table.properties) != JSON_OBJECT) {
		seed_refuse(reading->seed, source_origin(in->source, own), table.path,
			    STR("no map of properties"));
		return OK;
	}
	if (kind == TABLE_SIMPLE) /* SAM: Globals.SimpleTable has what tables leave out */
		table.properties = intrinsics_merge(in, reading->globals, table.properties);
	if (str_is_set(in->problem))
		return cannot_resolve(reading, resource, path, err);
	if (!table.properties && kind != TABLE_SIMPLE) {
		err_set(err, MSG_SEED_NO_KEYS, STR_ARG(id));
		return seed_at_origin(reading->seed, table.origin, err);
	}
	reading->made++;
	struct str name = json_text_string(in->arena, table.properties, "TableName");
	add_scaling(reading, str_is_set(name) ? name : id, &table);
	return table_resource_make(reading->seed, &table, err);
}

/* ------------------------------------------------------------------ nested stacks */

/* The file of a nested stack's template; absent where it is none here. */
static struct str file_of(struct intrinsics *in, const struct json *properties)
{
	const struct json *url = json_text_get(properties, "TemplateURL", JSON_STRING);

	if (!url)
		url = json_text_get(properties, "Location", JSON_STRING);
	struct str name = url ? json_string(in->arena, url) : STR_ABSENT;
	bool is_remote =
		!url || str_contains(name, STR("://")) || str_starts_with(name, STR("arn:"));
	return is_remote ? STR_ABSENT : name;
}

static bool is_stack(struct str type)
{
	return str_eq(type, STR("AWS::CloudFormation::Stack")) ||
	       str_eq(type, STR("AWS::Serverless::Application"));
}

static struct str output_of(struct intrinsics *in, const struct json *resource, struct str id,
			    struct str name);

static const struct json *stack_properties(struct intrinsics *in, const struct json *resource)
{
	const struct json *properties;

	if (in->stacks >= STACKS_MAX && !str_is_set(in->problem)) {
		in->problem = STR("stacks nested too deeply");
		in->problem_at = source_origin(in->source, resource);
	}
	if (str_is_set(in->problem))
		return NULL;
	in->stacks++; /* a parameter may be an output of a stack */
	properties = intrinsics_resolve(in, json_member(resource, "Properties"));
	in->stacks--;
	return properties;
}

/* The nested template with the parameters that the stack gives it. NULL: in->problem, or `err`. */
static struct intrinsics *open_stack(struct intrinsics *in, const struct json *resource,
				     struct str id, struct err *err)
{
	const struct json *properties = stack_properties(in, resource), *root;
	const struct json *given = json_text_get(properties, "Parameters", JSON_OBJECT);
	struct intrinsics *inner = ARENA_NEW(in->arena, struct intrinsics);
	struct seed_parameter *parameters =
		ARENA_ARRAY(in->arena, struct seed_parameter, given ? json_count(given) + 1 : 1);
	size_t n = 0;

	if (!properties)
		return NULL;
	for (const struct json *at = given ? json_first(given) : NULL; at; at = json_next(at)) {
		struct json_out out = json_out_in(in->arena);

		if (json_type(at) != JSON_STRING)
			json_text_write(&out, in->arena, at);
		parameters[n++] = (struct seed_parameter){json_name(in->arena, at),
							  json_type(at) == JSON_STRING
								  ? json_string(in->arena, at)
								  : json_out_str(&out),
							  NULL};
	}
	const char *path = document_beside(in->arena, in->path, file_of(in, properties));
	if (document_load(in->arena, in->source, path, &root, err) != OK)
		return NULL;
	*inner = (struct intrinsics){.arena = in->arena,
				     .source = in->source,
				     .path = path,
				     .root = root,
				     .templates = {root},
				     .template_count = 1,
				     .parameters = parameters,
				     .parameter_count = n,
				     .region = in->region,
				     .account = in->account,
				     .output = output_of,
				     .stacks = in->stacks + 1,
				     .steps = in->steps,
				     .used_before = in->used_before,
				     .stack = str_printf(in->arena, STR_FMT "-" STR_FMT,
							 STR_ARG(in->stack), STR_ARG(id))};
	return inner;
}

/* A template and its stacks share one budget. */
static void close_stack(struct intrinsics *in, const struct intrinsics *inner)
{
	in->steps = inner->steps;
	in->used_before = inner->used_before;
}

/* The output of a template that is open. Absent: it has none of that name, or none that is a text.
 */
static struct str output_in(struct intrinsics *inner, struct str name)
{
	const struct json *output = intrinsics_section(inner, "Outputs", name);
	struct str condition = json_text_string(inner->arena, output, "Condition");
	struct json_out out = json_out_in(inner->arena);

	output = output && json_type(output) == JSON_OBJECT ? json_member(output, "Value") : NULL;
	if (!output || (str_is_set(condition) && !intrinsics_holds(inner, condition)))
		return STR_ABSENT;
	const struct json *value = intrinsics_resolve(inner, output);
	if (!value || json_type(value) == JSON_OBJECT || json_type(value) == JSON_ARRAY)
		return STR_ABSENT;
	if (json_type(value) == JSON_STRING)
		return json_string(inner->arena, value);
	json_text_write(&out, inner->arena, value);
	return json_out_str(&out);
}

static struct str output_of(struct intrinsics *in, const struct json *resource, struct str id,
			    struct str name)
{
	struct err err = err_in(in->arena);
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT);

	if (!is_stack(json_text_string(in->arena, resource, "Type")) ||
	    !str_is_set(file_of(in, properties)))
		return STR_ABSENT;
	struct intrinsics *inner = open_stack(in, resource, id, &err);
	if (!inner)
		return STR_ABSENT;
	struct str value = output_in(inner, name);
	close_stack(in, inner);
	if (str_is_set(inner->problem) && !str_is_set(in->problem)) {
		in->problem = inner->problem;
		in->problem_at = inner->problem_at;
	}
	return value;
}

static enum code read_globals(struct reading *reading, const struct json *root, struct err *err)
{
	const struct json *all = json_text_get(root, "Globals", JSON_OBJECT),
			  *globals = json_text_get(all, "SimpleTable", JSON_OBJECT);

	if (all)
		judge_globals(reading->seed, reading->in, all);
	reading->globals = globals ? intrinsics_resolve(reading->in, globals) : NULL;
	return str_is_set(reading->in->problem)
		       ? cannot_resolve(reading, globals, STR("Globals.SimpleTable"), err)
		       : OK;
}

static enum code read_stack(struct reading *reading, const struct json *resource, struct str id,
			    struct err *err)
{
	struct intrinsics *in = reading->in;
	struct str path =
		str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(reading->path), STR_ARG(id));
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT);
	struct reading inner = {.seed = reading->seed, .path = STR("Resources")};

	if (!is_wanted(reading, resource, path))
		return str_is_set(in->problem) ? cannot_resolve(reading, resource, path, err) : OK;
	if (!str_is_set(file_of(in, properties))) {
		seed_refuse(reading->seed, source_origin(in->source, resource), path,
			    STR("a nested stack whose template is no file here"));
		return OK;
	}
	inner.in = open_stack(in, resource, id, err);
	if (str_is_set(in->problem))
		return cannot_resolve(reading, resource, path, err);
	if (!inner.in)
		return seed_at_origin(reading->seed, source_origin(in->source, resource), err);
	pass_over_attributes(reading, resource);
	seed_refuse_unused(reading->seed, resource, path);
	judge_stack(reading->seed, in, properties, inner.in,
		    str_printf(in->arena, STR_FMT ".Properties", STR_ARG(path)));
	enum code code = read_globals(&inner, inner.in->root, err);
	if (code != OK)
		return code;
	code = read_templates(&inner, err);
	close_stack(in, inner.in);
	reading->tables += inner.tables;
	reading->made += inner.made;
	reading->is_left_out = reading->is_left_out || inner.is_left_out;
	return code;
}

/* ------------------------------------------------------------------ resources */

static enum code read_resource(struct reading *reading, const struct json *member, struct str id,
			       struct err *err)
{
	struct intrinsics *in = reading->in;
	struct str path =
		str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(reading->path), STR_ARG(id));
	const struct json *resource = intrinsics_peel(in, member);
	struct str type = resource ? json_text_string(in->arena, resource, "Type") : STR_ABSENT;
	enum table_kind kind = table_resource_kind(type);

	if (!resource)
		return cannot_resolve(reading, member, path, err);
	if (kind != TABLE_NONE)
		return read_table(reading, resource, kind, id, err);
	if (is_stack(type))
		return read_stack(reading, resource, id, err);
	if (json_type(resource) != JSON_OBJECT || !str_is_set(type))
		seed_refuse(reading->seed, source_origin(in->source, member), path,
			    STR("no resource: it has no Type"));
	else
		judge_resource(reading->seed, in, resource, type, path);
	return OK;
}

static enum code read_resources(struct reading *reading, const struct json *resources,
				unsigned depth, struct err *err);

/* AWS: AWS::LanguageExtensions: "Fn::ForEach::NAME": [IDENTIFIER, LIST, {"...${IDENTIFIER}": ...}]
 */
static enum code read_each(struct reading *reading, const struct json *member, unsigned depth,
			   struct err *err)
{
	struct intrinsics *in = reading->in;
	const struct json *name = json_type(member) == JSON_ARRAY ? json_first(member) : NULL,
			  *list = name ? json_next(name) : NULL;
	const struct json *body = list ? json_next(list) : NULL;
	struct str path = str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(reading->path),
				     STR_ARG(json_name(in->arena, member)));
	enum code code = OK;
	struct str *values;
	size_t n;

	if (!body || json_next(body) || json_type(name) != JSON_STRING ||
	    json_type(body) != JSON_OBJECT || depth > EACH_MAX) {
		seed_refuse(reading->seed, source_origin(in->source, member), path,
			    STR("no identifier, list and map"));
		return OK;
	}
	if (!intrinsics_list(in, list, &values, &n))
		return cannot_resolve(reading, member, path, err);
	for (size_t i = 0; i < n && code == OK; i++) {
		struct loop *loop = ARENA_NEW(in->arena, struct loop);

		*loop = (struct loop){.outer = in->loop,
				      .name = json_string(in->arena, name),
				      .value = values[i]};
		in->loop = loop;
		code = read_resources(reading, body, depth + 1, err);
		in->loop = loop->outer;
	}
	return code;
}

static enum code read_resources(struct reading *reading, const struct json *resources,
				unsigned depth, struct err *err)
{
	struct intrinsics *in = reading->in;
	enum code code = OK;

	for (const struct json *at = json_first(resources); at && code == OK; at = json_next(at)) {
		struct str name = json_name(in->arena, at);

		const struct json *twin = json_find(resources, name);

		if (at != twin)
			seed_refuse(reading->seed, source_origin(in->source, twin),
				    str_printf(in->arena, STR_FMT "." STR_FMT,
					       STR_ARG(reading->path), STR_ARG(name)),
				    STR("stands twice"));
		else if (str_starts_with(name, STR("Fn::ForEach")))
			code = read_each(reading, at, depth, err);
		else if (str_starts_with(name, STR("Fn::")))
			seed_refuse(reading->seed, source_origin(in->source, at),
				    str_printf(in->arena, STR_FMT "." STR_FMT,
					       STR_ARG(reading->path), STR_ARG(name)),
				    STR("not carried out: what it would include may have tables"));
		else
			code = read_resource(reading, at,
					     in->loop ? intrinsics_substitute(in, name) : name,
					     err);
	}
	return code;
}

static enum code read_template(struct reading *reading, const struct json *member, struct err *err)
{
	struct intrinsics *in = reading->in;
	const struct json *template = intrinsics_peel(in, member), *resources = NULL;

	if (template && json_type(template) == JSON_OBJECT) {
		judge_macros(reading->seed, in, template);
		resources = intrinsics_peel(in, json_member(template, "Resources"));
	}
	if (str_is_set(in->problem))
		return cannot_resolve(reading, member, reading->path, err);
	if (!template || json_type(template) != JSON_OBJECT ||
	    (resources && json_type(resources) != JSON_OBJECT)) {
		if (template && json_type(template) != JSON_NULL)
			seed_refuse(reading->seed, source_origin(in->source, template),
				    reading->path, STR("no map of resources"));
		return OK;
	}
	return resources ? read_resources(reading, resources, 0, err) : OK;
}

static enum code read_templates(struct reading *reading, struct err *err)
{
	struct intrinsics *in = reading->in;
	enum code code = OK;

	for (size_t i = 0; i < in->template_count; i++) {
		const struct json *template = intrinsics_peel(in, in->templates[i]);

		if (template)
			judge_sections(reading->seed, in, template);
	}

	for (size_t i = 0; i < in->template_count && code == OK; i++)
		code = read_template(reading, in->templates[i], err);
	if (code == OK)
		judge_scaling(reading);
	return code;
}

bool template_is_in(const struct json *root)
{
	return json_type(root) == JSON_OBJECT &&
	       (json_text_get(root, "Resources", JSON_OBJECT) ||
		(json_member(root, "service") &&
		 (json_member(root, "resources") || json_member(root, "provider"))));
}

/* serverless.yml: "resources" is a template, or a list of templates. */
static void find_templates(struct intrinsics *in, const struct json *root)
{
	const struct json *resources = intrinsics_peel(in, json_member(root, "resources"));

	if (resources && json_type(resources) == JSON_ARRAY) {
		for (const struct json *at = json_first(resources); at; at = json_next(at)) {
			if (in->template_count < TEMPLATES_MAX)
				in->templates[in->template_count++] = at;
			else
				in->problem = STR("more than 256 templates");
		}
	} else if (resources) {
		in->templates[in->template_count++] = resources;
	}
}

/* What the plugins of serverless.yml put into the tables. */
static enum code read_seeds(struct reading *reading, size_t *seeds, struct err *err)
{
	enum code code = plugin_seeds_put(reading->seed, reading->in, seeds, err);

	return code == OK && str_is_set(reading->in->problem)
		       ? cannot_resolve(reading, NULL, STR("custom"), err)
		       : code;
}

enum code template_read(struct seed *seed, const struct json *root, struct err *err)
{
	const struct seed_options *options = seed_options(seed);
	bool is_serverless = !json_text_get(root, "Resources", JSON_OBJECT);
	struct str region = options->write.region, account = options->write.account;
	struct intrinsics *in = ARENA_NEW(seed_arena(seed), struct intrinsics);
	struct reading reading = {.seed = seed,
				  .in = in,
				  .path = is_serverless ? STR("resources.Resources")
							: STR("Resources")};

	*in = (struct intrinsics){
		.arena = seed_arena(seed),
		.source = seed_source(seed),
		.path = seed_path(seed),
		.root = root,
		.is_serverless = is_serverless,
		.parameters = options->parameters,
		.parameter_count = options->parameter_count,
		.stack = STR("dynalith"),
		.output = output_of,
		.region = str_is_set(region) ? region : STR("us-east-1"),
		.account = str_is_set(account) ? account : STR("000000000000"),
	};
	if (is_serverless)
		find_templates(in, root);
	else
		in->templates[in->template_count++] = root;
	if (str_is_set(in->problem))
		return cannot_resolve(&reading, NULL, STR("resources"), err);
	size_t seeds = 0;
	enum code code = is_serverless ? OK : read_globals(&reading, root, err);
	if (code != OK)
		return code;
	code = read_templates(&reading, err);
	if (code != OK)
		return code;
	if (is_serverless) {
		judge_serverless(seed, in, root);
		code = read_seeds(&reading, &seeds, err);
		if (code != OK)
			return code;
	}
	judge_parameters(seed, in);
	if (reading.tables + seeds == 0 && !seed_has_problems(seed)) {
		seed_refuse(seed, (struct origin){NULL, 0}, STR(""),
			    STR("a template without tables"));
	} else if (reading.is_left_out && reading.made == 0) {
		seed_warn(seed, (struct origin){NULL, 0}, STR(""),
			  STR("tables whose condition does not hold are not made"));
	}
	return OK;
}
