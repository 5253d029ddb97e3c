/*
 * space - what a namespace has in the store: the records of its tables, their keyspaces, its
 * idempotency tokens.
 *
 * Every change of a namespace as a whole is made here in one transaction upon the rows, as another
 * process would make it: after it, catalog_refresh() makes the catalog compare what it has in
 * memory. So nothing on this shelf knows what the catalog remembers.
 *
 * The shelf storage/state/ holds what returns a namespace to a state, or copies one: reset,
 * checkpoints, snapshots.
 */
#ifndef DYNALITH_STORAGE_SPACE_H
#define DYNALITH_STORAGE_SPACE_H

#include "core/err.h"
#include "storage/catalog/catalog.h"
#include "storage/job/job.h"

/* A namespace within a transaction. */
struct space {
	struct catalog *catalog;
	struct ns ns;
	struct store_txn *txn;
	struct arena *arena;  /* the request's */
};

/* What a change does in its transaction, which may be run again from its start. */
typedef enum code space_apply(struct space *space, void *context, struct err *err);

enum space_way {
	SPACE_BARE = 1,  /* the change is not noted for a rollback */
	SPACE_QUIET = 2, /* no table is made, changed or deleted by it */
};

/*
 * Runs the change in one write transaction, and takes it in; `way` is a sum of enum space_way.
 * ERR_RESOURCE_NOT_FOUND and the like are the change's own.
 */
enum code space_change(struct catalog *catalog, struct ns ns, unsigned way, space_apply *apply,
		       void *context, struct err *err) WARN_UNUSED;

struct space_record {
	struct str key, record;
	struct str name;      /* of the table */
	bool is_retired;      /* what is kept of a deleted table: its stream */
};

struct space_records {
	size_t n;
	struct space_record *v; /* in the arena */
};

/* All records of the namespace, tables first, by name. */
enum code space_records(const struct space *space, struct space_records *records,
			struct err *err) WARN_UNUSED;

/* The table of a record, with a reference for the caller; nobody else has it. */
enum code space_decode(const struct space *space, const struct space_record *record,
		       struct table **table, struct err *err) WARN_UNUSED;

/* The number of its table. */
enum code space_number(const struct space *space, const struct space_record *record,
		       uint64_t *number, struct err *err) WARN_UNUSED;

/* Drops all keyspaces of a table, its version and how far its indexes came; not its record. */
enum code space_drop(struct space *space, const struct space_record *record,
		     const struct table *table, struct err *err) WARN_UNUSED;

/* Puts or deletes (`next` NULL) the record of a table, with what follows from it. */
enum code space_put_record(struct space *space, struct str key, const struct table *table,
			   const struct table *next, struct err *err) WARN_UNUSED;

/* What the keys of the namespace's records begin with. */
struct str space_prefix(const struct space *space);

/* Creates the keyspaces of a table that is to have none yet, under a new number, and puts its
 * record. */
enum code space_create(struct space *space, struct str key, struct table *table,
		       struct err *err) WARN_UNUSED;

/* The keyspaces of idempotency tokens, and the namespace's rows in either. */
#define SPACE_TOKEN_KEYSPACES 2
extern const struct keyspace space_token_keyspaces[SPACE_TOKEN_KEYSPACES];
struct store_range space_token_range(const struct space *space);

/* Forgets the idempotency tokens. */
enum code space_drop_tokens(struct space *space, struct err *err) WARN_UNUSED;

/* Takes away the jobs and what they own: backups, restores, ... */
enum code space_drop_jobs(struct space *space, struct err *err) WARN_UNUSED;
/* The namespace as storage/job/job.h sees it. */
struct job_txn space_jobs(const struct space *space);

/* Deletes all tables, what is kept of deleted ones, the jobs, and the tokens. */
enum code space_clear(struct space *space, struct err *err) WARN_UNUSED;

#endif
