/*
 * control_messages - texts of the errors that the operations on a table's settings give: backups, insights, Kinesis, policies.
 * Source: recorded answers of AWS, published by the authors of controllers and mocks; API Reference for the error types.
 */
#ifndef DYNALITH_PROTOCOL_CONTROL_MESSAGES_H
#define DYNALITH_PROTOCOL_CONTROL_MESSAGES_H

#include "core/err.h"

#define MSG_BACKUPS_ENABLING ERR_BACKUPS_UNAVAILABLE, "Backups are being enabled for the table: " STR_FMT ". Please retry later"
#define MSG_RECOVERY_DAYS_REFUSED \
	ERR_VALIDATION, "%s", "Invalid Request: Cannot specify RecoveryPeriodInDays when disabling point-in-time recovery."

#define MSG_INSIGHTS_INDEX ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Index: " STR_FMT " not found for table: " STR_FMT
#define MSG_INSIGHTS_STATE                                                                                           \
	ERR_VALIDATION, "Table or Index is not in a valid state to update Key Access Insights: %sStatus must be ACTIVE " \
			"to enable ContributorInsights."

/* The recorded texts say "enable" for any request. */
#define KINESIS_STATE "Table is not in a valid state to enable Kinesis Streaming Destination: "
#define MSG_KINESIS_ENABLED \
	ERR_VALIDATION, "%s", KINESIS_STATE "EnableKinesisStreamingDestination must be DISABLED or ENABLE_FAILED to perform ENABLE operation."
#define MSG_KINESIS_DISABLE_WITH ERR_VALIDATION, "%s", "Stream cannot be disabled using EnableKinesisStreamingConfiguration parameters"
#define MSG_KINESIS_DISABLED ERR_VALIDATION, "%s", KINESIS_STATE "KinesisStreamingDestination must be ACTIVE to perform DISABLE operation."
#define MSG_KINESIS_ABSENT \
	ERR_VALIDATION, KINESIS_STATE "No streaming destination with streamArn: " STR_FMT " found for table with tableName: " STR_FMT
#define MSG_KINESIS_INACTIVE                                                                                             \
	ERR_VALIDATION, KINESIS_STATE "Kinesis streaming is not in ACTIVE state. Updates are only allowed in ACTIVE state. " \
				      "TableName: " STR_FMT ", StreamArn: " STR_FMT
#define MSG_KINESIS_NOTHING                                                                             \
	ERR_VALIDATION, "%s", "Streaming destination cannot be updated with given parameters: "         \
			      "UpdateKinesisStreamingConfiguration cannot be null or contain only null values"
#define MSG_KINESIS_SAME \
	ERR_VALIDATION, "Invalid Request: Precision is already set to the desired value of %s for tableId: " STR_FMT ", kdsArn: " STR_FMT

#define NO_POLICY "Resource-based policy not found for the provided ResourceArn: "
#define MSG_POLICY_ABSENT ERR_POLICY_NOT_FOUND, NO_POLICY STR_FMT
#define MSG_POLICY_REVISION_ABSENT \
	ERR_POLICY_NOT_FOUND, NO_POLICY "Requested update for policy with revision id " STR_FMT ", but table " STR_FMT " has no associated policy."
#define MSG_POLICY_REVISION                                                                                                 \
	ERR_POLICY_NOT_FOUND, NO_POLICY "Requested update for policy with revision id " STR_FMT ", but the policy associated " \
					"to target table " STR_FMT " has revision id %lld."
#define MSG_POLICY_EXISTS                                                                                             \
	ERR_POLICY_NOT_FOUND, NO_POLICY "Requested policy update expecting none to be present for table " STR_FMT ", " \
					"but a policy exists with revision id %lld."
#define MSG_POLICY_PENDING                                                                                                           \
	ERR_RESOURCE_IN_USE, "Attempt to change a resource which is still in use: Table is pending previous resource-based policy " \
			     "update: " STR_FMT
#define POLICY_INVALID "One or more parameter values were invalid: "
#define MSG_POLICY_ARN_PREFIX ERR_VALIDATION, POLICY_INVALID "ARNs must start with 'arn:': " STR_FMT
#define MSG_POLICY_ARN_KIND ERR_VALIDATION, POLICY_INVALID "Provided Arn is not a DynamoDB resource arn: " STR_FMT
#define MSG_POLICY_ARN_PART \
	ERR_VALIDATION, POLICY_INVALID "Invalid resource arn provided, only table or stream is accepted. Provided resource arn: " STR_FMT
#define MSG_POLICY_ARN ERR_VALIDATION, POLICY_INVALID "Invalid resource Arn: " STR_FMT
#define MSG_POLICY_ACCOUNT ERR_VALIDATION, "%s", "This action is only supported by accounts that match the resource owner\xE2\x80\x99s account."
#define MSG_POLICY_STREAM ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Stream: " STR_FMT " not found for Table: " STR_FMT
#define MSG_POLICY_SIZE ERR_VALIDATION, POLICY_INVALID "Maximum policy size of %d bytes exceeded"
#define MSG_POLICY_DOCUMENT ERR_VALIDATION, POLICY_INVALID "Invalid policy document: %s"
#define MSG_POLICY_ACTIONS ERR_VALIDATION, POLICY_INVALID "Invalid policy document: The following action names are invalid: " STR_FMT
#define MSG_POLICY_RESOURCE \
	ERR_VALIDATION, POLICY_INVALID "Invalid policy document: The relative-id \"" STR_FMT "\" is invalid for ARN \"" STR_FMT "\""
#define MSG_POLICY_SYNTAX ERR_VALIDATION, POLICY_INVALID "Invalid policy document: Syntax error at position (1,%zu)"
#define MSG_POLICY_PRINCIPAL ERR_VALIDATION, "%s", POLICY_INVALID "Invalid principal in policy document."
#define MSG_POLICY_UNBOUNDED                                                                                                        \
	ERR_VALIDATION, "%s", "Resource-based policy grants unbounded access in one or more elements. Please revise the policy to " \
			      "ensure least-privilege form of access"
#define MSG_POLICY_LOCKOUT \
	ERR_ACCESS_DENIED, "%s", "The new resource policy will not allow you to update the resource policy in the future."

#define MSG_NOT_GLOBAL ERR_RESOURCE_NOT_FOUND, "Global table with name: '" STR_FMT "' does not exist."

#endif
