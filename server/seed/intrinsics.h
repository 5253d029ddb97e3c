/*
 * intrinsics - the functions of CloudFormation templates and the variables of serverless.yml, resolved.
 *
 * AWS: CloudFormation User Guide, "Intrinsic function reference": Ref, Fn::Sub, Fn::Join, Fn::If with Fn::Equals, Fn::And, Fn::Or, Fn::Not and Condition,
 * Fn::FindInMap, Fn::Select, Fn::Split, Fn::GetAtt. Parameters have their defaults, or what --parameter says; a reference to another resource is that
 * resource's name. What is named is computed once. A circle of names is told with its path. A template takes 64 MB and
 * a million steps at most. Of serverless.yml: ${self:...}, ${opt:...}, ${param:...}, ${env:...}, ${sls:stage}, ${aws:...}, each with a fallback behind a comma.
 */
#ifndef DYNALITH_SERVER_SEED_INTRINSICS_H
#define DYNALITH_SERVER_SEED_INTRINSICS_H

#include "server/seed/seed.h"

struct named;

struct intrinsics {
	struct arena *arena;
	const struct json *root;      /* what ${self:} is about: the whole document */
	const struct json *template;  /* with Parameters, Conditions, Mappings, Resources */
	const struct seed_parameter *parameters;
	size_t parameter_count;
	struct str stack;             /* AWS::StackName */
	struct str problem;           /* what could not be resolved */
	/* our own */
	struct named **named;         /* values that were computed, by their place in memory */
	const struct named *current;  /* the innermost that is under way */
	size_t steps, used_before;
};

/* The value without functions; NULL where it is AWS::NoValue, or where something cannot be resolved: `problem` is set then. */
const struct json *intrinsics_resolve(struct intrinsics *in, const struct json *value);

/* Whether the condition of that name holds. */
bool intrinsics_holds(struct intrinsics *in, struct str condition);

#endif
