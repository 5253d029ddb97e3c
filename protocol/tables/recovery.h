/*
 * recovery - continuous backups and point-in-time recovery, as they are described.
 */
#ifndef DYNALITH_PROTOCOL_RECOVERY_H
#define DYNALITH_PROTOCOL_RECOVERY_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

#define RECOVERY_DAYS_DEFAULT 35

/* {"ContinuousBackupsDescription": {...}}: the whole response. */
void recovery_describe(struct call *call, const struct table *table);

#endif
