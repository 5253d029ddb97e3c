/*
 * throughput_view - the throughput of a table or index as members of a description, for each
 * operation that shows one.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_VIEW_H
#define DYNALITH_PROTOCOL_THROUGHPUT_VIEW_H

#include "protocol/tables/settings.h"
#include "protocol/wire/json_out.h"

/* "OnDemandThroughput": {...}; nothing where there are no maxima. */
void throughput_view_on_demand(struct json_out *out, const struct throughput_pair *pair);

/* "WarmThroughput": {...} of the table, or of an index of it. Tools wait for its status. */
void throughput_view_warm(struct json_out *out, const struct table *table,
			  const struct index *index, bool is_updating);

#endif
