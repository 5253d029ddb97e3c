/*
 * messages - texts of the errors that only AWS's timing gives. Source: captures of October 2026, by
 * the ids in timing.def; DDB-TABLE-443 to 445.
 */
#ifndef DYNALITH_PROTOCOL_TIMING_MESSAGES_H
#define DYNALITH_PROTOCOL_TIMING_MESSAGES_H

#include "core/err.h"
#include "protocol/tables/table_messages.h"

#define SUBSCRIBER_LIMIT "Subscriber limit exceeded: "

#define MSG_TIMING_IOPS                                                                            \
	ERR_RESOURCE_IN_USE, IN_USE "Table IOPS are currently being updated. Table: " STR_FMT
#define MSG_TIMING_STREAM                                                                          \
	ERR_RESOURCE_IN_USE,                                                                       \
		IN_USE "A stream status change is currently in progress. Table: " STR_FMT          \
		       " Stream: " STR_FMT " Operation: %s"
#define MSG_TIMING_WHEN_STREAM                                                                     \
	ERR_RESOURCE_IN_USE,                                                                       \
		IN_USE "Can't %s when stream status is being updated. Table: " STR_FMT             \
		       " Stream: " STR_FMT " Operation: %s"
#define MSG_TIMING_WHEN_IOPS                                                                       \
	ERR_RESOURCE_IN_USE, IN_USE "Can't %s while table IOPS are being updated. Table: " STR_FMT
#define MSG_TIMING_WHEN_CLASS                                                                      \
	ERR_RESOURCE_IN_USE,                                                                       \
		IN_USE "Can't %s when a table class update is in progress. Table: " STR_FMT " "    \
		       "TableClassUpdateInProgress: " STR_FMT
#define MSG_TIMING_ON_DEMAND_BILLING                                                               \
	ERR_RESOURCE_IN_USE, "%s",                                                                 \
		IN_USE                                                                             \
		"OnDemandThroughput cannot be updated while BillingMode update is in progress"
#define MSG_TIMING_ON_DEMAND_STREAM                                                                \
	ERR_RESOURCE_IN_USE, "%s",                                                                 \
		IN_USE                                                                             \
		"OnDemandThroughput cannot be updated while stream status update is in progress"
#define MSG_TIMING_ON_DEMAND_CLASS                                                                 \
	ERR_RESOURCE_IN_USE, IN_USE                                                                \
		"OnDemandThroughput cannot be updated while TableClass update is in progress. "    \
		"TableClassUpdateInProgress: " STR_FMT
#define MSG_TIMING_ENCRYPTION                                                                      \
	ERR_RESOURCE_IN_USE, "%s", IN_USE "Server-Side Encryption is still being updated"
#define MSG_TIMING_DELETE_STREAM                                                                   \
	ERR_RESOURCE_IN_USE, "%s",                                                                 \
		IN_USE "Cannot delete table while stream is being enabled/disabled."
#define MSG_TIMING_DELETE_TAGS ERR_RESOURCE_IN_USE, IN_USE "Table tags are being updated: " STR_FMT
#define MSG_TIMING_DELETE_POLICY                                                                   \
	ERR_RESOURCE_IN_USE, IN_USE "Table: " STR_FMT " has a pending resource-based policy "      \
						      "update."
#define MSG_TIMING_TAGS                                                                            \
	ERR_LIMIT_EXCEEDED, SUBSCRIBER_LIMIT "Table tags are being updated: " STR_FMT
#define MSG_TIMING_CLASS_BUDGET                                                                    \
	ERR_LIMIT_EXCEEDED, "%s",                                                                  \
		SUBSCRIBER_LIMIT "Updates to TableClass are limited to 2 times in 30 day(s)."
#define MSG_TIMING_ENCRYPTION_BUDGET                                                               \
	ERR_LIMIT_EXCEEDED, SUBSCRIBER_LIMIT                                                       \
		"Encryption mode changes are limited in the 24h window ending at " STR_FMT         \
		". After the "                                                                     \
		"first 4 change, each subsequent change in the same window can be performed at "   \
		"most once "                                                                       \
		"every 21600 seconds. Number of updates today: %zu. Last change at " STR_FMT ". "  \
		"Next changes can be made at " STR_FMT "."
#define MSG_TIMING_DECREASE_BUDGET                                                                 \
	ERR_LIMIT_EXCEEDED, SUBSCRIBER_LIMIT "Provisioned throughput decreases are limited "       \
					     "within a given UTC day. After the first "            \
					     "4 decreases, each subsequent decrease in the same "  \
					     "UTC day can be performed at most "                   \
					     "once every 3600 seconds. Number of decreases "       \
					     "today: %lld. Last decrease at " STR_FMT ". "         \
					     "Next decrease can be made at " STR_FMT
#define MSG_TIMING_PROTECTION                                                                      \
	ERR_THROTTLING, "Deletion protection setting for table " STR_FMT                           \
			" modified within the previous 15000 milliseconds. "                       \
			"Please try again after " STR_FMT
#define MSG_TIMING_POLICY                                                                          \
	ERR_THROTTLING, "Resource-based policy for %s " STR_FMT                                    \
			" modified within the previous 15000 milliseconds. Please try "            \
			"again after " STR_FMT "."
#define MSG_TIMING_POLICY_PENDING                                                                  \
	ERR_RESOURCE_IN_USE, IN_USE "%s is pending previous resource-based policy "                \
				    "update: " STR_FMT

#endif
