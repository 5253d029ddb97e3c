/*
 * messages - texts of errors about keys, items and pages; see core/err.h for how they are raised.
 * Source: recorded answers of AWS; those the record lacks, DynamoDB Local.
 */
#ifndef DYNALITH_STORAGE_MESSAGES_H
#define DYNALITH_STORAGE_MESSAGES_H

#include "core/err.h"

#define MSG_KEY_SCHEMA ERR_VALIDATION, "The provided key element does not match the schema"
#define MSG_KEY_MISSING                                                                            \
	ERR_VALIDATION, "One or more parameter values were invalid: Missing the key " STR_FMT      \
			" in the item"
#define MSG_KEY_TYPE                                                                               \
	ERR_VALIDATION,                                                                            \
		"One or more parameter values were invalid: Type mismatch for key " STR_FMT        \
		" expected: %s actual: %s"
#define MSG_KEY_EMPTY                                                                              \
	ERR_EMPTY_KEY, "One or more parameter values are not valid. The AttributeValue for a key " \
		       "attribute cannot contain an "                                              \
		       "empty %s value. Key: " STR_FMT
#define MSG_INDEX_KEY_TYPE                                                                         \
	ERR_VALIDATION,                                                                            \
		"One or more parameter values were invalid: Type mismatch for Index Key " STR_FMT  \
		" Expected: %s Actual: %s IndexName: " STR_FMT
#define MSG_INDEX_KEY_EMPTY                                                                        \
	ERR_EMPTY_KEY, "One or more parameter values are not valid. A value specified for a "      \
		       "secondary index key is not supported. "                                    \
		       "The AttributeValue for a key attribute cannot contain an empty %s value. " \
		       "IndexName: " STR_FMT ", IndexKey: " STR_FMT
#define MSG_INDEX_KEY_EMPTY_UPDATE                                                                 \
	ERR_EMPTY_KEY, "One or more parameter values are not valid. The update expression "        \
		       "attempted to update a secondary index key "                                \
		       "to a value that is not supported. The AttributeValue for a key attribute " \
		       "cannot contain an empty %s value."
#define MSG_INDEX_BACKFILL_VIOLATION                                                               \
	ERR_VALIDATION, "One or more parameter values were invalid: Schema violation against "     \
			"backfilling index"
#define MSG_PARTITION_KEY_SIZE                                                                     \
	ERR_VALIDATION, "One or more parameter values were invalid: Size of hashkey has exceeded " \
			"the maximum size limit of2048 bytes"
#define MSG_SORT_KEY_SIZE                                                                          \
	ERR_VALIDATION, "One or more parameter values were invalid: Aggregated size of all range " \
			"keys has exceeded the size limit of "                                     \
			"1024 bytes"
#define MSG_INDEX_KEY_AGGREGATE                                                                    \
	ERR_VALIDATION, "Aggregate size for %s key attributes " STR_FMT " of index " STR_FMT       \
			" has exceeded limit %d bytes, "                                           \
			"with actual size %zu bytes"
#define MSG_ITEM_SIZE ERR_VALIDATION, "Item size has exceeded the maximum allowed size"

#define MSG_KEY_CONDITION_MISSED                                                                   \
	ERR_VALIDATION, "Query condition missed key schema element: " STR_FMT
#define MSG_KEY_CONDITION_UNSUPPORTED ERR_VALIDATION, "Query key condition not supported"
#define MSG_KEY_CONDITION_OPERATOR                                                                 \
	ERR_VALIDATION, "Invalid operator used in KeyConditionExpression: %s"
#define MSG_KEY_CONDITION_TWICE                                                                    \
	ERR_VALIDATION, "Invalid KeyConditionExpression: KeyConditionExpressions must only "       \
			"contain one condition per key"
#define MSG_KEY_CONDITION_DOCUMENT                                                                 \
	ERR_VALIDATION, "Invalid KeyConditionExpression: KeyConditionExpressions cannot have "     \
			"conditions on nested attributes"
#define MSG_KEY_CONDITION_NESTED                                                                   \
	ERR_VALIDATION, "KeyConditionExpressions cannot contain nested operations"
#define MSG_KEY_CONDITION_COUNT                                                                    \
	ERR_VALIDATION, "The number of query conditions (%zu) exceeds the number of key "          \
			"attributes defined in the schema (%u)"
#define MSG_KEY_CONDITION_HASH                                                                     \
	ERR_VALIDATION, "HASH key attributes " STR_FMT                                             \
			" must have equality conditions specified in the query"
#define MSG_KEY_CONDITION_RANGE                                                                    \
	ERR_VALIDATION,                                                                            \
		"RANGE key attributes " STR_FMT                                                    \
		" must have equality conditions specified in the query because a condition "       \
		"is present on key attribute " STR_FMT
#define MSG_KEY_CONDITION_NAMES                                                                    \
	ERR_VALIDATION, "Invalid condition in KeyConditionExpression: Multiple attribute names "   \
			"used in one condition"
#define MSG_KEY_CONDITION_NO_NAME \
	ERR_VALIDATION, "Invalid condition in KeyConditionExpression: No key attribute specified"
#define MSG_KEY_CONDITION_ORDER                                                                    \
	ERR_VALIDATION, "Invalid condition in KeyConditionExpression: %s operator must have the "  \
			"key attribute as its first operand"
#define MSG_KEY_CONDITION_TYPE                                                                     \
	ERR_VALIDATION, "One or more parameter values were invalid: Condition parameter type "     \
			"does not match schema type"

#define MSG_START_KEY_INVALID ERR_VALIDATION, "The provided starting key is invalid"
#define MSG_START_KEY_SCHEMA                                                                       \
	ERR_VALIDATION, "The provided starting key is invalid: The provided key element does not " \
			"match the schema"
#define MSG_START_KEY_ALONE ERR_VALIDATION, "The provided exclusive start key is invalid"
#define MSG_START_KEY_ONE_ROW                                                                      \
	ERR_VALIDATION, "The query can return at most one row and cannot be restarted"
#define MSG_START_KEY_EMPTY                                                                        \
	ERR_VALIDATION, "The provided starting key is invalid: One or more parameter values are "  \
			"not valid. The AttributeValue for a "                                     \
			"key attribute cannot contain an empty %s value. Key: " STR_FMT
#define MSG_START_KEY_INDEX_EMPTY                                                                  \
	ERR_VALIDATION, "The provided starting key is invalid: One or more parameter values are "  \
			"not valid. A value specified for a "                                      \
			"secondary index key is not supported. The AttributeValue for a key "      \
			"attribute cannot contain an empty %s "                                    \
			"value. IndexName: " STR_FMT ", IndexKey: " STR_FMT
#define MSG_START_KEY_OUTSIDE                                                                      \
	ERR_VALIDATION, "The provided starting key is outside query boundaries based on provided " \
			"conditions"
#define MSG_START_KEY_RANGE                                                                        \
	ERR_VALIDATION, "The provided starting key does not match the range key predicate"
#define MSG_START_KEY_SEGMENT                                                                      \
	ERR_VALIDATION, "The provided starting key is invalid: Invalid ExclusiveStartKey. Please " \
			"use ExclusiveStartKey "                                                   \
			"with correct Segment. TotalSegments: %u Segment: %u"

#define MSG_TRANSACTION_CANCELED                                                                   \
	ERR_TRANSACTION_CANCELED, "Transaction cancelled, please refer cancellation reasons for "  \
				  "specific reasons [" STR_FMT "]"
#define MSG_TOKEN_MISMATCH                                                                         \
	ERR_IDEMPOTENT_MISMATCH,                                                                   \
		"The request uses the same client token as a previous, but non-identical "         \
		"request. Do not reuse "                                                           \
		"a client token with different requests, unless the requests are identical"

/* Streams. */
#define MSG_SHARD_ABSENT                                                                           \
	ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Shard does not exist"
#define MSG_SEQUENCE_OUTSIDE ERR_VALIDATION, "Invalid SequenceNumber for the shard"
#define MSG_STREAM_NO_SHARD ERR_INTERNAL, "an enabled stream has no open shard"

#define MSG_RECORD_MALFORMED ERR_INTERNAL, "a table record is malformed"

/* AWS: API Reference, ReplicatedWriteConflictException */
#define MSG_GROUP_CONFLICT                                                                         \
	ERR_REPLICATED_WRITE_CONFLICT, "%s",                                                       \
		"The request was rejected because one or more items in the request are being "     \
		"modified by a "                                                                   \
		"request in another Region."
/* AWS: Developer Guide, "How DynamoDB global tables work": such tables have no transactions; the
 * words are ours */
#define MSG_GROUP_TRANSACTION                                                                      \
	ERR_VALIDATION, "%s",                                                                      \
		"Transactions are not supported for global tables with MultiRegionConsistency "    \
		"set to STRONG."
#define MSG_GROUP_UNREACHABLE                                                                      \
	ERR_SERVICE_UNAVAILABLE, "%s",                                                             \
		"Most replicas of the global table cannot be reached from this region"

#define MSG_CLOCK_MANY                                                                             \
	ERR_VALIDATION, "%d namespaces have a clock of their own already; give some back with "    \
			"{\"release\": true}"

#endif
