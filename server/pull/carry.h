/*
 * carry - all tables of a namespace from one store to another through a mask: for `dynalith copy`,
 * `dump` and `load` with --mask.
 *
 * Definitions, tags, TTL and items are carried. Whatever else holds values of items is left behind:
 * streams' records, backups, snapshots, idempotency tokens; and policies.
 */
#ifndef DYNALITH_SERVER_CARRY_H
#define DYNALITH_SERVER_CARRY_H

#include "server/pull/pull_ask.h"

struct carry {
	struct mask *mask;
	struct seed_target from, to; /* with region and account, the same in both */
};

struct carry_counts {
	uint64_t tables, items;
};

/* Writes nothing. ERR_VALIDATION: the mask has no rule for values, or makes keys equal. */
enum code carry_check(const struct carry *carry, struct err *err) WARN_UNUSED;

/* Adds to the counts. ERR_VALIDATION: the target refuses a table or items. What was written until
 * then stays: the target is nothing before all is there. */
enum code carry_write(const struct carry *carry, struct carry_counts *counts,
		      struct err *err) WARN_UNUSED;

#endif
