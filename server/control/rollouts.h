/*
 * rollouts - endpoints that fix the region and day whose behaviour a namespace has:
 * protocol/rollouts.h.
 */
#ifndef DYNALITH_SERVER_CONTROL_ROLLOUTS_H
#define DYNALITH_SERVER_CONTROL_ROLLOUTS_H

#include "server/control/control.h"

/* PUT rollouts: {"as": "next"}, "none", "REGION" or "REGION@YYYY-MM-DD". Answers as GET does. */
enum code rollouts_put(const struct control_call *call, struct str *answer,
		       struct err *err) WARN_UNUSED;

/* GET rollouts: {"as": ..., "rollouts": [NAME, ...]}, those in force. */
enum code rollouts_show(const struct control_call *call, struct str *answer,
			struct err *err) WARN_UNUSED;

/* DELETE rollouts: what --as says. */
enum code rollouts_delete(const struct control_call *call, struct str *answer,
			  struct err *err) WARN_UNUSED;

#endif
