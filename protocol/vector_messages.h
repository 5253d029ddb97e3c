/*
 * vector_messages - texts of the errors that vector indexes and SearchVectors give.
 * Source: recorded answers of AWS and its developer guide, "Troubleshooting vector indexes".
 */
#ifndef DYNALITH_PROTOCOL_VECTOR_MESSAGES_H
#define DYNALITH_PROTOCOL_VECTOR_MESSAGES_H

#include "core/err.h"

#define INVALID_INDEX "One or more parameter values were invalid: "

/* CreateTable and UpdateTable */
#define MSG_VECTOR_BILLING                                                                         \
	ERR_VALIDATION, INVALID_INDEX "Vector indexes are only supported for PAY_PER_REQUEST "     \
				      "tables"
#define MSG_VECTOR_BILLING_CHANGE                                                                  \
	ERR_VALIDATION, INVALID_INDEX "Tables with vector indexes must be in PAY_PER_REQUEST mode"
#define MSG_VECTOR_COUNT                                                                           \
	ERR_VALIDATION, INVALID_INDEX "VectorIndex count exceeds the per-table limit of %d"
#define MSG_VECTOR_COUNT_UPDATE                                                                    \
	ERR_LIMIT_EXCEEDED, "Subscriber limit exceeded: Number of vector secondary indexes "       \
			    "exceeds per-table limit of %d"
#define MSG_VECTOR_DIMENSIONS                                                                      \
	ERR_VALIDATION, INVALID_INDEX "Number of dimensions must be between 1 and %d inclusive."
#define MSG_VECTOR_SCHEMA_UNDEFINED                                                                \
	ERR_VALIDATION, INVALID_INDEX                                                              \
		"One element in SearchSchema is not defined in attribute definitions"
#define MSG_VECTOR_SCHEMA_HASHES                                                                   \
	ERR_VALIDATION, INVALID_INDEX "Value '%zu' at 'SearchSchema' failed to satisfy "           \
				      "constraint: Member must have HASH count less than "         \
				      "or equal to 1"
#define MSG_VECTOR_SCHEMA_FILTERS                                                                  \
	ERR_VALIDATION, INVALID_INDEX "Value '%zu' at 'SearchSchema' failed to satisfy "           \
				      "constraint: Member must have INLINE_FILTER "                \
				      "count less than or equal to %d"
#define MSG_VECTOR_SCHEMA_TWICE                                                                    \
	ERR_VALIDATION, INVALID_INDEX "SearchSchema contains a duplicate AttributeName"
#define MSG_VECTOR_ATTRIBUTE_DEFINED                                                               \
	ERR_VALIDATION, INVALID_INDEX "Conflicting attribute definition for '" STR_FMT             \
				      "'. An attribute cannot be defined in "                      \
				      "AttributeDefinitions when used as a VectorAttribute."
#define MSG_VECTOR_ATTRIBUTE_DIMENSIONS                                                            \
	ERR_VALIDATION, INVALID_INDEX "Conflicting attribute definition for '" STR_FMT             \
				      "'. All VectorIndexes on the same vector "                   \
				      "attribute must use the same dimensions."
#define REDEFINED                                                                                  \
	"Attributes cannot be redefined. Please check that your attribute has the same type as "   \
	"previously defined. "
#define MSG_VECTOR_REDEFINES_KEY                                                                   \
	ERR_VALIDATION, INVALID_INDEX REDEFINED                                                    \
		"Existing schema: Schema:[SchemaElement: key{" STR_FMT ":%s:%s}] New schema: "     \
		"VectorIndexSchema:[VectorAttribute: key{" STR_FMT ":L:%u}]"
#define MSG_KEY_REDEFINES_VECTOR                                                                   \
	ERR_VALIDATION, INVALID_INDEX REDEFINED                                                    \
		"Existing schema: VectorIndexSchema:[VectorAttribute: key{" STR_FMT ":L:%u}] New " \
		"schema: Schema:[SchemaElement: key{" STR_FMT ":%s:%s}]"
#define MSG_VECTOR_UPDATE_BOTH                                                                     \
	ERR_VALIDATION, INVALID_INDEX                                                              \
		"Only one vector index action is allowed per VectorIndexUpdate object"
#define MSG_VECTOR_UPDATE_NEITHER                                                                  \
	ERR_VALIDATION, INVALID_INDEX                                                              \
		"One of VectorIndexUpdate.Create, VectorIndexUpdate.Delete must not be null"
#define MSG_VECTOR_ABSENT                                                                          \
	ERR_RESOURCE_NOT_FOUND, "Requested resource not found: Index " STR_FMT " for "             \
									       "table " STR_FMT

/* reads of the wrong kind; the full stop after one of the two is AWS's */
#define MSG_VECTOR_QUERY ERR_VALIDATION, "Query operation not supported on this index type."
#define MSG_VECTOR_SCAN ERR_VALIDATION, "Scan operation not supported on this index type"

/* SearchVectors: AWS runs it as another service, whose messages do not show the wrong value */
#define SEARCH_VALUE "Value '" STR_FMT "' at '%s' failed to satisfy constraint: Member must "
#define MSG_SEARCH_NAME_SHORT ERR_VALIDATION, SEARCH_VALUE "have length greater than or equal to 3"
#define MSG_SEARCH_NAME_LONG ERR_VALIDATION, SEARCH_VALUE "have length less than or equal to 255"
#define MSG_SEARCH_NAME                                                                            \
	ERR_VALIDATION, SEARCH_VALUE "satisfy regular expression pattern: [a-zA-Z0-9_.-]+"
#define MSG_SEARCH_CAPACITY                                                                        \
	ERR_VALIDATION, SEARCH_VALUE "satisfy enum value set: [INDEXES, TOTAL, NONE]"
#define SEARCH_MEMBER                                                                              \
	"Value at '%s' failed to satisfy constraint: Member must have %s %s than or equal to %d"
#define MSG_SEARCH_MEMBERS ERR_VALIDATION, "%u validation error%s detected: " STR_FMT
#define MSG_SEARCH_TOP                                                                             \
	ERR_VALIDATION, "Provided TopK value '%lld' is out of valid range. The value must be "     \
			"between 1 and %d inclusive"
#define MSG_SEARCH_VECTOR                                                                          \
	ERR_VALIDATION, "Search vector contains invalid values. All values in the search vector "  \
			"must be a 32-bit "                                                        \
			"floating-point number attribute"
#define MSG_SEARCH_BACKFILLING ERR_VALIDATION, "Cannot search backfilling vector index: " STR_FMT
#define MSG_SEARCH_DIMENSIONS                                                                      \
	ERR_VALIDATION, "Input search vector dimension %zu does not match vector index dimension " \
			"%u"
#define MSG_SEARCH_HASH                                                                            \
	ERR_VALIDATION,                                                                            \
		"SearchConditionExpression must be provided when SearchSchema has a HASH key"
#define MSG_SEARCH_COMPARATOR                                                                      \
	ERR_VALIDATION, "Invalid SearchConditionExpression: Invalid comparator used in "           \
			"SearchConditionExpression"
#define MSG_SEARCH_NESTED                                                                          \
	ERR_VALIDATION, "Invalid SearchConditionExpression: SearchConditionExpression cannot "     \
			"have conditions on nested attributes"
#define MSG_SEARCH_TWICE                                                                           \
	ERR_VALIDATION, "Invalid SearchConditionExpression: SearchConditionExpression must only "  \
			"contain one condition per attribute"
#define MSG_SEARCH_ATTRIBUTE                                                                       \
	ERR_VALIDATION, "SearchConditionExpression must not contain any attributes that is not "   \
			"in SearchSchema. "                                                        \
			"Invalid attribute: " STR_FMT
#define MSG_SEARCH_TYPE                                                                            \
	ERR_VALIDATION, "Type of '" STR_FMT "' attribute in SearchConditionExpression (%s) does "  \
					    "not match type in search schema (%s)"

#endif
