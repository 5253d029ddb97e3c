/*
 * respond - the parts that many responses share, written once: ConsumedCapacity,
 * ItemCollectionMetrics.
 */
#ifndef DYNALITH_PROTOCOL_RESPOND_H
#define DYNALITH_PROTOCOL_RESPOND_H

#include "protocol/handler.h"
#include "storage/cost.h"
#include "storage/read.h"
#include "storage/write/write.h"

/* How a ConsumedCapacity splits its units: transactions and writes name read and write units apart,
 * as AWS does. */
enum capacity_form {
	CAPACITY_READ,           /* CapacityUnits only (GetItem, Query, Scan, BatchGetItem) */
	CAPACITY_WRITE,          /* CapacityUnits only (PutItem, ..., BatchWriteItem) */
	CAPACITY_TRANSACT_READ,  /* with ReadCapacityUnits */
	CAPACITY_TRANSACT_WRITE, /* with WriteCapacityUnits (ReadCapacityUnits on an idempotent
				    repeat) */
};

/* Writes the item of an image, or its part in `projection` (NULL: all). */
void respond_item(struct call *call, struct str image, const struct projection *projection);

/* The response of a Query or Scan, of the page read. `wanted`: ReturnConsumedCapacity. */
void respond_page(struct call *call, const struct read_page *page, int wanted);

/* "ConsumedCapacity": {...}, the charge of the call's one table; nothing when `wanted` (a
 * ReturnConsumedCapacity constant) is NONE or not given. */
void respond_capacity(struct call *call, int wanted, enum capacity_form form);

/* "ConsumedCapacity": [...], the call's charges table by table. */
void respond_capacities(struct call *call, int wanted, enum capacity_form form);

/* "ItemCollectionMetrics": {...} of a write; nothing unless `wanted` is SIZE and the table has
 * local indexes. */
void respond_metrics(struct call *call, int wanted, const struct write *write);

/* Whether the request wants ItemCollectionMetrics. Its writes then run with wants_collection_size.
 */
bool respond_wants_metrics(int wanted);

/* "ItemCollectionMetrics": {"table": [...], ...} of many writes; a collection stands once. */
void respond_metrics_by_table(struct call *call, int wanted, const struct write *writes, size_t n);

#endif
