/*
 * currency - whether a snapshot of a table still is the table.
 *
 * The store has a row per table with the version, which rises with every change of the table, and
 * the layout, the version at which what writers and readers do changed last (an index came or went,
 * time to live, the stream). A snapshot carries the numbers that it was made with. Each transaction
 * that uses one reads the row; so it does not matter which process made the change, and a store
 * that validates what was read sees to it that the answer holds until the commit. The row also says
 * which numbers of items and bytes hold, for writers read it in any case (catalog/size_rows.h).
 *
 * One more row for each namespace has its version: it rises whenever any of its tables is made,
 * changed or deleted, and is at least the version of each. Nobody looks tables up by it: it gives a
 * table that is rolled back a version that no snapshot had.
 *
 * Where reads lag (storage/lag/lag.h), the rows of the tables concerned say by how much.
 *
 * Where a namespace has checkpoints (storage/state/checkpoint.h), the rows of its tables have a
 * mark: a transaction that reads one is armed with the journal of the latest checkpoint. So a
 * namespace without any pays nothing, and no process has to know who has one.
 */
#ifndef DYNALITH_STORAGE_CURRENCY_H
#define DYNALITH_STORAGE_CURRENCY_H

#include "storage/schema/schema.h"
#include "storage/store/store.h"

/* A table's row. `count` is of catalog/size_rows.h: which numbers hold, and whether the table is
 * being counted. */
struct currency_row {
	uint64_t version, layout, count;
	uint64_t stack; /* of checkpoints that the table's namespace has; 0: none */
	bool is_there;
	struct str lag; /* CURRENCY_LAG_SIZE bytes of storage/lag; absent: none are kept */
};

#define CURRENCY_LAG_SIZE 20

/* Says that the row will be read and then written (store_intend). */
enum code currency_intend(struct store_txn *txn, uint64_t number, struct err *err) WARN_UNUSED;
enum code currency_read(struct store_txn *txn, uint64_t number, struct currency_row *row,
			struct err *err) WARN_UNUSED;
enum code currency_write(struct store_txn *txn, uint64_t number, const struct currency_row *row,
			 struct err *err) WARN_UNUSED;

/* Says that the next of these calls will come, so that the row comes with the rows that are asked
 * for before it (store_foresee); in `arena`. */
enum code currency_foresee(struct store_txn *txn, struct arena *arena, const struct table *table,
			   struct err *err) WARN_UNUSED;

/* For reading and writing items: ERR_TABLE_MOVED where the table is gone, or has another layout.
 * `count` is the row's, for writers; or NULL. */
enum code currency_check(struct store_txn *txn, const struct table *table, uint64_t *count,
			 struct err *err) WARN_UNUSED;
/* The same; *lag is the row's. */
enum code currency_check_lag(struct store_txn *txn, const struct table *table, struct str *lag,
			     struct err *err) WARN_UNUSED;

/* A row of a table's items. */
struct currency_item {
	const struct table *table;
	struct str row_key;
	struct str image; /* out: absent where there is no item */
	uint64_t count;   /* out: of the table's row, for writers */
	struct str lag;   /* out: the row's */
};

/* Reads items and checks their tables, all in one call of the store. Items of one table follow each
 * other. */
enum code currency_get_items(struct store_txn *txn, struct arena *arena,
			     struct currency_item *items, size_t n, struct err *err) WARN_UNUSED;

/* For a change of the table: ERR_TABLE_MOVED where anything of it was changed. */
enum code currency_check_version(struct store_txn *txn, const struct table *table, uint64_t *count,
				 struct err *err) WARN_UNUSED;

/* Gives `next` the numbers that follow those of `current` (NULL: it is new). */
void currency_follow(const struct table *current, struct table *next);

/* Writes the table's row, whose lag stays as it is; deletes it. */
enum code currency_put(struct store_txn *txn, const struct table *table, uint64_t count,
		       struct err *err) WARN_UNUSED;
enum code currency_del(struct store_txn *txn, const struct table *table,
		       struct err *err) WARN_UNUSED;
enum code currency_del_number(struct store_txn *txn, uint64_t number, struct err *err) WARN_UNUSED;

/*
 * The stack of a namespace's checkpoints: a number, 0 where it has none. `space` is what the keys
 * of its tables begin with. _put_stack sets the journal of the latest checkpoint, or takes the
 * stack away (0); _mark marks the row of a table, or takes the mark away (0).
 */
enum code currency_stack(struct store_txn *txn, struct str space, uint64_t *stack,
			 struct err *err) WARN_UNUSED;
enum code currency_put_stack(struct store_txn *txn, struct str space, uint64_t stack,
			     uint64_t journal, struct err *err) WARN_UNUSED;
enum code currency_mark(struct store_txn *txn, uint64_t number, uint64_t stack,
			struct err *err) WARN_UNUSED;

/*
 * After a rollback: a version, layout and epoch that no snapshot of the table ever had, in the
 * table and in its row, which gets the mark. `row` is as it was, and then as it is.
 */
enum code currency_renew(struct store_txn *txn, struct str space, struct table *table,
			 uint64_t stack, struct currency_row *row, struct err *err) WARN_UNUSED;

/* Sets the lag of a table's row; absent: none. Nothing where there is no row. */
enum code currency_put_lag(struct store_txn *txn, uint64_t number, struct str lag,
			   struct err *err) WARN_UNUSED;

/* Arms a transaction that reads no table's row, or not before it writes. */
enum code currency_arm(struct store_txn *txn, struct str space, struct err *err) WARN_UNUSED;

/* Whether the row says what the table does; not so where the table was changed since, or an older
 * Dynalith wrote its record. */
enum code currency_is_exact(struct store_txn *txn, const struct table *table, bool *is_exact,
			    struct err *err) WARN_UNUSED;

/* Raises the version of a namespace by one. `space` is what the keys of its tables begin with. */
enum code currency_raise(struct store_txn *txn, struct str space, struct err *err) WARN_UNUSED;
/* The version that older Dynaliths had for all namespaces, and raised with each change of a table;
 * nobody else does. */
enum code currency_catalog(struct store_txn *txn, uint64_t *version, struct err *err) WARN_UNUSED;

/* Whether a row of SYSTEM_VERSIONS can be read: of a table, a namespace, a stack, or an open shard
 * (stream/stream_shard.h). */
bool currency_is_sound(struct arena *arena, const struct store_row *row);

#endif
