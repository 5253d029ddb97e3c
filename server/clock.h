/*
 * clock - what time it is for a namespace, and how a test turns that: by JSON. All that depends on
 * time is given it.
 *
 * A clock runs with the machine's clock at a distance from it, or stands still. There is a default
 * one, and each namespace that was turned has one of its own (storage/catalog/clocks.h); the others
 * follow the default one. So tests that run in parallel, each in its namespace, do not disturb each
 * other. Signatures and the log go by the machine's clock.
 */
#ifndef DYNALITH_SERVER_CLOCK_H
#define DYNALITH_SERVER_CLOCK_H

#include <stdint.h>

#include "core/err.h"
#include "storage/catalog/clocks.h"
#include "storage/catalog/times.h"

/*
 * The Unix time of the namespace in milliseconds, as far as this process knows; `clocks` is a
 * struct clocks. Thread-safe, and without a lock while no namespace has its own.
 */
int64_t clock_now_ms(void *clocks, struct ns ns);

/* The same as a `tell` of struct times, for all namespaces. */
bool clock_tell(void *clocks, struct ns ns, int64_t *now_ms);

/*
 * For work on what one turn concerns: a struct clock_scope is the context of clock_tell_scope, a
 * `tell` of struct times. `ns` NULL: all namespaces that follow the default clock; else that one.
 */
struct clock_scope {
	struct clocks *clocks;
	const struct ns *ns;
};
bool clock_tell_scope(void *scope, struct ns ns, int64_t *now_ms);

/*
 * Turns the clock of the namespace, or the default one (`ns` NULL), as a JSON object says; members
 * in this order, all optional, absent body for none:
 *   "release": true          back to the default clock, or, for the default one, to the system's
 *   "set": TIME              Unix seconds, or a text "2030-01-31T12:00:00Z"
 *   "advance": DURATION      seconds, or a text "90s", "15m", "12h", "30d"; negative turns back
 *   "freeze": true or false  stands still, or runs on from where it stands
 * ERR_VALIDATION for anything else, or for more than CLOCKS_MAX namespaces; nothing was changed
 * then. Errors of the store where the clock is a row. Turns by several threads take place one after
 * the other.
 */
enum code clock_turn(struct clocks *clocks, const struct ns *ns, struct str body,
		     struct err *err) WARN_UNUSED;

/*
 * The namespace's own clock in bytes, empty where it has none; and back to what was saved.
 * ERR_VALIDATION for more than CLOCKS_MAX namespaces.
 */
struct str clock_save(struct clocks *clocks, struct ns ns, struct arena *arena);
enum code clock_restore(struct clocks *clocks, struct ns ns, struct str saved,
			struct err *err) WARN_UNUSED;

/*
 * The clock as JSON, with `expired` items deleted by this turn:
 *   {"now":1767225600.25,"iso":"2026-01-01T00:00:00.250Z","frozen":false,"offset":0.0,"expired":N}
 * For a namespace before "expired": "account", "region", and "own", whether it has a clock of its
 * own. For the default one: "namespaces", which lists those that have their own.
 */
struct str clock_describe(struct clocks *clocks, const struct ns *ns, struct arena *arena,
			  uint64_t expired);

#endif
