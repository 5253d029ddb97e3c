/* scan_index - shows the rows of an index to a visitor, for tests. */
#ifndef DYNALITH_TEST_SCAN_INDEX_H
#define DYNALITH_TEST_SCAN_INDEX_H

#include "storage/index_row.h"
#include "tests/unit/scan.h"

/* All of them as scan_rows() does, with images also where they stand for items. */
static inline enum code scan_index(struct store_txn *txn, const struct table *table,
				   const struct index *index, scan_visit *visit, void *context,
				   struct err *err)
{
	struct store_range all = {STR_ABSENT, STR_ABSENT, false};
	struct walk walk = walk_begin(txn, index_keyspace(table, index), &all, err);
	struct index_row_reference reference;
	struct store_row row;

	walk.reference = index_row_reference(table, index, &reference);
	while (walk_next(&walk, &row) && visit(context, row.key, row.value))
		;
	return walk_end(&walk);
}

#endif
