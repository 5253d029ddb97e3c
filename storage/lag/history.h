/*
 * history - rows as they were: what a read sees that is behind by its table's lag (lag.h).
 *
 * A write to such a table notes, in its own transaction, what each row was that it changes, with
 * the moment by the clock of the namespace. So the past is the present with what was written since
 * undone, and each server of a store sees the same. A write is seen when its row's lag has gone by,
 * plus a part of the jitter that the seed, the item's key and the moment decide; the rows of one
 * item (its own, those in local indexes) are seen at once, and of two writes of an item the first
 * is never seen after the second.
 *
 * One row is noted once in a millisecond: as it was before the first write in it. The upkeep
 * removes what no read can need any more, and, when a clock was turned back, what lies in the
 * future then: such writes are seen at once.
 *
 * A reset, a rollback, a restore and a clone are seen at once, too: they leave no history.
 */
#ifndef DYNALITH_STORAGE_HISTORY_H
#define DYNALITH_STORAGE_HISTORY_H

#include "storage/lag/lag.h"

/* Of one write: who notes. */
struct history_writer {
	struct store_txn *txn;
	struct arena *arena;
	struct lag lag;
	struct str space;    /* "account/region/" of the namespace whose clock it goes by */
	int64_t now_ms;
	uint64_t item;       /* a hash of the item's key, for the jitter */
};

/* The row is about to change: what it is, absent where there is none. */
enum code history_note(const struct history_writer *writer, struct keyspace keyspace,
		       bool is_global, struct str key, struct str value,
		       struct err *err) WARN_UNUSED;

/* Of one read: from where it looks. */
struct history_view {
	int64_t now_ms;
	uint32_t lag_ms, jitter_ms;
	uint64_t seed;
};

struct history_view history_view_of(const struct lag *lag, bool is_global, int64_t now_ms);

/* The value of a row as it was: `value` is what it is. */
enum code history_get(struct store_txn *txn, const struct history_view *view,
		      struct keyspace keyspace, struct str key, struct arena *arena,
		      struct str *value, struct err *err) WARN_UNUSED;

/*
 * store_page_of() as it was: notes of rows that stand for others have values. The page may have
 * more rows than the bounds say, and is empty only at the end of the range.
 */
enum code history_page(struct store_txn *txn, const struct history_view *view,
		       struct keyspace keyspace, const struct store_reference *reference,
		       const struct store_range *range, struct store_bounds bounds,
		       struct arena *arena, struct store_page *page, struct err *err) WARN_UNUSED;

/* The table has no past from now on. */
enum code history_forget(struct store_txn *txn, uint64_t table, struct err *err) WARN_UNUSED;

/*
 * For the upkeep. The next namespace that has a history: *after is where to look from, empty at
 * first, and is moved behind it. Then some of the rows that no read needs at `now_ms`, with
 * `is_turned` also those of the future; *more: there may be others. `may` is asked before anything
 * is removed.
 */
enum code history_find(struct store *store, struct arena *arena, struct str *after, struct ns *ns,
		       bool *is_found, struct err *err) WARN_UNUSED;
typedef bool history_may(void *context);
enum code history_trim(struct store *store, struct arena *arena, struct ns ns, int64_t now_ms,
		       bool is_turned, history_may *may, void *context, bool *more,
		       struct err *err) WARN_UNUSED;

/* The row that a row of SYSTEM_HISTORY is about, as it was; an absent value: there was none, or
 * nothing is said of it. False: it is malformed. */
bool history_read(const struct store_row *row, struct keyspace *keyspace,
		  struct store_row *noted) WARN_UNUSED;

#endif
