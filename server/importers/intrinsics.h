/*
 * intrinsics - the functions of CloudFormation templates and the variables of serverless.yml,
 * resolved.
 *
 * AWS: CloudFormation User Guide, "Intrinsic function reference": Ref, Fn::Sub, Fn::Join, Fn::If
 * with Fn::Equals, Fn::And, Fn::Or, Fn::Not and Condition, Fn::FindInMap, Fn::Select, Fn::Split,
 * Fn::GetAtt, Fn::ForEach, Fn::Length, Fn::ToJsonString. Parameters have their defaults, or what
 * --parameter says. A reference to another resource is that resource's name, its attribute Arn an
 * ARN. What is named is computed once. A circle of names is told with its path. A template
 * and the stacks nested in it take 64 MB and a million steps. Of serverless.yml: ${self:}, ${opt:},
 * ${param:}, ${env:}, ${sls:}, ${aws:} and ${file()}, each with others behind commas.
 */
#ifndef DYNALITH_SERVER_IMPORTERS_INTRINSICS_H
#define DYNALITH_SERVER_IMPORTERS_INTRINSICS_H

#include "server/seed/seed.h"
#include "server/seed/source.h"

#define TEMPLATES_MAX 256 /* parts of one template */

struct named;
struct loaded;

/* A turn of Fn::ForEach. */
struct loop {
	const struct loop *outer;
	struct str name, value;
};

struct intrinsics {
	struct arena *arena;
	struct source *source;
	const char *path;        /* of the document, for files that it names */
	const struct json *root; /* what ${self:} is about: the whole document */
	bool is_serverless;      /* variables are resolved, too */
	const struct json
		*templates[TEMPLATES_MAX]; /* with Parameters, Conditions, Mappings, Resources */
	size_t template_count;
	const struct seed_parameter *parameters;
	size_t parameter_count;
	struct str stack, region, account;
	const struct loop *loop; /* the innermost that is under way, or NULL */
	struct str problem;      /* what could not be resolved, and why */
	struct origin problem_at;
	/* what GetAtt of a nested stack's output is; absent where the resource is no such stack.
	 * May be NULL. */
	struct str (*output)(struct intrinsics *in, const struct json *resource, struct str id,
			     struct str name);
	/* our own */
	struct origin at;            /* of the value that is looked at */
	struct named **named;        /* values that were computed, by their place in memory */
	const struct named *current; /* the innermost that is under way */
	struct loaded *loaded;       /* files that variables name */
	size_t steps, used_before;
	unsigned peels;  /* within each other */
	unsigned stacks; /* around this template, and those that it is opening */
};

/* The value without functions; NULL where it is AWS::NoValue, or where it cannot be resolved:
 * `problem` is set. */
const struct json *intrinsics_resolve(struct intrinsics *in, const struct json *value);

/* A tree with the members of both, where `over` comes first; maps within them are merged, too.
 * Either may be NULL. NULL: none of them is there, or `problem` is set. */
const struct json *intrinsics_merge(struct intrinsics *in, const struct json *under,
				    const struct json *over);

/* What a variable stands for, as long as the value is one; else the value. NULL: `problem` is set.
 */
const struct json *intrinsics_peel(struct intrinsics *in, const struct json *value);

/* A section's member by its name: of "Resources", "Conditions", ...; peeled, or NULL. */
const struct json *intrinsics_section(struct intrinsics *in, const char *section, struct str name);

/* The name of the resource of that logical id, such as a TableName; absent: there is none. */
struct str intrinsics_resource_name(struct intrinsics *in, struct str id);

/* What --parameter says; or absent. */
struct str intrinsics_given(const struct intrinsics *in, struct str name);

/* Whether the condition of that name holds. */
bool intrinsics_holds(struct intrinsics *in, struct str condition);

/* The texts of a value that is a list, or one that becomes one; false: `problem` is set. */
bool intrinsics_list(struct intrinsics *in, const struct json *value, struct str **texts,
		     size_t *n);
/* With ${NAME} of turns and parameters replaced. */
struct str intrinsics_substitute(struct intrinsics *in, struct str text);

#endif
