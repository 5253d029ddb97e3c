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
 * item counts, names, deleted tables, clocks.
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
struct currency_row;

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
 * again. Takes in what other processes turned of clocks. */
enum code catalog_refresh(struct catalog *catalog, struct err *err) WARN_UNUSED;
/* The latter alone. */
enum code catalog_refresh_clocks(struct catalog *catalog, struct err *err) WARN_UNUSED;

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

/* The next page of marks, in the arena; a limit of 0 is one that suits a short transaction. */
enum code catalog_marks(struct catalog *catalog, struct arena *arena, struct marks *marks,
			struct err *err) WARN_UNUSED;
/*
 * All marks of a kind, page by page, each page in a short transaction:
 *
 *     struct mark_walk walk = catalog_walk(catalog, MARK_TTL);
 *     while (catalog_walk_next(&walk, &mark, err))
 *             use *mark, which is valid until the next one is asked for
 *     code = catalog_walk_end(&walk);
 */
struct mark_walk {
	struct catalog *catalog;
	struct marks marks;
	struct arena *pages[2]; /* by turns: the next page begins behind a key of this one */
	unsigned turn;
	size_t at;
	enum code code;
};

struct mark_walk catalog_walk(struct catalog *catalog, enum mark_kind kind);
/* The replicas of global tables, of the account of `ns` (NULL: of all). `arena` must last as long
 * as the walk. */
struct mark_walk catalog_walk_replicas(struct catalog *catalog, struct arena *arena,
				       const struct ns *ns);
/* False where there is no further one, or the store failed. */
bool catalog_walk_next(struct mark_walk *walk, const struct mark **mark, struct err *err);
enum code catalog_walk_end(struct mark_walk *walk) WARN_UNUSED;

/* The table of a mark as the store has it now, with a reference; NULL where it is gone. */
enum code catalog_marked(struct catalog *catalog, const struct mark *mark, struct table **out,
			 struct err *err) WARN_UNUSED;

/* How long a transient status lasts, in milliseconds; 0: they settle at once. */
int64_t catalog_transient_ms(const struct catalog *catalog);

/* Tables that exist in the namespace: for quotas. */
enum code catalog_count(struct catalog *catalog, struct ns ns, int64_t now_ms, uint64_t *n,
			struct err *err) WARN_UNUSED;

/* Another namespace that has a table of this name, for the log; false where there is none. */
bool catalog_elsewhere(struct catalog *catalog, struct ns ns, struct str name, struct arena *arena,
		       struct ns *where);

struct table_size {
	uint64_t items, bytes; /* by DynamoDB's size rules */
};

/*
 * The items and bytes of a table, [0], and of its indexes, [1 + i] for index i of table_index_at().
 * They are rows, and changes of this process that are not in the rows yet: exact where no other
 * process writes, else behind its writes by a few seconds. After an unclean end of a process, in a
 * file of an older Dynalith, and where its vector indexes changed, the table is counted again: a
 * piece by this call, which is all of a small table, and the rest by catalog_size_step; until then
 * the numbers are those from before. AWS: an attribute that a vector index reads counts as it is
 * billed in a write, 4 bytes a dimension.
 */
enum code catalog_sizes(struct catalog *catalog, const struct table *table, struct arena *arena,
			struct table_size **sizes, struct err *err) WARN_UNUSED;
/* The same of one: the table (index NULL) or an index. */
enum code catalog_size(struct catalog *catalog, struct table *table, const struct index *index,
		       uint64_t *items, uint64_t *bytes, struct err *err) WARN_UNUSED;

/* By what a transaction keeps a table's numbers. */
struct size_scope {
	uint64_t epoch;     /* 0: the table was not counted yet */
	struct str counted; /* a count goes on, which has met the items before this key; absent:
			       none */
	bool has_joined, has_marked;
};

/* `count` is that of the table's row (schema/currency.h). A caller that keeps the scope for other
 * requests to the table zeroes the last two members. */
enum code catalog_size_scope(struct store_txn *txn, const struct table *table, uint64_t count,
			     struct size_scope *scope, struct err *err) WARN_UNUSED;
/* Within the transaction, for an item whose change made these changes: [0] the table's, [1 + i] of
 * index i of table_index_at(). */
enum code catalog_size_count(struct store_txn *txn, const struct table *table,
			     const struct size_scope *scope, struct str row_key,
			     const struct size_change *changes, struct err *err) WARN_UNUSED;
/* At the end of the transaction, for one change or the sum of several. Also after an error
 * catalog_size_leave is to be called. */
enum code catalog_size_join(struct catalog *catalog, struct store_txn *txn, struct table *table,
			    struct size_scope *scope, const struct size_change *changes,
			    struct err *err) WARN_UNUSED;
/* After the commit, with its code, or ERR_CONFLICT where the transaction did not come to that;
 * nothing where nobody joined. */
void catalog_size_leave(const struct table *table, const struct size_scope *scope,
			const struct size_change *changes, enum code code);

/* Within a transaction: how many bytes a table and its local indexes have at most, before the
 * changes of the transaction; immense: unknown. */
enum code catalog_size_most(struct catalog *catalog, struct store_txn *txn,
			    const struct table *table, const struct size_scope *scope,
			    long long *bytes, struct err *err) WARN_UNUSED;
/* The same for the rows of an index; UINT64_MAX: unknown. */
enum code catalog_size_index(struct store_txn *txn, const struct table *table,
			     const struct index *index, const struct size_scope *scope,
			     uint64_t *items, struct err *err) WARN_UNUSED;

/*
 * Within a transaction that changed items otherwise than by the write path: the table is counted
 * again, under an epoch that nobody has changes of. `record` is the key of the table's record,
 * `row` that of its version, which is written.
 */
enum code catalog_size_again(struct store_txn *txn, struct arena *arena, uint64_t number,
			     struct str record, struct currency_row *row,
			     struct err *err) WARN_UNUSED;

/* Puts this process's changes into the rows; also done at catalog_close. */
enum code catalog_size_flush(struct catalog *catalog, struct err *err) WARN_UNUSED;
/* For upkeep, every few seconds: the same, and finds what processes left behind that ended without
 * doing so. `now_ms` is monotonic. */
enum code catalog_size_keep(struct catalog *catalog, int64_t now_ms, struct err *err) WARN_UNUSED;
/* For upkeep: a piece of the counts that are under way. *more: there may be further ones. */
enum code catalog_size_step(struct catalog *catalog, bool *more, struct err *err) WARN_UNUSED;

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
/* What the settings in records are. */
const struct settings_records *catalog_settings(const struct catalog *catalog);
struct store *catalog_store(struct catalog *catalog);
uint64_t catalog_collection_max(const struct catalog *catalog);
size_t catalog_fill_max(const struct catalog *catalog);
/*
 * The size of a piece of background work, such as the filling of an index, in rows or bytes:
 * `most`, or 1/CATALOG_CROWDED_PART of it while the catalog is crowded. For rows also
 * options.fill_max at most. The server calls catalog_crowd() when requests begin and stop to come:
 * writers wait for each piece, and on few cores other threads do, too. Thread-safe.
 */
#define CATALOG_CROWDED_PART 16
size_t catalog_piece(const struct catalog *catalog, size_t most);
size_t catalog_piece_rows(const struct catalog *catalog, size_t most);
/*
 * Counts pieces, so that a caller does as much at once while the catalog is crowded. *left begins
 * as the number of usual pieces times CATALOG_CROWDED_PART. False where none is left.
 */
bool catalog_next_piece(const struct catalog *catalog, uint64_t *left);
void catalog_crowd(struct catalog *catalog, bool is_crowded);
bool catalog_is_crowded(const struct catalog *catalog);
uint64_t catalog_drop_max(const struct catalog *catalog);
/* Drops what is kept of a deleted table: its stream and the record of it. Nothing where the table
 * is not a deleted one. */
enum code catalog_forget(struct catalog *catalog, struct table *table, struct err *err) WARN_UNUSED;

int64_t catalog_replication_lag_ms(const struct catalog *catalog);
bool catalog_is_shared(const struct catalog *catalog);
struct clocks *catalog_clocks(const struct catalog *catalog);
const struct lag *catalog_lag(const struct catalog *catalog);
const struct stream_rotation *catalog_rotation(const struct catalog *catalog);

/* How many open shards a stream of the table gets that is enabled now: one where the table's
 * changes are logged in one order anyway. */
uint32_t catalog_stream_shards(const struct catalog *catalog, const struct table *table);

/* A random UUID, version 4, in small letters. */
struct str catalog_uuid(struct arena *arena);

/* What vector searches share. */
struct vector_memory *catalog_vector_memory(struct catalog *catalog);
unsigned catalog_search_threads(const struct catalog *catalog);

#endif
