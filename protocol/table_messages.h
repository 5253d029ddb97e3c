/*
 * table_messages - texts of the errors that the table operations' rules give.
 * Source: recorded answers of AWS; those the record lacks, DynamoDB Local. Of tags, which both lack: what users of AWS report.
 */
#ifndef DYNALITH_PROTOCOL_TABLE_MESSAGES_H
#define DYNALITH_PROTOCOL_TABLE_MESSAGES_H

#include "core/err.h"

#define INVALID "One or more parameter values were invalid: "

#define MSG_TABLE_NAME_REQUIRED ERR_VALIDATION, "%s", "The parameter 'TableName' is required but was not present in the request"
#define MSG_TABLE_EXISTS ERR_RESOURCE_IN_USE, "Table already exists: " STR_FMT
#define MSG_TABLE_IN_USE \
	ERR_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table: " STR_FMT " is in the process of being %s"
#define MSG_TABLE_PROTECTED                                                                                                        \
	ERR_VALIDATION, "Resource cannot be deleted as it is currently protected against deletion. Disable deletion protection " \
			"first."
#define MSG_KEYS_REQUIRED ERR_VALIDATION, "%s", "No defined key schema.  A key schema containing at least a hash key must be defined for all tables"
#define MSG_KEYS_MANY                                                                                                    \
	ERR_VALIDATION, "1 validation error detected: Value '[" STR_FMT "]' at '" STR_FMT "' failed to satisfy constraint: " \
			"Member must have length less than or equal to %u"
#define MSG_KEYS_FIRST ERR_VALIDATION, "%s", "Invalid KeySchema: The first KeySchemaElement is not a HASH key type"
#define MSG_KEYS_SECOND ERR_VALIDATION, "%s", "Invalid KeySchema: The second KeySchemaElement is not a RANGE key type"
#define MSG_KEYS_UNDEFINED ERR_VALIDATION, "%s", "Invalid KeySchema: Some index key attribute have no definition"
#define MSG_KEYS_MISSING \
	ERR_VALIDATION, INVALID "Some index key attributes are not defined in AttributeDefinitions. Keys: [" STR_FMT \
				"], AttributeDefinitions: [" STR_FMT "]"
#define MSG_DEFINITIONS_COUNT \
	ERR_VALIDATION, "%s", INVALID "Number of attributes in KeySchema does not exactly match number of attributes defined in AttributeDefinitions"
#define MSG_DEFINITIONS_UNUSED \
	ERR_VALIDATION, INVALID "Some AttributeDefinitions are not used. AttributeDefinitions: [" STR_FMT "], keys used: [" STR_FMT "]"
#define MSG_DEFINITIONS_TWICE ERR_VALIDATION, "%s", INVALID "Cannot define multiple attributes with the same name in AttributeDefinitions"
#define MSG_UNITS_REQUIRED \
	ERR_VALIDATION, "%s", INVALID "ReadCapacityUnits and WriteCapacityUnits must both be specified when BillingMode is PROVISIONED"
#define MSG_UNITS_REFUSED \
	ERR_VALIDATION, "%s", INVALID "Neither ReadCapacityUnits nor WriteCapacityUnits can be specified when BillingMode is PAY_PER_REQUEST"
#define MSG_UNITS_INDEX_REQUIRED ERR_VALIDATION, INVALID "ProvisionedThroughput must be specified for index: " STR_FMT
#define MSG_UNITS_INDEX_REFUSED \
	ERR_VALIDATION, INVALID "ProvisionedThroughput should not be specified for index: " STR_FMT " when BillingMode is PAY_PER_REQUEST"
#define MSG_ON_DEMAND_REFUSED ERR_VALIDATION, "%s", INVALID "OnDemandThroughput can only be specified when BillingMode is PAY_PER_REQUEST"
#define MSG_INDEX_LIST_EMPTY ERR_VALIDATION, INVALID "List of %s is empty"
#define MSG_INDEX_LIMIT_LOCAL ERR_VALIDATION, INVALID "Number of LocalSecondaryIndexes exceeds per-table limit of %d"
#define MSG_INDEX_LIMIT_GLOBAL ERR_VALIDATION, INVALID "GlobalSecondaryIndex count exceeds the per-table limit of %d"
#define MSG_INDEX_TWICE ERR_VALIDATION, INVALID "Duplicate index name: " STR_FMT
#define MSG_INDEX_EXISTS ERR_VALIDATION, "Attempting to create an index which already exists"
#define MSG_INDEX_RANGE_TABLE \
	ERR_VALIDATION, "%s", INVALID "Table KeySchema does not have a range key, which is required when specifying a LocalSecondaryIndex"
#define MSG_INDEX_RANGE ERR_VALIDATION, INVALID "Index KeySchema does not have a range key for index: " STR_FMT
#define MSG_INDEX_HASH                                                                                                       \
	ERR_VALIDATION, INVALID "Index KeySchema does not have the same leading hash key as table KeySchema for index: " STR_FMT \
				". index hash key: " STR_FMT ", table hash key: " STR_FMT
#define MSG_PROJECTION_UNKNOWN ERR_VALIDATION, "%s", INVALID "Unknown ProjectionType: null"
#define MSG_PROJECTION_EXTRA ERR_VALIDATION, INVALID "ProjectionType is %s, but NonKeyAttributes is specified"
#define MSG_PROJECTION_LACKS ERR_VALIDATION, "%s", INVALID "ProjectionType is INCLUDE, but NonKeyAttributes is not specified"
#define MSG_PROJECTION_LIMIT \
	ERR_VALIDATION, INVALID "Number of attributes projected to all indexes exceeds the limit of %d"
#define MSG_STREAM_VIEW_REQUIRED ERR_VALIDATION, "%s", INVALID "StreamViewType is required when StreamEnabled is true"
#define MSG_STREAM_VIEW_REFUSED ERR_VALIDATION, "%s", INVALID "StreamViewType is not allowed when StreamEnabled is false"
#define MSG_STREAM_ON ERR_RESOURCE_IN_USE, "%s", "Table already has an enabled stream"
#define MSG_STREAM_OFF ERR_VALIDATION, "%s", "Table is already disabled for streams"
#define MSG_FEATURE_ABSENT ERR_VALIDATION, "%s is not supported by this server"
#define MSG_UPDATE_NOTHING                                                                                               \
	ERR_VALIDATION, "%s", "At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled, "                \
			      "GlobalSecondaryIndexUpdates or SSESpecification or ReplicaUpdates is required"
#define MSG_UPDATE_SAME                                                                                                         \
	ERR_VALIDATION, "The provisioned throughput for the %s will not change. The requested value equals the current value. " \
			"Current ReadCapacityUnits provisioned for the %s: %lld. Requested ReadCapacityUnits: %lld. "           \
			"Current WriteCapacityUnits provisioned for the %s: %lld. Requested WriteCapacityUnits: %lld. "         \
			"Refer to the Amazon DynamoDB Developer Guide for current limits and how to request higher limits."
#define MSG_UPDATE_INDEX_ACTIONS \
	ERR_VALIDATION, "%s", INVALID "Only one of Create, Update or Delete can be given for each GlobalSecondaryIndexUpdate"
#define MSG_UPDATE_INDEX_MANY \
	ERR_LIMIT_EXCEEDED, "%s", "Subscriber limit exceeded: Only 1 online index can be created or deleted simultaneously per table"
#define MSG_TTL_SAME ERR_VALIDATION, "TimeToLive is already %s"
#define MSG_TTL_OTHER ERR_VALIDATION, "TimeToLive is active on a different AttributeName: current AttributeName is " STR_FMT
#define MSG_TTL_SOON ERR_VALIDATION, "%s", "Time to live has been modified multiple times within a fixed interval"
#define MSG_TAGS_NULL ERR_VALIDATION, "1 validation error detected: Value null at '%s' failed to satisfy constraint: Member must not be null"
#define MSG_TAGS_NONE ERR_VALIDATION, "Atleast one %s needs to be provided as Input."
#define MSG_TAG_KEY ERR_VALIDATION, "The Tag Key provided is invalid, Key: " STR_FMT
#define MSG_TAG_VALUE ERR_VALIDATION, "The Tag Value provided is invalid, Value: " STR_FMT
#define MSG_TAG_RESERVED ERR_VALIDATION, "Tag Key cannot be prefixed with aws:, Key: " STR_FMT
#define MSG_TAG_TWICE ERR_VALIDATION, "Duplicate Tag Keys provided as input: Duplicate Tag Key found " STR_FMT
#define MSG_TAG_MANY ERR_VALIDATION, "%s", "Number of Tags exceed the current limit for the provided ResourceArn"
#define MSG_TABLE_BEING ERR_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table is being %s: " STR_FMT
#define MSG_TAG_DENIED ERR_ACCESS_DENIED, "%s", "Access is denied"
#define MSG_TAG_ARN_MISSING ERR_VALIDATION, "%s", "Invalid TableArn"
#define MSG_TAG_ARN_PREFIX ERR_VALIDATION, INVALID "ARNs must start with 'arn:': " STR_FMT
#define MSG_TAG_ARN_KIND ERR_VALIDATION, INVALID "Provided Arn is not a DynamoDB resource arn: " STR_FMT
#define MSG_TAG_ARN_ABSENT ERR_RESOURCE_NOT_FOUND, "Requested resource not found: ResourceArn: " STR_FMT " not found"
#define MSG_UPDATE_INDEX_ABSENT ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: " STR_FMT " does not have index: " STR_FMT

#endif
