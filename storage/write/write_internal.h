/*
 * write_internal - what the parts of the write path share; not for others.
 */
#ifndef DYNALITH_STORAGE_WRITE_INTERNAL_H
#define DYNALITH_STORAGE_WRITE_INTERNAL_H

#include "storage/lag/history.h"
#include "storage/write/write.h"

#define SIZES_MAX (1 + INDEXES_MAX + VECTOR_INDEXES_MAX)

struct write_step {
	struct store_txn *txn;
	struct arena *arena;
	struct write *write;
	bool is_transactional;
	struct size_change *sizes; /* SIZES_MAX of them: [0] the table's, [1 + i] of index i of table_index_at() */
	struct stream_appends *stream;
	int64_t now_ms;
	uint64_t collection_max;   /* bytes */
	const struct size_scope *scope;
	struct catalog *catalog;
	struct vector_memory *vectors;
	struct history_writer *history; /* NULL: the table's reads do not lag */
};

/* Before a row of the item or of an index changes: what it is, absent where there is none. */
static inline enum code write_note(const struct write_step *step, struct keyspace keyspace, bool is_global, struct str key, struct str value, struct err *err)
{
	return step->history ? history_note(step->history, keyspace, is_global, key, value, err) : OK;
}

/* Brings all index rows from the write's old item to its new one; writes only rows that differ. Tallies capacity. */
enum code write_indexes(struct write_step *step, struct err *err) WARN_UNUSED;

/*
 * After the rows of a write: ERR_ITEM_COLLECTION_SIZE where it made its item collection grow beyond the limit. Tables without local indexes
 * have no limit; others are looked at closely only when all their collections together are beyond it.
 */
enum code write_check_collection(struct write_step *step, struct err *err) WARN_UNUSED;

/* After all rows of a transaction: sets collection_bytes of a write that wants it. */
enum code write_size_collection(struct catalog *catalog, struct store_txn *txn, struct arena *arena, struct write *write,
				const struct size_scope *scope, struct err *err) WARN_UNUSED;

/* Brings the item's row in the expiry keyspace from the old image to the new one. */
enum code write_expiry(struct write_step *step, struct err *err) WARN_UNUSED;

/* Of a write with an expiry_row: whether it is due, and the item that is there still the one that it is about. */
bool write_is_expired(const struct write_step *step);

/* Of one that is not: deletes the row, unless it is not due; nothing else changes. */
enum code write_forget_expiry(struct write_step *step, struct err *err) WARN_UNUSED;

/* What write_check_token() reads first. */
struct store_key write_token_key(const struct write_token *token);

/* The transaction's token: whether the same request was applied before; if not, notes it in the transaction. */
enum code write_check_token(struct store_txn *txn, struct arena *arena, struct write_token *token, int64_t now_ms,
			    struct err *err) WARN_UNUSED;

#endif
