/*
 * internal - what the files of the shelf share: moments, and times as messages show them.
 */
#ifndef DYNALITH_PROTOCOL_TIMING_INTERNAL_H
#define DYNALITH_PROTOCOL_TIMING_INTERNAL_H

#include "protocol/timing/timing.h"

#define TIMING_DAY_MS INT64_C(86400000)

/* The row's milliseconds. */
int64_t timing_ms(enum timing what);

/* The row of a moment; TIMING_COUNT where a later version wrote it. */
enum timing timing_row(const struct moment *moment);

/* Adds a moment, now, with a copy of the value before; drops moments that are not needed any more.
 * Does nothing with instant timing. */
void timing_add(const struct call *call, struct table *next, enum timing what, struct str subject,
		const struct str *before, size_t before_count);

/* The last moment of the row and, where it is set, of the subject; NULL where there is none. */
const struct moment *timing_last(const struct table *table, enum timing what, struct str subject);

/* Whether the moment came less than the row's milliseconds ago. One after now, as of a clock that
 * was turned back, did not. */
bool timing_within(const struct call *call, const struct moment *moment, enum timing what);

/* The last moment of the row, if its time is not over. */
const struct moment *timing_running(const struct call *call, const struct table *table,
				    enum timing what, struct str subject);

/* "2026-10-09T05:53:25.330Z"; "Friday, October 9, 2026 at 1:21:34 AM Coordinated Universal Time" */
struct str timing_iso(struct arena *arena, int64_t ms);
struct str timing_prose(struct arena *arena, int64_t ms);

/* A number as a moment keeps it. */
struct str timing_number(struct arena *arena, int64_t number);
int64_t timing_number_of(const struct moment *moment, size_t i);

#endif
