/*
 * transaction_internal - what the parts of a transaction share: its beginning and end and what it
 * changes (transaction.c), its reads (transaction_read.c).
 */
#ifndef DYNALITH_STORAGE_TRANSACTION_INTERNAL_H
#define DYNALITH_STORAGE_TRANSACTION_INTERNAL_H

#include "storage/store/postgresql/followers.h"
#include "storage/store/postgresql/own_rows.h"
#include "storage/store/postgresql/transaction.h"

#define PART_BITS 20 /* of a keyspace's number */

/* Keys of a keyspace that a write transaction has read in one piece. */
struct look {
	int64_t ks;
	struct str low, high; /* absent: open */
	size_t others;        /* rows in it that are not among the transaction's own */
};

struct transaction {
	struct store_txn base;
	struct pool *pool;
	struct link *link;
	struct followers *followers; /* of a read at a standby */
	enum store_behind end;       /* how that ended so far */
	struct arena *arena;
	bool is_begun;         /* in the database */
	bool is_spent; /* of STORE_READ_ONCE: its one read is over, and its snapshot with it */
	bool is_doomed;        /* it has seen a row appear that was absent: it will not commit */
	enum code failed;      /* what ended it before its end */
	struct own_rows rows;  /* of a write transaction; of one that reads, what it had foreseen */
	struct store_key *foreseen; /* to be brought with the next rows; in the arena */
	size_t foreseen_count;
	struct store_key *intended; /* to be locked as they are read; in the arena */
	size_t intended_count;
	size_t append_count;
	struct store_append *appends; /* in the arena */
	size_t look_count, look_capacity;
	struct look *looks;
};

static inline struct transaction *transaction_of(struct store_txn *txn)
{
	return (struct transaction *)txn;
}

static inline int64_t transaction_keyspace(struct keyspace keyspace)
{
	return (int64_t)(keyspace.table << PART_BITS | keyspace.part);
}

static inline bool transaction_is_writing(const struct transaction *txn)
{
	return txn->base.mode == STORE_WRITE;
}

/* Before the first statement of each read and of the commit. */
void transaction_start(struct transaction *txn);

/* Whether what was read at a standby is fresh enough; ERR_CONFLICT: it is not, and the transaction
 * is over. */
enum code transaction_check_fresh(struct transaction *txn, struct err *err) WARN_UNUSED;

/* Puts what is not yet in the database into the pipeline, in the order of keys; sums last, since
 * many may wait for their rows. */
void transaction_flush(struct transaction *txn);

/* Takes up what the database has under a key that was read. */
struct own_row *transaction_learn(struct transaction *txn, int64_t ks, struct str key,
				  struct str value);

/* Notes that a range was read; the commit checks that it has as many rows then. */
void transaction_look(struct transaction *txn, const struct look *look);

#endif
