#include "server/importers/judge.h"

#include <stdlib.h>
#include <string.h>

#include "server/importers/table_resource.h"
#include "server/seed/json_text.h"

#define SECTIONS_DEPTH 16

static struct str under(struct intrinsics *in, struct str path, struct str name)
{
	return str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(path), STR_ARG(name));
}

static void refuse(struct seed *seed, const struct json *at, struct str path, const char *why)
{
	seed_refuse(seed, source_origin(seed_source(seed), at), path, str_of(why));
}

static void warn(struct seed *seed, const struct json *at, struct str path, const char *why)
{
	seed_warn(seed, source_origin(seed_source(seed), at), path, str_of(why));
}

void judge_macros(struct seed *seed, struct intrinsics *in, const struct json *template)
{
	static const char *const done[] = {"AWS::Serverless-2016-10-31", "AWS::LanguageExtensions"};
	const struct json *transform = json_member(template, "Transform");
	const struct json *at =
		transform && json_type(transform) == JSON_ARRAY ? json_first(transform) : transform;

	while (at) {
		struct str name = json_type(at) == JSON_STRING ? json_string(in->arena, at)
							       : STR("of this form");

		if (!JSON_TEXT_IS_AMONG(name, done))
			refuse(seed, at, STR("Transform"),
			       str_printf(in->arena, "macro " STR_FMT " is not carried out",
					  STR_ARG(name))
				       .p);
		at = transform != at ? json_next(at) : NULL;
	}
}

/* Whether a table is described in it. */
static bool holds_table(const struct intrinsics *in, const struct json *value, unsigned depth)
{
	bool is_table =
		table_resource_kind(json_text_string(in->arena, value, "Type")) != TABLE_NONE;

	if (json_type(value) != JSON_OBJECT && json_type(value) != JSON_ARRAY)
		return false;
	for (const struct json *at = json_first(value); at && !is_table && depth < SECTIONS_DEPTH;
	     at = json_next(at))
		is_table = holds_table(in, at, depth + 1);
	return is_table;
}

/* serverless.yml: what is merged into resources. */
static void judge_extensions(struct seed *seed, struct intrinsics *in,
			     const struct json *extensions)
{
	for (const struct json *at = json_first(extensions); at; at = json_next(at)) {
		struct str id = json_name(in->arena, at);
		const struct json *resource = intrinsics_section(in, "Resources", id);

		if (table_resource_kind(json_text_string(in->arena, resource, "Type")) !=
		    TABLE_NONE)
			refuse(seed, at, under(in, STR("resources.extensions"), id),
			       "a table is not extended; write it at the table");
	}
}

/* Rules but that of each template of the CDK, which is about its own bucket. */
static bool has_rules(struct intrinsics *in, const struct json *rules)
{
	for (const struct json *at = json_first(rules); at; at = json_next(at)) {
		if (!str_eq(json_name(in->arena, at), STR("CheckBootstrapVersion")))
			return true;
	}
	return false;
}

/* `twin`: the last one of that name, itself as a rule. */
static void judge_section(struct seed *seed, struct intrinsics *in, const struct json *section,
			  const struct json *twin)
{
	static const char *const maps[] = {"Outputs",  "Parameters", "Conditions",
					   "Mappings", "Rules",      "Globals"},
				 *const others[] = {"Resources", "Metadata", "Transform",
						    "Description", "Hooks"};
	struct str name = json_name(in->arena, section);
	const struct json *value = intrinsics_peel(in, section);
	bool is_map = value && json_type(value) == JSON_OBJECT;

	if (section != twin)
		refuse(seed, twin, name, "stands twice in the template");
	else if (str_starts_with(name, STR("Fn::")))
		refuse(seed, section, name,
		       "not carried out: what it would include may have tables");
	else if (str_eq(name, STR("extensions")) && is_map)
		judge_extensions(seed, in, value);
	else if (JSON_TEXT_IS_AMONG(name, maps) && value && !is_map &&
		 json_type(value) != JSON_NULL)
		refuse(seed, section, name, "no map");
	else if (is_map && str_eq(name, STR("Rules")) && has_rules(in, value))
		warn(seed, section, name, "rules about parameters are not checked");
	else if (!JSON_TEXT_IS_AMONG(name, maps) && !JSON_TEXT_IS_AMONG(name, others) &&
		 holds_table(in, section, 0))
		warn(seed, section, name, "no section of a template: its tables are not made");
}

void judge_sections(struct seed *seed, struct intrinsics *in, const struct json *template)
{
	for (const struct json *at = json_type(template) == JSON_OBJECT ? json_first(template)
									: NULL;
	     at; at = json_next(at))
		judge_section(seed, in, at, json_find(template, json_name(in->arena, at)));
}

/* serverless-lift makes tables of its constructs. */
static void judge_constructs(struct seed *seed, struct intrinsics *in,
			     const struct json *constructs)
{
	for (const struct json *at = json_first(constructs); at; at = json_next(at)) {
		const struct json *construct = intrinsics_peel(in, at);
		struct str type =
			construct ? json_text_string(in->arena, construct, "type") : STR_ABSENT;

		if (str_is_set(type) && str_starts_with(type, STR("database/dynamodb")))
			refuse(seed, at, under(in, STR("constructs"), json_name(in->arena, at)),
			       "the table of a construct is not made; write it under resources");
	}
}

void judge_serverless(struct seed *seed, struct intrinsics *in, const struct json *root)
{
	/* what variables name, and what has parts that are judged by themselves */
	static const char *const known[] = {"resources", "custom",   "params",
					    "stages",    "provider", "constructs"};
	const struct json *constructs = intrinsics_peel(in, json_member(root, "constructs")),
			  *provider = intrinsics_peel(in, json_member(root, "provider")),
			  *tags = NULL;

	for (const struct json *at = json_first(root); at; at = json_next(at)) {
		struct str name = json_name(in->arena, at);

		if (!JSON_TEXT_IS_AMONG(name, known) && holds_table(in, at, 0))
			warn(seed, at, name,
			     "no section of serverless.yml with tables: they are not made");
	}
	if (constructs && json_type(constructs) == JSON_OBJECT)
		judge_constructs(seed, in, constructs);
	if (provider && json_type(provider) == JSON_OBJECT)
		tags = json_member(provider, "stackTags");
	if (tags) /* AWS: CloudFormation gives them to the stack's resources */
		warn(seed, tags, STR("provider.stackTags"), "tables have their own tags alone");
}

/* AWS: SAM's developer guide, "Globals section". */
void judge_globals(struct seed *seed, struct intrinsics *in, const struct json *globals)
{
	static const char *const known[] = {
		"Function",     "Api",          "HttpApi",      "SimpleTable",
		"StateMachine", "LayerVersion", "WebSocketApi", "CapacityProvider"};

	for (const struct json *at = json_type(globals) == JSON_OBJECT ? json_first(globals) : NULL;
	     at; at = json_next(at)) {
		struct str name = json_name(in->arena, at), path = under(in, STR("Globals"), name);

		if (!JSON_TEXT_IS_AMONG(name, known))
			refuse(seed, at, path, "no section of Globals");
		else if (str_eq(name, STR("SimpleTable")) && json_type(at) != JSON_OBJECT &&
			 json_type(at) != JSON_NULL)
			refuse(seed, at, path, "no map");
	}
}

/* ------------------------------------------------------------------ parameters */

/* As CloudFormation refuses it. The scalar as a text: "5" is one of [1, 5]. */
static bool is_allowed(struct arena *arena, const struct json *allowed, struct str value)
{
	for (const struct json *at = json_first(allowed); at; at = json_next(at)) {
		struct json_out out = json_out_in(arena);

		json_text_write(&out, arena, at);
		if (str_eq(value, json_type(at) == JSON_STRING ? json_string(arena, at)
							       : buf_str(&out.buf)))
			return true;
	}
	return false;
}

/* Whether a number of a declaration, such as MinLength, holds. True where there is none. */
static bool is_within(struct arena *arena, const struct json *declared, const char *name,
		      double number, bool is_least)
{
	const struct json *limit = json_member(declared, name);
	struct str text =
		limit && json_type(limit) == JSON_STRING ? json_string(arena, limit) : STR("");
	double value = limit && json_type(limit) == JSON_NUMBER
			       ? json_number(limit)
			       : strtod(str_copy(arena, text).p, NULL);

	return !limit || (is_least ? number >= value : number <= value);
}

/* Why CloudFormation refuses the value; or NULL. */
static const char *problem_of(struct arena *arena, const struct json *declared, struct str value)
{
	const struct json *allowed = json_text_get(declared, "AllowedValues", JSON_ARRAY);
	bool is_number = str_eq(json_text_string(arena, declared, "Type"), STR("Number"));
	char *end;
	double number = strtod(str_copy(arena, value).p, &end);

	if (allowed && !is_allowed(arena, allowed, value))
		return "none of its AllowedValues";
	if (is_number && (value.n == 0 || *end != '\0'))
		return "no number";
	if (is_number && !(is_within(arena, declared, "MinValue", number, true) &&
			   is_within(arena, declared, "MaxValue", number, false)))
		return "not between its MinValue and MaxValue";
	return is_within(arena, declared, "MinLength", (double)value.n, true) &&
			       is_within(arena, declared, "MaxLength", (double)value.n, false)
		       ? NULL
		       : "not as long as its MinLength and MaxLength say";
}

static void judge_value(struct seed *seed, struct intrinsics *in, const struct json *declared,
			struct str name, struct str value)
{
	struct str type = json_text_string(in->arena, declared, "Type");
	bool is_plain = str_eq(type, STR("String")) || str_eq(type, STR("Number"));
	const char *problem = is_plain ? problem_of(in->arena, declared, value) : NULL;

	if (problem)
		refuse(seed, declared, under(in, STR("Parameters"), name),
		       str_printf(in->arena, "\"" STR_FMT "\" is %s", STR_ARG(value), problem).p);
}

/* Of a template: the values that are given, or else their defaults. */
static void judge_values(struct seed *seed, struct intrinsics *in, const struct json *parameters)
{
	for (const struct json *at = json_first(parameters); at; at = json_next(at)) {
		struct str name = json_name(in->arena, at), value = intrinsics_given(in, name);
		const struct json *fallback = json_text_get(at, "Default", JSON_STRING);

		if (str_is_set(value) && json_text_get(at, "AllowedPattern", JSON_STRING))
			warn(seed, at, under(in, STR("Parameters"), name),
			     "its AllowedPattern is not checked");
		if (!str_is_set(value) && fallback)
			value = json_string(in->arena, fallback);
		if (str_is_set(value) && json_type(at) == JSON_OBJECT)
			judge_value(seed, in, at, name, value);
	}
}

void judge_parameters(struct seed *seed, struct intrinsics *in)
{
	const struct seed_options *options = seed_options(seed);

	for (size_t i = 0; i < in->template_count; i++) {
		const struct json *template = intrinsics_peel(in, in->templates[i]);
		const struct json *declared = json_text_get(template, "Parameters", JSON_OBJECT);

		if (declared)
			judge_values(seed, in, declared);
	}
	for (size_t i = 0; i < options->parameter_count; i++) {
		const struct seed_parameter *parameter = &options->parameters[i];

		if (!parameter->is_used || *parameter->is_used)
			continue;
		*parameter->is_used = intrinsics_section(in, "Parameters", parameter->name) != NULL;
		if (*parameter->is_used || !options->is_of_one_file)
			continue;
		seed_warn(seed, (struct origin){NULL, 0},
			  str_printf(in->arena, "parameter " STR_FMT, STR_ARG(parameter->name)),
			  STR("the file does not use it"));
		*parameter->is_used = true; /* in that it is told */
	}
}

/* ------------------------------------------------------------------ other resources */

static bool names_dynamodb(struct intrinsics *in, struct str text)
{
	return strcasestr(str_copy(in->arena, text).p, "dynamodb") != NULL;
}

/* Whether it is the name of a table of the template, as Ref and Fn::GetAtt have it. */
static bool names_table(struct intrinsics *in, struct str text)
{
	struct str id = str_cut(&text, '.');
	const struct json *resource = intrinsics_section(in, "Resources", id);

	return table_resource_kind(json_text_string(in->arena, resource, "Type")) != TABLE_NONE;
}

/* Whether a value is about tables: it refers to one, or has the name of the service. */
static bool is_about_tables(struct intrinsics *in, const struct json *value, bool is_reference,
			    unsigned depth)
{
	bool is_object = json_type(value) == JSON_OBJECT;

	if (json_type(value) == JSON_STRING) {
		struct str text = json_string(in->arena, value);

		return names_dynamodb(in, text) || (is_reference && names_table(in, text));
	}
	if (!is_object && json_type(value) != JSON_ARRAY)
		return false;
	for (const struct json *at = depth < SECTIONS_DEPTH ? json_first(value) : NULL; at;
	     at = json_next(at)) {
		struct str name = is_object ? json_name(in->arena, at) : STR("");
		bool refers = str_eq(name, STR("Ref")) || str_eq(name, STR("Fn::GetAtt")) ||
			      (!is_object && is_reference);

		if (is_about_tables(in, at, refers, depth + 1))
			return true;
	}
	return false;
}

bool judge_is_about_tables(struct intrinsics *in, const struct json *value)
{
	return is_about_tables(in, value, false, 0);
}

void judge_scaled(struct seed *seed, struct intrinsics *in, const struct json *resource,
		  struct str path)
{
	static const char *const known[] = {
		"MaxCapacity",       "MinCapacity",
		"ResourceId",        "RoleARN",
		"ScalableDimension", "ServiceNamespace",
		"PolicyName",        "PolicyType",
		"ScalingTargetId",   "TargetTrackingScalingPolicyConfiguration"};
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT);

	for (const struct json *at = properties ? json_first(properties) : NULL; at;
	     at = json_next(at)) {
		struct str name = json_name(in->arena, at);

		if (!JSON_TEXT_IS_AMONG(name, known))
			warn(seed, at, under(in, path, name),
			     "this part of auto scaling is not carried out");
	}
}

/* Types that would be tables, replicas or parts of them, but for their letters or their version. */
static bool is_unknown_table(struct str type)
{
	struct str name = str_trim(type);
	bool is_close = !str_eq(name, STR("AWS::Serverless::SimpleTable")) || name.n != type.n;

	return (name.n > 15 && str_eq_nocase((struct str){name.p, 15}, STR("AWS::DynamoDB::"))) ||
	       (is_close && str_eq_nocase(name, STR("AWS::Serverless::SimpleTable"))) ||
	       str_eq_nocase(name, STR("AWS::Serverless::Table")) ||
	       str_starts_with(name, STR("Custom::AmplifyDynamoDB")) ||
	       str_starts_with(name, STR("Custom::DynamoDBReplica"));
}

static bool is_module(struct str type)
{
	return type.n > 8 && str_eq((struct str){type.p + type.n - 8, 8}, STR("::MODULE"));
}

void judge_resource(struct seed *seed, struct intrinsics *in, const struct json *resource,
		    struct str type, struct str path)
{
	const struct json *properties = json_text_get(resource, "Properties", JSON_OBJECT);
	bool is_custom = str_starts_with(type, STR("Custom::")) ||
			 str_eq(type, STR("AWS::CloudFormation::CustomResource"));

	if (is_unknown_table(type))
		refuse(seed, resource, path,
		       str_printf(in->arena, STR_FMT " is not known here", STR_ARG(type)).p);
	else if (is_module(type))
		refuse(seed, resource, path, "a module is not carried out: it may have tables");
	else if (str_eq(type, STR("AWS::CloudFormation::StackSet")))
		warn(seed, resource, path, "the tables of a stack set are not made");
	else if (is_custom && (names_dynamodb(in, type) ||
			       (properties && judge_is_about_tables(in, properties))))
		warn(seed, resource, path,
		     "what a custom resource does to tables is not done here");
	else if (in->loop && str_starts_with(type, STR("AWS::ApplicationAutoScaling::")) &&
		 properties && judge_is_about_tables(in, properties))
		warn(seed, resource, path, "auto scaling in Fn::ForEach is not carried out");
}

void judge_stack(struct seed *seed, struct intrinsics *in, const struct json *properties,
		 struct intrinsics *inner, struct str path)
{
	static const char *const known[] = {"TemplateURL", "Location", "Parameters",
					    "NotificationARNs", "TimeoutInMinutes"};
	const struct json *given = json_text_get(properties, "Parameters", JSON_OBJECT);

	for (const struct json *at = json_first(properties); at; at = json_next(at)) {
		struct str name = json_name(in->arena, at);

		if (str_eq(name, STR("Tags")))
			warn(seed, at, under(in, path, name),
			     "tables of a nested stack have their own tags alone");
		else if (!JSON_TEXT_IS_AMONG(name, known))
			refuse(seed, at, under(in, path, name),
			       "not known here, or of another type than it must have");
	}
	for (const struct json *at = given ? json_first(given) : NULL; at; at = json_next(at)) {
		struct str name = json_name(in->arena, at);

		if (!str_starts_with(name, STR("Fn::")) &&
		    !intrinsics_section(inner, "Parameters", name))
			refuse(seed, at, under(in, under(in, path, STR("Parameters")), name),
			       "the template of the stack has no such parameter");
	}
	if (!json_text_get(inner->root, "Resources", JSON_OBJECT))
		refuse(seed, properties, path, "the template of the stack has no Resources");
}
