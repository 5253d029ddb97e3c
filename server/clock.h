/*
 * clock - the one clock of the service: all that depends on time is given it. A test can stop it, set it and move it.
 *
 * It runs with the system's clock, at a distance from it, or stands still. Signatures and the log go by the system's own.
 * Nothing of it is stored: after a restart it is the system's again.
 */
#ifndef DYNALITH_SERVER_CLOCK_H
#define DYNALITH_SERVER_CLOCK_H

#include <stdatomic.h>
#include <stdint.h>

#include "core/err.h"

/* Distance in milliseconds from the system's clock, or where it stands: twice that, plus 1 where it stands. One word: no reader sees half a turn. */
struct clock {
	atomic_llong state;
};

/* Unix time in milliseconds; `context` is a struct clock. Thread-safe. */
int64_t clock_now_ms(void *context);

/*
 * Turns the clock as a JSON object says; members in this order, all optional, absent body for none:
 *   "release": true          back to the system's clock, running
 *   "set": TIME              Unix seconds, or a text "2030-01-31T12:00:00Z"
 *   "advance": DURATION      seconds, or a text "90s", "15m", "12h", "30d"; negative turns back
 *   "freeze": true or false  stands still, or runs on from where it stands
 * ERR_VALIDATION for anything else; nothing was changed then. Turns by several threads take place one after the other.
 */
enum code clock_turn(struct clock *clock, struct str body, struct err *err) WARN_UNUSED;

/* {"now":1767225600.25,"iso":"2026-01-01T00:00:00.250Z","frozen":false,"offset":0.0,"expired":N} with `expired` items deleted by this turn. */
struct str clock_describe(struct clock *clock, struct arena *arena, uint64_t expired);

#endif
