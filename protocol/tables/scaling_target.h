/*
 * scaling_target - Application Auto Scaling's view of a table's auto scaling: scalable targets by
 * ResourceId and ScalableDimension, their policies, their ARNs and pages.
 *
 * A target is a struct scaling of its table's record: scaling.h. It goes with its table. AWS keeps
 * targets of tables that were deleted: DDB-TABLE-292.
 */
#ifndef DYNALITH_PROTOCOL_SCALING_TARGET_H
#define DYNALITH_PROTOCOL_SCALING_TARGET_H

#include "protocol/tables/scaling.h"

/* What a request names. */
struct scaling_target {
	struct str resource, dimension; /* "table/NAME", "dynamodb:table:ReadCapacityUnits" */
	struct str name, index;         /* index absent: the table itself */
	bool is_write;
	struct table *table;     /* held until the call ends; NULL: there is none */
	struct scaling *scaling; /* of `table`; NULL: not registered */
};

/* `service` and `dimension` are constants of shapes.def. ERR_VALIDATION: they do not fit, or are
 * not DynamoDB's. */
enum code scaling_target_find(struct call *call, int service, struct str resource, int dimension,
			      struct scaling_target *out, struct err *err) WARN_UNUSED;

/* The same, for operations on a target that must be registered: ERR_OBJECT_NOT_FOUND with `absent`,
 * of MSG_TARGET_..., where it is not. */
enum scaling_absent { SCALING_UNREGISTERED, SCALING_UNFOUND };
enum code scaling_target_need(struct call *call, int service, struct str resource, int dimension,
			      enum scaling_absent absent, struct scaling_target *out,
			      struct err *err) WARN_UNUSED;

/* "arn:aws:application-autoscaling:us-east-1:000000000000:scalable-target/0ec5...": it follows from
 * what it names. */
struct str scaling_target_arn(struct arena *arena, struct ns ns, struct str resource,
			      struct str dimension);
struct str scaling_target_policy_arn(struct arena *arena, const struct table *table,
				     const struct scaling *scaling);

/* Members of ScalableTargets and ScalingPolicies. */
void scaling_target_write(struct json_out *out, const struct table *table,
			  const struct scaling *scaling);
void scaling_target_policy_write(struct json_out *out, const struct table *table,
				 const struct scaling *scaling);

/* Which targets of the namespace a page is of. */
struct scaling_filter {
	int service, dimension;                /* of shapes.def; 0: any */
	struct scaling_resource_ids resources; /* n is 0: any */
	struct scaling_resource_ids policies;  /* names; n is 0: any */
	bool has_policy;                       /* only targets that have one */
	struct str arn;                        /* the target's; absent: any */
	struct opt_int limit;
	struct str token;
};

struct scaling_page {
	size_t n;
	struct {
		struct table *table; /* held until the call ends */
		const struct scaling *scaling;
	} * v;
	struct str next; /* NextToken; absent: there are no more */
};

/* By table name. ERR_VALIDATION, ERR_NEXT_TOKEN. */
enum code scaling_target_page(struct call *call, const struct scaling_filter *filter,
			      struct scaling_page *out, struct err *err) WARN_UNUSED;

#endif
