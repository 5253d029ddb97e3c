/*
 * throttle_messages - AWS's texts of requests that exceed a throughput, whether a limit or a fault
 * rule says so.
 *
 * Source: API Reference, TransactWriteItems; Developer Guide, "Error handling with DynamoDB" and
 * "Diagnosing throttling"; messages that users quote in the issues of their projects.
 */
#ifndef DYNALITH_PROTOCOL_THROTTLE_MESSAGES_H
#define DYNALITH_PROTOCOL_THROTTLE_MESSAGES_H

#include "core/err.h"

#define THROTTLE_TEXT_TABLE                                                                        \
	"The level of configured provisioned throughput for the table was exceeded. Consider "     \
	"increasing your provisioning level with the UpdateTable API."
#define THROTTLE_TEXT_INDEX                                                                        \
	"The level of configured provisioned throughput for one or more global secondary indexes " \
	"of the table was exceeded. Consider increasing "                                          \
	"your provisioning level for the under-provisioned global secondary indexes with the "     \
	"UpdateTable API"
#define THROTTLE_TEXT_CAPACITY                                                                     \
	"Throughput exceeds the current capacity of your table or index. DynamoDB is "             \
	"automatically scaling your table or index so please try "                                 \
	"again shortly. If exceptions persist, check if you have a hot key: "                      \
	"https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/"                        \
	"bp-partition-key-design.html"
#define THROTTLE_TEXT_ON_DEMAND                                                                    \
	"Throughput exceeds the maximum OnDemandThroughput configured on table or index"
#define THROTTLE_TEXT_RATE "Rate of requests exceeds the allowed throughput."
#define THROTTLE_TEXT_ACCOUNT                                                                      \
	"Throughput exceeds the current throughput limit for your account. Please contact AWS "    \
	"Support at https://aws.amazon.com/support request a limit increase"
#define THROTTLE_TEXT_CAPACITY_INDEX                                                               \
	"Throughput exceeds the current capacity for one or more global secondary indexes. "       \
	"DynamoDB is automatically scaling your index so please "                                  \
	"try again shortly."

#define MSG_THROTTLE_RATE ERR_THROTTLING, "%s", THROTTLE_TEXT_RATE

#endif
