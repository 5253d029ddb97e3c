/*
 * state - endpoints that return a namespace to a state, or copy one: reset, checkpoints, snapshots,
 * clones.
 */
#ifndef DYNALITH_SERVER_STATE_H
#define DYNALITH_SERVER_STATE_H

#include "server/control/control.h"

/*
 * POST reset: the namespace as new. {"keep": "tables"} empties the tables instead of deleting them;
 * {"tables": [...]} concerns these tables only. Answers {"tables": N}, how many were deleted or
 * emptied.
 */
enum code state_reset(const struct control_call *call, struct str *answer,
		      struct err *err) WARN_UNUSED;

/* POST checkpoints {"name": NAME}: marks the state. GET checkpoints: those that there are, the
 * first made first. */
enum code state_make_checkpoint(const struct control_call *call, struct str *answer,
				struct err *err) WARN_UNUSED;
enum code state_list_checkpoints(const struct control_call *call, struct str *answer,
				 struct err *err) WARN_UNUSED;
/* POST checkpoints/NAME/rollback: back to the state. DELETE checkpoints/NAME: forgets the mark, and
 * changes nothing else. */
enum code state_roll_back(const struct control_call *call, struct str *answer,
			  struct err *err) WARN_UNUSED;
enum code state_remove_checkpoint(const struct control_call *call, struct str *answer,
				  struct err *err) WARN_UNUSED;

/* PUT snapshots/NAME: a copy of the namespace. GET snapshots: those that there are. POST
 * snapshots/NAME/restore, DELETE snapshots/NAME. */
enum code state_take_snapshot(const struct control_call *call, struct str *answer,
			      struct err *err) WARN_UNUSED;
enum code state_list_snapshots(const struct control_call *call, struct str *answer,
			       struct err *err) WARN_UNUSED;
enum code state_restore_snapshot(const struct control_call *call, struct str *answer,
				 struct err *err) WARN_UNUSED;
enum code state_remove_snapshot(const struct control_call *call, struct str *answer,
				struct err *err) WARN_UNUSED;

/*
 * POST snapshots/NAME/dump {"cursor": TEXT}: the next block of its bytes, {"block": BASE64,
 * "cursor": TEXT}; the last answer has no cursor. POST snapshots/NAME/load {"block": BASE64}: takes
 * the next block; {"done": true} with the last one, and the snapshot is there.
 */
enum code state_dump(const struct control_call *call, struct str *answer,
		     struct err *err) WARN_UNUSED;
enum code state_load(const struct control_call *call, struct str *answer,
		     struct err *err) WARN_UNUSED;

/*
 * POST clone {"from": ACCOUNT, "to": [ACCOUNT, ...], "replace": true}: copies the tables of the
 * account, without "from" those of the namespace, to others in the same region. Answers {"clones":
 * N}.
 */
enum code state_clone(const struct control_call *call, struct str *answer,
		      struct err *err) WARN_UNUSED;

#endif
