/*
 * conflicts - endpoints that say whether transactions that meet refuse each other:
 * protocol/conflicts.
 */
#ifndef DYNALITH_SERVER_CONTROL_CONFLICTS_H
#define DYNALITH_SERVER_CONTROL_CONFLICTS_H

#include "server/control/control.h"

/* PUT conflicts: {"conflicts": "real" or "none"}. Answers as GET does. */
enum code conflicts_put(const struct control_call *call, struct str *answer,
			struct err *err) WARN_UNUSED;

/* GET conflicts: {"conflicts": ...}. */
enum code conflicts_show(const struct control_call *call, struct str *answer,
			 struct err *err) WARN_UNUSED;

/* DELETE conflicts: as the option says. */
enum code conflicts_delete(const struct control_call *call, struct str *answer,
			   struct err *err) WARN_UNUSED;

#endif
