/*
 * merge - the descriptions of several servers as one: each counts for itself, also where they share
 * a database.
 *
 * Counts, units and quantiles are those of one server that had seen all requests. Buckets of time
 * are laid beside each other by their age. A partition's most in a second is the most that one
 * server saw. Findings are those of the whole (recollect.h).
 */
#ifndef DYNALITH_SERVER_REPORT_MERGE_H
#define DYNALITH_SERVER_REPORT_MERGE_H

#include "core/err.h"
#include "server/report/view.h"

/* `descriptions`: n texts, as insight_describe() gives them, at least one. One stays as it is.
 * ERR_VALIDATION: one of them is something else. */
enum code merge_descriptions(struct arena *arena, const struct str *descriptions, size_t n,
			     struct str *merged, struct err *err) WARN_UNUSED;

#endif
