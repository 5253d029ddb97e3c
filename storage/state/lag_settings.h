/*
 * lag_settings - by how much the reads of a namespace lag: shown and changed as a whole
 * (storage/lag/lag.h).
 */
#ifndef DYNALITH_STORAGE_LAG_SETTINGS_H
#define DYNALITH_STORAGE_LAG_SETTINGS_H

#include "storage/catalog/catalog.h"

/* The namespace's settings become these; none: it has none. What was written before they hold is
 * seen at once. */
enum code lag_settings_put(struct catalog *catalog, struct ns ns,
			   const struct lag_settings *settings, struct err *err) WARN_UNUSED;

enum code lag_settings_list(struct catalog *catalog, struct ns ns, struct arena *arena,
			    struct lag_settings *settings, struct err *err) WARN_UNUSED;

/* Before the first read and write of a process whose usual lag is not 0. */
enum code lag_settings_begin(struct catalog *catalog, struct err *err) WARN_UNUSED;

#endif
