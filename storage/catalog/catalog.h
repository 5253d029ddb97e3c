/*
 * catalog - the tables of a store: look-up, life cycle, listing.
 *
 * The store decides which tables there are. The catalog keeps snapshots of some of them in memory,
 * a cache of bounded size; a change goes to the store first. Another process may have changed a
 * table since: the transaction that uses a snapshot learns that (schema/currency.h) and gets
 * ERR_TABLE_MOVED; then catalog_holds() lets go of what is not current, and the operation runs
 * again from its start.
 *
 * Lists, counts and upkeep read rows (table_rows.h), page by page: nothing goes through all tables,
 * at the start neither. Thread-safe.
 *
 * The shelf storage/catalog/ holds what goes through all tables or finds one: look-up, life cycle,
 * item counts (catalog_size.h), marks (mark_walk.h), names, deleted tables, clocks.
 */
#ifndef DYNALITH_STORAGE_CATALOG_H
#define DYNALITH_STORAGE_CATALOG_H

#include "core/err.h"
#include "storage/lag/lag.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"
#include "storage/stream/stream.h"
#include "storage/catalog/clocks.h"
#include "storage/catalog/table_rows.h"
#include "storage/catalog/times.h"
#include "storage/vector/vector_cache.h"

/* Bytes of an item collection of a table with local indexes. AWS: Developer Guide, "Item collection
 * size limit" */
#define COLLECTION_SIZE_MAX (10ull * 1024 * 1024 * 1024)

/*
 * Rows of an index that are dropped with their keyspace, in one transaction. That touches a page
 * once, where deleting row by row touches one or two for each row: measured with 1,000,000 small
 * rows on disk, about 1 s against 120 s on a busy machine of 2 cores.
 */
#define DROP_ROWS_MAX 2000000

struct catalog;
struct pace;

struct catalog_options {
	const struct settings_records *settings; /* of tables; NULL: they have none */
	bool is_shared;               /* --shared-db: every namespace is one */
	int64_t transient_status_ms;  /* how long CREATING, UPDATING and DELETING last; 0: they end
					 at once */
	size_t fill_max; /* rows of an index, of a copy, of a restore, done in one piece; 0: as many
			    as backfill.h and copy.h say */
	size_t tables_max; /* snapshots of tables in memory, beyond those in use; 0: 2,000 */
	bool has_peers;               /* other processes may have the store open at the same time */
	uint64_t drop_max;            /* rows of an index dropped in one piece; 0: DROP_ROWS_MAX */
	int64_t replication_lag_ms;   /* between replicas of a global table, where the account has
					 none of its own: links.h */
	uint64_t collection_max;      /* bytes of an item collection with local indexes; 0:
					 COLLECTION_SIZE_MAX */
	struct stream_rotation rotation;
	uint32_t stream_shards; /* that a stream is given when it is enabled; 0 and 1: one */
	struct clocks *clocks;  /* of the namespaces, kept by the caller; NULL: what is stamped is
				   what the caller says */
	size_t vector_memory_bytes;   /* for vector indexes held in memory; 0: none are */
	unsigned search_threads;      /* that a large vector search may use; 0: one */
	struct lag lag;               /* of tables without a setting; with clocks only */
};

enum code catalog_open(struct store *store, const struct catalog_options *options,
		       struct catalog **out, struct err *err) WARN_UNUSED;
void catalog_close(struct catalog *catalog);

/*
 * Gives a table that is new in the transaction the lag that the settings say (storage/lag/lag.h);
 * and any table, after a change of them. `key` is that of its record.
 */
enum code catalog_inherit_lag(const struct catalog *catalog, struct store_txn *txn, struct ns ns,
			      struct str key, uint64_t number, struct err *err) WARN_UNUSED;

/* Any table may have changed: each snapshot in memory is compared with the store before it is used
 * again. Takes in the clocks that other processes turned. */
enum code catalog_refresh(struct catalog *catalog, struct err *err) WARN_UNUSED;

/* Whether the snapshot is the table as the store has it; if not, it is not in memory any more. True
 * where the store cannot be asked. */
bool catalog_holds(struct catalog *catalog, const struct table *table);

/*
 * A snapshot, with a reference for the caller: one from memory, or what the store has.
 * ERR_RESOURCE_NOT_FOUND (default text; the caller gives the operation's own) where there is no
 * such table. A table whose transient status is over at `now_ms` is seen without it. _current: as
 * the store has it now, for those who do not find out in a transaction of theirs.
 */
enum code catalog_get(struct catalog *catalog, struct ns ns, struct str name, int64_t now_ms,
		      struct table **out, struct err *err) WARN_UNUSED;
enum code catalog_get_current(struct catalog *catalog, struct ns ns, struct str name,
			      int64_t now_ms, struct table **out, struct err *err) WARN_UNUSED;

/*
 * Creates the table described by `table` (name, keys, indexes, settings; account and region are set
 * from ns), gives it its number, creation time and, where it has none, TableId, creates its
 * keyspaces, and takes over the caller's reference; *out gets another one. It is CREATING until its
 * settles_ms where the caller set that, else as long as catalog_options.transient_status_ms says.
 * ERR_RESOURCE_IN_USE where the name exists.
 */
enum code catalog_create(struct catalog *catalog, struct ns ns, struct table *table, int64_t now_ms,
			 struct table **out, struct err *err) WARN_UNUSED;

/* The same; `with` puts rows of its own in the transaction that creates the table, which may be run
 * again. */
typedef enum code catalog_with(struct store_txn *txn, void *context, struct err *err);
enum code catalog_create_with(struct catalog *catalog, struct ns ns, struct table *table,
			      int64_t now_ms, catalog_with *with, void *context, struct table **out,
			      struct err *err) WARN_UNUSED;

/*
 * Gives the transient statuses that `next` has and `current` has not their time: none by default,
 * so that UPDATING is ACTIVE at once and the work on indexes may begin, else
 * catalog_options.transient_status_ms. AWS: Developer Guide, "Managing Global Secondary Indexes":
 * an index's creation or deletion begins with the table UPDATING; then the table is ACTIVE while
 * the index goes on.
 */
void catalog_schedule(const struct catalog *catalog, const struct table *current,
		      struct table *next, int64_t now_ms);

/*
 * Publishes `next` in place of `current`, taking over the caller's reference to next. Indexes (by
 * number) that only next has are created empty and become CREATING and backfilling:
 * storage/upkeep/backfill.h fills them. Those that only current has are dropped. So is the expiry
 * keyspace, as TTL is enabled (then it is filled) and disabled. All in one transaction. Writers
 * that hold `current` get ERR_TABLE_MOVED from write_run and look the table up again, unless the
 * two are alike to them. ERR_TABLE_MOVED when `current` is not current any more.
 */
enum code catalog_replace(struct catalog *catalog, struct table *current, struct table *next,
			  struct err *err) WARN_UNUSED;

/* Where in the counters' keyspace stands how far the filling of an index came. */
struct str catalog_progress_key(struct arena *arena, const struct table *table,
				const struct index *index);
/* The same of the filling of the expiry keyspace. */
struct str catalog_expiry_progress_key(struct arena *arena, const struct table *table);

/*
 * Drops the table and its keyspaces; a stream that it has is disabled and kept, with a record of
 * the table, until catalog_forget. AWS: API Reference, DeleteTable: "the stream is automatically
 * deleted after 24 hours". Who still holds the snapshot gets ERR_TABLE_MOVED from reads and writes.
 */
enum code catalog_delete(struct catalog *catalog, struct table *table, int64_t now_ms,
			 struct err *err) WARN_UNUSED;

/*
 * The same; `keep` is called in the transaction that deletes the table, which may be run again.
 * Where it says so, the keyspace of the table's items stays, for another row that keep() put.
 */
typedef enum code catalog_keep(struct store_txn *txn, const struct table *table, void *context,
			       bool *is_kept, struct err *err);
enum code catalog_delete_keeping(struct catalog *catalog, struct table *table, int64_t now_ms,
				 catalog_keep *keep, void *context, struct err *err) WARN_UNUSED;

/* What becomes of one table: it is made (`current` NULL, `next` has its namespace), replaced, or
 * deleted (`next` NULL). */
struct catalog_change {
	struct table *current, *next;
	int64_t now_ms;      /* by the clock of its namespace */
	catalog_keep *keep; /* of one that is deleted: as for catalog_delete_keeping; of one that is
			       replaced: its failure ends the change; or NULL */
	void *context;
};

/*
 * Changes several tables in one transaction, as catalog_create, _replace and _delete would each,
 * and takes over the references to all `next`. The tables of new replicas keep the hash that they
 * have. Errors are those of the first that fails; then nothing is changed.
 */
enum code catalog_change_all(struct catalog *catalog, const struct catalog_change *changes,
			     size_t n, struct err *err) WARN_UNUSED;

/* Drops what is left of a deleted table whose status is over. Nothing where another table took its
 * name. */
enum code catalog_bury(struct catalog *catalog, struct table *table, struct err *err) WARN_UNUSED;

struct name_page {
	size_t n;
	struct str *v;   /* in byte order */
	bool is_more;
};

/* Up to `limit` names after `after` (absent: from the start), in the arena. */
enum code catalog_list(struct catalog *catalog, struct ns ns, struct str after, size_t limit,
		       int64_t now_ms, struct arena *arena, struct name_page *names,
		       struct err *err) WARN_UNUSED;

/* Up to `limit` namespaces that have tables, in the order of account and region, in the arena. None
 * where all are one (--shared-db). */
struct ns_page {
	size_t n;
	struct ns *v;
	bool is_more;
};
enum code catalog_namespaces(struct catalog *catalog, size_t limit, struct arena *arena,
			     struct ns_page *page, struct err *err) WARN_UNUSED;

/* The table of a mark as the store has it now, with a reference; NULL where it is gone. */
enum code catalog_marked(struct catalog *catalog, const struct mark *mark, struct table **out,
			 struct err *err) WARN_UNUSED;

/* Tables that exist in the namespace: for quotas. */
enum code catalog_count(struct catalog *catalog, struct ns ns, int64_t now_ms, uint64_t *n,
			struct err *err) WARN_UNUSED;

/* Another namespace that has a table of this name, for the log; false where there is none. */
bool catalog_elsewhere(struct catalog *catalog, struct ns ns, struct str name, struct arena *arena,
		       struct ns *where);

/* The key of a table's record in SYSTEM_TABLES; with no name, what all of the namespace begin with.
 */
struct str catalog_key(struct arena *arena, const struct catalog *catalog, struct ns ns,
		       struct str name);
/* For a transaction that changes what is the namespace's and reads no table's row before: see
 * currency_arm(). */
enum code catalog_arm(const struct catalog *catalog, struct store_txn *txn, struct ns ns,
		      struct err *err) WARN_UNUSED;
/* A table number that was never used, taken in the transaction. */
enum code catalog_next_number(struct store_txn *txn, struct arena *arena, uint64_t *number,
			      struct err *err) WARN_UNUSED;
struct store *catalog_store(struct catalog *catalog);
/* As catalog_open got them; collection_max and drop_max have their defaults instead of 0. */
const struct catalog_options *catalog_options(const struct catalog *catalog);
/* The size of background work. */
struct pace *catalog_pace(struct catalog *catalog);
/* The matrices that searches of the catalog's vector indexes share. */
struct vector_memory *catalog_vector_memory(struct catalog *catalog);
/* Drops what is kept of a deleted table: its stream and the record of it. Nothing where the table
 * is not a deleted one. */
enum code catalog_forget(struct catalog *catalog, struct table *table, struct err *err) WARN_UNUSED;

/* How many open shards a stream of the table gets that is enabled now: one where the table's
 * changes are logged in one order anyway. */
uint32_t catalog_stream_shards(const struct catalog *catalog, const struct table *table);

#endif
