/*
 * history_sweep - removing the rows as they were that no read needs any more
 * (storage/lag/history.h).
 */
#ifndef DYNALITH_STORAGE_HISTORY_SWEEP_H
#define DYNALITH_STORAGE_HISTORY_SWEEP_H

#include "storage/catalog/catalog.h"

/* Removes some, of each namespace by its clock. `is_turned`: clocks may have been turned back; then
 * also what lies in the future now. *more: call again. */
enum code history_sweep(struct catalog *catalog, const struct times *times, bool is_turned,
			bool *more, struct err *err) WARN_UNUSED;

#endif
