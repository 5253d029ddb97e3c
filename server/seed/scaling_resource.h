/*
 * scaling_resource - a scalable target and its policy in a file, as requests of Application Auto
 * Scaling that follow the table.
 */
#ifndef DYNALITH_SERVER_SEED_SCALING_RESOURCE_H
#define DYNALITH_SERVER_SEED_SCALING_RESOURCE_H

#include "server/seed/seed.h"

#define SCALING_REQUESTS 2 /* of a target with its policy, at most */

/* What a file says. Numbers may be texts; NULL: it says nothing. */
struct scaling_values {
	struct str resource, dimension; /* "table/NAME", "dynamodb:table:ReadCapacityUnits" */
	struct str region;              /* absent: the requests' own */
	const struct json *least, *most;
	struct str policy;         /* absent: AWS's own name */
	struct str metric;         /* absent: DynamoDB's, of that dimension */
	const struct json *target; /* NULL: there is no policy */
	const struct json *in_cooldown, *out_cooldown, *is_in_disabled;
};

/* The place of a table, or of its index where that is set; in the arena. */
void scaling_resource_place(struct arena *arena, struct scaling_values *values, struct str table,
			    struct str index, bool is_write);

/* The table of a ResourceId, which may be that of an index of it; absent: it is no table's. And
 * whether it is that table. */
struct str scaling_resource_table(struct str resource);
bool scaling_resource_is_of(struct str resource, struct str table);

/* RegisterScalableTarget, where there are limits, and PutScalingPolicy. How many. */
size_t scaling_resource_requests(struct arena *arena, const struct scaling_values *values,
				 struct seed_request *out);

#endif
