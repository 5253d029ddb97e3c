/*
 * clock - the clock of the service: all that depends on time is given it. A test can stop it, set it and move it.
 *
 * A clock runs with the system's clock at a distance from it, or stands still. There is a default one, and each namespace that was turned
 * has one of its own; the others follow the default one. So tests that run in parallel, each in its namespace, do not disturb each other.
 * Signatures and the log go by the system's clock. Nothing is stored: after a restart every clock is the system's again.
 */
#ifndef DYNALITH_SERVER_CLOCK_H
#define DYNALITH_SERVER_CLOCK_H

#include <stdint.h>

#include "core/err.h"
#include "storage/catalog/times.h"

#define CLOCKS_MAX 4096 /* namespaces that have a clock of their own */

struct clock;

/* `is_shared`: all namespaces are one (--shared-db), and go by the default clock. */
struct clock *clock_new(bool is_shared);
void clock_free(struct clock *clock);

/* The Unix time of the namespace in milliseconds; `clock` is a struct clock. Thread-safe, and without a lock while no namespace has its own. */
int64_t clock_now_ms(void *clock, struct ns ns);

/* The same as a `tell` of struct times, for all namespaces. */
bool clock_tell(void *clock, struct ns ns, int64_t *now_ms);

/*
 * For work on what one turn concerns: a struct clock_scope is the context of clock_tell_scope, a `tell` of struct times. `ns` NULL: all namespaces
 * that follow the default clock; else that one.
 */
struct clock_scope {
	struct clock *clock;
	const struct ns *ns;
};
bool clock_tell_scope(void *scope, struct ns ns, int64_t *now_ms);

/*
 * Turns the clock of the namespace, or the default one (`ns` NULL), as a JSON object says; members in this order, all optional, absent body for none:
 *   "release": true          back to the default clock, or, for the default one, to the system's
 *   "set": TIME              Unix seconds, or a text "2030-01-31T12:00:00Z"
 *   "advance": DURATION      seconds, or a text "90s", "15m", "12h", "30d"; negative turns back
 *   "freeze": true or false  stands still, or runs on from where it stands
 * ERR_VALIDATION for anything else, or for more than CLOCKS_MAX namespaces; nothing was changed then. Turns by several threads take place one after
 * the other.
 */
enum code clock_turn(struct clock *clock, const struct ns *ns, struct str body, struct err *err) WARN_UNUSED;

/*
 * The namespace's own clock in bytes, empty where it has none; and back to what was saved. ERR_VALIDATION for more than CLOCKS_MAX namespaces.
 */
struct str clock_save(struct clock *clock, struct ns ns, struct arena *arena);
enum code clock_restore(struct clock *clock, struct ns ns, struct str saved, struct err *err) WARN_UNUSED;

/*
 * The clock as JSON, with `expired` items deleted by this turn:
 *   {"now":1767225600.25,"iso":"2026-01-01T00:00:00.250Z","frozen":false,"offset":0.0,"expired":N}
 * For a namespace before "expired": "account", "region", and "own", whether it has a clock of its own. For the default one: "namespaces", which lists
 * those that have their own.
 */
struct str clock_describe(struct clock *clock, const struct ns *ns, struct arena *arena, uint64_t expired);

#endif
