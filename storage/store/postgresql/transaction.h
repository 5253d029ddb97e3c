/*
 * transaction - a transaction of store.h on one link.
 *
 * It begins in the database with its first read, in the same round trip. What it writes is kept and
 * goes with the commit.
 */
#ifndef DYNALITH_STORAGE_TRANSACTION_H
#define DYNALITH_STORAGE_TRANSACTION_H

#include "storage/store/postgresql/followers.h"
#include "storage/store/store.h"

/* The calls of store_ops that begin with a transaction; `ops` is what the transaction carries.
 * `followers` NULL: there are none. */
enum code transaction_begin(const struct store_ops *ops, struct pool *pool,
			    struct followers *followers, enum store_mode mode,
			    struct store_txn **txn, struct err *err) WARN_UNUSED;
enum code transaction_commit(struct store_txn *txn, struct err *err) WARN_UNUSED;
void transaction_abort(struct store_txn *txn);
enum code transaction_create(struct store_txn *txn, struct keyspace keyspace,
			     struct err *err) WARN_UNUSED;
enum code transaction_drop(struct store_txn *txn, struct keyspace keyspace,
			   struct err *err) WARN_UNUSED;
enum code transaction_copy(struct store_txn *txn, struct keyspace from, struct keyspace to,
			   struct err *err) WARN_UNUSED;
/* A piece of what dropped keyspaces have left; *is_more: there was something. */
enum code transaction_tidy(struct store_txn *txn, bool *is_more, struct err *err) WARN_UNUSED;
enum code transaction_keyspaces(struct store_txn *txn, struct arena *arena,
				struct store_keyspaces *keyspaces, struct err *err) WARN_UNUSED;
enum code transaction_stat(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat,
			   struct err *err) WARN_UNUSED;
enum code transaction_get(struct store_txn *txn, struct keyspace keyspace, struct str key,
			  struct arena *arena, struct str *value, struct err *err) WARN_UNUSED;
enum code transaction_put(struct store_txn *txn, struct keyspace keyspace, struct str key,
			  struct str value, struct err *err) WARN_UNUSED;
enum code transaction_del(struct store_txn *txn, struct keyspace keyspace, struct str key,
			  struct err *err) WARN_UNUSED;
enum code transaction_get_many(struct store_txn *txn, const struct store_key *keys, size_t n,
			       struct arena *arena, struct str *values,
			       struct err *err) WARN_UNUSED;
enum code transaction_verify(struct store_txn *txn, struct err *err) WARN_UNUSED;
enum code transaction_intend(struct store_txn *txn, const struct store_key *key,
			     struct err *err) WARN_UNUSED;
enum code transaction_foresee(struct store_txn *txn, const struct store_key *keys, size_t n,
			      struct err *err) WARN_UNUSED;
enum code transaction_page(struct store_txn *txn, struct keyspace keyspace,
			   const struct store_range *range, struct store_bounds bounds,
			   struct arena *arena, struct store_page *page,
			   struct err *err) WARN_UNUSED;
enum code transaction_del_range(struct store_txn *txn, struct keyspace keyspace,
				const struct store_range *range, struct err *err) WARN_UNUSED;
enum code transaction_append(struct store_txn *txn, const struct store_append *append,
			     struct err *err) WARN_UNUSED;
enum code transaction_add(struct store_txn *txn, struct keyspace keyspace, struct str key,
			  int64_t delta, struct err *err) WARN_UNUSED;

#endif
