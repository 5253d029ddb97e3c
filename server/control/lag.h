/*
 * lag - endpoints that say by how much reads without ConsistentRead are behind: storage/lag.
 */
#ifndef DYNALITH_SERVER_CONTROL_LAG_H
#define DYNALITH_SERVER_CONTROL_LAG_H

#include "server/control/control.h"

/*
 * PUT lag: {"lag": MS, "index_lag": MS, "jitter": MS, "seed": N, "tables": {NAME: {...}}} in place
 * of the settings there are. A table's own setting stands for the namespace's; "index_lag" is "lag"
 * where it is absent. Answers as GET does.
 */
enum code lag_put_settings(const struct control_call *call, struct str *answer,
			   struct err *err) WARN_UNUSED;

/* GET lag: the settings; {} where there are none. */
enum code lag_show(const struct control_call *call, struct str *answer,
		   struct err *err) WARN_UNUSED;

/* DELETE lag: none. */
enum code lag_delete(const struct control_call *call, struct str *answer,
		     struct err *err) WARN_UNUSED;

#endif
