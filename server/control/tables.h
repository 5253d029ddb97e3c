/*
 * tables - what a page that shows tables asks first, in one request each: all tables with their
 * descriptions, and one with a sample of its items.
 *
 * Nothing is counted as traffic, no fault fires and no capacity is taken.
 */
#ifndef DYNALITH_SERVER_CONTROL_TABLES_H
#define DYNALITH_SERVER_CONTROL_TABLES_H

#include "server/control/control.h"

/*
 * Control_handlers. {"tables": [{"Table": T, "TimeToLiveDescription": D}, ...], "more": false}: the
 * first 200, by name, as DescribeTable and DescribeTimeToLive show them.
 */
enum code tables_show(const struct control_call *call, struct str *answer,
		      struct err *err) WARN_UNUSED;

/*
 * The same members of the table NAME, and "segments": the number for a parallel scan of which most
 * segments have items; "filled" of "probed" segments had some; "samples": runs of items that stand
 * together, from up to 63 places, 512 items and 1 MB in all. It reads at most 1,536 items, however
 * large the table is. ERR_RESOURCE_NOT_FOUND.
 */
enum code tables_sample(const struct control_call *call, struct str *answer,
			struct err *err) WARN_UNUSED;

#endif
