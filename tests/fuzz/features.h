/*
 * features - what a request can meet on its way besides the operation: IAM, insight, Contributor
 * Insights, limits of throughput, conflicts, faults, explanations. Which of them are on follows
 * from the input's bytes, so that an input alone says what happened. tests/matrix has the rest,
 * which the process needs.
 */
#ifndef DYNALITH_FUZZ_FEATURES_H
#define DYNALITH_FUZZ_FEATURES_H

#include "protocol/conflicts/conflicts.h"
#include "protocol/faults/faults.h"
#include "protocol/iam/iam.h"
#include "protocol/insight/contributors.h"
#include "protocol/insight/insight.h"
#include "protocol/throughput/throughput.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/protocol/service_fixture.h"

#define FEATURES_KEY "fuzz"
/* Everything is allowed, by a statement that looks at all that a request has. */
#define FEATURES_POLICIES                                                                          \
	"{\"principals\":[{\"access_key\":\"" FEATURES_KEY                                         \
	"\",\"arn\":\"arn:aws:iam::000000000000:user/"                                             \
	"fuzz\",\"identity\":{\"Version\":\"2012-10-17\","                                         \
	"\"Statement\":[{\"Effect\":\"Allow\",\"Action\":\"*\",\"Resource\":\"*\"},{\"Effect\":"   \
	"\"Deny\",\"Action\":\"*\",\"Resource\":\"*\","                                            \
	"\"Condition\":{\"ForAnyValue:StringEquals\":{\"dynamodb:Attributes\":[\"none of "         \
	"these\"]},"                                                                               \
	"\"ForAnyValue:StringLike\":{\"dynamodb:LeadingKeys\":[\"none of *these\"]}}}]}}]}"
#define FEATURES_FAULTS "{\"rules\":[{\"every\":2,\"error\":\"ThrottlingException\"}]}"

struct features {
	struct iam *iams[3]; /* report; enforced, everything allowed; enforced, nothing allowed */
	struct insight *insight;
	struct contributors *contributors;
	struct throughput_limits *throughput;
	struct conflicts *conflicts;
	struct faults *faults;
	bool is_explained;   /* of the input */
};

static inline struct features *features_new(struct arena *arena)
{
	static struct features features;
	struct err err = err_in(arena);

	features = (struct features){
		.iams = {iam_new(false), iam_new(true), iam_new(true)},
		.insight = insight_new(1000, true),
		.contributors = contributors_new(),
		.throughput = throughput_new(false),
		.conflicts = conflicts_new(true, false),
		.faults = faults_new(false),
	};
	throughput_enforce(features.throughput);
	for (size_t i = 0; i < 2; i++)
		MUST(iam_use(features.iams[i], STR(FEATURES_POLICIES), &err) == OK);
	return &features;
}

/* Those of the input, for the service; all of them off with `bits` 0. */
static inline void features_choose(struct features *features, struct service *service,
				   uint64_t bits, struct arena *arena)
{
	static const struct ns ns = {STR_INIT("000000000000"), STR_INIT("us-east-1")};
	struct err err = err_in(arena);

	service->iam = bits & 3 ? features->iams[(bits & 3) - 1] : NULL;
	service->insight = bits & 4 ? features->insight : NULL;
	service->contributors = bits & 8 ? features->contributors : NULL;
	service->throughput = bits & 16 ? features->throughput : NULL;
	service->conflicts = bits & 32 ? features->conflicts : NULL;
	service->faults = bits & 64 ? features->faults : NULL;
	features->is_explained = bits & 128;
	if (service->faults)
		MUST(faults_set(service->faults, ns, STR(FEATURES_FAULTS), &err) == OK);
}

static inline struct str features_access_key(void *context, struct arena *arena)
{
	(void)context, (void)arena;
	return STR(FEATURES_KEY);
}

#endif
