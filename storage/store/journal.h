/*
 * journal - what transactions change, so that it can be undone.
 *
 * A journal is a keyspace (JOURNAL, PART_JOURNAL). While a transaction is armed with one, the first
 * change of a row since the journal began puts the row's old value there, and keyspaces that are
 * created and dropped are noted. What is dropped stays, hidden, until the journal goes. So undoing
 * costs what the changes did, however much there is besides.
 *
 * A transaction is armed by a table of calls in place of the store's own: one that is not armed
 * pays nothing. Rows of SYSTEM_VERSIONS are not noted: versions rise for ever, and undoing a
 * journal raises them. Nor are those of SYSTEM_HISTORY, which end by themselves.
 */
#ifndef DYNALITH_STORAGE_JOURNAL_H
#define DYNALITH_STORAGE_JOURNAL_H

#include "storage/store/store.h"

/*
 * Arms a writing transaction, until its end; nothing for one that reads, or that is armed already.
 * `stack` is what the caller knows the journals of one namespace by.
 */
void journal_arm(struct store_txn *txn, uint64_t stack, uint64_t journal);

/* Takes the journal from a transaction that goes on in another namespace, whose own it may get. */
void journal_disarm(struct store_txn *txn);

/* Puts a row that is never undone. */
enum code journal_put_for_good(struct store_txn *txn, struct keyspace keyspace, struct str key,
			       struct str value, struct err *err) WARN_UNUSED;

/* Begins and ends journals, in transactions that are not armed. */
enum code journal_create(struct store_txn *txn, uint64_t journal, struct err *err) WARN_UNUSED;

/* A row that an undoing is about to bring back; false: it stays as it is. */
typedef bool journal_visit(void *context, struct keyspace keyspace, struct str key);

/*
 * Brings everything back to where it was when the journal began, and empties the journal. Of
 * several, the latest first. `visit` is called for each row, also those of keyspaces that went, and
 * with an absent key for each keyspace that comes or goes.
 */
enum code journal_undo(struct store_txn *txn, uint64_t journal, journal_visit *visit, void *context,
		       struct err *err) WARN_UNUSED;

/* Drops an empty journal. */
enum code journal_drop(struct store_txn *txn, uint64_t journal, struct err *err) WARN_UNUSED;

/*
 * Ends a journal whose changes stay. `outer` is the one before it, which then reaches up to now; 0:
 * there is none, and what was hidden is dropped.
 */
enum code journal_end(struct store_txn *txn, uint64_t journal, uint64_t outer,
		      struct err *err) WARN_UNUSED;

/* Calls `visit` for each keyspace that the journal hides, with an absent key. */
enum code journal_hidden(struct store_txn *txn, uint64_t journal, journal_visit *visit,
			 void *context, struct err *err) WARN_UNUSED;

/* The row that a row of a journal is about, as it was; an absent value: there was none, or it is
 * about a keyspace. False: it is malformed. */
bool journal_read(const struct store_row *row, struct keyspace *keyspace,
		  struct store_row *noted) WARN_UNUSED;

#endif
