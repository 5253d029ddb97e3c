/*
 * connection - one SQLite connection with its prepared statements; internal to
 * storage/store/sqlite.
 *
 * One thread at a time uses a connection: the one that began the transaction that lives in it.
 */
#ifndef DYNALITH_STORAGE_SQLITE_CONNECTION_H
#define DYNALITH_STORAGE_SQLITE_CONNECTION_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "core/err.h"
#include "storage/store/sqlite/place.h"

/* Statements of a keyspace. */
enum statement {
	STATEMENT_GET,
	STATEMENT_GET_MANY,
	STATEMENT_PUT,
	STATEMENT_DEL,
	STATEMENT_FORWARD,
	STATEMENT_FORWARD_OPEN,
	STATEMENT_REVERSE,
	STATEMENT_REVERSE_OPEN, /* OPEN: no upper bound */
	/* of PLACE_TABLE_KEYS: as PUT, with the number that the row of another key has in the other
	   SQL table; as FORWARD and so on, the keys and the rows that have their numbers there */
	STATEMENT_REFER,
	STATEMENT_OF,
	STATEMENT_OF_OPEN,
	STATEMENT_OF_REVERSE,
	STATEMENT_OF_REVERSE_OPEN,
	STATEMENT_COUNT
};

/* STATEMENT_GET_MANY reads so many rows, less where some of its keys are NULL. It gives the number
 * of a key, from 0, and the value. */
#define GET_MANY_KEYS 25
#define GET_MANY_FIRST 4 /* the parameter of the first key */

/* Statements of a connection. */
enum control {
	CONTROL_SNAPSHOT,
	CONTROL_BEGIN_WRITE,
	CONTROL_COMMIT,
	CONTROL_ROLLBACK,
	CONTROL_COUNT
};

/* A keyspace's prepared statements. */
struct slot {
	struct keyspace keyspace;
	bool is_taken;
	uint64_t used_at;
	uint64_t
		located; /* 1 more than the connection had forgotten when the place was looked up */
	struct place place;
	struct place to; /* of the keyspace that the rows stand for, where STATEMENT_REFER and so
			    on are prepared */
	sqlite3_stmt *statements[STATEMENT_COUNT];
};

#define SLOT_SETS 64
#define SLOTS_PER_SET 8 /* a call uses 3: its own, what rows stand for, PLACE_KEYSPACE */

struct connection {
	struct store_txn txn; /* first: the transaction that is under way */
	atomic_uint turn;     /* of a reader: odd while a transaction is under way */
	unsigned noted_turn;  /* under the writer's lock */
	atomic_uint ended_turn; /* in which writers waited for too long: its calls fail */
	struct sqlite_store *store;
	struct quota *quota;  /* of the writer */
	sqlite3 *db;
	bool has_no_journal; /* SQLite cannot undo a statement by itself: one that fails ends its
				transaction */
	bool has_moved;      /* keyspaces: the transaction created or dropped some */
	uint64_t moves_seen; /* of a reader: the store's, before its transaction began */
	uint64_t forgotten;  /* one more: all places are looked up again before their next use */
	struct connection *next_free;
	sqlite3_stmt *controls[CONTROL_COUNT];
	uint64_t clock;
	struct slot *sets[SLOT_SETS]; /* of SLOTS_PER_SET each; NULL before the first use */
};

/*
 * For a file that may come from elsewhere, whose schema may be any. None of its triggers and views
 * runs here, functions with side effects are not for its schema, and values, statements and
 * expressions have limits. Call it before the first statement. SQLite: "Defense Against The Dark
 * Arts".
 */
void connection_guard(sqlite3 *db);

/* From then on no statement can damage the file's structure. It also forbids `PRAGMA
 * journal_mode=OFF`. */
void connection_guard_structure(sqlite3 *db);

/* Opens a connection to a file's path or a URI; `setup` is SQL run once. *connection is usable by
 * connection_close in any case. */
enum code connection_open(struct connection *connection, const char *name, int flags,
			  const char *setup, struct err *err) WARN_UNUSED;
void connection_close(struct connection *connection);

/* Runs SQL without results. */
enum code connection_run(struct connection *connection, const char *sql,
			 struct err *err) WARN_UNUSED;
enum code connection_control(struct connection *connection, enum control control,
			     struct err *err) WARN_UNUSED;

/* A reader's transaction: from one to the other its statements see one snapshot. */
enum code connection_begin_read(struct connection *connection, struct err *err) WARN_UNUSED;
void connection_end_read(struct connection *connection);

/* Rolls back what is under way, if anything is. A rollback that fails leaves the transaction open:
 * the next begin reports it. */
void connection_rollback(struct connection *connection);

/* The integer that SQL with one result gives. */
enum code connection_number(struct connection *connection, const char *sql, int64_t *number,
			    struct err *err) WARN_UNUSED;

/* The statement, reset and without bindings. ERR_RESOURCE_NOT_FOUND where the keyspace does not
 * exist. */
enum code connection_statement(struct connection *connection, struct keyspace keyspace,
			       enum statement kind, sqlite3_stmt **statement,
			       struct err *err) WARN_UNUSED;

/*
 * One of STATEMENT_REFER and so on, with the SQL table of `to`. *statement is NULL where one of
 * the two keyspaces lies in a SQL table of another kind.
 */
enum code connection_statement_of(struct connection *connection, struct keyspace keyspace,
				  struct keyspace to, enum statement kind, sqlite3_stmt **statement,
				  struct err *err) WARN_UNUSED;

/* Where the keyspace lies in the connection's snapshot. ERR_RESOURCE_NOT_FOUND where it was
 * dropped; a SQL table of the name may be missing. */
enum code connection_place(struct connection *connection, struct keyspace keyspace,
			   struct place *place, struct err *err) WARN_UNUSED;

/* Turns SQLite's last error into ours. Without a journal it ends the transaction, unless a SQL
 * table is missing. */
enum code connection_error(struct connection *connection, struct err *err) WARN_UNUSED;

#endif
