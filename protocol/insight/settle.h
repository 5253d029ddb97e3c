/*
 * settle - what was seen as a report shows it: prefixes that may not be shown are "?", and patterns
 * that are alike then are one.
 *
 * While requests come, patterns are kept by all that could be a prefix, so that what is learnt
 * later (prefixes.h) still counts for the first requests: the report is the same in whichever order
 * they came.
 */
#ifndef DYNALITH_PROTOCOL_SETTLE_H
#define DYNALITH_PROTOCOL_SETTLE_H

#include "protocol/insight/insight_internal.h"

/*
 * A copy in the arena, for insight_describe() and findings; the lock is held while it is used. Its
 * patterns' hashes are those of their texts: the same in every process. `shows_all`: of one
 * request, whose values its sender knows.
 */
struct insight *settle(struct insight *insight, struct arena *arena, bool shows_all);

#endif
