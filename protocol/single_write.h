/*
 * single_write - what PutItem, UpdateItem and DeleteItem share: the way from the parsed request to
 * the store, and the response.
 */
#ifndef DYNALITH_PROTOCOL_SINGLE_WRITE_H
#define DYNALITH_PROTOCOL_SINGLE_WRITE_H

#include "protocol/expressions.h"
#include "protocol/handler.h"
#include "storage/write/write.h"

/*
 * Takes the condition and update of `expressions` into the write, looks its table up, checks keys,
 * and runs it alone. On failure nothing was written. `table_name` as given in the request.
 */
enum code single_write_run(struct call *call, struct str table_name,
			   const struct expressions *expressions, struct write *write,
			   struct err *err) WARN_UNUSED;

/* What the response shows besides Attributes. */
struct single_write_wants {
	int capacity; /* ReturnConsumedCapacity */
	int metrics;  /* ReturnItemCollectionMetrics */
};

/* {"Attributes": the old item where `wants_old`, ConsumedCapacity, ItemCollectionMetrics}. */
void single_write_respond(struct call *call, const struct write *write, bool wants_old,
			  struct single_write_wants wants);

/* The end of a response whose Attributes are written: capacity and metrics. */
void single_write_finish(struct call *call, const struct write *write,
			 struct single_write_wants wants);

#endif
