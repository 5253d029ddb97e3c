/*
 * links - how replication goes between the regions of an account: how late it is, and which regions
 * cannot reach each other.
 *
 * One row per account, which every write to a global table reads in its transaction: so what one
 * process sets holds for the next write of all of them. An account without a row has the lag of
 * catalog_options and no cut.
 */
#ifndef DYNALITH_STORAGE_LINKS_H
#define DYNALITH_STORAGE_LINKS_H

#include "core/err.h"
#include "core/str.h"
#include "storage/store/store.h"

#define LINKS_CUTS_MAX 1000

/* Two regions that cannot reach each other, in both directions. */
struct links_cut {
	struct str a, b;
};

struct links {
	bool has_lag;    /* of the account's own */
	int64_t lag_ms;  /* from a write until another replica has it, by the clock of the region
			    where it was written */
	size_t n;
	struct links_cut *cuts;
};

/* Says that links_read will come, so that its row comes with the rows that are asked for before it;
 * the key. */
struct store_key links_key(struct arena *arena, struct str account);

/* `lag_ms` is that of an account without its own. */
enum code links_read(struct store_txn *txn, struct arena *arena, struct str account, int64_t lag_ms,
		     struct links *links, struct err *err) WARN_UNUSED;

/* No lag of its own and no cut: the row goes. */
enum code links_write(struct store_txn *txn, struct arena *arena, struct str account,
		      const struct links *links, struct err *err) WARN_UNUSED;

/* Whether the two regions reach each other directly. */
bool links_reach(const struct links *links, struct str a, struct str b);

/*
 * Whether `from` is with the majority of the regions, itself among them; regions that reach each
 * other through others are together. AWS: a global table with strong consistency goes on as long as
 * two of its three regions do.
 */
bool links_majority(const struct links *links, struct str from, const struct str *regions,
		    size_t n);

/* Whether `a` and `b` reach each other, directly or through others of the regions. */
bool links_connect(const struct links *links, struct str a, struct str b, const struct str *regions,
		   size_t n);

/* Whether an account's row can be read. */
bool links_is_sound(struct arena *arena, const struct store_row *row);

#endif
