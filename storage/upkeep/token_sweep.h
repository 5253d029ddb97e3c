/*
 * token_sweep - removing idempotency tokens that have expired, so that no request has to.
 */
#ifndef DYNALITH_STORAGE_TOKEN_SWEEP_H
#define DYNALITH_STORAGE_TOKEN_SWEEP_H

#include "storage/catalog/catalog.h"

/*
 * Removes up to a few dozen tokens of every namespace, by its clock; *more: call it again. Of
 * several processes one does it, by a lease. Where no token has expired it only reads, two rows at
 * most for each namespace that has any.
 */
enum code token_sweep(struct catalog *catalog, const struct times *times, bool *more,
		      struct err *err) WARN_UNUSED;

#endif
