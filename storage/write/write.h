/*
 * write - the only path by which an item changes.
 *
 * Put, Update, Delete, ConditionCheck, alone, in a batch or in a transaction: old image ->
 * condition -> new item, a pure function of the old one -> keys and size checked -> index rows that
 * differ written -> stream record -> (expiry) -> commit. Capacity and collection metrics are
 * tallied here, once. When the store answers CONFLICT all is run again.
 *
 * The shelf storage/write/ holds the parts of this path. Code elsewhere changes items only through
 * write_run().
 */
#ifndef DYNALITH_STORAGE_WRITE_H
#define DYNALITH_STORAGE_WRITE_H

#include "core/err.h"
#include "core/expr.h"
#include "storage/catalog/catalog.h"
#include "storage/cost.h"
#include "storage/write/replication_row.h"

enum write_kind { WRITE_PUT, WRITE_UPDATE, WRITE_DELETE, WRITE_CHECK };

struct write {
	/* what to do; set by the caller */
	struct table *table;
	enum write_kind kind;
	const struct value *item;      /* PUT: the item */
	const struct value *key;       /* others: the Key parameter */
	const struct update *update; /* UPDATE; NULL: nothing to change but the item is created; one
					that only takes away creates none */
	const struct node *condition;  /* or NULL */
	bool is_batch;        /* of BatchWriteItem, which has words of its own for a wrong key */
	bool is_global_first; /* of a batch or transaction: an attribute's wrong value is reported
				 for the global index before the local one */
	bool is_too_deep;     /* PUT of PartiQL: AWS refuses the item behind its condition */
	bool wants_collection_size;    /* of a table with local indexes */
	bool wants_item_on_failure;    /* ReturnValuesOnConditionCheckFailure = ALL_OLD */
	/*
	 * NULL, or from write_thought_new() where its expressions may take long: they are evaluated
	 * before the writers' turn, and in it again only where the item has changed meanwhile.
	 */
	struct write_thought *thought;

	/* set by write_prepare */
	struct str row_key;
	struct str item_image; /* PUT: of the item; made before the transaction, since other writers
				  wait while one is open */

	/*
	 * DELETE by the TTL sweep: the row of the expiry keyspace that asks for it; absent for
	 * everyone else. The sweep sets row_key itself and no key. The item is deleted only if the
	 * row still is its own, else the row alone goes. Stream records of it name the service.
	 */
	struct str expiry_row;

	/* what happened; valid after success, in the request's arena */
	struct str old_image;          /* absent: there was no item */
	struct str new_image;          /* absent: there is none now */
	struct value old_item;         /* decoded where it was needed, else TYPE_NONE */
	struct value new_item;
	uint64_t collection_bytes; /* see wants_collection_size: of items and local index rows; any
				      number below a GB where the table is smaller */
	struct cost cost; /* also set when the condition failed: failed writes are billed */
};

/* What a write's expressions make of an item. */
struct write_thought *write_thought_new(struct arena *arena);

/* Checks the key (and for PUT the item) against the table and sets row_key and item_image; touches
 * no data. */
enum code write_prepare(struct arena *arena, struct write *write, struct err *err) WARN_UNUSED;

enum write_mode {
	WRITE_ALONE, /* one write; its error is the error */
	WRITE_BATCH, /* unconditional writes, committed together as far as the store's transactions
			take them */
	WRITE_TRANSACTION, /* all or nothing; a failure is ERR_TRANSACTION_CANCELED with a reason
			      per write; double capacity */
};

/* Makes a transaction idempotent for ten minutes. AWS: API Reference, TransactWriteItems,
 * ClientRequestToken. */
struct write_token {
	struct str token;         /* "account/region/" and the client's token */
	size_t space_size;        /* how much of it names the namespace, whose clock decides when it
				     expires */
	struct str fingerprint;   /* of the request: another one with the same token is
				     ERR_IDEMPOTENT_MISMATCH */
	int64_t expires_ms;
	struct str sizes; /* out: of each write's item, 4 bytes; those of the first time where it
			     was done. Absent in older data files */
	bool was_done; /* out: the same request was applied before; nothing was written now, costs
			  are reads */
};

/* What the tokens of a namespace begin with: "account/region/". */
struct str write_token_space(struct arena *arena, struct ns ns);

/*
 * For the upkeep: the next namespace that has tokens. *after is where to look from, empty at first,
 * and is moved behind the namespace; the tokens of older data files are those of a namespace
 * without a name.
 */
enum code write_find_tokens(struct store *store, struct arena *arena, struct str *after,
			    struct ns *ns, bool *is_found, struct err *err) WARN_UNUSED;

/*
 * Removes some tokens of the namespace that have expired at `now_ms`; *more: there are others.
 * `may` is asked before anything is removed; nothing is where it says no.
 */
typedef bool write_may_expire(void *context);
enum code write_expire_tokens(struct store *store, struct arena *arena, struct ns ns,
			      int64_t now_ms, write_may_expire *may, void *context, bool *more,
			      struct err *err) WARN_UNUSED;

/*
 * Runs prepared writes in one store transaction, no two of them of one item. `token` may be NULL
 * (only with WRITE_TRANSACTION). ERR_TABLE_MOVED: a table was changed or deleted since its snapshot
 * was taken; look it up again and run the whole operation again. ERR_STORE_UNKNOWN: whether it was
 * committed cannot be known; a token answers it, when the same request comes again.
 */
enum code write_run(struct catalog *catalog, struct arena *arena, struct write *writes, size_t n,
		    enum write_mode mode, struct write_token *token, int64_t now_ms,
		    struct err *err) WARN_UNUSED;

/*
 * Asked when it is known what the writes cost and nothing is committed yet, once more for each time
 * that the transaction runs again. `code` is what became of them: OK, or the error of a condition,
 * for failed writes are billed. Returns that code, or fills `err` with an error of its own: then
 * nothing is written.
 */
struct write_admission {
	enum code (*ask)(void *context, const struct write *writes, size_t n, enum code code,
			 struct err *err);
	void *context;
};

/* write_run() if `admission` lets it. In a batch it is asked for each transaction that the batch
 * takes. */
enum code write_run_admitted(struct catalog *catalog, struct arena *arena, struct write *writes,
			     size_t n, enum write_mode mode, struct write_token *token,
			     int64_t now_ms, const struct write_admission *admission,
			     struct err *err) WARN_UNUSED;

/* A change of an item that another replica of the global table made. */
struct write_change {
	struct str row_key;
	struct str image;      /* the item; absent: it is deleted */
	struct stamp stamp;
	struct str queued; /* the row of the replica's queue that asks for it, which goes; absent:
			      none */
};

/*
 * Repeats changes at a replica, in one transaction: each only where the replica has no later change
 * of the item, and where its row, if it has one, is still in the queue. The items differ.
 * ERR_TABLE_MOVED as write_run.
 */
enum code write_repeat(struct catalog *catalog, struct arena *arena, struct table *table,
		       const struct write_change *changes, size_t n, int64_t now_ms,
		       struct err *err) WARN_UNUSED;

/* Whether an error belongs to its action and goes into the transaction's cancellation reasons.
 * Others belong to the request or the store. */
bool write_is_reason(enum code code);

/* ERR_TRANSACTION_CANCELED with a reason for each of `n` actions; those without an error have the
 * code OK. */
enum code write_canceled(struct err *reasons, size_t n, struct err *err) WARN_UNUSED;

/* How a transaction's cancellation reasons name an error: "ConditionalCheckFailed", "None", ... */
const char *write_reason(enum code code);

/* Whether rows of the two keyspaces of tokens can be read. */
bool write_token_is_sound(struct arena *arena, const struct store_row *row);
bool write_token_expiry_is_sound(struct arena *arena, const struct store_row *row);

#endif
