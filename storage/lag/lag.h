/*
 * lag - by how much reads without ConsistentRead are behind.
 *
 * A namespace has a setting, and each of its tables may have one of its own, by name, whether it
 * exists or not. They are rows beside the versions of tables, so that every process goes by them,
 * and the setting that holds for a table is also in the row of its version, which each transaction
 * reads anyway: a table without any pays nothing. A rollback does not change settings. The usual
 * setting (--lag) is the process's own, for tables that no row says anything of.
 *
 * What a read sees meanwhile, is in history.h.
 *
 * The shelf storage/lag/ holds all that is known of the past: settings here, rows as they were in
 * history.
 */
#ifndef DYNALITH_STORAGE_LAG_H
#define DYNALITH_STORAGE_LAG_H

#include "storage/schema/currency.h"

#define LAG_MAX_MS 3600000 /* of each of the three */

struct lag {
	uint32_t table_ms;  /* of a table and its local indexes */
	uint32_t index_ms;  /* of its global indexes */
	uint32_t jitter_ms; /* up to so much more, by each write; nothing where there is no lag */
	uint64_t seed;      /* of the jitter */
};

/* What holds for a table: its row's, or where that is absent the usual one. False: its reads see
 * the present. */
bool lag_holds(struct str row, const struct lag *usual, struct lag *lag);

static inline bool lag_is_on(const struct lag *lag)
{
	return lag->table_ms || lag->index_ms;
}

/* The lag of the table and its local indexes, or of its global ones. */
static inline uint32_t lag_ms(const struct lag *lag, bool is_global)
{
	return is_global ? lag->index_ms : lag->table_ms;
}

/* How long a row may be needed after it was changed. */
uint64_t lag_longest_ms(const struct lag *lag);

/* Settings as rows. `key` is the catalog's of a table, or, with no name behind it, of a namespace.
 */
enum code lag_put(struct store_txn *txn, struct str key, const struct lag *lag,
		  struct err *err) WARN_UNUSED;
enum code lag_remove_all(struct store_txn *txn, struct str space, struct err *err) WARN_UNUSED;

/* What a namespace has, in the order of names; an empty one is the namespace's own setting. `space`
 * is what its keys begin with. */
struct lag_setting {
	struct str name;
	struct lag lag;
};
struct lag_settings {
	size_t n;
	struct lag_setting *v;
};
enum code lag_list(struct store_txn *txn, struct str space, struct arena *arena,
		   struct lag_settings *settings, struct err *err) WARN_UNUSED;

/* Whether the keyspace of history is there; and makes it, in a transaction that no journal notes.
 */
enum code lag_is_begun(struct store_txn *txn, bool *is_begun, struct err *err) WARN_UNUSED;
enum code lag_begin(struct store_txn *txn, struct err *err) WARN_UNUSED;

/*
 * Gives the table's row what the settings say; for a table that is new, and for all when a setting
 * has changed. The first `space_n` bytes of `key` are its namespace's.
 */
enum code lag_inherit(struct store_txn *txn, struct str key, size_t space_n, uint64_t number,
		      struct err *err) WARN_UNUSED;

/* Whether the row of a setting can be read. */
bool lag_is_sound(struct arena *arena, const struct store_row *row);

#endif
