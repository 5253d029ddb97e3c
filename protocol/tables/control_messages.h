/*
 * control_messages - texts of the errors that the operations on a table's settings give: backups,
 * insights, Kinesis, policies. Source: recorded answers of AWS, published by the authors of
 * controllers and mocks; API Reference for the error types.
 */
#ifndef DYNALITH_PROTOCOL_CONTROL_MESSAGES_H
#define DYNALITH_PROTOCOL_CONTROL_MESSAGES_H

#include "core/err.h"

#define MSG_BACKUPS_ENABLING                                                                       \
	ERR_BACKUPS_UNAVAILABLE,                                                                   \
		"Backups are being enabled for the table: " STR_FMT ". Please retry later"

/* AWS: DDB-BACKUP-010, 012, 014, 015 */
#define MSG_BACKUP_ARN_FORM ERR_VALIDATION, "%s", "Invalid Backup ARN"
#define MSG_BACKUP_ARN ERR_VALIDATION, "%s", "Invalid Request: BackupArn is not valid"
#define MSG_BACKUP_ABSENT ERR_BACKUP_NOT_FOUND, "Backup not found: " STR_FMT
#define MSG_BACKUP_MAKING ERR_BACKUP_IN_USE, "Backup is being created: " STR_FMT
#define MSG_BACKUP_RESTORING ERR_BACKUP_IN_USE, "Backup is being used to restore table: " STR_FMT
#define MSG_BACKUP_RESTORING_OTHER                                                                 \
	ERR_BACKUP_IN_USE, "Backup is being used to restore another table: " STR_FMT
#define MSG_BACKUP_SYSTEM                                                                          \
	ERR_VALIDATION, "Invalid Request: User is not allowed to delete the system backup with "   \
			"arn " STR_FMT ". It will automatically expire on " STR_FMT
#define MSG_BACKUPS_RANGE                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		"One or more parameter values were invalid: Time range lower bound must be less "  \
		"than or equal to upper bound"
#define MSG_BACKUPS_REGION                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		"Invalid Request: The supplied ExclusiveStartBackupArn does not match the region"

/* AWS: DDB-TABLE-100, 219, 272, 273, 274, 350 and the list of messages, DDB-TABLE-442 */
#define RESTORE_INVALID "Invalid Request: "
#define MSG_RESTORE_EXISTS ERR_TABLE_EXISTS, "Table already exists: " STR_FMT
#define MSG_RESTORE_TWICE                                                                          \
	ERR_TABLE_IN_USE, "Table: " STR_FMT " is already being restored from backup: " STR_FMT
#define MSG_RESTORE_CREATING ERR_TABLE_IN_USE, "Table is being created: " STR_FMT
#define MSG_RESTORE_REGION                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID                                                                    \
		"sseSpecificationOverride must be provided for cross-region restores"
#define MSG_RESTORE_OFF                                                                            \
	ERR_RECOVERY_UNAVAILABLE, "Point in time recovery is not enabled for table '" STR_FMT "'"
#define MSG_RESTORE_BOTH_TIMES                                                                     \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID                                                                    \
		"Both RestoreDateTime and UseLatestRestorableTime cannot be set for "              \
		"point-in-time restore "                                                           \
		"request. Please specify either RestoreDateTime time or UseLatestRestorableTime"
#define MSG_RESTORE_NO_TIME                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID "Either one of RestoreDateTime or UseLatestRestorableTime must "   \
				"be specified, but not both"
#define MSG_RESTORE_BOTH_SOURCES                                                                   \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID "Must provide exactly one of: sourceTableArn, sourceTableName"
#define MSG_RESTORE_NO_SOURCE                                                                      \
	ERR_VALIDATION, "%s",                                                                      \
		"The parameter 'TableName' is required but was not present in the request"
#define MSG_RESTORE_SOURCE_ARN                                                                     \
	ERR_VALIDATION, "%s", RESTORE_INVALID "sourceTableArn is not a valid ARN"
#define MSG_RESTORE_TIME                                                                           \
	ERR_RESTORE_TIME, "RestoreDateTime '" STR_FMT                                              \
			  "' must be within EarliestRestorableDateTime '" STR_FMT                  \
			  "' and LatestRestorableDateTime '" STR_FMT "'"
#define MSG_RESTORES_MANY                                                                          \
	ERR_LIMIT_EXCEEDED,                                                                        \
		"Subscriber limit exceeded: Only %d restore operations can be done simultaneously"
#define MSG_RESTORE_UNITS_ON_DEMAND                                                                \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID "Cannot override ProvisionedThroughput if BillingMode is "         \
				"overridden to PAY_PER_REQUEST"
#define MSG_RESTORE_UNITS_INDEX                                                                    \
	ERR_VALIDATION, RESTORE_INVALID                                                            \
		"Cannot override ProvisionedThroughput if BillingMode is overridden to "           \
		"PAY_PER_REQUEST for index " STR_FMT
#define MSG_RESTORE_UNITS                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID                                                                    \
		"Cannot override ProvisionedThroughput unless BillingMode is PROVISIONED"
#define MSG_RESTORE_UNITS_MISSING                                                                  \
	ERR_VALIDATION, "%s",                                                                      \
		RESTORE_INVALID                                                                    \
		"Must override ProvisionedThroughput if BillingMode is overridden to PROVISIONED"
#define MSG_RESTORE_INDEX_UNITS                                                                    \
	ERR_VALIDATION, RESTORE_INVALID "Must specify provisioned throughput for index " STR_FMT
#define MSG_RESTORE_MAXIMA                                                                         \
	ERR_VALIDATION, RESTORE_INVALID "Cannot override %s for OnDemandThroughput unless "        \
					"BillingModeOverride is PAY_PER_REQUEST"
#define MSG_RESTORE_MAXIMA_RANGE                                                                   \
	ERR_VALIDATION,                                                                            \
		RESTORE_INVALID "Requested %s for OnDemandThroughput is outside of valid range"
#define MSG_RESTORE_INDEX                                                                          \
	ERR_VALIDATION, RESTORE_INVALID                                                            \
		"Index " STR_FMT                                                                   \
		" does not match a secondary index that existed in the source table "              \
		"and cannot be created during the restore operation"

#define MSG_RECOVERY_DAYS_REFUSED                                                                  \
	ERR_VALIDATION, "%s",                                                                      \
		"Invalid Request: Cannot specify RecoveryPeriodInDays when disabling "             \
		"point-in-time recovery."

#define MSG_INSIGHTS_INDEX                                                                         \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		"Requested resource not found: Index: " STR_FMT " not found for table: " STR_FMT
#define MSG_INSIGHTS_STATE                                                                         \
	ERR_VALIDATION, "Table or Index is not in a valid state to update Key Access Insights: "   \
			"%sStatus must be ACTIVE "                                                 \
			"to enable ContributorInsights."

/* The recorded texts say "enable" for any request. */
#define KINESIS_STATE "Table is not in a valid state to enable Kinesis Streaming Destination: "
#define MSG_KINESIS_ENABLED                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		KINESIS_STATE "EnableKinesisStreamingDestination must be DISABLED or "             \
			      "ENABLE_FAILED to perform ENABLE operation."
#define MSG_KINESIS_DISABLE_WITH                                                                   \
	ERR_VALIDATION, "%s",                                                                      \
		"Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"
#define MSG_KINESIS_DISABLED                                                                       \
	ERR_VALIDATION, "%s",                                                                      \
		KINESIS_STATE                                                                      \
		"KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
#define MSG_KINESIS_ABSENT                                                                         \
	ERR_VALIDATION, KINESIS_STATE "No streaming destination with streamArn: " STR_FMT          \
				      " found for table with tableName: " STR_FMT
#define MSG_KINESIS_INACTIVE                                                                       \
	ERR_VALIDATION, KINESIS_STATE "Kinesis streaming is not in ACTIVE state. Updates are "     \
				      "only allowed in ACTIVE state. "                             \
				      "TableName: " STR_FMT ", StreamArn: " STR_FMT
#define MSG_KINESIS_NOTHING                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"Streaming destination cannot be updated with given parameters: "                  \
		"UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
#define MSG_KINESIS_SAME                                                                           \
	ERR_VALIDATION, "Invalid Request: Precision is already set to the desired value of %s "    \
			"for tableId: " STR_FMT ", kdsArn: " STR_FMT

#define NO_POLICY "Resource-based policy not found for the provided ResourceArn: "
#define MSG_POLICY_ABSENT ERR_POLICY_NOT_FOUND, NO_POLICY STR_FMT
#define MSG_POLICY_REVISION_ABSENT                                                                 \
	ERR_POLICY_NOT_FOUND, NO_POLICY "Requested update for policy with revision id " STR_FMT    \
					", but table " STR_FMT " has no associated policy."
#define MSG_POLICY_REVISION                                                                        \
	ERR_POLICY_NOT_FOUND, NO_POLICY "Requested update for policy with revision id " STR_FMT    \
					", but the policy associated "                             \
					"to target table " STR_FMT " has revision id %lld."
#define MSG_POLICY_EXISTS                                                                          \
	ERR_POLICY_NOT_FOUND, NO_POLICY                                                            \
		"Requested policy update expecting none to be present for table " STR_FMT ", "     \
		"but a policy exists with revision id %lld."
#define MSG_POLICY_PENDING                                                                         \
	ERR_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table is "       \
			     "pending previous resource-based policy "                             \
			     "update: " STR_FMT
#define POLICY_INVALID "One or more parameter values were invalid: "
#define MSG_POLICY_ARN_PREFIX ERR_VALIDATION, POLICY_INVALID "ARNs must start with 'arn:': " STR_FMT
#define MSG_POLICY_ARN_KIND                                                                        \
	ERR_VALIDATION, POLICY_INVALID "Provided Arn is not a DynamoDB resource arn: " STR_FMT
#define MSG_POLICY_ARN_PART                                                                        \
	ERR_VALIDATION, POLICY_INVALID "Invalid resource arn provided, only table or stream is "   \
				       "accepted. Provided resource arn: " STR_FMT
#define MSG_POLICY_ARN ERR_VALIDATION, POLICY_INVALID "Invalid resource Arn: " STR_FMT
#define MSG_POLICY_ACCOUNT                                                                         \
	ERR_VALIDATION, "%s",                                                                      \
		"This action is only supported by accounts that match the resource "               \
		"owner\xE2\x80\x99s account."
#define MSG_POLICY_STREAM                                                                          \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		"Requested resource not found: Stream: " STR_FMT " not found for Table: " STR_FMT
#define MSG_POLICY_SIZE ERR_VALIDATION, POLICY_INVALID "Maximum policy size of %d bytes exceeded"
#define MSG_POLICY_DOCUMENT ERR_VALIDATION, POLICY_INVALID "Invalid policy document: %s"
#define MSG_POLICY_ACTIONS                                                                         \
	ERR_VALIDATION, POLICY_INVALID                                                             \
		"Invalid policy document: The following action names are invalid: " STR_FMT
#define MSG_POLICY_RESOURCE                                                                        \
	ERR_VALIDATION, POLICY_INVALID "Invalid policy document: The relative-id \"" STR_FMT       \
				       "\" is invalid for ARN \"" STR_FMT "\""
#define MSG_POLICY_SYNTAX                                                                          \
	ERR_VALIDATION, POLICY_INVALID "Invalid policy document: Syntax error at position "        \
				       "(%zu,%zu)"
#define MSG_POLICY_MISSING                                                                         \
	ERR_VALIDATION, POLICY_INVALID "Invalid policy document: Missing required field %s"
#define MSG_POLICY_PREFIX                                                                          \
	ERR_VALIDATION, "%s", POLICY_INVALID "Invalid policy document: Invalid condition prefix"
#define MSG_POLICY_COLONS                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		POLICY_INVALID "Invalid policy document: Condition can contain only one colon."
#define MSG_POLICY_UNKNOWN                                                                         \
	ERR_VALIDATION, POLICY_INVALID "Invalid policy document: Unknown field " STR_FMT
#define MSG_POLICY_NO_ARN                                                                          \
	ERR_VALIDATION, POLICY_INVALID "Invalid policy document: Resource " STR_FMT                \
				       " must be in ARN format or \"*\"."
#define MSG_POLICY_PRINCIPAL                                                                       \
	ERR_VALIDATION, "%s", POLICY_INVALID "Invalid principal in policy document."
#define MSG_POLICY_UNBOUNDED                                                                       \
	ERR_VALIDATION, "%s",                                                                      \
		"Resource-based policy grants unbounded access in one or more elements. Please "   \
		"revise the policy to "                                                            \
		"ensure least-privilege form of access"
#define MSG_POLICY_LOCKOUT                                                                         \
	ERR_ACCESS_DENIED, "%s",                                                                   \
		"The new resource policy will not allow you to update the resource policy in the " \
		"future."

#define MSG_GLOBAL_ABSENT                                                                          \
	ERR_GLOBAL_TABLE_NOT_FOUND,                                                                \
		"Global table not found: Global table with name: '" STR_FMT "' does not exist."
#define MSG_GLOBAL_SETTINGS_ABSENT                                                                 \
	ERR_GLOBAL_TABLE_NOT_FOUND, "Global table with name: '" STR_FMT "' does not exist."
#define GLOBAL_LEGACY                                                                              \
	"One or more parameter values were invalid: DynamoDB global tables version 2017.11.29 is " \
	"not supported"
#define MSG_GLOBAL_LEGACY                                                                          \
	ERR_VALIDATION, "%s",                                                                      \
		GLOBAL_LEGACY ". We recommend using DynamoDB global tables version 2019.11.21, "   \
			      "instead of version "                                                \
			      "2017.11.29 (Legacy)."
#define MSG_GLOBAL_LEGACY_REGION                                                                   \
	ERR_VALIDATION, GLOBAL_LEGACY " in this region '" STR_FMT "', supported regions are : %s"
#define MSG_GLOBAL_UPDATES_EMPTY ERR_VALIDATION, "%s", "One or more parameter values were invalid"
#define SCALING_FAILED                                                                             \
	"Failed to update settings for global table with name: \xE2\x80\x98" STR_FMT "\xE2\x80"    \
										     "\x99"
#define MSG_SCALING_NOTHING                                                                        \
	ERR_VALIDATION, SCALING_FAILED " because at least one update parameter must be specified."
#define MSG_SCALING_NOTHING_REGION                                                                 \
	ERR_VALIDATION, SCALING_FAILED " because at least one update parameter must be specified " \
				       "for region: \xE2\x80\x98" STR_FMT "\xE2\x80\x99."
#define MSG_SCALING_TWICE                                                                          \
	ERR_VALIDATION, SCALING_FAILED " because the regions: \xE2\x80\x98[" STR_FMT               \
				       "]\xE2\x80\x99 were specified more than once."
#define MSG_SCALING_REQUIRED                                                                       \
	ERR_VALIDATION, SCALING_FAILED ": Parameters " STR_FMT                                     \
				       " are required unless auto scaling is being disabled."
#define MSG_SCALING_BLANK                                                                          \
	ERR_VALIDATION, SCALING_FAILED ": Parameters " STR_FMT                                     \
				       " must be left blank when disabling auto scaling."
#define MSG_SCALING_ON_DEMAND                                                                      \
	ERR_VALIDATION, "Failed to update global table with name \xE2\x80\x98" STR_FMT             \
			"\xE2\x80\x98. Replicas " STR_FMT " BillingMode is "                       \
			"PayPerRequest. You must convert table's BillingMode to PROVISIONED to "   \
			"set parameters: '%s'."
#define SCALING_SERVICE                                                                            \
	" (Service: AWSApplicationAutoScaling; Status Code: 400; Error Code: "                     \
	"ValidationException; Request ID: " STR_FMT "; Proxy: null)"
#define SCALING_MAXIMUM "Maximum capacity cannot be less than minimum capacity"
#define SCALING_TARGET                                                                             \
	"For predefined metric type DynamoDB%sCapacityUtilization, target value must be between "  \
	"'10.0' and '90.0', but was '" STR_FMT "'."
#define SCALING_VALUE                                                                              \
	"For target tracking scaling, target value must be between '8.51592E-109' and "            \
	"'1.174271E108', but was '" STR_FMT "'."
#define MSG_SCALING_MAXIMUM ERR_VALIDATION, SCALING_MAXIMUM SCALING_SERVICE
#define MSG_SCALING_TARGET ERR_VALIDATION, SCALING_TARGET SCALING_SERVICE
#define MSG_SCALING_VALUE ERR_VALIDATION, SCALING_VALUE SCALING_SERVICE
#define MSG_SCALING_INDEX                                                                          \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		SCALING_FAILED " because the global secondary indexes with names: \xE2\x80\x98"    \
			       "[" STR_FMT "]\xE2\x80\x99 do not exist."
/* The words of the next one are ours. */
#define MSG_SCALING_REGION                                                                         \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		"Global table with name: '" STR_FMT "' has no replica in region: '" STR_FMT "'."
#define MSG_NOT_GLOBAL                                                                             \
	ERR_RESOURCE_NOT_FOUND, "Global table with name: '" STR_FMT "' does not exist."

#endif
