/*
 * size_rows - the numbers of tables and indexes as rows: how many items, how many bytes.
 *
 * Rows of SYSTEM_COUNTERS, of five kinds:
 *
 *     size/ table epoch slot i|b     a number that many processes add to: items or bytes of a slot
 *                                    (schema/tally.h)
 *     count/ table                   the table is being counted: for which epoch, and up to which
 *                                    item
 *     unflushed/ process table       the process has changes of the epoch that are not in the rows
 *                                    yet
 *     life/ process                  a number that a process with such changes raises every few
 *                                    seconds, where others share the store
 *
 * The row of the table's version (schema/currency.h) has the epoch whose numbers hold, 0 where
 * nothing was counted yet, and whether the table is being counted for the next one. That count
 * keeps its numbers exact in each transaction: they are those of the items before the row's key.
 */
#ifndef DYNALITH_STORAGE_SIZE_ROWS_H
#define DYNALITH_STORAGE_SIZE_ROWS_H

#include "core/err.h"
#include "storage/schema/tally.h"
#include "storage/store/store.h"

/* The count in a row of currency.h. */
#define COUNT_OF(epoch, is_counting) ((epoch) * 2 + (is_counting))
#define COUNT_EPOCH(count) ((count) / 2)
#define COUNT_IS_COUNTING(count) (((count) & 1) != 0)

struct size_rows {
	size_t n;
	struct tally_slot *slots; /* in the order of their slots */
};

/* The numbers of all slots. */
enum code size_rows_read(struct store_txn *txn, struct arena *arena, uint64_t table, uint64_t epoch,
			 struct size_rows *rows, struct err *err) WARN_UNUSED;
struct size_change size_rows_of(const struct size_rows *rows, uint32_t slot);
enum code size_rows_add(struct store_txn *txn, uint64_t table, uint64_t epoch,
			const struct tally_slot *change, struct err *err) WARN_UNUSED;
/* Deletes the rows of one slot; those of an epoch; those of all epochs, and that of a count. */
enum code size_rows_drop_slot(struct store_txn *txn, uint64_t table, uint64_t epoch, uint32_t slot,
			      struct err *err) WARN_UNUSED;
enum code size_rows_drop_epoch(struct store_txn *txn, uint64_t table, uint64_t epoch,
			       struct err *err) WARN_UNUSED;
enum code size_rows_drop(struct store_txn *txn, uint64_t table, struct err *err) WARN_UNUSED;

/* A table that is being counted. */
struct size_count {
	uint64_t table, epoch; /* the epoch to be */
	struct str record;     /* the key of the table's record */
	struct str next;       /* items before this key are in the numbers; empty: none is */
};

enum code size_rows_put_count(struct store_txn *txn, struct arena *arena,
			      const struct size_count *count, struct err *err) WARN_UNUSED;
enum code size_rows_del_count(struct store_txn *txn, uint64_t table, struct err *err) WARN_UNUSED;
/* *is_there is false where the table is not being counted. */
enum code size_rows_get_count(struct store_txn *txn, struct arena *arena, uint64_t table,
			      struct size_count *count, bool *is_there,
			      struct err *err) WARN_UNUSED;
/* The first count of a table whose number is greater. */
enum code size_rows_next_count(struct store_txn *txn, struct arena *arena, uint64_t after,
			       struct size_count *count, bool *is_there,
			       struct err *err) WARN_UNUSED;

/* What a process says of itself. */
struct size_mark {
	uint64_t process, table;
	uint64_t epoch;
	uint64_t flushes;  /* that the process had made */
	struct str record; /* the key of the table's record */
};

enum code size_rows_put_mark(struct store_txn *txn, struct arena *arena,
			     const struct size_mark *mark, struct err *err) WARN_UNUSED;
/* Reads it: a put beside this transaction is a conflict. */
enum code size_rows_hold_mark(struct store_txn *txn, struct arena *arena, uint64_t process,
			      uint64_t table, struct err *err) WARN_UNUSED;
/* Deletes it, having read it: a put beside it is a conflict. */
enum code size_rows_del_mark(struct store_txn *txn, struct arena *arena, uint64_t process,
			     uint64_t table, struct err *err) WARN_UNUSED;
/* Up to `limit` marks of all processes behind that of `after` (NULL: from the first). */
enum code size_rows_marks(struct store_txn *txn, struct arena *arena, const struct size_mark *after,
			  size_t limit, struct size_mark **marks, size_t *n,
			  struct err *err) WARN_UNUSED;

/* The sign of life of a process: 0 where it has given none. It raises it in a transaction;
 * _end_life deletes the row, in one of its own. */
enum code size_rows_life(struct store_txn *txn, uint64_t process, int64_t *life,
			 struct err *err) WARN_UNUSED;
enum code size_rows_live(struct store_txn *txn, uint64_t process, struct err *err) WARN_UNUSED;
enum code size_rows_end_life(struct store *store, uint64_t process, struct err *err) WARN_UNUSED;

/* Whether a row of SYSTEM_COUNTERS is one of these. */
bool size_rows_is_key(struct str key);

/* Whether a row of one of these kinds can be read, but for a process's sign of life. */
bool size_rows_is_sound(struct arena *arena, const struct store_row *row);

#endif
