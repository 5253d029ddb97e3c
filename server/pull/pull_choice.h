/*
 * pull_choice - which items of a table are pulled: those that --only names, whole partitions of
 * --sample, and partitions that such items point at (--follow).
 */
#ifndef DYNALITH_SERVER_PULL_CHOICE_H
#define DYNALITH_SERVER_PULL_CHOICE_H

#include "server/pull/pull_ask.h"

/* Whether the item is chosen for itself. A partition is by its key and the secret: as a whole, in
 * all tables where a key has that text, and in each pull. */
bool pull_choice_has(const struct pull *pull, const struct pull_table *table, struct arena *arena,
		     struct str item);

/* The key of the only partition that --only leaves, which a Query can read. False: there is none.
 */
bool pull_choice_partition(const struct pull *pull, const struct pull_table *table,
			   struct str *key);

/* What a Query of one partition says beside its table: ,"KeyConditionExpression":... */
struct str pull_choice_condition(struct arena *arena, const struct pull_table *table,
				 struct str key);

/* The table of that name where it is pulled; or NULL. */
struct pull_table *pull_choice_table(const struct pull *pull, struct str name);

/* The partition that the item points at by a rule of --follow. False: by none, it is chosen for
 * itself, or it was given out before. */
bool pull_choice_follow(const struct pull *pull, struct arena *arena, struct str item,
			const struct pull_follow *follow, struct pull_table **table,
			struct str *key);

#endif
