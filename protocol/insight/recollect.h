/*
 * recollect - a description of insight.h read back and judged: what several servers counted, added
 * up, says what none of them could see alone.
 *
 * A description has members for this: "traits", "burst", "item_bytes_sum" of a pattern,
 * "partition_units" of a table, "entities". It lacks what depends on the order of requests: whether
 * a consistent read was needed, and which members of batches were not sent again.
 */
#ifndef DYNALITH_PROTOCOL_RECOLLECT_H
#define DYNALITH_PROTOCOL_RECOLLECT_H

#include "protocol/insight/insight.h"
#include "protocol/wire/json.h"
#include "protocol/wire/json_out.h"

/* The value of "findings". What is missing in the description, or of another type, is none. */
void recollect_findings(struct arena *arena, const struct json *description, struct json_out *out);

/* Of enum pattern_trait, as words. */
struct str recollect_words(struct arena *arena, unsigned traits);

#endif
