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

#define PLACES_OWN_MAX                                                                             \
	500 /* SQL tables of one keyspace each: a connection reads a schema of so many in 1 to 2   \
	       ms */

/* Rows of a dropped keyspace that go in one piece, while writers wait for about a ms: pages that
 * have no rows any more are not written to the log. */
#define PLACES_PIECE_ROWS 4000
#define PLACES_PIECE_BYTES ((uint64_t)1 << 20)

/* The same in the SQL table that many share, whose index stays: each row logs about one page of
 * that, and those of its value. */
#define PLACES_SHARED_ROWS 64
#define PLACES_SHARED_BYTES ((uint64_t)1 << 17)

/* Makes the SQL tables for keyspaces of the system that files of 0.1.0 lack. No transaction is
 * under way. */
enum code places_complete(struct connection *connection, struct err *err) WARN_UNUSED;

/*
 * Within a writing transaction, as all that follow but places_list(). `table`: PLACE_TABLE_OWN, or
 * PLACE_TABLE_KEYS for small rows (store_create_small); many keyspaces get PLACE_TABLE_SHARED.
 * ERR_INTERNAL where the keyspace exists.
 */
enum code places_create(struct connection *connection, struct keyspace keyspace,
			enum place_table table, struct err *err) WARN_UNUSED;

/* Copies the rows of a keyspace into an empty one. ERR_RESOURCE_NOT_FOUND where either does not
 * exist. */
enum code places_copy(struct connection *connection, struct keyspace from, struct keyspace to,
		      struct err *err) WARN_UNUSED;

/* Deletes the rows where they are few; else *is_left: places_tidy() has to. ERR_RESOURCE_NOT_FOUND
 * where the keyspace does not exist. */
enum code places_drop(struct connection *connection, struct keyspace keyspace, bool *is_left,
		      struct err *err) WARN_UNUSED;

/* Deletes the next piece of the rows of dropped keyspaces. *is_more is false where there was none.
 */
enum code places_tidy(struct connection *connection, bool *is_more, struct err *err) WARN_UNUSED;

/* All keyspaces, in the arena. */
enum code places_list(struct connection *connection, struct arena *arena,
		      const struct keyspace **keyspaces, size_t *n, struct err *err) WARN_UNUSED;

#endif
