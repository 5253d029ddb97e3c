/*
 * pull_state - up to when a pulled table has its source's changes, so that later ones can be
 * applied. It is a tag of the table in the file, sealed by the secret.
 */
#ifndef DYNALITH_SERVER_PULL_STATE_H
#define DYNALITH_SERVER_PULL_STATE_H

#include "server/pull/pull_ask.h"

struct pull_state {
	struct str table_id;       /* the source's */
	int64_t from_ms, until_ms; /* a Scan read it between these; an export has one time */
};

/*
 * Before a table is read: it is of this moment on, or of that of an earlier, interrupted pull.
 * Nothing is kept without a secret that can be given again (mask_option.h). ERR_INTERNAL: the file
 * is left of a pull with another mask or secret.
 */
enum code pull_state_begin(const struct pull *pull, struct arena *arena,
			   const struct pull_table *table, struct pull_state *state,
			   struct err *err) WARN_UNUSED;
/* When the table is read: until_ms is now. */
void pull_state_end(const struct pull *pull, struct arena *arena, struct str table,
		    struct pull_state *state);

/* Sets the tag. Where the table has no room for it, a warning says so. */
void pull_state_save(const struct pull *pull, struct arena *arena, struct str table,
		     const struct pull_state *state);

/* *is_there: whether it has the tag. ERR_VALIDATION: that of another secret, mask or choice. */
enum code pull_state_find(const struct pull *pull, struct arena *arena, struct str table,
			  struct pull_state *state, bool *is_there, struct err *err) WARN_UNUSED;

#endif
