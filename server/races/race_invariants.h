/*
 * race_invariants - what must hold behind each run: {"invariants": [{"name": TEXT, ...}, ...]}, by
 * one of these. A SELECT is PartiQL; its values are those of the first attribute of each row.
 *
 *   "statement": SELECT                       gives no row
 *   "unique": SELECT                          gives no value twice
 *   "each": SELECT, "in": SELECT              each value of the first is one of the second
 *   "sum": SELECT, "equals_sum": SELECT       the sums of their numbers are the same
 *   "sum": SELECT, "equals_count": SELECT     the sum is the number of the second one's rows
 *   "never": "lost update" or "write skew"    in the order of the requests (race_anomaly.h)
 *   "rises": ATTRIBUTE, "of": TABLE           each change of an item raises it (race_watch.h)
 */
#ifndef DYNALITH_SERVER_RACE_INVARIANTS_H
#define DYNALITH_SERVER_RACE_INVARIANTS_H

#include "core/err.h"
#include "server/races/race_trace.h"
#include "server/races/race_watch.h"

struct json;

/* The list of such a file, in the arena. ERR_VALIDATION with one line. */
enum code race_invariants_read(struct arena *arena, const char *path, const struct json **list,
			       struct err *err) WARN_UNUSED;

/* What is to be watched during a run; NULL: nothing. The list outlives it. */
struct race_watch *race_invariants_watch(const struct json *list,
					 const struct race_watch_server *server,
					 struct arena *arena);

/* Sends an operation to the server of the run. False where no answer came: *answer says why. */
typedef bool race_ask(void *context, struct arena *arena, struct str operation, struct str body,
		      int *status, struct str *answer);

/* Which one is broken, or cannot be asked, and by what, in one line; absent: none. */
struct str race_invariants_check(const struct json *list, race_ask *ask, void *context,
				 struct race_watch *watch, const struct race_trace *trace,
				 struct arena *arena);

#endif
