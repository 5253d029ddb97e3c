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

/* Rows of a dropped keyspace that go in one piece, while writers wait for some tenths of a ms: it
 * logs about one page per row, and those of the values. */
#define PLACES_PIECE_ROWS 64
#define PLACES_PIECE_BYTES ((uint64_t)1 << 17)

/* The same of a SQL table without its index, whose pages are freed and not written. */
#define PLACES_BARE_ROWS 250
#define PLACES_BARE_BYTES ((uint64_t)1 << 17)

/* A SQL table that is emptied as a whole leaves next to nothing in the log. So many of its rows
 * take 10 to 20 ms on a small machine. */
#define PLACES_CLEAR_ROWS 100000
#define PLACES_CLEAR_BYTES ((uint64_t)24 << 20)

/* The SQL table for a keyspace of the system, which has no other place. Within a writing
 * transaction, as all that follow but places_list(). */
enum code places_create_system(struct connection *connection, struct keyspace keyspace,
			       struct err *err) WARN_UNUSED;

/* ERR_INTERNAL where the keyspace exists. */
enum code places_create(struct connection *connection, struct keyspace keyspace,
			struct err *err) WARN_UNUSED;

/* The same of a keyspace whose rows are small: store_create_small(). */
enum code places_create_small(struct connection *connection, struct keyspace keyspace,
			      struct err *err) WARN_UNUSED;

/* Copies the rows of a keyspace into an empty one. ERR_RESOURCE_NOT_FOUND where either does not
 * exist. */
enum code places_copy(struct connection *connection, struct keyspace from, struct keyspace to,
		      struct err *err) WARN_UNUSED;

/* Deletes the rows where they are few; else *is_left: places_tidy() has to. ERR_RESOURCE_NOT_FOUND
 * where the keyspace does not exist. */
enum code places_drop(struct connection *connection, struct keyspace keyspace, bool *is_left,
		      struct err *err) WARN_UNUSED;

/*
 * Within any transaction: the SQL table whose rows places_tidy() deletes next, where it may be
 * emptied as a whole. That is known by reading its rows, for which no writer should wait. *small
 * has no name where it may not, or nothing is to be done.
 */
enum code places_measure(struct connection *connection, struct place *small,
			 struct err *err) WARN_UNUSED;

/* Reads all rows. Within any transaction. */
enum code places_stat(struct connection *connection, struct keyspace keyspace,
		      struct store_stat *stat, struct err *err) WARN_UNUSED;

enum places_tidied {
	PLACES_NOTHING_LEFT,
	PLACES_PIECE,
	PLACES_LAST_PIECE /* of one place; there may be others */
};

/* Deletes the next piece of the rows of dropped keyspaces. `small` is what places_measure() gave.
 */
enum code places_tidy(struct connection *connection, const struct place *small,
		      enum places_tidied *tidied, struct err *err) WARN_UNUSED;

/* All keyspaces, in the arena. */
enum code places_list(struct connection *connection, struct arena *arena,
		      const struct keyspace **keyspaces, size_t *n, struct err *err) WARN_UNUSED;

#endif
