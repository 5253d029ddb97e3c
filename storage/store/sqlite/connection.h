/*
 * connection - one SQLite connection with its prepared statements; internal to storage/store/sqlite.
 *
 * A connection is used by one thread at a time: whoever began the transaction that lives in it.
 */
#ifndef DYNALITH_STORAGE_SQLITE_CONNECTION_H
#define DYNALITH_STORAGE_SQLITE_CONNECTION_H

#include <sqlite3.h>
#include <stdatomic.h>

#include "storage/store/store.h"

/* Statements of a keyspace. */
enum statement {
	STATEMENT_GET, STATEMENT_PUT, STATEMENT_ADD, STATEMENT_DEL, STATEMENT_DEL_RANGE, STATEMENT_DEL_OPEN,
	STATEMENT_FORWARD, STATEMENT_FORWARD_OPEN, STATEMENT_REVERSE, STATEMENT_REVERSE_OPEN, /* OPEN: no upper bound */
	STATEMENT_COUNT
};

/* Statements of a connection. */
enum control { CONTROL_BEGIN_READ, CONTROL_BEGIN_WRITE, CONTROL_COMMIT, CONTROL_ROLLBACK, CONTROL_COUNT };

/* A keyspace's prepared statements. */
struct slot {
	struct keyspace keyspace;
	bool is_taken;
	unsigned busy;       /* scans under way: not to be evicted */
	uint64_t used_at;
	sqlite3_stmt *statements[STATEMENT_COUNT];
};

#define SLOT_SETS 64
#define SLOTS_PER_SET 8

struct connection {
	struct store_txn txn; /* first: the transaction that is under way */
	atomic_uint turn;     /* of a reader: odd while a transaction is under way */
	unsigned noted_turn;  /* under the writer's lock */
	struct sqlite_store *store;
	struct quota *quota;  /* of the writer */
	sqlite3 *db;
	bool is_in_transaction;
	bool has_dropped;    /* the transaction dropped a keyspace */
	uint64_t drops_seen; /* of the store's drops, how many these statements know of */
	struct connection *next_free;
	sqlite3_stmt *controls[CONTROL_COUNT];
	uint64_t clock;
	struct slot *slots;  /* SLOT_SETS * SLOTS_PER_SET */
};

/* Opens a connection to a file's path or a URI; `setup` is SQL run once. *connection is usable by connection_close in any case. */
enum code connection_open(struct connection *connection, const char *name, int flags, const char *setup, struct err *err) WARN_UNUSED;
void connection_close(struct connection *connection);

/* Runs SQL without results. */
enum code connection_run(struct connection *connection, const char *sql, struct err *err) WARN_UNUSED;
enum code connection_control(struct connection *connection, enum control control, struct err *err) WARN_UNUSED;

/* Rolls back what is under way, if anything is. A rollback that fails leaves the transaction open: the next begin reports it. */
void connection_rollback(struct connection *connection);

/* Creates a keyspace, within a writing transaction. */
enum code connection_create(struct connection *connection, struct keyspace keyspace, struct err *err) WARN_UNUSED;

/* The pages of the database, and how many of them are free; false where they cannot be read. No transaction is under way. */
bool connection_pages(struct connection *connection, int64_t *pages, int64_t *free_pages);

/* The integer that SQL with one result gives. */
enum code connection_number(struct connection *connection, const char *sql, int64_t *number, struct err *err) WARN_UNUSED;

/* The statement, reset and without bindings. ERR_RESOURCE_NOT_FOUND where the keyspace does not exist. */
enum code connection_statement(struct connection *connection, struct keyspace keyspace, enum statement kind, struct slot **slot,
			       sqlite3_stmt **statement, struct err *err) WARN_UNUSED;

/* Finalises a keyspace's statements; those of all keyspaces. */
void connection_forget(struct connection *connection, struct keyspace keyspace);
void connection_forget_all(struct connection *connection);

/* All keyspaces, in the arena. */
enum code connection_keyspaces(struct connection *connection, struct arena *arena, const struct keyspace **keyspaces, size_t *n, struct err *err) WARN_UNUSED;

/* Turns SQLite's last error into ours. */
enum code connection_error(struct connection *connection, struct err *err) WARN_UNUSED;

/* The generated table's name: items_12, index_12_3, stream_12, expiry_12, system_tables. `name` has room for KEYSPACE_NAME_MAX. */
#define KEYSPACE_NAME_MAX 64
void keyspace_name(struct keyspace keyspace, char *name);

/* The keyspace of that name; false where it is none of ours. */
bool keyspace_name_read(const char *name, struct keyspace *keyspace);

#endif
