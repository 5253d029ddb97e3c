/*
 * clocks - the clocks of namespaces: how far each is from the machine's, or where it stands still.
 * One is the default; a namespace that was turned has its own.
 *
 * Where several processes can have the store open, a clock that was turned is a row, so that all of
 * them go by it: the settings in memory are those of a version, which is a row too. A transaction
 * that stamps a time reads that row, and the settings again where it has changed; so does
 * catalog_refresh. Where only one process can have the store open, no row is written, and the
 * clocks end with the process.
 */
#ifndef DYNALITH_STORAGE_CLOCKS_H
#define DYNALITH_STORAGE_CLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/err.h"
#include "storage/schema/schema.h"
#include "storage/store/store.h"

#define CLOCKS_MAX 4096 /* namespaces that have a clock of their own */

struct clocks_setting {
	bool is_frozen;
	int64_t ms; /* where it stands, or the distance from the machine's clock */
};

struct clocks;

/* `store` NULL: no other process goes by these clocks. `is_one`: all namespaces are one
 * (--shared-db), and go by the default clock. */
struct clocks *clocks_new(struct store *store, bool is_one);
void clocks_free(struct clocks *clocks);
bool clocks_are_one(const struct clocks *clocks);

/* The machine's Unix time in milliseconds, and that of a clock. */
int64_t clocks_real_ms(void);
int64_t clocks_now_of(struct clocks_setting setting, int64_t real_ms);

/* The setting that the namespace (NULL: the default) goes by, as far as this process knows, and
 * whether it is its own. Thread-safe. */
struct clocks_setting clocks_get(struct clocks *clocks, const struct ns *ns, bool *is_own);

/* Calls `visit` for each namespace that has its own, in their order. */
typedef void clocks_visit(void *context, struct ns ns, struct clocks_setting setting);
void clocks_each(struct clocks *clocks, clocks_visit *visit, void *context);

enum code clocks_refresh(struct clocks *clocks, struct err *err) WARN_UNUSED;

/* The transaction will call clocks_stamp: its row comes with the next ones that are read. */
enum code clocks_foresee(struct clocks *clocks, struct store_txn *txn, struct err *err) WARN_UNUSED;

/*
 * The namespace's time for what the transaction writes: *now_ms is what the caller took it for, and
 * is corrected where another process has turned the clock. Reads nothing where none can, or where
 * `clocks` is NULL.
 */
enum code clocks_stamp(struct clocks *clocks, struct store_txn *txn, struct ns ns, int64_t *now_ms,
		       struct err *err) WARN_UNUSED;

/* The namespace's time for what the transaction reads: *now_ms is set in any case. */
enum code clocks_tell(struct clocks *clocks, struct store_txn *txn, struct ns ns, int64_t *now_ms,
		      struct err *err) WARN_UNUSED;

/* What a turn makes of a setting; `base` is what a release goes back to. *action: keep it, take
 * away the namespace's own, or change nothing. */
enum clocks_action { CLOCKS_NOTHING, CLOCKS_SET, CLOCKS_RELEASE };
typedef enum code clocks_turn(void *context, struct clocks_setting setting,
			      struct clocks_setting base, struct clocks_setting *next,
			      enum clocks_action *action, struct err *err);

/*
 * Turns the clock of the namespace, or the default one (`ns` NULL); `turn` may be called several
 * times, the last one counts. ERR_VALIDATION for more than CLOCKS_MAX namespaces;
 * ERR_STORE_UNAVAILABLE and the like where the row cannot be written.
 */
enum code clocks_change(struct clocks *clocks, const struct ns *ns, clocks_turn *turn,
			void *context, struct err *err) WARN_UNUSED;

/* Whether the row of a clock can be read. */
bool clocks_is_sound(struct arena *arena, const struct store_row *row);

#endif
