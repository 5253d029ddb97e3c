/*
 * respond - the parts that many responses share, written once: ConsumedCapacity, ItemCollectionMetrics.
 */
#ifndef DYNALITH_PROTOCOL_RESPOND_H
#define DYNALITH_PROTOCOL_RESPOND_H

#include "protocol/handler.h"
#include "storage/cost.h"

/* How a ConsumedCapacity splits its units: transactions and writes name read and write units apart, as AWS does. */
enum capacity_form {
	CAPACITY_READ,            /* CapacityUnits only (GetItem, Query, Scan, BatchGetItem) */
	CAPACITY_WRITE,           /* CapacityUnits only (PutItem, ..., BatchWriteItem) */
	CAPACITY_TRANSACT_READ,   /* with ReadCapacityUnits */
	CAPACITY_TRANSACT_WRITE,  /* with WriteCapacityUnits (ReadCapacityUnits on an idempotent repeat) */
};

/* "ConsumedCapacity": {...}; nothing when `wanted` (a ReturnConsumedCapacity constant) is NONE or not given. */
void respond_capacity(struct call *call, int wanted, enum capacity_form form, const struct cost *cost);

/* "ConsumedCapacity": [...], one per table in the order given. */
void respond_capacities(struct call *call, int wanted, enum capacity_form form, const struct cost *costs, size_t n);

/* {"ItemCollectionKey": {...}, "SizeEstimateRangeGB": [low, high]} as a value. */
void respond_collection(struct call *call, const struct table *table, const struct value *item_or_key, uint64_t bytes);

#endif
