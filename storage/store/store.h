/*
 * store - the backend: ordered keyspaces of bytes under transactions.
 *
 * It speaks no SQL, no JSON and no DynamoDB. A keyspace is an ordered map from
 * byte strings to byte strings, in memcmp order. Everything above - items,
 * indexes, table records, tokens, streams - is rows in keyspaces. A
 * backend may live in this process (sqlite/) or elsewhere; nothing above may
 * assume which.
 *
 * Transactions: each sees one consistent snapshot until its end, and a writing
 * one its own writes. A commit holds only if nothing that the transaction read
 * was changed by another since: else it answers ERR_CONFLICT, nothing was
 * written, run it again (retry.h). A backend that lets writers in one by one
 * never needs to. Several processes may have the same store open: what a
 * process remembers of it is true only as far as the transaction that uses it
 * has read so. Every transaction ends with commit or abort, after which it is
 * gone. A committed transaction survives the end of the process; whether it
 * survives the end of the machine is the backend's durability option.
 *
 * A backend may keep what a transaction writes and send it with the commit. The transaction's own
 * reads see it all the same, but an error of put, del, del_range or add may come only from the
 * commit: so nothing is decided by whether they succeed.
 *
 * Threads: a store may be used from any thread, a transaction only from the thread that began it,
 * one transaction per thread at a time.
 *
 * Errors: ERR_INTERNAL (I/O, corruption), ERR_STORE_FULL (the disk), ERR_DATA_LIMIT (the store's
 * own limit; deletes go on), ERR_CONFLICT (commit only), ERR_STORE_UNAVAILABLE (the store cannot be
 * reached; nothing was written), ERR_STORE_UNKNOWN (commit only: whether it was done cannot be
 * known), ERR_SERVICE_UNAVAILABLE (a READ transaction that kept writers waiting for too long),
 * ERR_RESOURCE_NOT_FOUND (a keyspace that does not exist; a backend whose keyspaces are prefixes
 * has none such, and one that nobody created is empty).
 *
 * The shelf storage/store/ holds this seam, the backends behind it and the decorators around them.
 * Nothing here knows a table.
 */
#ifndef DYNALITH_STORAGE_STORE_H
#define DYNALITH_STORAGE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

/* Names a keyspace: table 0 is the system's. */
struct keyspace {
	uint64_t table; /* internal table number, never used twice in a store */
	uint32_t part;  /* enum part */
};

static inline bool keyspace_is_same(struct keyspace a, struct keyspace b)
{
	return a.table == b.table && a.part == b.part;
}

/* Parts of a table. Indexes have PART_INDEX + index number. */
enum part {
	PART_ITEMS = 0,
	PART_STREAM = 1,
	PART_EXPIRY = 2,
	PART_JOURNAL = 3,  /* of a number of its own: journal.h */
	PART_STACK = 4,    /* of a number of its own: storage/state/checkpoint.h */
	PART_SNAPSHOT = 5, /* of a number of its own: storage/state/snapshot.h */
	PART_REPLICATION = 6, /* of a replica of a global table: storage/write/replication_row.h */
	PART_INDEX = 16,
};

/* Parts of table 0; these exist in every store. */
enum system_part {
	SYSTEM_TABLES = 0,       /* table records */
	SYSTEM_COUNTERS = 1,     /* sequences, and how far the filling of indexes came */
	SYSTEM_TOKENS = 2,       /* idempotency tokens */
	SYSTEM_TOKEN_EXPIRY = 3, /* the same, by time */
	SYSTEM_VERSIONS =
		4, /* of tables and of the catalog: small, and read by every transaction */
	SYSTEM_PART_COUNT,
	SYSTEM_HISTORY = 16, /* only where reads have lagged: storage/lag/history.h */
};

enum durability {
	DURABILITY_OFF, /* survives the end of the process, not of the machine; no fsync at all */
	DURABILITY_NORMAL, /* the same; the file stays consistent after power loss, the last commits
			      may be lost */
	DURABILITY_FULL,   /* every acknowledged commit survives power loss */
};

enum store_mode {
	STORE_READ,
	STORE_WRITE,
	/*
	 * STORE_READ for one read, of one get, get_many or page, and of what was foreseen: a store
	 * that is elsewhere then needs no begin and no end. A read after that one may answer
	 * ERR_CONFLICT; run it all again with STORE_READ.
	 */
	STORE_READ_ONCE,
	/*
	 * The same two for reads that may be of a moment shortly past: a store that has copies of
	 * itself may ask one of them, and says so by is_behind of the transaction. Whatever such a
	 * transaction answers but OK may be the copy's fault: run it all again with STORE_READ.
	 */
	STORE_READ_BEHIND,
	STORE_READ_ONCE_BEHIND,
};

struct store;
struct store_txn;
struct store_maintenance;

/* A half-open range of keys; an absent bound is open-ended. */
struct store_range {
	struct str low;     /* inclusive */
	struct str high;    /* exclusive */
	bool is_reverse;    /* from high to low */
};

/* Where a row is. */
struct store_key {
	struct keyspace keyspace;
	struct str key;
};

struct store_row {
	struct str key, value;
};

/* Of a page; 0: none. The row that reaches `bytes`, of keys and values, is the last one, so a page
 * has at least one row where the range has. */
struct store_bounds {
	size_t rows, bytes;
};

/* A row whose key ends with a number that is given at the commit. */
struct store_append {
	struct keyspace keyspace;
	struct str counter; /* the key of a row that begins with the next number and the largest
			       stamp so far, of 8 bytes each, big-endian */
	struct str prefix;  /* of the new row's key; the number follows, in 8 bytes */
	struct str value;
	size_t stamp_at; /* where 8 bytes of the value are its stamp: the largest so far takes their
			    place where it is larger */
};

struct store_page {
	struct store_row *v; /* in the order of the range */
	size_t n;
	bool is_more;        /* the bounds ended it: the range may have further rows */
};

/*
 * What a backend takes; 0: no limit that a caller could reach. `value` is of one row, 16 KB at
 * least; the store that everything above sees has none, see split_store.h. `txn` is of all keys and
 * values that one transaction reads and writes, 8 MB at least. Work that grows with the data or the
 * request is cut by that (store_units), but for a transaction of the API, which is one. A backend
 * takes keys of any length, and transactions of a second at least.
 */
struct store_limits {
	size_t value, txn; /* bytes */
};

/* Called with one line for the operator, without its end. */
typedef void store_tell(void *context, struct str line);

/*
 * What the rows of a keyspace stand for: each for a row of another keyspace, whose key follows from
 * its own. So a value that is looked for under several keys is there once.
 */
struct store_reference {
	struct keyspace to;
	/* Whether `to_key` is what the row of `key` stands for; and that key, made in the arena. */
	bool (*is_of)(const void *context, struct str key, struct str to_key);
	struct str (*key_of)(const void *context, struct arena *arena, struct str key);
	const void *context;
};

/* The value that a row has which stands for another. */
#define STORE_REFERENCE STR("\2")

struct store_keyspaces {
	size_t n;
	const struct keyspace *v;
};

struct store_stat {
	uint64_t rows;
	uint64_t bytes; /* of keys and values */
};

enum store_failure {
#define FAILURE(id, name) STORE_FAILURE_##id,
#include "storage/store/failures.def"
#undef FAILURE
	STORE_FAILURE_COUNT
};

enum store_reason {
	STORE_REASON_NONE,
#define REASON(id, name, text) STORE_REASON_##id,
#include "storage/store/reasons.def"
#undef REASON
	STORE_REASON_COUNT
};

/* Where reads ended that may be behind. */
enum store_behind {
#define BEHIND(id, name) STORE_BEHIND_##id,
#include "storage/store/behind.def"
#undef BEHIND
	STORE_BEHIND_COUNT
};

/* What a store takes, in bytes; and of one that is elsewhere, where these are 0, how often calls
 * failed for each reason. */
struct store_usage {
	uint64_t used;  /* the database, but for what is free in it */
	uint64_t free;  /* used again before the database grows */
	uint64_t log;   /* of changes that the database may not have yet; what it takes beside the
			   database */
	uint64_t limit; /* of all three together; 0: none */
	bool is_elsewhere;
	uint64_t failures[STORE_FAILURE_COUNT];
	enum store_reason
		reason;  /* why it could not be used when it was last tried; NONE: it could */
	bool has_copies; /* that reads may go to */
	uint64_t behind[STORE_BEHIND_COUNT];
};

/* What a store can beyond the calls that each has. Callers ask by store_refers(), store_foresees()
 * and store_appends(). */
enum store_can {
	STORE_CAN_REFER = 1, /* create_small, page_of, refer: rows that stand for others cost no
				more to read than copies */
	STORE_CAN_FORESEE =
		2, /* foresee, intend, verify: it is elsewhere, so that each round trip counts */
	STORE_CAN_APPEND = 4, /* append */
};

/*
 * A backend's calls, as the functions store_begin() and so on below promise them. `NULL:` says what
 * store.c does where a backend has none, so that nine calls are enough; tests/tiny/tiny_store.c has
 * no others.
 */
struct store_ops {
	void (*close)(struct store *store);
	enum code (*check)(struct store *store,
			   struct err *err); /* NULL: it always is where it was */
	void (*usage)(struct store *store, struct store_usage *usage);  /* NULL: not known */
	const struct store_limits *(*limits)(const struct store *store); /* NULL: none */
	enum code (*tidy)(struct store *store, bool *is_more,
			  struct err *err); /* NULL: there is nothing to do */
	enum code (*begin)(struct store *store, enum store_mode mode, struct store_txn **txn,
			   struct err *err);
	enum code (*commit)(struct store_txn *txn, struct err *err);
	void (*abort)(struct store_txn *txn);
	enum code (*create)(struct store_txn *txn, struct keyspace keyspace,
			    struct err *err); /* NULL: each keyspace is there */
	enum code (*drop)(struct store_txn *txn, struct keyspace keyspace,
			  struct err *err); /* NULL: all rows are deleted */
	enum code (*keyspaces)(struct store_txn *txn, struct arena *arena,
			       struct store_keyspaces *keyspaces, struct err *err);
	enum code (*stat)(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat,
			  struct err *err); /* NULL: the rows are counted */
	/* The value, copied into the arena; absent where there is no row. */
	enum code (*get)(struct store_txn *txn, struct keyspace keyspace, struct str key,
			 struct arena *arena, struct str *value, struct err *err);
	enum code (*get_many)(struct store_txn *txn, const struct store_key *keys, size_t n,
			      struct arena *arena, struct str *values,
			      struct err *err); /* NULL: one by one */
	enum code (*page)(struct store_txn *txn, struct keyspace keyspace,
			  const struct store_range *range, struct store_bounds bounds,
			  struct arena *arena, struct store_page *page, struct err *err);
	enum code (*put)(struct store_txn *txn, struct keyspace keyspace, struct str key,
			 struct str value, struct err *err);
	/* Deleting what is not there succeeds. */
	enum code (*del)(struct store_txn *txn, struct keyspace keyspace, struct str key,
			 struct err *err);
	enum code (*del_range)(struct store_txn *txn, struct keyspace keyspace,
			       const struct store_range *range,
			       struct err *err); /* NULL: one by one */
	enum code (*add)(struct store_txn *txn, struct keyspace keyspace, struct str key,
			 int64_t delta, struct err *err); /* NULL: get and put */
	enum code (*copy)(struct store_txn *txn, struct keyspace from, struct keyspace to,
			  struct err *err); /* NULL: row by row */
	/* STORE_CAN_REFER */
	enum code (*create_small)(struct store_txn *txn, struct keyspace keyspace, struct err *err);
	enum code (*page_of)(struct store_txn *txn, struct keyspace keyspace,
			     const struct store_reference *reference,
			     const struct store_range *range, struct store_bounds bounds,
			     struct arena *arena, struct store_page *page, struct err *err);
	enum code (*refer)(struct store_txn *txn, struct keyspace keyspace, struct str key,
			   const struct store_key *to, struct err *err);
	/* STORE_CAN_FORESEE */
	enum code (*foresee)(struct store_txn *txn, const struct store_key *keys, size_t n,
			     struct err *err);
	enum code (*intend)(struct store_txn *txn, const struct store_key *key, struct err *err);
	enum code (*verify)(struct store_txn *txn, struct err *err);
	/* STORE_CAN_APPEND */
	enum code (*append)(struct store_txn *txn, const struct store_append *append,
			    struct err *err);
};

/* The first member of every backend's store and transaction. */
struct store {
	const struct store_ops *ops;
	unsigned can;                                /* of enum store_can */
	const struct store_maintenance *maintenance; /* maintenance.h; NULL: it is checked by its
							rows, and copied by its own tools */
};

struct store_txn {
	const struct store_ops *ops;
	unsigned can;           /* the store's; set by store_begin() */
	enum store_mode mode;
	bool is_behind;         /* a copy of the store answers */
	/* of a transaction that is armed with a journal: journal.h */
	const struct store_ops *below;
	uint64_t stack, journal;
};

/* The calls, by their ops. */
void store_close(struct store *store);
/*
 * Whether the store still is where it was opened; for a call each second. ERR_INTERNAL once it is
 * not: nothing is written from then on, until the store is opened again.
 */
enum code store_check(struct store *store, struct err *err) WARN_UNUSED;
/* Waits for nobody: while the store is busy it may be a little old. */
void store_usage(struct store *store, struct store_usage *usage);
enum code store_begin(struct store *store, enum store_mode mode, struct store_txn **txn,
		      struct err *err) WARN_UNUSED;
enum code store_commit(struct store_txn *txn, struct err *err) WARN_UNUSED;
/* The same for what must then be answered as done, whatever else the request takes: pardons the
 * arena of `err`. */
enum code store_commit_for_good(struct store_txn *txn, struct err *err) WARN_UNUSED;
void store_abort(struct store_txn *txn);
/* Ends the transaction of work that came to `code`: commits after OK, else aborts and returns
 * `code`. */
enum code store_end(struct store_txn *txn, enum code code, struct err *err) WARN_UNUSED;
enum code store_end_for_good(struct store_txn *txn, enum code code, struct err *err) WARN_UNUSED;

enum code store_create(struct store_txn *txn, struct keyspace keyspace,
		       struct err *err) WARN_UNUSED;
/* The same of a keyspace whose rows are small, such as those that stand for others (store_refer),
 * so that the store may keep them in another way. */
enum code store_create_small(struct store_txn *txn, struct keyspace keyspace,
			     struct err *err) WARN_UNUSED;
/* Takes as long for many rows as for few: what many rows occupy is given back by store_tidy(). */
enum code store_drop(struct store_txn *txn, struct keyspace keyspace, struct err *err) WARN_UNUSED;
/*
 * The backend's own work in one short transaction, such as a piece of the rows of dropped
 * keyspaces; *is_more: there may be more to do. What is left undone is done by a later process.
 */
enum code store_tidy(struct store *store, bool *is_more, struct err *err) WARN_UNUSED;
enum code store_stat(struct store_txn *txn, struct keyspace keyspace, struct store_stat *stat,
		     struct err *err) WARN_UNUSED;
enum code store_get(struct store_txn *txn, struct keyspace keyspace, struct str key,
		    struct arena *arena, struct str *value, struct err *err) WARN_UNUSED;
enum code store_put(struct store_txn *txn, struct keyspace keyspace, struct str key,
		    struct str value, struct err *err) WARN_UNUSED;
enum code store_del(struct store_txn *txn, struct keyspace keyspace, struct str key,
		    struct err *err) WARN_UNUSED;

/* The values of `n` rows, in one round trip, each as by store_get. Where the arena is over it may
 * stop, as err_if_over() says; so may store_page. */
enum code store_get_many(struct store_txn *txn, const struct store_key *keys, size_t n,
			 struct arena *arena, struct str *values, struct err *err) WARN_UNUSED;

/*
 * Says what the transaction is going to get, one by one, so that a store that is elsewhere brings
 * it in the same round trip as the next rows that it asks for. Changes nothing else; keys must stay
 * until then.
 */
enum code store_foresee(struct store_txn *txn, const struct store_key *keys, size_t n,
			struct err *err) WARN_UNUSED;
/*
 * Says that the transaction is going to read the row and then to change it. Of two that read a row
 * and change it, one must run again; where both said so before they read it, the second waits for
 * the first instead. Changes nothing else.
 */
enum code store_intend(struct store_txn *txn, const struct store_key *key,
		       struct err *err) WARN_UNUSED;
/*
 * For a writing transaction that will be aborted, and whose reads one by one are to be answered all
 * the same: ERR_CONFLICT unless they were true at one moment. (A commit sees to that itself, and a
 * reading transaction has a snapshot.)
 */
enum code store_verify(struct store_txn *txn, struct err *err) WARN_UNUSED;
/* Whether there is a use in store_foresee(): the store is elsewhere. */
static inline bool store_foresees(const struct store_txn *txn)
{
	return (txn->can & STORE_CAN_FORESEE) != 0;
}

/*
 * The first rows of a range, in its order, copied into the arena. Only what is in the page counts
 * as read, up to its last row, or the whole range where is_more is false. Where it fails, the page
 * has the rows that could be read before.
 */
enum code store_page(struct store_txn *txn, struct keyspace keyspace,
		     const struct store_range *range, struct store_bounds bounds,
		     struct arena *arena, struct store_page *page, struct err *err) WARN_UNUSED;
/*
 * The same of rows that stand for others, with the values of those: absent where there is none. The
 * bounds count these values. `reference` NULL: store_page().
 */
enum code store_page_of(struct store_txn *txn, struct keyspace keyspace,
			const struct store_reference *reference, const struct store_range *range,
			struct store_bounds bounds, struct arena *arena, struct store_page *page,
			struct err *err) WARN_UNUSED;
/* The same by store_page() and store_get_many(): for a backend that cannot do better. */
enum code store_page_by_keys(struct store_txn *txn, struct keyspace keyspace,
			     const struct store_reference *reference,
			     const struct store_range *range, struct store_bounds bounds,
			     struct arena *arena, struct store_page *page,
			     struct err *err) WARN_UNUSED;
/* Puts a row that stands for another, which should be there: the store may note where. It has the
 * value STORE_REFERENCE. */
enum code store_refer(struct store_txn *txn, struct keyspace keyspace, struct str key,
		      const struct store_key *to, struct err *err) WARN_UNUSED;
/*
 * Puts a row as store_page() gave it in another keyspace or store: one that stands for another does
 * so here. `reference` NULL: store_put(). The arena is for the key of what it stands for.
 */
enum code store_put_of(struct store_txn *txn, struct keyspace keyspace,
		       const struct store_reference *reference, const struct store_row *row,
		       struct arena *arena, struct err *err) WARN_UNUSED;
/* Whether rows that stand for others take the store no more work to read than copies. */
static inline bool store_refers(const struct store *store)
{
	return (store->can & STORE_CAN_REFER) != 0;
}
/* Cuts the range to what follows a page that has rows; the new bound lies in `arena`, which need
 * not be the page's. */
void store_range_after(struct store_range *range, const struct store_page *page,
		       struct arena *arena);

/* Deletes the rows of a range, in one step however many they are. It reads nothing: it meets no
 * conflict of its own. */
enum code store_del_range(struct store_txn *txn, struct keyspace keyspace,
			  const struct store_range *range, struct err *err) WARN_UNUSED;

/*
 * Adds to the number in a row, which is 0 where there is no row, and becomes a row also where the
 * sum is 0. Many transactions may add to one row at the same time: none meets a conflict by that. A
 * transaction that reads the row meets one when another changed it, as with every row.
 *
 * The number's value: 8 bytes, big-endian, two's complement. A row with another value must not be
 * added to.
 */
enum code store_add(struct store_txn *txn, struct keyspace keyspace, struct str key, int64_t delta,
		    struct err *err) WARN_UNUSED;
#define STORE_NUMBER_BYTES 8
/* The number in a row; 0 where there is none. */
int64_t store_number(struct str value);
/* The row's value for a number: STORE_NUMBER_BYTES into `bytes`. */
struct str store_number_value(int64_t number, char *bytes);

/*
 * Appends a row at the commit. Those who append by one counter wait for each other for as long as
 * their commits take, and not from a read of the counter on; so numbers are in the order of
 * commits, and stamps never fall. The commit answers ERR_CONFLICT where the counter is not there.
 * All bytes must stay until then. Only where store_appends().
 */
enum code store_append(struct store_txn *txn, const struct store_append *append,
		       struct err *err) WARN_UNUSED;
/* Whether the store can: one that is elsewhere, in a transaction that notes nothing in a journal.
 */
static inline bool store_appends(const struct store_txn *txn)
{
	return (txn->can & STORE_CAN_APPEND) && txn->below == NULL;
}

/* Copies all rows of a keyspace into an empty one, at the speed of pages where the backend can. */
enum code store_copy(struct store_txn *txn, struct keyspace from, struct keyspace to,
		     struct err *err) WARN_UNUSED;

/* The keyspaces that exist, in no order, in the arena. For tools: it takes time and memory with
 * their number. */
enum code store_keyspaces(struct store_txn *txn, struct arena *arena,
			  struct store_keyspaces *keyspaces, struct err *err) WARN_UNUSED;
/* The same in a transaction of its own. */
enum code store_keyspaces_now(struct store *store, struct arena *arena,
			      struct store_keyspaces *keyspaces, struct err *err) WARN_UNUSED;

const struct store_limits *store_limits(const struct store *store);
/* How many units of work one transaction may do, each of which reads and writes up to `each` bytes:
 * at most `most`, at least 1. */
size_t store_units(const struct store *store, size_t most, size_t each);

#endif
