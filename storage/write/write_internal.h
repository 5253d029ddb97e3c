/*
 * write_internal - what the parts of the write path share; not for others.
 */
#ifndef DYNALITH_STORAGE_WRITE_INTERNAL_H
#define DYNALITH_STORAGE_WRITE_INTERNAL_H

#include "storage/catalog/catalog_size.h"
#include "storage/catalog/links.h"
#include "storage/lag/history.h"
#include "storage/write/replication_row.h"
#include "storage/write/write.h"

#define SIZES_MAX (1 + INDEXES_MAX + VECTOR_INDEXES_MAX)

struct write_step {
	struct store_txn *txn;
	struct arena *arena;
	struct write *write;
	bool is_transactional;
	struct size_change *sizes; /* SIZES_MAX of them: [0] the table's, [1 + i] of index i of
				      table_index_at() */
	struct stream_appends *stream;
	int64_t now_ms;
	uint64_t collection_max;   /* bytes */
	const struct size_scope *scope;
	struct catalog *catalog;
	struct vector_memory *vectors;
	struct history_writer *history; /* NULL: the table's reads do not lag */
};

/* Before a row of the item or of an index changes: what it is, absent where there is none. */
static inline enum code write_note(const struct write_step *step, struct keyspace keyspace,
				   bool is_global, struct str key, struct str value,
				   struct err *err)
{
	return step->history ? history_note(step->history, keyspace, is_global, key, value, err)
			     : OK;
}

/* The time and the stream's appends of one region in a transaction. */
struct write_region {
	struct ns ns;
	int64_t now_ms;
	struct stream_appends stream;
};

/* A write at another replica of a global table: what it repeats, and whether it does so now.
 * Parallel to the writes behind the client's. */
struct write_repeat {
	const struct write *origin; /* the client's write of the same transaction; NULL: `change`
				       comes from elsewhere */
	const struct write_change *change;
	struct write_region *region;
	struct stamp stamp;           /* of the change; no region: there is nothing to repeat */
	struct stamp known;           /* what the replica has of the item */
};

/* What the transaction does for global tables; see write_group.c. */
struct write_group {
	size_t region_count;
	struct write_region *regions; /* of the repeats */
	struct write_repeat *repeats; /* of writes[n] and those behind it */
	struct stamp *stamps;         /* that the items of the client's writes have */
	struct links links;
};

/* One run of writes in one transaction. */
struct run {
	struct catalog *catalog;
	struct store_txn *txn;
	struct arena *arena;
	struct write *writes;
	size_t n;                  /* of a client; others are behind them */
	size_t total;
	enum write_mode mode;
	struct size_change (*sizes)[SIZES_MAX];
	struct size_scope *scopes; /* of each write */
	struct stream_appends stream;
	int64_t now_ms;
	uint64_t collection_max;
	struct vector_memory *vectors;
	const struct write_admission *admission; /* or NULL */
	struct history_writer **histories; /* of each write; NULL: none lags */
	struct write_group *group; /* NULL: no table of them is global */
};

/* One write from its old image, which is read, to its stream record. What it costs is known also
 * when its condition failed. */
enum code write_one(struct write_step *step, struct err *err) WARN_UNUSED;

/* Evaluates the expressions of a write with a write_thought, whatever the outcome: it reads the
 * item in a transaction of its own, which holds up no one on disk, and evaluates behind its end. */
enum code write_think(struct run *run, struct write *write, struct err *err) WARN_UNUSED;

/* The history that a write at that time keeps, whose old image is known; or NULL. */
struct history_writer *write_history_of(struct run *run, size_t i, int64_t now_ms);

/* Whether one of the tables is a replica of a global table. */
static inline bool write_has_group(const struct write *writes, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (table_is_global(writes[i].table))
			return true;
	}
	return false;
}

/*
 * The parts of a run upon global tables: before the transaction, the writes at other replicas are
 * added behind the client's; their tables are held until _release. In the transaction: what will be
 * read; the links, times and stamps; then, when the client's writes are run, those of the others,
 * or rows in their queues. After the commit, the ends of their streams.
 */
enum code write_group_plan(struct run *run, struct err *err) WARN_UNUSED;
void write_group_take(
	struct run *run, struct table *table,
	const struct write_change *changes); /* in place of _plan, for write_repeat() */
enum code write_group_foresee(struct run *run, struct err *err) WARN_UNUSED;
enum code write_group_read(struct run *run, struct err *err) WARN_UNUSED;
enum code write_group_repeat(struct run *run, struct err *err) WARN_UNUSED;
void write_group_end(const struct run *run, enum code code);
void write_group_release(struct run *run);

/* Brings all index rows from the write's old item to its new one; writes only rows that differ.
 * Tallies capacity. */
enum code write_indexes(struct write_step *step, struct err *err) WARN_UNUSED;

/*
 * After the rows of a write: ERR_ITEM_COLLECTION_SIZE where it made its item collection grow beyond
 * the limit. Tables without local indexes have no limit; others are looked at closely only when all
 * their collections together are beyond it.
 */
enum code write_check_collection(struct write_step *step, struct err *err) WARN_UNUSED;

/* After all rows of a transaction: sets collection_bytes of a write that wants it. */
enum code write_size_collection(struct catalog *catalog, struct store_txn *txn, struct arena *arena,
				struct write *write, const struct size_scope *scope,
				struct err *err) WARN_UNUSED;

/* Brings the item's row in the expiry keyspace from the old image to the new one. */
enum code write_expiry(struct write_step *step, struct err *err) WARN_UNUSED;

/* Of a write with an expiry_row: whether it is due, and the item that is there still the one that
 * it is about. */
bool write_is_expired(const struct write_step *step);

/* Of one that is not: deletes the row, unless it is not due; nothing else changes. */
enum code write_forget_expiry(struct write_step *step, struct err *err) WARN_UNUSED;

/* What write_check_token() reads first. */
struct store_key write_token_key(const struct write_token *token);

/* The transaction's token: whether the same request was applied before, and its items' sizes. */
enum code write_check_token(struct store_txn *txn, struct arena *arena, struct write_token *token,
			    int64_t now_ms, struct err *err) WARN_UNUSED;

/* Notes one that was not, with `sizes`, in the transaction. */
enum code write_note_token(struct store_txn *txn, struct arena *arena,
			   const struct write_token *token, struct err *err) WARN_UNUSED;

#endif
