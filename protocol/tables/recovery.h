/*
 * recovery - continuous backups and point-in-time recovery, as they are described.
 */
#ifndef DYNALITH_PROTOCOL_RECOVERY_H
#define DYNALITH_PROTOCOL_RECOVERY_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

#define RECOVERY_DAYS_DEFAULT 35

/* Whether point-in-time recovery is on, and from when to when the table can be restored, in whole
 * seconds: AWS gives no others. */
/* Switches the table's change log on or off as its settings say. */
void recovery_log(struct table *next, int64_t now_ms);
bool recovery_is_on(const struct table *table);
void recovery_window(const struct table *table, int64_t now_ms, int64_t *earliest_ms,
		     int64_t *latest_ms);

/* {"ContinuousBackupsDescription": {...}}: the whole response. */
void recovery_describe(struct call *call, const struct table *table);

#endif
