/*
 * preview - what a trial has made, printed: "dynalith apply --dry-run".
 */
#ifndef DYNALITH_SERVER_SEED_PREVIEW_H
#define DYNALITH_SERVER_SEED_PREVIEW_H

#include "server/seed/seed.h"

/*
 * The target's tables on standard output: a line each, or with `is_json` an array of
 * DescribeTable's "Table" with "TimeToLiveDescription" and "ContinuousBackupsDescription" beside
 * it.
 */
enum code preview_print(struct arena *arena, const struct seed_target *target, bool is_json,
			struct err *err) WARN_UNUSED;

#endif
