/*
 * finding - what an experienced engineer would say about the access patterns: each with its
 * evidence and what to do.
 */
#ifndef DYNALITH_PROTOCOL_FINDING_H
#define DYNALITH_PROTOCOL_FINDING_H

#include "protocol/insight/insight_internal.h"
#include "protocol/wire/json_out.h"

/* A JSON array of {"finding", "severity", "what", "where", "pattern", "access", "example",
 * "evidence", "units", "advice"}: the pattern is that which costs most there, where the finding is
 * about a table; an example where those are kept. */
void finding_all(struct insight *insight, struct arena *arena, struct json_out *out);

/* The same of an insight that has seen one request: what is wrong with that. `is_short`: an array
 * of names. */
void finding_of_request(struct insight *insight, struct arena *arena, bool is_short,
			struct json_out *out);

/* "0123abcd": a pattern's id, the same in every process. */
struct str finding_pattern_id(struct arena *arena, const struct pattern *pattern);

#endif
