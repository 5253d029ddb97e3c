/*
 * state - endpoints that return a namespace to a state: reset.
 */
#ifndef DYNALITH_SERVER_STATE_H
#define DYNALITH_SERVER_STATE_H

#include "server/control/control.h"

/*
 * POST reset: the namespace as new. {"keep": "tables"} empties the tables instead of deleting them; {"tables": [...]} concerns these tables only.
 * Answers {"tables": N}, how many were deleted or emptied.
 */
enum code state_reset(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;

#endif
