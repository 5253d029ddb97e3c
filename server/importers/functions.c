#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "server/importers/intrinsics_internal.h"
#include "server/importers/table_resource.h"
#include "server/seed/json_text.h"

struct str functions_of(struct intrinsics *in, const struct json *value,
			const struct json **argument)
{
	if (json_type(value) != JSON_OBJECT || json_count(value) != 1)
		return STR_ABSENT;
	struct str name = json_name(in->arena, json_first(value));
	*argument = json_first(value);
	bool is_function = str_eq(name, STR("Ref")) || str_eq(name, STR("Condition")) ||
			   str_starts_with(name, STR("Fn::"));
	return is_function ? name : STR_ABSENT;
}

/* AWS: China and GovCloud are partitions of their own. */
static struct str partition_of(struct str region)
{
	if (str_starts_with(region, STR("cn-")))
		return STR("aws-cn");
	return str_starts_with(region, STR("us-gov-")) ? STR("aws-us-gov") : STR("aws");
}

static struct str pseudo(const struct intrinsics *in, struct str name)
{
	bool is_china = str_starts_with(in->region, STR("cn-"));

	if (str_eq(name, STR("AWS::Region")))
		return in->region;
	if (str_eq(name, STR("AWS::AccountId")))
		return in->account;
	if (str_eq(name, STR("AWS::Partition")))
		return partition_of(in->region);
	if (str_eq(name, STR("AWS::URLSuffix")))
		return is_china ? STR("amazonaws.com.cn") : STR("amazonaws.com");
	return str_eq(name, STR("AWS::StackName")) || str_eq(name, STR("AWS::StackId"))
		       ? in->stack
		       : STR_ABSENT;
}

static struct str turn(const struct intrinsics *in, struct str name)
{
	for (const struct loop *loop = in->loop; loop; loop = loop->outer) {
		if (str_eq(loop->name, name))
			return loop->value;
	}
	return STR_ABSENT;
}

/* The value of a turn, of --parameter or of AWS; or absent. */
static struct str known(const struct intrinsics *in, struct str name)
{
	struct str value = turn(in, name);

	if (!str_is_set(value))
		value = intrinsics_given(in, name);
	return str_is_set(value) ? value : pseudo(in, name);
}

static bool is_list_type(struct str type)
{
	return str_eq(type, STR("CommaDelimitedList")) || str_contains(type, STR("List<"));
}

static void write_list(struct intrinsics *in, struct written *to, struct str text,
		       struct str separator)
{
	to->origins = arena_room(in->arena, to->origins, to->n, sizeof(*to->origins));
	to->origins[to->n++] = in->at;
	json_out_open(&to->out, '[');
	for (bool is_more = true; is_more && intrinsics_goes_on(in);) {
		const char *found =
			text.n > 0 ? memmem(text.p, text.n, separator.p, separator.n) : NULL;
		struct str part = {text.p, found ? (size_t)(found - text.p) : text.n};

		is_more = found != NULL;
		intrinsics_write_text(in, to, str_eq(separator, STR(",")) ? str_trim(part) : part);
		if (is_more)
			text = (struct str){found + separator.n, text.n - part.n - separator.n};
	}
	json_out_close(&to->out, ']');
}

static void write_parameter(struct intrinsics *in, struct written *to, struct str name,
			    const struct json *parameter, struct str value, unsigned depth)
{
	struct str type = json_text_string(in->arena, parameter, "Type");
	const struct json *fallback =
		json_type(parameter) == JSON_OBJECT ? json_member(parameter, "Default") : NULL;

	if (!str_is_set(value) && !fallback) {
		intrinsics_fail(in, str_printf(in->arena, "parameter " STR_FMT " without a default",
					       STR_ARG(name)));
		return;
	}
	if (!str_is_set(value) && str_starts_with(type, STR("AWS::SSM::"))) {
		intrinsics_fail(in,
				str_printf(in->arena, "parameter " STR_FMT ", which is kept by SSM",
					   STR_ARG(name)));
		return;
	}
	if (!str_is_set(value))
		value = intrinsics_text_named(in, name, fallback, depth + 1);
	if (is_list_type(type))
		write_list(in, to, value, STR(","));
	else
		intrinsics_write_text(in, to, value);
}

/* The name by which others know a resource. */
static struct str resource_name(struct intrinsics *in, const struct json *resource, struct str id,
				unsigned depth)
{
	static const struct {
		const char *type, *property;
	} names[] = {
		{"AWS::DynamoDB::Table", "TableName"},
		{"AWS::DynamoDB::GlobalTable", "TableName"},
		{"AWS::Serverless::SimpleTable", "TableName"},
		{"AWS::Kinesis::Stream", "Name"},
		{"AWS::S3::Bucket", "BucketName"},
		{"AWS::SQS::Queue", "QueueName"},
		{"AWS::IAM::Role", "RoleName"},
		{"AWS::Lambda::Function", "FunctionName"},
		{"AWS::Serverless::Function", "FunctionName"},
	};
	const struct json *properties =
		intrinsics_peel(in, intrinsics_member(resource, STR("Properties")));
	struct str type = json_text_string(in->arena, resource, "Type");

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct json *own =
			str_eq(type, str_of(names[i].type))
				? intrinsics_member(properties, str_of(names[i].property))
				: NULL;
		const struct json *chosen = own ? functions_reduce(in, own, depth) : NULL;

		if (chosen && !functions_is_no_value(in, chosen))
			return intrinsics_text_named(in, id, chosen, depth + 1);
	}
	return id;
}

struct str functions_resource_name(struct intrinsics *in, struct str id)
{
	const struct json *resource = intrinsics_section(in, "Resources", id);

	return resource ? resource_name(in, resource, id, 0) : STR_ABSENT;
}

/* Absent where it follows from no name. */
static struct str arn_of(struct intrinsics *in, const struct json *resource, struct str id,
			 unsigned depth)
{
	static const struct {
		const char *type, *service, *prefix;
	} services[] = {
		{"AWS::DynamoDB::Table", "dynamodb", "table/"},
		{"AWS::DynamoDB::GlobalTable", "dynamodb", "table/"},
		{"AWS::Serverless::SimpleTable", "dynamodb", "table/"},
		{"AWS::Kinesis::Stream", "kinesis", "stream/"},
		{"AWS::KMS::Key", "kms", "key/"},
		{"AWS::KMS::ReplicaKey", "kms", "key/"},
		{"AWS::Lambda::Function", "lambda", "function:"},
		{"AWS::Serverless::Function", "lambda", "function:"},
	};
	struct str type = json_text_string(in->arena, resource, "Type"),
		   name = resource_name(in, resource, id, depth);
	struct str partition = partition_of(in->region);

	if (str_eq(type, STR("AWS::IAM::Role")))
		return str_printf(in->arena, "arn:" STR_FMT ":iam::" STR_FMT ":role/" STR_FMT,
				  STR_ARG(partition), STR_ARG(in->account), STR_ARG(name));
	if (str_eq(type, STR("AWS::S3::Bucket")))
		return str_printf(in->arena, "arn:" STR_FMT ":s3:::" STR_FMT, STR_ARG(partition),
				  STR_ARG(name));
	for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++) {
		if (str_eq(type, str_of(services[i].type)))
			return str_printf(
				in->arena, "arn:" STR_FMT ":%s:" STR_FMT ":" STR_FMT ":%s" STR_FMT,
				STR_ARG(partition), services[i].service, STR_ARG(in->region),
				STR_ARG(in->account), services[i].prefix, STR_ARG(name));
	}
	return STR_ABSENT;
}

/* Attributes of custom resources are what their programs say, those of stacks their outputs. A
 * table's stream and its id are made with it. */
static bool is_known_by_aws_alone(const struct json *resource, struct arena *arena, struct str name)
{
	struct str type = json_text_string(arena, resource, "Type");

	if (table_resource_kind(type) != TABLE_NONE)
		return !str_eq(name, STR("Arn"));
	return str_starts_with(type, STR("Custom::")) ||
	       str_eq(type, STR("AWS::CloudFormation::CustomResource")) ||
	       str_eq(type, STR("AWS::CloudFormation::Stack")) ||
	       str_eq(type, STR("AWS::Serverless::Application"));
}

static struct str attribute(struct intrinsics *in, struct str id, struct str name, unsigned depth)
{
	const struct json *resource = intrinsics_section(in, "Resources", id);

	if (!resource)
		return intrinsics_fail(in, id);
	struct str whole = str_printf(in->arena, STR_FMT "." STR_FMT, STR_ARG(id), STR_ARG(name)),
		   value = intrinsics_given(in, whole);

	if (!str_is_set(value) && str_starts_with(name, STR("Outputs.")) && in->output)
		value = in->output(in, resource, id, (struct str){name.p + 8, name.n - 8});
	if (str_is_set(value))
		return value;
	if (str_is_set(in->problem) || is_known_by_aws_alone(resource, in->arena, name))
		return intrinsics_fail(in, whole);
	if (str_eq(name, STR("Arn")))
		value = arn_of(in, resource, id, depth);
	else if (name.n >= 4 && memcmp(name.p + name.n - 4, "Name", 4) == 0) /* QueueName */
		value = resource_name(in, resource, id, depth);
	return str_is_set(value) ? value : intrinsics_fail(in, whole);
}

static void write_reference(struct intrinsics *in, struct written *to, struct str name,
			    unsigned depth)
{
	struct str value = known(in, name);
	const struct json *parameter =
		str_is_set(turn(in, name)) ? NULL : intrinsics_section(in, "Parameters", name);
	const struct json *resource =
		parameter || str_is_set(value) ? NULL : intrinsics_section(in, "Resources", name);

	if (parameter)
		write_parameter(in, to, name, parameter, value, depth);
	else if (str_is_set(value))
		intrinsics_write_text(in, to, value);
	else
		intrinsics_write_text(in, to,
				      resource ? resource_name(in, resource, name, depth)
					       : intrinsics_fail(in, name));
}

static struct str reference(struct intrinsics *in, struct str name, unsigned depth)
{
	const struct json *parameter = intrinsics_section(in, "Parameters", name), *resource;
	const struct json *fallback =
		parameter ? intrinsics_member(parameter, STR("Default")) : NULL;
	struct str value = known(in, name);

	if (str_is_set(value))
		return value;
	if (fallback &&
	    !str_starts_with(json_text_string(in->arena, parameter, "Type"), STR("AWS::SSM::")))
		return intrinsics_text_named(in, name, fallback, depth + 1);
	if (parameter)
		return intrinsics_fail(in, str_printf(in->arena,
						      "parameter " STR_FMT " without a default",
						      STR_ARG(name)));
	resource = intrinsics_section(in, "Resources", name);
	return resource ? resource_name(in, resource, name, depth) : intrinsics_fail(in, name);
}

/* Where the ${...} ends whose inside begins at `from`; the text's length where it does not. */
static size_t closing(struct str text, size_t from)
{
	while (from < text.n && text.p[from] != '}')
		from++;
	return from;
}

static struct str variable_of(struct intrinsics *in, struct str name, const struct json *own,
			      unsigned depth)
{
	const struct json *mine = intrinsics_member(own, name);
	struct str rest = name, first;

	if (mine)
		return intrinsics_text_named(in, name, mine, depth + 1);
	if (str_is_set(known(in, name)))
		return known(in, name);
	first = str_cut(&rest, '.');
	return rest.n > 0 ? attribute(in, first, rest, depth + 1) : reference(in, first, depth + 1);
}

static struct str substitute(struct intrinsics *in, struct str text, const struct json *own,
			     unsigned depth)
{
	struct buf buf = buf_in(in->arena);

	for (size_t i = 0; i < text.n; i++) {
		bool is_variable = (text.p[i] == '$' || text.p[i] == '&') && i + 1 < text.n &&
				   text.p[i + 1] == '{';
		size_t end = is_variable ? closing(text, i + 2) : i;
		struct str name =
			is_variable ? str_trim((struct str){text.p + i + 2, end - i - 2}) : STR("");

		if (is_variable && !intrinsics_goes_past(in, end - i))
			return STR("");
		if (!is_variable || end == text.n ||
		    (text.p[i] == '&' && !str_is_set(turn(in, name)))) {
			buf_add_byte(&buf, text.p[i]);
			continue;
		}
		if (name.n > 0 && name.p[0] == '!')
			buf_printf(&buf, "${" STR_FMT "}", (int)name.n - 1,
				   name.p + 1); /* a literal */
		else
			buf_add_str(&buf, variable_of(in, name, own, depth));
		i = end;
	}
	return buf_str(&buf);
}

struct str functions_substitute(struct intrinsics *in, struct str text)
{
	return substitute(in, text, NULL, 0);
}

/* An array of that many elements. AWS refuses another. */
static bool has_elements(const struct json *argument, size_t least, size_t most)
{
	size_t n = json_type(argument) == JSON_ARRAY ? json_count(argument) : 0;

	return n >= least && n <= most;
}

static struct str join(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	const struct json *separator = intrinsics_element(argument, 0),
			  *list = intrinsics_element(argument, 1);
	struct buf buf = buf_in(in->arena);
	struct str between, *texts;
	size_t n;

	if (!has_elements(argument, 2, 2))
		return intrinsics_fail(in, STR("Fn::Join"));
	between = intrinsics_text(in, separator, depth + 1);
	if (!intrinsics_list(in, list, &texts, &n))
		return STR("");
	for (size_t i = 0; i < n && intrinsics_goes_on(in); i++) {
		if (i > 0)
			buf_add_str(&buf, between);
		buf_add_str(&buf, texts[i]);
	}
	return buf_str(&buf);
}

static void write_chosen(struct intrinsics *in, struct written *to, const struct json *argument,
			 unsigned depth)
{
	const struct json *which = intrinsics_element(argument, 0),
			  *from = intrinsics_element(argument, 1);
	struct str text = which ? intrinsics_text(in, which, depth + 1) : STR("");
	const struct json *list = from ? intrinsics_tree(in, from, depth + 1) : NULL, *chosen;
	char *end;
	unsigned long i = strtoul(str_copy(in->arena, text).p, &end, 10);

	chosen = has_elements(argument, 2, 2) && text.n > 0 && *end == '\0'
			 ? intrinsics_element(list, i)
			 : NULL;
	if (chosen)
		intrinsics_write_tree(in, to, chosen);
	else
		intrinsics_fail(in, str_printf(in->arena, "Fn::Select of element \"" STR_FMT "\"",
					       STR_ARG(text)));
}

static void write_split(struct intrinsics *in, struct written *to, const struct json *argument,
			unsigned depth)
{
	const struct json *separator = intrinsics_element(argument, 0),
			  *text = intrinsics_element(argument, 1);
	struct str between = separator ? intrinsics_text(in, separator, depth + 1) : STR("");

	if (between.n == 0 || !has_elements(argument, 2, 2))
		intrinsics_fail(in, STR("Fn::Split"));
	else
		write_list(in, to, intrinsics_text(in, text, depth + 1), between);
}

/* AWS: AWS::LanguageExtensions gives it a fourth element with a DefaultValue. */
static void write_mapped(struct intrinsics *in, struct written *to, const struct json *argument,
			 unsigned depth)
{
	const struct json *first = intrinsics_element(argument, 0),
			  *other = intrinsics_member(intrinsics_element(argument, 3),
						     STR("DefaultValue"));
	struct str names[3] = {STR(""), STR(""), STR("")};

	for (size_t i = 0; i < 3; i++) {
		const struct json *name = intrinsics_element(argument, i);

		if (name)
			names[i] = intrinsics_text(in, name, depth + 1);
	}
	const struct json *found = first && has_elements(argument, 3, 4)
					   ? intrinsics_section(in, "Mappings", names[0])
					   : NULL;
	for (size_t i = 1; i < 3 && found; i++)
		found = intrinsics_peel(in, intrinsics_member(found, names[i]));
	if (found || (other && has_elements(argument, 4, 4))) {
		const struct json *tree =
			intrinsics_named(in, names[2], found ? found : other, depth + 1);

		if (tree)
			intrinsics_write_tree(in, to, tree);
	} else {
		intrinsics_fail(
			in,
			str_printf(in->arena, "Fn::FindInMap of " STR_FMT ", " STR_FMT ", " STR_FMT,
				   STR_ARG(names[0]), STR_ARG(names[1]), STR_ARG(names[2])));
	}
}

static bool is_true(struct intrinsics *in, const struct json *condition, unsigned depth);

static bool holds_named(struct intrinsics *in, struct str name, const struct json *condition,
			unsigned depth)
{
	struct named *named;

	struct origin before = in->at;

	if (intrinsics_begin(in, name, condition, &named)) {
		in->at = source_origin(in->source, condition);
		named->holds = is_true(in, condition, depth);
		in->at = before;
		intrinsics_end(in, named);
	}
	return named->holds;
}

static bool is_equal(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	struct str sides[2];

	for (size_t i = 0; i < 2; i++) {
		const struct json *side = intrinsics_element(argument, i),
				  *tree = side ? intrinsics_tree(in, side, depth + 1) : NULL;
		struct json_out out = json_out_in(in->arena);

		if (!tree)
			return false;
		if (json_type(tree) != JSON_STRING)
			json_text_write(&out, in->arena, tree);
		sides[i] = json_type(tree) == JSON_STRING ? json_string(in->arena, tree)
							  : json_out_str(&out);
	}
	return str_eq(sides[0], sides[1]);
}

static bool is_true(struct intrinsics *in, const struct json *condition, unsigned depth)
{
	const struct json *argument = NULL;
	struct str function = functions_of(in, condition, &argument);

	if (depth > DEPTH_MAX || !str_is_set(function)) {
		intrinsics_fail(in, STR("a condition"));
		return false;
	}
	if (!intrinsics_goes_on(in))
		return false;
	if (str_eq(function, STR("Condition"))) {
		struct str name = intrinsics_text(in, argument, depth + 1);
		const struct json *other = intrinsics_section(in, "Conditions", name);

		if (!other)
			intrinsics_fail(in,
					str_printf(in->arena, "condition " STR_FMT, STR_ARG(name)));
		return other && holds_named(in, name, other, depth + 1);
	}
	if (str_eq(function, STR("Fn::Equals")) && has_elements(argument, 2, 2))
		return is_equal(in, argument, depth);
	if (str_eq(function, STR("Fn::Not")) && has_elements(argument, 1, 1))
		return !is_true(in, intrinsics_element(argument, 0), depth + 1);
	bool is_and = str_eq(function, STR("Fn::And")), result = is_and;
	if ((!is_and && !str_eq(function, STR("Fn::Or"))) || !has_elements(argument, 2, 10))
		intrinsics_fail(in, function);
	for (const struct json *at = intrinsics_element(argument, 0); at; at = json_next(at)) {
		bool holds = is_true(in, at, depth + 1);

		result = is_and ? result && holds : result || holds;
	}
	return result;
}

bool functions_holds(struct intrinsics *in, struct str condition)
{
	const struct json *found = intrinsics_section(in, "Conditions", condition);

	if (!found)
		intrinsics_fail(in,
				str_printf(in->arena, "condition " STR_FMT, STR_ARG(condition)));
	return found && holds_named(in, condition, found, 0);
}

const struct json *functions_reduce(struct intrinsics *in, const struct json *value, unsigned depth)
{
	const struct json *argument = NULL;

	while (value && depth++ < DEPTH_MAX && intrinsics_goes_on(in)) {
		const struct json *name;

		if (!str_eq(functions_of(in, value, &argument), STR("Fn::If")))
			return value;
		name = intrinsics_element(argument, 0);
		if (json_count(argument) != 3)
			intrinsics_fail(in, STR("Fn::If"));
		value = intrinsics_element(
			argument,
			name && functions_holds(in, intrinsics_text(in, name, depth)) ? 1 : 2);
	}
	return value;
}

bool functions_is_no_value(struct intrinsics *in, const struct json *value)
{
	const struct json *argument = NULL;

	return !value || (str_eq(functions_of(in, value, &argument), STR("Ref")) &&
			  json_type(argument) == JSON_STRING &&
			  str_eq(json_string(in->arena, argument), STR("AWS::NoValue")));
}

static struct str got_attribute(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	struct str rest, id;

	if (json_type(argument) == JSON_STRING) {
		rest = intrinsics_text(in, argument, depth + 1);
		id = str_cut(&rest, '.');
		return attribute(in, id, rest, depth);
	}
	const struct json *first = intrinsics_element(argument, 0),
			  *second = intrinsics_element(argument, 1);
	if (!second || !has_elements(argument, 2, 2))
		return intrinsics_fail(in, STR("Fn::GetAtt"));
	id = intrinsics_text(in, first, depth + 1);
	return attribute(in, id, intrinsics_text(in, second, depth + 1), depth);
}

static struct str substituted(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	bool is_list = json_type(argument) == JSON_ARRAY;
	const struct json *text = is_list ? intrinsics_element(argument, 0) : argument;

	if (!text || json_type(text) != JSON_STRING || (is_list && !has_elements(argument, 2, 2)))
		return intrinsics_fail(in, STR("Fn::Sub"));
	return substitute(in, intrinsics_text(in, text, depth + 1),
			  is_list ? intrinsics_element(argument, 1) : NULL, depth);
}

/* AWS: of AWS::LanguageExtensions. */
static void write_extension(struct intrinsics *in, struct written *to, struct str name,
			    const struct json *argument, unsigned depth)
{
	const struct json *tree = intrinsics_tree(in, argument, depth + 1);
	struct json_out out = json_out_in(in->arena);

	if (!tree)
		return;
	if (str_eq(name, STR("Fn::Length")))
		json_out_integer(&out, (int64_t)json_count(tree));
	else
		json_text_write(&out, in->arena, tree);
	intrinsics_write_text(in, to, json_out_str(&out));
}

/* What other stacks export is known by --parameter only. */
static struct str imported(struct intrinsics *in, const struct json *argument, unsigned depth)
{
	struct str name = intrinsics_text(in, argument, depth + 1),
		   value = intrinsics_given(in, name);

	return str_is_set(value)
		       ? value
		       : intrinsics_fail(in, str_printf(in->arena, "Fn::ImportValue of " STR_FMT,
							STR_ARG(name)));
}

void functions_write(struct intrinsics *in, struct written *to, struct str name,
		     const struct json *argument, unsigned depth)
{
	if (str_eq(name, STR("Ref")))
		write_reference(in, to, intrinsics_text(in, argument, depth + 1), depth);
	else if (str_eq(name, STR("Fn::Sub")))
		intrinsics_write_text(in, to, substituted(in, argument, depth));
	else if (str_eq(name, STR("Fn::Join")))
		intrinsics_write_text(in, to, join(in, argument, depth));
	else if (str_eq(name, STR("Fn::Select")))
		write_chosen(in, to, argument, depth);
	else if (str_eq(name, STR("Fn::Split")))
		write_split(in, to, argument, depth);
	else if (str_eq(name, STR("Fn::FindInMap")))
		write_mapped(in, to, argument, depth);
	else if (str_eq(name, STR("Fn::GetAtt")))
		intrinsics_write_text(in, to, got_attribute(in, argument, depth));
	else if (str_eq(name, STR("Fn::ImportValue")))
		intrinsics_write_text(in, to, imported(in, argument, depth));
	else if (str_eq(name, STR("Fn::Length")) || str_eq(name, STR("Fn::ToJsonString")))
		write_extension(in, to, name, argument, depth);
	else if (str_eq(name, STR("Condition")) && json_type(argument) == JSON_STRING)
		intrinsics_write_text(in, to,
				      json_string(in->arena, argument)); /* a member of that name */
	else
		intrinsics_fail(in, name);
}
