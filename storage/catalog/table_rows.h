/*
 * table_rows - the record of a table, and the rows that follow from it: written together, so that
 * nobody has to go through all records.
 *
 * Rows of SYSTEM_COUNTERS. SPACE is what the keys of a namespace's records begin with: account NUL
 * region NUL, or NUL with --shared-db.
 *
 *     mark/n/ NAME NUL SPACE               there is a table of that name
 *     mark/s/ SPACE NAME / LABEL NUL number   a stream that can be read, or could: the order of
 *                                             their ARNs
 *     mark/l/ SPACE NAME NUL number        there are rows of a stream, or of a log beneath it, that
 *                                          may become old
 *     mark/t/ SPACE NAME                   time to live is on
 *     mark/g/ SPACE NAME                   it is a replica of a global table
 *     mark/k/ SPACE NAME                   its changes are sent elsewhere (LOG_SENDING)
 *     mark/w/ SPACE NAME                   an index or the queue of time to live is to be filled or
 *                                          emptied, or a deleted table to be buried
 *     tables/ SPACE                        how many records the namespace has; many transactions
 *                                          add to it
 *
 * One row of SYSTEM_VERSIONS, "table rows", says that all records have them; it comes with the
 * first record. A file of an older Dynalith gets them when it is opened, in pieces.
 */
#ifndef DYNALITH_STORAGE_TABLE_ROWS_H
#define DYNALITH_STORAGE_TABLE_ROWS_H

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

enum mark_kind { MARK_NAME, MARK_STREAM, MARK_LOG, MARK_TTL, MARK_GLOBAL, MARK_SENDING, MARK_WORK };

struct mark {
	struct str row;      /* its key */
	struct str record;   /* the key of the table's record */
	struct ns ns;        /* of the table */
	struct str name;
	struct str label;    /* MARK_STREAM */
	uint64_t number;     /* of the table */
	int64_t ms; /* MARK_WORK: when it begins. MARK_STREAM, MARK_LOG: the last moment at which it
		       can be read; INT64_MAX: none is known */
	bool is_deleted; /* MARK_WORK: the table is to be buried. MARK_STREAM, MARK_LOG: it is that
			    of a deleted table, and the record a retired one's */
	bool has_stream; /* MARK_NAME: the table has one. MARK_LOG: there is nothing but streams */
};

/* Some marks of a kind, in the order of their keys. */
struct marks {
	enum mark_kind kind;
	struct str within; /* what their keys have behind the kind begins with this; absent: all of
			      the kind */
	struct str after;    /* the row of the last one that was seen; absent: from the first one */
	size_t limit;
	size_t n;            /* out, as what follows */
	struct mark *v;
	bool is_more;
};

/* The next page, in the arena. `after` is set to its end. */
enum code table_rows_marks(struct store_txn *txn, struct arena *arena, struct marks *marks,
			   struct err *err) WARN_UNUSED;
/* What the marks of a name begin with, behind the kind: MARK_NAME; MARK_STREAM in a namespace. */
struct str table_rows_named(struct arena *arena, struct str name);
struct str table_rows_streams(struct arena *arena, struct str space, struct str name);
/* The row behind which the marks of later streams are. */
struct str table_rows_last_stream(struct arena *arena, struct str space, struct str name,
				  struct str label);

/*
 * Puts the record, in the place of the one that is there, or deletes it (`next` NULL), with what
 * follows from it. `key` is the record's, which may be a retired one's (retired.h); `space` is its
 * namespace's. `settings` are those of records.
 */
enum code table_rows_put(struct store_txn *txn, const struct settings_records *settings,
			 struct str space, struct str key, const struct table *next,
			 struct err *err) WARN_UNUSED;

/* How many records the namespace has, those of deleted tables that are still listed, or not buried
 * yet, among them. */
enum code table_rows_count(struct store_txn *txn, struct str space, uint64_t *n,
			   struct err *err) WARN_UNUSED;

/* Whether a row of SYSTEM_COUNTERS is one of these. */
bool table_rows_is_key(struct str key);

/* The namespace of a record's key, which is no retired one's. */
struct str table_rows_space(struct str key);

/*
 * Gives all records their rows, and their row of currency.h, where the store does not have them
 * all: an older Dynalith wrote it, or repair did. Reads one row where it has. Each piece is a
 * transaction. `is_shared`: as catalog_options.
 */
enum code table_rows_complete(struct store *store, const struct settings_records *settings,
			      bool is_shared, struct err *err) WARN_UNUSED;

enum code table_rows_are_complete(struct store_txn *txn, bool *are_complete,
				  struct err *err) WARN_UNUSED;

/*
 * The same for one record and its row of currency.h, in a transaction of its own: 0.1.0 wrote it to
 * a file that has the rows of all others. Nothing where the record is as it should be.
 */
enum code table_rows_mend(struct store *store, const struct settings_records *settings,
			  struct str space, struct str key, struct err *err) WARN_UNUSED;

/* For check: calls `visit` with the key of each row that the record should have and has not. */
typedef void table_rows_visit(void *context, struct str key);
enum code table_rows_missing(struct store_txn *txn, const struct table *table, struct str space,
			     struct str key, table_rows_visit *visit, void *context,
			     struct err *err) WARN_UNUSED;

/* Whether a mark can be read. */
bool table_rows_is_sound(struct arena *arena, const struct store_row *row);

#endif
