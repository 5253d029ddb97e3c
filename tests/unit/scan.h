/* scan - shows the rows of a range to a visitor, for tests. */
#ifndef DYNALITH_TEST_SCAN_H
#define DYNALITH_TEST_SCAN_H

#include "storage/store/walk.h"

/* Called per row in order; key and value are valid during the call only. Return false to stop. */
typedef bool scan_visit(void *context, struct str key, struct str value);

static inline enum code scan_rows(struct store_txn *txn, struct keyspace keyspace,
				  const struct store_range *range, scan_visit *visit, void *context,
				  struct err *err)
{
	struct walk walk = walk_begin(txn, keyspace, range, err);
	struct store_row row;

	while (walk_next(&walk, &row) && visit(context, row.key, row.value))
		;
	return walk_end(&walk);
}

#endif
