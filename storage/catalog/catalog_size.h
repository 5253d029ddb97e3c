/*
 * catalog_size - the items and bytes of tables and indexes.
 *
 * They are rows, written in the transactions that change items, and what this process has changed
 * since it last put its changes into the rows. A count that is not sure is taken again, in pieces
 * that upkeep runs (catalog_count.c).
 */
#ifndef DYNALITH_STORAGE_CATALOG_SIZE_H
#define DYNALITH_STORAGE_CATALOG_SIZE_H

#include "storage/catalog/catalog.h"

struct currency_row;

struct table_size {
	uint64_t items, bytes; /* by DynamoDB's size rules */
};

/*
 * The items and bytes of a table, [0], and of its indexes, [1 + i] for index i of table_index_at().
 * They are rows, and changes of this process that are not in the rows yet: exact where no other
 * process writes, else behind its writes by a few seconds. After an unclean end of a process, in a
 * file of an older Dynalith, and where its vector indexes changed, the table is counted again: some
 * pieces by this call, which is all of a small table, and the rest by catalog_size_step. Until then
 * the numbers are those from before; where there are none, as after a rollback, those counted so
 * far. AWS: an attribute that a vector index reads counts as it is
 * billed in a write, 4 bytes a dimension.
 */
enum code catalog_sizes(struct catalog *catalog, const struct table *table, struct arena *arena,
			struct table_size **sizes, struct err *err) WARN_UNUSED;
/* The same of one: the table (index NULL) or an index. */
enum code catalog_size(struct catalog *catalog, struct table *table, const struct index *index,
		       uint64_t *items, uint64_t *bytes, struct err *err) WARN_UNUSED;

/* By what a transaction keeps a table's numbers. */
struct size_scope {
	uint64_t epoch;     /* 0: the table was not counted yet */
	struct str counted; /* a count goes on, which has met the items before this key; absent:
			       none */
	bool has_joined, has_marked;
};

/* `count` is that of the table's row (schema/currency.h). A caller that keeps the scope for other
 * requests to the table zeroes the last two members. */
enum code catalog_size_scope(struct store_txn *txn, const struct table *table, uint64_t count,
			     struct size_scope *scope, struct err *err) WARN_UNUSED;
/* Within the transaction, for an item whose change made these changes: [0] the table's, [1 + i] of
 * index i of table_index_at(). */
enum code catalog_size_count(struct store_txn *txn, const struct table *table,
			     const struct size_scope *scope, struct str row_key,
			     const struct size_change *changes, struct err *err) WARN_UNUSED;
/* At the end of the transaction, for one change or the sum of several. Also after an error
 * catalog_size_leave is to be called. */
enum code catalog_size_join(struct catalog *catalog, struct store_txn *txn, struct table *table,
			    struct size_scope *scope, const struct size_change *changes,
			    struct err *err) WARN_UNUSED;
/* After the commit, with its code, or ERR_CONFLICT where the transaction did not come to that;
 * nothing where nobody joined. */
void catalog_size_leave(const struct table *table, const struct size_scope *scope,
			const struct size_change *changes, enum code code);

/* Within a transaction: how many bytes a table and its local indexes have at most, before the
 * changes of the transaction; immense: unknown. */
enum code catalog_size_most(struct catalog *catalog, struct store_txn *txn,
			    const struct table *table, const struct size_scope *scope,
			    long long *bytes, struct err *err) WARN_UNUSED;
/* The same for the rows of an index; UINT64_MAX: unknown. */
enum code catalog_size_index(struct store_txn *txn, const struct table *table,
			     const struct index *index, const struct size_scope *scope,
			     uint64_t *items, struct err *err) WARN_UNUSED;

/*
 * Within a transaction that changed items otherwise than by the write path: the table is counted
 * again, under an epoch that nobody has changes of. `record` is the key of the table's record,
 * `row` that of its version, which is written.
 */
enum code catalog_size_again(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
			     uint64_t number, struct str record, struct currency_row *row,
			     struct err *err) WARN_UNUSED;

/* Puts this process's changes into the rows; also done at catalog_close. */
enum code catalog_size_flush(struct catalog *catalog, struct err *err) WARN_UNUSED;
/* For upkeep, every few seconds: the same, and finds what processes left behind that ended without
 * doing so. `now_ms` is monotonic. */
enum code catalog_size_keep(struct catalog *catalog, int64_t now_ms, struct err *err) WARN_UNUSED;
/* For upkeep: a piece of the counts that are under way. *more: there may be further ones. */
enum code catalog_size_step(struct catalog *catalog, bool *more, struct err *err) WARN_UNUSED;

#endif
