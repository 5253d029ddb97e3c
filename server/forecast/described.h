/*
 * described - tables of a plan from what the API's descriptions say of them: their billing, units,
 * limits, auto scaling, class, replicas and stored bytes.
 */
#ifndef DYNALITH_SERVER_FORECAST_DESCRIBED_H
#define DYNALITH_SERVER_FORECAST_DESCRIBED_H

#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

/* Each may be NULL: it is not known. */
struct described {
	const struct json *table;    /* "Table" of DescribeTable */
	const struct json *targets;  /* "ScalableTargets" of DescribeScalableTargets */
	const struct json *policies; /* "ScalingPolicies" of DescribeScalingPolicies */
	bool has_recovery, has_kinesis;
};

/* Writes an entry of the plan's "tables". */
void described_write(struct json_out *out, struct arena *arena, const struct described *described);

#endif
