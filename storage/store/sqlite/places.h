/*
 * places - gives keyspaces their places (place.h) and takes them back; internal to
 * storage/store/sqlite.
 *
 * Rows and places change in the same transactions, so every snapshot has places that fit its rows.
 * What a connection remembers of them is valid until a transaction that dropped a keyspace commits;
 * see connection_begin_read().
 */
#ifndef DYNALITH_STORAGE_SQLITE_PLACES_H
#define DYNALITH_STORAGE_SQLITE_PLACES_H

#include "storage/store/sqlite/connection.h"

/* SQL tables of one keyspace each: a connection reads a schema of so many in 1 to 2 ms. */
#define PLACES_OWN_MAX 500

/* Rows of a dropped keyspace that go in one piece, while writers wait for about a ms. */
#define PLACES_PIECE_ROWS 128

/* Makes the SQL tables for keyspaces of the system that files of 0.1.0 lack. No transaction is
 * under way. */
enum code places_complete(struct connection *connection, struct err *err) WARN_UNUSED;

/* As store_create, store_drop and so on; places_drop() leaves all but the first piece of the rows
 * to places_tidy(). */
enum code places_create(struct store_txn *txn, struct keyspace keyspace,
			struct err *err) WARN_UNUSED;
enum code places_create_small(struct store_txn *txn, struct keyspace keyspace,
			      struct err *err) WARN_UNUSED;
enum code places_copy(struct store_txn *txn, struct keyspace from, struct keyspace to,
		      struct err *err) WARN_UNUSED;
enum code places_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err) WARN_UNUSED;
enum code places_list(struct store_txn *txn, struct arena *arena, struct store_keyspaces *keyspaces,
		      struct err *err) WARN_UNUSED;

/* Within a writing transaction: deletes the next piece of the rows of dropped keyspaces. *is_more
 * is false where there was none. */
enum code places_tidy(struct connection *connection, bool *is_more, struct err *err) WARN_UNUSED;

#endif
