/*
 * destinations - a table's Kinesis data streams. While one is enabled the table has a log of its
 * changes (LOG_SENDING), from which the server sends them (server/kinesis). One that is disabled
 * still gets the changes from before, where there is a place to send them to.
 */
#ifndef DYNALITH_PROTOCOL_DESTINATIONS_H
#define DYNALITH_PROTOCOL_DESTINATIONS_H

#include "protocol/handler.h"
#include "protocol/tables/settings.h"

/* "ACTIVE", ...: what it is shown as. */
struct str destination_status(const struct destination *destination, int64_t now_ms);
struct str destination_precision(enum time_precision precision);

/* The table's destination of that stream, or NULL. */
const struct destination *destination_find(const struct table *table, struct str stream_arn);

/*
 * Puts `changed` in place of the one of its stream, or before the others, with a transient status
 * like other changes. Answers with TableName, StreamArn and the status `shown`, as members of an
 * object that is left open.
 */
enum code destination_replace(struct call *call, struct table *table, struct destination changed,
			      struct str shown, struct err *err) WARN_UNUSED;

/*
 * All changes of a disabled destination are sent: the table is changed, and its log ends where no
 * other destination needs it. Nothing where the table or the destination changed meanwhile.
 */
enum code destination_finish(struct catalog *catalog, struct table *table, struct str stream_arn,
			     int64_t now_ms, struct err *err) WARN_UNUSED;

/*
 * The stream of a destination that was just enabled cannot be reached, or is none: it is
 * ENABLE_FAILED, and gets nothing. Nothing where the table or the destination changed meanwhile.
 */
enum code destination_fail(struct catalog *catalog, struct table *table, struct str stream_arn,
			   int64_t now_ms, struct err *err) WARN_UNUSED;

/* {"ApproximateCreationDateTimePrecision": ...} under `name`; empty where it is absent. */
void destination_write_configuration(struct json_out *out, struct str name,
				     enum time_precision precision);

#endif
