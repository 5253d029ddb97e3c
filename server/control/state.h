/*
 * state - endpoints that return a namespace to a state, or copy one: reset, checkpoints, snapshots, clones.
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

/* PUT snapshots/NAME: a copy of the namespace. GET snapshots: those that there are. POST snapshots/NAME/restore, DELETE snapshots/NAME. */
enum code state_take_snapshot(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;
enum code state_list_snapshots(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;
enum code state_restore_snapshot(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;
enum code state_remove_snapshot(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;

/*
 * POST clone {"from": ACCOUNT, "to": [ACCOUNT, ...], "replace": true}: copies the tables of the account, without "from" those of the namespace, to others
 * in the same region. Answers {"clones": N}.
 */
enum code state_clone(const struct control_call *call, struct str *answer, struct err *err) WARN_UNUSED;

#endif
