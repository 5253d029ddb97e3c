/*
 * rows - the calls of the store that read and write rows, by prepared statements; internal to
 * storage/store/sqlite.
 */
#ifndef DYNALITH_STORAGE_SQLITE_ROWS_H
#define DYNALITH_STORAGE_SQLITE_ROWS_H

#include "storage/store/store.h"

struct connection;

/*
 * Before each change. ERR_INTERNAL where no write transaction is under way, or SQLite has ended it
 * by itself.
 */
enum code rows_begin_change(struct connection *connection, struct err *err) WARN_UNUSED;

/* As store_get, store_put and so on. */
enum code rows_get(struct store_txn *txn, struct keyspace keyspace, struct str key,
		   struct arena *arena, struct str *value, struct err *err) WARN_UNUSED;
enum code rows_put(struct store_txn *txn, struct keyspace keyspace, struct str key,
		   struct str value, struct err *err) WARN_UNUSED;
enum code rows_del(struct store_txn *txn, struct keyspace keyspace, struct str key,
		   struct err *err) WARN_UNUSED;
enum code rows_get_many(struct store_txn *txn, const struct store_key *keys, size_t n,
			struct arena *arena, struct str *values, struct err *err) WARN_UNUSED;
enum code rows_page(struct store_txn *txn, struct keyspace keyspace,
		    const struct store_range *range, struct store_bounds bounds,
		    struct arena *arena, struct store_page *page, struct err *err) WARN_UNUSED;
enum code rows_refer(struct store_txn *txn, struct keyspace keyspace, struct str key,
		     const struct store_key *to, struct err *err) WARN_UNUSED;
enum code rows_page_of(struct store_txn *txn, struct keyspace keyspace,
		       const struct store_reference *reference, const struct store_range *range,
		       struct store_bounds bounds, struct arena *arena, struct store_page *page,
		       struct err *err) WARN_UNUSED;

#endif
