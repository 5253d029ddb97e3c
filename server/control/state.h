/*
 * state - endpoints that return a namespace to a state: reset, checkpoints.
 */
#ifndef DYNALITH_SERVER_STATE_H
#define DYNALITH_SERVER_STATE_H

#include "server/control/control.h"

/*
 * POST reset: the namespace as new. {"keep": "tables"} empties the tables instead of deleting them; {"tables": [...]} concerns these tables only.
 * Answers {"tables": N}, how many were deleted or emptied.
 */
enum code state_reset(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;

/* POST checkpoints {"name": NAME}: marks the state. GET checkpoints: those that there are, the first made first. */
enum code state_make_checkpoint(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;
enum code state_list_checkpoints(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;
/* POST checkpoints/NAME/rollback: back to the state. DELETE checkpoints/NAME: forgets the mark, and changes nothing else. */
enum code state_roll_back(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;
enum code state_remove_checkpoint(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;

#endif
