/*
 * recorded - a plan from a recording: its requests are carried out again in memory, in this
 * process, and what each consumes of tables and indexes is counted by pattern, hour and key.
 *
 * A pattern is an operation on a table or an index. Its units are the mean of its requests. The
 * keys are those by which the operation consumed most of the table or index (contributors.h).
 * A recording of a day or more gives a rate for each hour of the day, in UTC; of less, one rate.
 */
#ifndef DYNALITH_SERVER_FORECAST_RECORDED_H
#define DYNALITH_SERVER_FORECAST_RECORDED_H

#include "server/forecast/observed.h"

/* The plan as JSON, in the form of docs/forecast.md; `observed` has the arena, the plan and the
 * keys. ERR_VALIDATION with one line: a line is none, values are masked, a table is not made in the
 * recording, nothing in it consumes units. */
enum code recorded_plan(struct arena *arena, const char *path, struct observed *observed,
			struct str *plan, struct err *err) WARN_UNUSED;

#endif
