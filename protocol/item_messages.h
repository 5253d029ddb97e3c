/*
 * item_messages - texts of the errors that the item operations' cross-field rules give.
 * Source: recorded answers of AWS; those the record lacks, DynamoDB Local.
 */
#ifndef DYNALITH_PROTOCOL_ITEM_MESSAGES_H
#define DYNALITH_PROTOCOL_ITEM_MESSAGES_H

#include "protocol/wire/messages.h"

#define INVALID_VALUES "One or more parameter values were invalid: "

#define MSG_IMAGE_MALFORMED                                                                        \
	ERR_INTERNAL, "the store is damaged: an item is malformed; dynalith check says which"

/* expressions */
#define MSG_EXPRESSIONS_MIXED                                                                      \
	ERR_REQUEST, "Can not use both expression and non-expression parameters in the same "      \
		     "request: Non-expression "                                                    \
		     "parameters: {" STR_FMT "} Expression parameters: {" STR_FMT "}"
#define MSG_NAMES_WITHOUT_EXPRESSION                                                               \
	ERR_REQUEST, "ExpressionAttributeNames can only be specified when using expressions"
#define MSG_NAMES_EMPTY ERR_REQUEST, "ExpressionAttributeNames must not be empty"
#define MSG_NAME_EMPTY                                                                             \
	ERR_REQUEST, "ExpressionAttributeNames contains invalid value: Empty attribute name for "  \
		     "key " STR_FMT
#define MSG_NAME_TOO_LARGE                                                                         \
	ERR_REQUEST, "ExpressionAttributeNames contains invalid value: Attribute name is too "     \
		     "large, must be less than "                                                   \
		     "65536 bytes for key " STR_FMT
#define MSG_VALUES_WITHOUT_EXPRESSION                                                              \
	ERR_REQUEST, "ExpressionAttributeValues can only be specified when using "                 \
		     "expressions%s%s%s"
#define MSG_VALUES_EMPTY ERR_REQUEST, "ExpressionAttributeValues must not be empty"
#define MSG_PLACEHOLDER_EMPTY                                                                      \
	ERR_REQUEST, "%s contains invalid key: The expression attribute map contains an empty "    \
		     "key;"
#define MSG_PLACEHOLDER_LONG                                                                       \
	ERR_REQUEST, "%s contains invalid key: The expression attribute map contains a key that "  \
		     "is too long; size of key: %zu"
#define MSG_PLACEHOLDER_SYNTAX                                                                     \
	ERR_REQUEST, "%s contains invalid key: Syntax error; key: \"" STR_FMT "\""

/* legacy parameters */
#define MSG_OPERATOR_WITHOUT_CONDITIONS                                                            \
	ERR_REQUEST, "ConditionalOperator cannot be used without Filter or Expected"
#define MSG_OPERATOR_ONE_CONDITION                                                                 \
	ERR_REQUEST, "ConditionalOperator can only be used when Filter or Expected has two or "    \
		     "more elements"
#define MSG_LEGACY_EMPTY_NAME ERR_REQUEST, "Empty attribute name"
#define MSG_EXPECTED_VALUE_AND_LIST                                                                \
	ERR_REQUEST, INVALID_VALUES                                                                \
		"Value and AttributeValueList cannot be used together for Attribute: " STR_FMT
#define MSG_EXPECTED_EXISTS_AND_OPERATOR                                                           \
	ERR_REQUEST, INVALID_VALUES                                                                \
		"Exists and ComparisonOperator cannot be used together for Attribute: " STR_FMT
#define MSG_EXPECTED_NO_VALUE                                                                      \
	ERR_REQUEST, INVALID_VALUES                                                                \
		"Value or AttributeValueList must be used with ComparisonOperator: %s for "        \
		"Attribute: " STR_FMT
#define MSG_EXPECTED_LIST_ALONE                                                                    \
	ERR_REQUEST, INVALID_VALUES "AttributeValueList can only be used with a "                  \
				    "ComparisonOperator for Attribute: " STR_FMT
#define MSG_EXPECTED_EXISTS_NO_VALUE                                                               \
	ERR_REQUEST,                                                                               \
		INVALID_VALUES "Value must be provided when Exists is %s for Attribute: " STR_FMT
#define MSG_EXPECTED_ABSENT_WITH_VALUE                                                             \
	ERR_REQUEST,                                                                               \
		INVALID_VALUES "Value cannot be used when Exists is false for Attribute: " STR_FMT
#define MSG_COMPARISON_UNKNOWN ERR_REQUEST, INVALID_VALUES "Invalid comparison operator"
#define MSG_OPERATOR_UNKNOWN                                                                       \
	ERR_REQUEST, "Failed to satisfy constraint: Member must satisfy enum value set: [ALL, OR]"
#define MSG_UPDATES_ACTION                                                                         \
	ERR_REQUEST, "Member must satisfy enum value set: [ADD, DELETE, PUT]' for Action"
#define MSG_COMPARISON_COUNT                                                                       \
	ERR_REQUEST, INVALID_VALUES "Invalid number of argument(s) for the %s ComparisonOperator"
#define MSG_COMPARISON_TYPE                                                                        \
	ERR_REQUEST, INVALID_VALUES "ComparisonOperator %s is not valid for %s AttributeValue "    \
				    "type"
#define MSG_COMPARISON_TYPES_DIFFER \
	ERR_REQUEST, INVALID_VALUES "AttributeValues inside AttributeValueList must be of same type"
#define MSG_COMPARISON_BETWEEN_ORDER                                                               \
	ERR_REQUEST, "The BETWEEN condition was provided a range where the lower bound is "        \
		     "greater than the upper bound"
#define MSG_KEY_CONDITIONS_EMPTY ERR_REQUEST, "Conditions must be at least length 1"
#define MSG_KEY_CONDITION_NOT_RANGE                                                                \
	ERR_REQUEST, "Attempted conditional constraint is not an indexable operation"
#define MSG_UPDATES_NO_VALUE                                                                       \
	ERR_REQUEST, INVALID_VALUES                                                                \
		"Only DELETE action is allowed when no attribute value is specified"
#define MSG_UPDATES_ADD_TYPE                                                                       \
	ERR_REQUEST, INVALID_VALUES "ADD action is not supported for the type %s"
#define MSG_UPDATES_DELETE_TYPE                                                                    \
	ERR_REQUEST, INVALID_VALUES "DELETE action with value is not supported for the type %s"
#define MSG_UPDATES_MISMATCH ERR_VALIDATION, "Type mismatch for attribute to update"
#define MSG_ATTRIBUTE_TWICE                                                                        \
	ERR_REQUEST, INVALID_VALUES "Duplicate value in attribute name: " STR_FMT

/* writes */
#define MSG_RETURN_VALUES ERR_VALIDATION, TEXT_RETURN_VALUES_OLD
#define MSG_UPDATE_KEY                                                                             \
	ERR_VALIDATION, INVALID_VALUES "Cannot update attribute " STR_FMT                          \
				       ". This attribute is part of the key"
#define MSG_KEY_NOT_SCALAR                                                                         \
	ERR_VALIDATION, "Key attributes must be scalars; list random access '[]' and map lookup "  \
			"'.' are not allowed: %s: " STR_FMT

/* Query and Scan */
#define MSG_QUERY_NO_CONDITION                                                                     \
	ERR_VALIDATION, "Either the KeyConditions or KeyConditionExpression parameter must be "    \
			"specified in the request."
#define MSG_INDEX_UNKNOWN ERR_VALIDATION, "The table does not have the specified index: " STR_FMT
#define MSG_INDEX_BACKFILLING                                                                      \
	ERR_VALIDATION, "Cannot read from backfilling global secondary index: " STR_FMT
#define MSG_INDEX_CONSISTENT                                                                       \
	ERR_VALIDATION, "Consistent reads are not supported on global secondary indexes"
#define MSG_FILTER_KEY                                                                             \
	ERR_VALIDATION,                                                                            \
		"%s can only contain non-primary key attributes: Primary key attribute: " STR_FMT
#define MSG_FILTER_NOT_PROJECTED                                                                   \
	ERR_VALIDATION,                                                                            \
		INVALID_VALUES "Secondary index " STR_FMT                                          \
			       " does not project one or more filter attributes: [" STR_FMT "]"
#define MSG_INDEX_NOT_PROJECTED                                                                    \
	ERR_VALIDATION,                                                                            \
		INVALID_VALUES "Global secondary index " STR_FMT " does not project [" STR_FMT "]"
#define MSG_SELECT_WITH_PROJECTION ERR_SELECT, "Cannot specify the %s when choosing to get %s"
#define MSG_SELECT_NO_PROJECTION                                                                   \
	ERR_SELECT, "Must specify the AttributesToGet or ProjectionExpression when choosing to "   \
		    "get SPECIFIC_ATTRIBUTES"
#define MSG_SELECT_NO_INDEX                                                                        \
	ERR_SELECT, "ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName"
#define MSG_SELECT_ALL_ON_INDEX                                                                    \
	ERR_VALIDATION, INVALID_VALUES                                                             \
		"Select type ALL_ATTRIBUTES is not supported for global secondary index " STR_FMT  \
		" because its projection type is not ALL"
#define MSG_SEGMENTS_WITHOUT_SEGMENT                                                               \
	ERR_VALIDATION, "The Segment parameter is required but was not present in the request "    \
			"when parameter "                                                          \
			"TotalSegments is present"
#define MSG_SEGMENT_WITHOUT_SEGMENTS                                                               \
	ERR_VALIDATION, "The TotalSegments parameter is required but was not present in the "      \
			"request when Segment "                                                    \
			"parameter is present"
#define MSG_SEGMENT_RANGE                                                                          \
	ERR_VALIDATION, "The Segment parameter is zero-based and must be less than parameter "     \
			"TotalSegments: Segment: %lld is "                                         \
			"not less than TotalSegments: %lld"
/* The same of the newer layer. */
#define MSG_SEGMENT_RANGE_ALONE                                                                    \
	ERR_VALIDATION, "The Segment parameter is zero-based and must be less than parameter "     \
			"TotalSegments"

/* batches and transactions */
#define MSG_BATCH_KEYS_MANY                                                                        \
	ERR_VALIDATION, "1 validation error detected: Value at 'RequestItems." STR_FMT             \
			".member.Keys' failed to satisfy "                                         \
			"constraint: Member must have length less than or equal to 100"
#define MSG_BATCH_MANY ERR_VALIDATION, "Too many items requested for the %s call"
#define MSG_BATCH_DUPLICATES ERR_VALIDATION, "Provided list of item keys contains duplicates"
#define MSG_BATCH_ONE_OF                                                                           \
	ERR_VALIDATION, "Supplied AttributeValue has more than one datatypes set, must contain "   \
			"exactly one of the "                                                      \
			"supported datatypes"
#define MSG_TRANSACT_ONE_OF                                                                        \
	ERR_VALIDATION, "TransactItems can only contain one of Check, Put, Update or Delete"
#define MSG_TRANSACT_NONE                                                                          \
	ERR_VALIDATION, "Invalid Request: TransactWriteRequest should contain Delete or Put or "   \
			"Update request"
#define MSG_TRANSACT_DUPLICATES                                                                    \
	ERR_VALIDATION, "Transaction request cannot include multiple operations on one item"
#define MSG_TRANSACT_SIZE                                                                          \
	ERR_VALIDATION, "Transaction payload size cannot exceed 4MB. Payload Size: %zu"
#define MSG_TRANSACT_RESPONSE_SIZE ERR_VALIDATION, "Payload in response is too large.%zu"

#endif
