/*
 * messages - texts about files of items: in the log of an import's errors and in FailureMessage.
 */
#ifndef DYNALITH_PROTOCOL_TRANSFER_MESSAGES_H
#define DYNALITH_PROTOCOL_TRANSFER_MESSAGES_H

#include "core/err.h"

#define MSG_ION_SYNTAX ERR_VALIDATION, "The Ion text cannot be read: %s"
#define MSG_ION_BINARY ERR_VALIDATION, "The binary Ion cannot be read: %s"
#define MSG_ION_TYPE ERR_VALIDATION, "An Ion value of type %s has no DynamoDB type"
#define MSG_ION_SET ERR_VALIDATION, "%s must annotate a list of elements of its type"
#define MSG_ION_SET_EMPTY ERR_VALIDATION, "An string set  may not be empty"
#define MSG_ION_SET_TWICE ERR_VALIDATION, "Input collection contains duplicates."
#define MSG_ION_FIELD_TWICE ERR_VALIDATION, "%s", "An Ion struct has a field twice"
#define MSG_ION_DEPTH ERR_VALIDATION, "Nesting Levels have exceeded supported limits"
#define MSG_RECORD_CONDITION                                                                       \
	ERR_VALIDATION, "ConditionExpression must be a string, ExpressionAttributeNames a struct " \
			"of strings, ExpressionAttributeValues a struct"
#define MSG_RECORD_NO_ITEM ERR_VALIDATION, "The record has no Item"
#define MSG_RECORD_NO_KEYS ERR_VALIDATION, "The record has no Keys"
#define MSG_RECORD_NOT_JSON                                                                        \
	ERR_VALIDATION, "The line is no JSON; the rest of the object was not read"
#define MSG_RECORD_TOO_LONG                                                                        \
	ERR_VALIDATION, "A record of more than %zu bytes; the rest of the object was not read"
#define MSG_RECORD_MEMORY ERR_VALIDATION, "The record takes more memory than any item does"
#define MSG_RECORD_CSV_HEAD                                                                        \
	ERR_VALIDATION, "The first line of a CSV object must name each column once"
#define MSG_RECORD_CSV_FIELDS ERR_VALIDATION, "The line has %zu fields, the header has %zu"
#define MSG_RECORD_CSV_BASE64 ERR_VALIDATION, "A binary key attribute must be base64"
#define MSG_RECORD_CSV_QUOTE                                                                       \
	ERR_VALIDATION, "A quoted field does not end; the rest of the object was not read"

/* AWS: recorded, October 2026 (DDB-EXPORT-001 to 006, DDB-IMPORT-009, 010, 017). */
#define MSG_TRANSFER_NOT_ARN                                                                       \
	ERR_VALIDATION, "One or more parameter values were invalid: tableArn is not a valid ARN"
#define MSG_TRANSFER_ARN ERR_VALIDATION, "Invalid Request: Table ARN is invalid."
#define MSG_TRANSFER_DENIED ERR_ACCESS_DENIED, "Access is denied"
#define MSG_TRANSFER_NO_TABLE ERR_TABLE_NOT_FOUND, "Table not found: " STR_FMT
#define MSG_TRANSFER_TOKEN                                                                         \
	ERR_VALIDATION, "Invalid Request: Provided nextToken is invalid: " STR_FMT
#define MSG_EXPORT_ARN ERR_VALIDATION, "Invalid Export ARN"
#define MSG_EXPORT_REGION ERR_EXPORT_NOT_FOUND, "Export not found: Invalid export arn"
#define MSG_EXPORT_ABSENT ERR_EXPORT_NOT_FOUND, "Export not found: Export not found: " STR_FMT
#define MSG_EXPORT_CONFLICT                                                                        \
	ERR_EXPORT_CONFLICT,                                                                       \
		"Export conflict: Duplicate request detected with conflicting parameters"
#define MSG_IMPORT_ARN ERR_VALIDATION, "Invalid Import ARN"
#define MSG_IMPORT_REGION ERR_IMPORT_NOT_FOUND, "Import not found: Invalid import arn"
#define MSG_IMPORT_ABSENT ERR_IMPORT_NOT_FOUND, "Import not found: Import not found: " STR_FMT
#define MSG_IMPORT_CONFLICT                                                                        \
	ERR_IMPORT_CONFLICT,                                                                       \
		"Import conflict: Duplicate request detected with conflicting parameters"
#define MSG_IMPORT_OPTIONS                                                                         \
	ERR_VALIDATION,                                                                            \
		"Invalid Request: Unsupported InputFormatOptions for the given input format: %s."
#define MSG_EXPORT_NO_RECOVERY                                                                     \
	ERR_RECOVERY_UNAVAILABLE, "Point in time recovery is not enabled for table '" STR_FMT "'"
#define MSG_EXPORT_TIME ERR_INVALID_EXPORT_TIME, "Export Time is invalid"
#define MSG_EXPORT_TIME_LATE                                                                       \
	ERR_INVALID_EXPORT_TIME, "Point in Time Recovery is not available for specified export "   \
				 "time"
#define MSG_EXPORT_SPECIFICATION_TYPE                                                              \
	ERR_VALIDATION, "Invalid Request: Export Type expected to be Incremental Export when "     \
			"incremental export specification is provided"
#define MSG_EXPORT_SPECIFICATION_FULL                                                              \
	ERR_VALIDATION, "Invalid Request: When Export Type is Full Export , Incremental Export "   \
			"Specification should not be provided"
#define MSG_EXPORT_SPECIFICATION_ABSENT                                                            \
	ERR_VALIDATION, "Invalid Request: Incremental Export Specification expected when export "  \
			"type is set as Incremental Export"
#define MSG_EXPORT_NO_FROM                                                                         \
	ERR_VALIDATION, "Invalid Request: ExportFromTime must be provided in "                     \
			"IncrementalExportSpecification"
#define MSG_EXPORT_FROM_EARLY                                                                      \
	ERR_INVALID_EXPORT_TIME, "Incremental export period from time cannot be less than the "    \
				 "table creation time : " STR_FMT
#define MSG_EXPORT_TO_LATE                                                                         \
	ERR_INVALID_EXPORT_TIME, "Incremental export period to time cannot be greater than the "   \
				 "current time : " STR_FMT
#define MSG_EXPORT_WINDOW_SHORT                                                                    \
	ERR_INVALID_EXPORT_TIME, "Difference between export period from time and export period "   \
				 "to time is less than 15 minutes"
#define MSG_EXPORT_WINDOW_LONG                                                                     \
	ERR_INVALID_EXPORT_TIME, "Difference between export period from time and export period "   \
				 "to time is greater than 24 hours"
#define MSG_EXPORT_KMS_KEY                                                                         \
	ERR_VALIDATION, "Invalid Request: KMS Key Id is not supported for this encryption type"
#define MSG_EXPORT_FILTER_EMPTY                                                                    \
	ERR_VALIDATION,                                                                            \
		"Invalid Request: Invalid FilterSpecification: The specification can not be empty"
#define MSG_EXPORT_FILTER ERR_VALIDATION, "Invalid Request: Invalid FilterSpecification: " STR_FMT
/* Ours: no recorded answer has these. */
#define MSG_BULK_ARN ERR_VALIDATION, "Invalid bulk operation ARN"
#define MSG_BULK_ABSENT                                                                            \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		"Requested resource not found: Bulk operation: " STR_FMT " not found"
#define MSG_BULK_CONFLICT                                                                          \
	ERR_IDEMPOTENT_MISMATCH,                                                                   \
		"The client token was used before with other parameters of StartBulkPutItems"
#define MSG_BULK_BUCKET                                                                            \
	ERR_VALIDATION, "Invalid Request: OutputS3Configuration must name an S3Bucket"
#define MSG_BULK_OUTPUT                                                                            \
	ERR_VALIDATION,                                                                            \
		"Invalid Request: OutputType must have ERROR, CONDITION_CHECK_FAILURE or both"
#define MSG_BULK_GLOBAL ERR_VALIDATION, "Bulk put items does not support global tables: " STR_FMT
#define MSG_BULK_OVER                                                                              \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		"Requested resource not found: Bulk operation: " STR_FMT " is not in progress"

#endif
