/*
 * capacity - what an operation costs, in capacity units.
 *
 * AWS: Developer Guide, "DynamoDB read and write operations": a read unit is 4 KB consistent, half
 * for eventually consistent, double in a transaction; a write unit is 1 KB, double in a
 * transaction. Sizes are rounded up once per item (GetItem, batch, transactions) or once per page
 * (Query, Scan). At least one unit, also for what is not there.
 */
#ifndef DYNALITH_CORE_CAPACITY_H
#define DYNALITH_CORE_CAPACITY_H

#include <stddef.h>

enum read_mode { READ_EVENTUAL, READ_CONSISTENT, READ_TRANSACTIONAL };

/* Units of reading `size` bytes: 0 bytes cost as much as 1. */
double capacity_read(size_t size, enum read_mode mode);

/* Units of writing an item: by the larger of its sizes before and after. */
double capacity_write(size_t old_size, size_t new_size, int is_transactional);

#endif
