/*
 * stream_messages - texts of errors about streams; see core/err.h for how they are raised.
 * Source: answers of AWS where public reports quote them, else DynamoDB Local.
 */
#ifndef DYNALITH_PROTOCOL_STREAM_MESSAGES_H
#define DYNALITH_PROTOCOL_STREAM_MESSAGES_H

#include "core/err.h"

#define STREAM_INVALID "One or more parameter values were invalid: "

#define MSG_STREAM_ABSENT                                                                          \
	ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Stream: " STR_FMT " not found"
#define MSG_STREAM_ARN ERR_VALIDATION, "%s", "Invalid StreamArn"
#define MSG_STREAM_LIST_LIMIT                                                                      \
	ERR_VALIDATION, STREAM_INVALID "Limit cannot be greater than the maximum allowed size: %d"
#define MSG_STREAM_SHARD_LIMIT                                                                     \
	ERR_VALIDATION, STREAM_INVALID "Limit cannot be greater than the maximum: %d"
#define MSG_STREAM_RECORD_LIMIT                                                                    \
	ERR_VALIDATION, STREAM_INVALID "Limit should be less than or equal to %d"
#define MSG_STREAM_FILTER_TYPE                                                                     \
	ERR_VALIDATION, "%s",                                                                      \
		"1 validation error detected: Value null at 'shardFilter.type' failed to satisfy " \
		"constraint: "                                                                     \
		"Member must not be null"
#define MSG_STREAM_FILTER_SHARD                                                                    \
	ERR_VALIDATION, "%s",                                                                      \
		"1 validation error detected: Value null at 'shardFilter.shardId' failed to "      \
		"satisfy constraint: "                                                             \
		"Member must not be null"
#define MSG_STREAM_FILTER_START                                                                    \
	ERR_VALIDATION, "%s",                                                                      \
		"ShardFilter and ExclusiveStartShardId both should not be specified in the "       \
		"request."
#define MSG_STREAM_SEQUENCE_REFUSED                                                                \
	ERR_VALIDATION, "%s",                                                                      \
		STREAM_INVALID "SequenceNumber should not be passed for this iterator type"
#define MSG_STREAM_SEQUENCE_REQUIRED                                                               \
	ERR_VALIDATION, "%s", STREAM_INVALID "SequenceNumber cannot be null"
#define MSG_STREAM_TIME_REFUSED                                                                    \
	ERR_VALIDATION, "%s", STREAM_INVALID "Timestamp should not be passed for this iterator type"
#define MSG_STREAM_TIME_REQUIRED ERR_VALIDATION, "%s", STREAM_INVALID "Invalid Timestamp"
#define MSG_STREAM_TIME_FUTURE                                                                     \
	ERR_VALIDATION, "%s", STREAM_INVALID "Timestamp must not be in the future"
#define MSG_STREAM_ITERATOR ERR_VALIDATION, "%s", "Invalid ShardIterator"

#endif
