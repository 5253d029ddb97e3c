/*
 * seen - a plan from insight's JSON: what GET /_dynalith/insight or `dynalith report --format json`
 * has of a server's requests.
 *
 * It has no billing: tables that --tables does not name are on demand. Its patterns do not say
 * which index they write to: each has the share of its table's. Its partitions have masked names.
 * Keys of indexes are not in it: they are uniform.
 */
#ifndef DYNALITH_SERVER_FORECAST_SEEN_H
#define DYNALITH_SERVER_FORECAST_SEEN_H

#include "server/forecast/observed.h"

bool seen_is_insight(const struct json *root);

/* The plan as JSON. ERR_VALIDATION: nothing in it consumes units, or a member is no number. */
enum code seen_plan(struct arena *arena, const char *path, const struct json *root,
		    struct observed *observed, struct str *plan, struct err *err) WARN_UNUSED;

#endif
