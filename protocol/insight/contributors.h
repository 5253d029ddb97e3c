/*
 * contributors - which keys of a table or a global index consume the most, and which are throttled
 * most often: what Contributor Insights shows.
 *
 * Only tables and indexes are counted where UpdateContributorInsights enabled it. Of each there are
 * up to four lists, as AWS has rules: partition keys and whole keys, accessed (by capacity units)
 * and throttled (by events). A list holds CONTRIBUTORS_MAX keys (Space-Saving: a new key takes the
 * place of the least, and its figure may be too high by what that one had). AWS: Developer Guide,
 * "CloudWatch Contributor Insights for DynamoDB".
 *
 * Figures belong to the process and end with it. Thread-safe.
 */
#ifndef DYNALITH_PROTOCOL_CONTRIBUTORS_H
#define DYNALITH_PROTOCOL_CONTRIBUTORS_H

#include "protocol/insight/access.h"

#define CONTRIBUTORS_MAX 100          /* keys of a list */
#define CONTRIBUTORS_RESOURCES_MAX                                                                 \
	256 /* tables and indexes; beyond, the one that was counted longest ago is forgotten */

struct contributors;

struct contributors *contributors_new(void);
void contributors_free(struct contributors *contributors);

/* Counts what the call read, wrote and was refused. While its tables are held. `contributors` NULL:
 * nothing. */
void contributors_fold(struct contributors *contributors, const struct call *call);

/* The lists of the namespace's tables and indexes, as JSON: docs/insight.md. */
enum code contributors_describe(const struct service *service, struct ns ns, struct arena *arena,
				struct str *answer, struct err *err) WARN_UNUSED;

#endif
