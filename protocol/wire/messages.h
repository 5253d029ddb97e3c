/*
 * messages - texts of errors about JSON, types and constraints; see core/err.h for how they are
 * raised.
 *
 * The code of a macro is the message's class. ERR_REQUEST: the request alone shows the mistake;
 * PutItem, UpdateItem and DeleteItem wrap it in the envelope "1 validation error detected: ".
 * ERR_SELECT: Query wraps it. ERR_VALIDATION: no operation wraps it. A new message only needs the
 * right class. surface.h has the whole rule.
 *
 * Source: recorded answers of AWS.
 */
#ifndef DYNALITH_PROTOCOL_MESSAGES_H
#define DYNALITH_PROTOCOL_MESSAGES_H

#include "core/err.h"

#define MSG_JSON_MALFORMED ERR_SERIALIZATION, "%s", ""

/* Types. AWS names the token. */
#define MSG_TYPE_TOKEN ERR_SERIALIZATION, "%s cannot be converted to %s"
#define MSG_TYPE_BOOLEAN_TEXT ERR_SERIALIZATION, "%s", "Unexpected token received from parser"
#define MSG_TYPE_UNTOLD ERR_SERIALIZATION, "%s", "" /* a list for a boolean */
#define MSG_TYPE_COLLECTION ERR_SERIALIZATION, "Unrecognized collection type class %s"
#define MSG_TYPE_COLLECTION_MAP                                                                    \
	ERR_SERIALIZATION, "Unrecognized collection type java.util.Map<java.lang.String, %s>"
#define MSG_TYPE_STRUCTURE                                                                         \
	ERR_SERIALIZATION, "%s", "Start of structure or map found where not expected"
#define MSG_TYPE_FIELD ERR_SERIALIZATION, "%s", "Unexpected field type"
#define MSG_TYPE_PAYLOAD ERR_SERIALIZATION, "%s", "Unexpected value type in payload"
#define MSG_BASE64_TYPE                                                                            \
	ERR_SERIALIZATION, "%s", "only base64-encoded strings are convertible to bytes"
#define MSG_BASE64_LENGTH                                                                          \
	ERR_SERIALIZATION, "Base64 encoded length is expected a multiple of 4 bytes but found: "   \
			   "%zu"
#define MSG_BASE64_CHARACTER ERR_SERIALIZATION, "%s", "Invalid Base64 content"

/* Attribute values. */
#define MSG_ATTRIBUTE_NAME_EMPTY ERR_REQUEST, "%s", "Empty attribute name"
#define MSG_ATTRIBUTE_NAME_TOO_LARGE                                                               \
	ERR_REQUEST, "%s", "Attribute name is too large, must be less than 65536 bytes"
#define MSG_EXPRESSION_VALUE                                                                       \
	ERR_REQUEST,                                                                               \
		"ExpressionAttributeValues contains invalid value: " STR_FMT " for key " STR_FMT
#define MSG_START_KEY_VALUE ERR_REQUEST, "The provided starting key is invalid: " STR_FMT
#define MSG_NUMBER ERR_REQUEST, STR_FMT "%s" /* one of core/messages.h */
/* SearchVectors: a type that DynamoDB keeps for itself. */
#define MSG_VALUE_INTERNAL ERR_REQUEST, "%s", "This type mapping is not supported"
#define MSG_VALUE_EMPTY                                                                            \
	ERR_REQUEST, "%s",                                                                         \
		"Supplied AttributeValue is empty, must contain exactly one of the supported "     \
		"datatypes"
#define MSG_VALUE_MANY                                                                             \
	ERR_REQUEST, "%s",                                                                         \
		"Supplied AttributeValue has more than one datatypes set, must contain exactly "   \
		"one of the "                                                                      \
		"supported datatypes"
#define MSG_VALUE_NULL                                                                             \
	ERR_REQUEST, "%s",                                                                         \
		"One or more parameter values were invalid: Null attribute value types must have " \
		"the value of true"
#define MSG_SET_EMPTY                                                                              \
	ERR_REQUEST, "One or more parameter values were invalid: An %s set  may not be empty"
#define MSG_SET_EMPTY_BINARY                                                                       \
	ERR_REQUEST, "%s",                                                                         \
		"One or more parameter values were invalid: Binary sets should not be empty"
#define MSG_SET_NULL                                                                               \
	ERR_REQUEST, "One or more parameter values were invalid: An %s set may not have a null "   \
		     "string as a member"
#define MSG_SET_DUPLICATES                                                                         \
	ERR_REQUEST, "One or more parameter values were invalid: Input collection [" STR_FMT       \
		     "] contains duplicates."
#define MSG_SET_DUPLICATES_NUMBER                                                                  \
	ERR_REQUEST, "%s",                                                                         \
		"One or more parameter values were invalid: Input collection contains duplicates."
#define MSG_SET_DUPLICATES_NUMBER_OLDER ERR_REQUEST, "%s", "Input collection contains duplicates"
#define MSG_SET_DUPLICATES_BINARY                                                                  \
	ERR_REQUEST, "One or more parameter values were invalid: Input collection [" STR_FMT       \
		     "]of type BS contains duplicates."
#define MSG_VALUE_DEPTH                                                                            \
	ERR_REQUEST, "%s",                                                                         \
		"Nesting Levels have exceeded supported limits: Attributes in the item have "      \
		"nested levels beyond "                                                            \
		"supported limit"

/* Constraints. */
#define MSG_CONSTRAINTS ERR_VALIDATION, "%u validation error%s detected: " STR_FMT
#define MSG_CONSTRAINT_BARE ERR_VALIDATION, STR_FMT
#define TEXT_PARAMETER_REQUIRED                                                                    \
	"The parameter '" STR_FMT "' is required but was not present in the request"
#define TEXT_BATCH_EMPTY "The requestItems parameter is required for " STR_FMT
#define TEXT_INDEX_NAME_LENGTH                                                                     \
	"IndexName must be at least 3 characters long and at most 255 characters long"
#define TEXT_RETURN_VALUES /* so spelled by AWS */                                                 \
	"Failed to satisfy constraint: Member must satisfy enum value set: [ALL_OLD, "             \
	"UPDATED_OLD, ALL_NEW, UPDATE_NEW, NONE]"
#define TEXT_RETURN_VALUES_OLD "ReturnValues can only be ALL_OLD or NONE"

/* SearchVectors' own reader of JSON: serde.h. */
#define MSG_SEARCH_FIELD ERR_VALIDATION, "missing field `%s` at line %zu column %zu"
#define MSG_SEARCH_READ_TYPE                                                                       \
	ERR_SERIALIZATION, "invalid type: " STR_FMT ", expected %s at line %zu column %zu"
#define MSG_SEARCH_READ_UNIT                                                                       \
	ERR_SERIALIZATION,                                                                         \
		"invalid type: unit variant, expected newtype variant at line %zu column %zu"
#define MSG_SEARCH_READ_VARIANT                                                                    \
	ERR_VALIDATION, "unknown variant `" STR_FMT "`, expected one of " STR_FMT                  \
			" at line %zu column %zu"
#define MSG_SEARCH_READ_VALUE                                                                      \
	ERR_VALIDATION, "invalid value: " STR_FMT ", expected %s at line %zu column %zu"

/* Tables. */
#define MSG_TABLE_NOT_FOUND                                                                        \
	ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Table: " STR_FMT " not found"
#define MSG_TABLE_NOT_FOUND_BACKUP ERR_TABLE_NOT_FOUND, "Table not found: " STR_FMT
#define MSG_TABLE_NAME                                                                             \
	ERR_VALIDATION, "%s",                                                                      \
		"Invalid table/index name.  Table/index names must be between 3 and 255 "          \
		"characters long, and may "                                                        \
		"contain only the characters a-z, A-Z, 0-9, '_', '-', and '.'"
#define MSG_TABLE_NAME_SHORT                                                                       \
	ERR_VALIDATION, "%s",                                                                      \
		"TableName must be at least 3 characters long and at most 255 characters long"
#define TABLE_ARN_REFUSED                                                                          \
	"1 validation error detected: Value '" STR_FMT                                             \
	"' at 'tableName' failed to satisfy constraint: "
#define MSG_TABLE_ARN_FORM                                                                         \
	ERR_VALIDATION,                                                                            \
		TABLE_ARN_REFUSED "Valid ARN format is "                                           \
				  "'arn:<awsPartition>:<vendor>:<region>:<subscriber>:"            \
				  "resourceType/resourceName', where Resource name must "          \
				  "have length less than or equal to 255, Resource name must "     \
				  "have length greater than or equal to 3, Resource name must "    \
				  "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
#define MSG_TABLE_ARN_TYPE ERR_VALIDATION, TABLE_ARN_REFUSED "Invalid resource type"
#define MSG_TABLE_ARN_SHORT                                                                        \
	ERR_VALIDATION,                                                                            \
		TABLE_ARN_REFUSED "Table name of ARN must have length greater than or equal to 3"
#define MSG_TABLE_ARN_PARTITION                                                                    \
	ERR_VALIDATION, "1 validation error detected: Invalid AWS partition in '" STR_FMT "'"
#define MSG_TABLE_ARN_REGION                                                                       \
	ERR_VALIDATION, "1 validation error detected: Invalid AWS region in '" STR_FMT "'"
#define MSG_DENIED ERR_ACCESS_DENIED, "%s", "Access is denied"
#define NOTE_TABLE_ELSEWHERE                                                                       \
	"table \"" STR_FMT "\" is not in namespace " STR_FMT "/" STR_FMT " but exists in " STR_FMT \
	"/" STR_FMT ": check the "                                                                 \
	"access key and region, or start with --shared-db" STR_FMT
#define NOTE_LEFT_OUT " (%u like it left out)"

/* --as, and PUT /_dynalith/rollouts. */
#define MSG_AS_REGION                                                                              \
	ERR_VALIDATION, "No rollout is known in '" STR_FMT                                         \
			"': none, next, REGION or REGION@YYYY-MM-DD, as in dynalith rollouts"
#define MSG_AS_DAY ERR_VALIDATION, "'" STR_FMT "' is no day: YYYY-MM-DD"
#define MSG_AS_NAMESPACE                                                                           \
	ERR_VALIDATION, "A setting belongs to an account of 12 digits and a region of 1 to 63 "    \
			"characters, not to account '" STR_FMT "' and region '" STR_FMT "'"
#define MSG_AS_NAMESPACES ERR_VALIDATION, "More than %d namespaces have a setting of their own"
#define NOTE_REGION_UNKNOWN                                                                        \
	"no rollout is known in region " STR_FMT ": it behaves as us-east-1 (docs/rollouts.md)"

#endif
