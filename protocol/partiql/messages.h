/*
 * messages - texts of the errors that PartiQL statements give.
 * Source: recorded answers of AWS; those the record lacks, DynamoDB Local. A position is " at
 * line:column:length".
 */
#ifndef DYNALITH_PROTOCOL_PARTIQL_MESSAGES_H
#define DYNALITH_PROTOCOL_PARTIQL_MESSAGES_H

#include "core/err.h"

/* syntax: what the grammar of PartiQL says it expected; empty where a token cannot be read at all
 */
#define MSG_PARTIQL_SYNTAX ERR_VALIDATION, "Statement wasn't well formed, can't be processed: %s"
#define PARTIQL_LEXICAL ""
#define PARTIQL_LEFTOVER "Unexpected token after expression"
#define PARTIQL_AFTER_SEMICOLON "Unexpected token after semicolon. (Only one query is allowed.)"
#define PARTIQL_TERM "Unexpected term"
#define PARTIQL_KEYWORD "Unexpected keyword"
#define PARTIQL_OPERATOR "Unexpected operator"
#define PARTIQL_RIGHT_SIDE "Missing right-hand side expression of infix operator"
#define PARTIQL_AFTER_AND "Expected expression after AND"
#define PARTIQL_AFTER_ESCAPE "Expected expression after ESCAPE"
#define PARTIQL_TYPE_NAME "Expected type name"
#define PARTIQL_AT_IDENTIFIER "Identifier must follow @-operator"
#define PARTIQL_EMPTY_GROUP "Expression group cannot be empty"
#define PARTIQL_PATH_DOT "Invalid path dot component"
#define PARTIQL_PATH_DOT_SIMPLE "Invalid path dot component for simple path"
#define PARTIQL_PATH_SIMPLE "Invalid path component for simple path"
#define PARTIQL_IDENTIFIER "Expected identifier for simple path"
#define PARTIQL_MANIPULATION "Expected data manipulation"
#define PARTIQL_ASSIGNMENT "Expected '='"
#define PARTIQL_DELETE_FROM "Expected FROM after DELETE"
#define PARTIQL_SELECT_FROM "Expected FROM after SELECT list"
#define PARTIQL_SELECT_NOTHING                                                                     \
	"Expected identifier or an expression but found unexpected keyword 'from' in a select "    \
	"list."
#define PARTIQL_STAR_ALONE                                                                         \
	"Other expressions may not be present in the select list when '*' is used without dot "    \
	"notation."
#define PARTIQL_STAR_PLACE "Invalid use of * in select list"
#define PARTIQL_STAR_MIXED "Cannot use [] and * together in SELECT list expression"
#define PARTIQL_ALIAS_IDENTIFIER "Expected identifier for %s-alias"
#define PARTIQL_JOIN_ON "Expected 'ON'"
#define PARTIQL_CREATE "Unexpected token following CREATE"
#define PARTIQL_DROP "Unexpected token following DROP"
#define PARTIQL_OBJECT "Expected identifier!"
#define PARTIQL_WHEN "Expected a WHEN clause in CASE"
#define PARTIQL_EXPECTED "Expected %s"
#define PARTIQL_CALL_STAR "%s(*) is not allowed"
#define PARTIQL_TOP_LEVEL "Keyword %s only expected at the top level in the query"
#define PARTIQL_RETURNING_ELEMENT                                                                  \
	"Expected ( MODIFIED | ALL ) ( NEW | OLD ) in each returning element."

/* what DynamoDB does not take of the grammar */
#define MSG_PARTIQL_OPERATION ERR_VALIDATION, "Unsupported operation: %s"
#define MSG_PARTIQL_CLAUSE ERR_VALIDATION, "Unsupported clause: %s" STR_FMT
#define MSG_PARTIQL_TOKEN ERR_VALIDATION, "Unsupported token in expression: " STR_FMT STR_FMT
#define MSG_PARTIQL_ALIAS ERR_VALIDATION, "Aliasing is not supported"
#define MSG_PARTIQL_SINGLE_SOURCE                                                                  \
	ERR_VALIDATION, "Only select from a single table or index is supported."
#define MSG_PARTIQL_SOURCE ERR_VALIDATION, "Unexpected from source"
#define MSG_PARTIQL_SOURCE_LIST ERR_VALIDATION, "Invalid list expression in source."
#define MSG_PARTIQL_SOURCE_PARTS                                                                   \
	ERR_VALIDATION, "A path may contain at most 2 components in the FROM clause"
#define MSG_PARTIQL_SOURCE_INSERT                                                                  \
	ERR_VALIDATION,                                                                            \
		"FROM clause may only contain a single table name in data manipulation statements"
#define MSG_PARTIQL_SOURCE_INDEX ERR_VALIDATION, "This operation is not supported on an index"
#define MSG_PARTIQL_TABLE_NAME                                                                     \
	ERR_VALIDATION, "Table name should be within the length [3, 255] and only contain 'a-z', " \
			"'A-Z', '0-9', '-', '_', "                                                 \
			"'.'."
#define MSG_PARTIQL_INDEX_UNKNOWN ERR_VALIDATION, "The table does not have the specified index"
#define MSG_PARTIQL_INDEX_CONSISTENT                                                               \
	ERR_VALIDATION, "Strongly consistent read is not supported on Global Secondary Indexes"
#define MSG_PARTIQL_MULTI_KEY                                                                      \
	ERR_VALIDATION, "PartiQL statements cannot be executed on tables with multi-attribute "    \
			"HASH keys or multi-attribute "                                            \
			"RANGE keys."
#define MSG_PARTIQL_PATH_EMPTY ERR_VALIDATION, "Path component cannot be an empty string"
#define MSG_PARTIQL_PATH_COMPONENT ERR_VALIDATION, "Unexpected path component" STR_FMT
#define MSG_PARTIQL_PATH_INDEX                                                                     \
	ERR_VALIDATION, "List index is not within the allowable range; index: [" STR_FMT "]" STR_FMT
#define MSG_PARTIQL_HIERARCHY                                                                      \
	ERR_VALIDATION, "Changing item's hierarchy while reading isn't supported"
#define MSG_PARTIQL_DUPLICATE_COLUMN                                                               \
	ERR_VALIDATION, "Duplicate identifiers in select clause: " STR_FMT
#define MSG_PARTIQL_SELECT_VALUE                                                                   \
	ERR_VALIDATION, "Select projection doesn't support value or pivot keywords"
#define MSG_PARTIQL_EXISTS                                                                         \
	ERR_VALIDATION, "EXISTS can only be used in ExecuteTransaction write requests."
#define MSG_PARTIQL_TRANSACTION_OPERATION ERR_VALIDATION, "Unsupported operation in transaction."
#define MSG_PARTIQL_BATCH_OPERATION                                                                \
	ERR_VALIDATION,                                                                            \
		"Invalid operation. Only select, insert, update and delete operations are valid"

/* conditions */
#define MSG_PARTIQL_BOOLEAN                                                                        \
	ERR_VALIDATION, "WHERE clause must contain an expression that resolves to a boolean"
#define MSG_PARTIQL_LOGIC ERR_VALIDATION, "The arguments to AND/OR must be Expressions"
#define MSG_PARTIQL_NOT ERR_VALIDATION, "The argument to NOT must be a Type or Expression"
#define MSG_PARTIQL_LOGIC_TYPE                                                                     \
	ERR_VALIDATION, "Incorrect operand type for operator or function; operator or function: "  \
			"%s, operand type: N"
#define MSG_PARTIQL_FUNCTION ERR_VALIDATION, "Unrecognized function: " STR_FMT STR_FMT
#define MSG_PARTIQL_CONDITION_OPERATOR                                                             \
	ERR_VALIDATION, "Unsupported operator in Condition Expression. Operator: %s"
#define MSG_PARTIQL_UPDATE_OPERATOR                                                                \
	ERR_VALIDATION, "Unsupported operator in Update Expression. Operator: %s"
#define MSG_PARTIQL_FUNCTION_PLACE                                                                 \
	ERR_VALIDATION, "The function is not allowed in %s expression; function: " STR_FMT
#define MSG_PARTIQL_UPDATE_IS ERR_VALIDATION, "IS operator is not supported in update expressions"
#define MSG_PARTIQL_MISSING ERR_VALIDATION, "MISSING must be compared using IS operator"
#define MSG_PARTIQL_IS_TYPE                                                                        \
	ERR_VALIDATION, "Unsupported data type for IS operator: " STR_FMT                          \
			". Supported data types are [MISSING, NULL, BOOLEAN, BLOB, "               \
			"STRING, NUMERIC, STRUCT, TUPLE, LIST]" STR_FMT
#define MSG_PARTIQL_IS_PATH                                                                        \
	ERR_VALIDATION,                                                                            \
		"The left hand side argument to IS must be a Variable Reference, Literal, or Path"
#define MSG_PARTIQL_IN                                                                             \
	ERR_VALIDATION, "IN operator must have a left hand argument of type Variable Reference "   \
			"and right hand argument of "                                              \
			"type Seq with at least one member"
#define MSG_PARTIQL_IN_KEYS                                                                        \
	ERR_VALIDATION,                                                                            \
		"The IN operator is provided with too many operands; number of operands: %zu"
#define MSG_PARTIQL_OPERATORS                                                                      \
	ERR_VALIDATION, "The expression contains too many operators; operator count: %u"
#define MSG_PARTIQL_UNARY                                                                          \
	ERR_VALIDATION, "Incorrect number of operands for operator or function; operator or "      \
			"function: %s, number of operands: %u"

/* values */
#define MSG_PARTIQL_PARAMETERS                                                                     \
	ERR_VALIDATION, "Number of parameters in request and statement don't match."
#define MSG_PARTIQL_VALUE_TYPE                                                                     \
	ERR_VALIDATION, "Unsupported data type: " STR_FMT " under key " STR_FMT STR_FMT
#define MSG_PARTIQL_VALUE_ION                                                                      \
	ERR_VALIDATION, "Ion Literals are not supported: %s under key " STR_FMT STR_FMT
#define MSG_PARTIQL_VALUE_NUMBER ERR_VALIDATION, STR_FMT " under " STR_FMT
#define MSG_PARTIQL_BAG_EMPTY ERR_VALIDATION, "Empty bags are not supported%s"
#define MSG_PARTIQL_BAG_TYPE                                                                       \
	ERR_VALIDATION, "Unsupported data type in Bag. DynamoDB only supports either numbers or "  \
			"strings in bags" STR_FMT
#define MSG_PARTIQL_BAG_NULL                                                                       \
	ERR_VALIDATION, "One or more parameter values were invalid: Numeric sets may not contain " \
			"null under " STR_FMT
#define MSG_PARTIQL_BAG_DUPLICATES                                                                 \
	ERR_VALIDATION, "One or more parameter values were invalid: Input collection [" STR_FMT    \
			"] contains duplicates."
#define MSG_PARTIQL_BAG_DUPLICATES_NUMBER                                                          \
	ERR_VALIDATION, "One or more parameter values were invalid: Input collection [" STR_FMT    \
			"] contains duplicates! under " STR_FMT
#define MSG_PARTIQL_TUPLE_KEY                                                                      \
	ERR_VALIDATION, "Tuple keys must be of type String. Actual type: %s under " STR_FMT STR_FMT
#define MSG_PARTIQL_TUPLE_TWICE                                                                    \
	ERR_VALIDATION, "Duplicate keys in tuple. Key: " STR_FMT " under " STR_FMT STR_FMT
#define MSG_PARTIQL_VALUE_DEPTH ERR_VALIDATION, "Nesting Levels have exceeded supported limits%s"
#define MSG_PARTIQL_LITERAL_DEPTH                                                                  \
	ERR_VALIDATION, "Nesting Levels have exceeded supported limits under " STR_FMT

/* INSERT, UPDATE, DELETE */
#define MSG_PARTIQL_INSERT_FORMAT                                                                  \
	ERR_VALIDATION, "Unsupported format in item expression. Please use struct format {...} "   \
			"to express item values for "                                              \
			"insert statement." STR_FMT
#define MSG_PARTIQL_INSERT_RETURNING ERR_VALIDATION, "RETURNING is not supported in INSERT"
#define MSG_PARTIQL_DELETE_RETURNING                                                               \
	ERR_VALIDATION, "Invalid returning clause: RETURNING %s *. Only RETURNING ALL OLD * is "   \
			"allowed in DELETE statements."
#define MSG_PARTIQL_RETURNING_STAR                                                                 \
	ERR_VALIDATION, "Expected '*' after ( MODIFIED | ALL ) ( NEW | OLD ) in RETURNING clause"
#define MSG_PARTIQL_RETURNING_MANY                                                                 \
	ERR_VALIDATION, "Invalid syntax with multiple returning elements in RETURNING clause"
#define MSG_PARTIQL_SET_FIRST                                                                      \
	ERR_VALIDATION, "The first argument to SET_%s must equal the assignment value" STR_FMT
#define MSG_PARTIQL_SET_SECOND                                                                     \
	ERR_VALIDATION, "The second argument to SET_%s must be a value with type SET" STR_FMT
#define MSG_PARTIQL_SET_COUNT ERR_VALIDATION, "SET_%s must have exactly two arguments" STR_FMT
#define MSG_PARTIQL_KEY_ABSENT                                                                     \
	ERR_VALIDATION, "Key attribute should be present in the item: Key " STR_FMT
#define MSG_PARTIQL_KEY_TYPE                                                                       \
	ERR_VALIDATION, "Key attribute's data type should match its data type in table's schema: " \
			"Key " STR_FMT
#define MSG_PARTIQL_KEY_SCALAR                                                                     \
	ERR_VALIDATION, "Key value must be of type S, N, or B. Key name: " STR_FMT ", Key type: "  \
										   "%s"
#define MSG_PARTIQL_SCAN_TYPE                                                                      \
	ERR_VALIDATION, "One or more parameter values were invalid: Condition parameter type "     \
			"does not match schema type"
#define MSG_PARTIQL_KEY_EQUALITY                                                                   \
	ERR_VALIDATION, "Where clause does not contain a mandatory equality on all key attributes"
#define MSG_PARTIQL_KEY_TWICE                                                                      \
	ERR_VALIDATION, "Multiple conditions on same key " STR_FMT                                 \
			". Only single item Update/Insert/Delete are supported"
#define MSG_PARTIQL_DUPLICATE_ITEM ERR_DUPLICATE_ITEM, "Duplicate primary key exists in table"

/* SELECT */
#define MSG_PARTIQL_ORDER_TYPE                                                                     \
	ERR_VALIDATION,                                                                            \
		"Argument to ORDER BY must be of type VariableReference. Type: " STR_FMT STR_FMT
#define MSG_PARTIQL_ORDER_WHERE                                                                    \
	ERR_VALIDATION, "Must have WHERE clause in the statement when using ORDER BY clause."
#define MSG_PARTIQL_ORDER_HASH                                                                     \
	ERR_VALIDATION, "Must have at least one non-optional hash key condition in WHERE clause "  \
			"when using ORDER BY clause."
#define MSG_PARTIQL_ORDER_KEY \
	ERR_VALIDATION, "Attribute " STR_FMT " in ORDER BY clause must be part of the primary key"
#define MSG_PARTIQL_ORDER_NEEDS_HASH                                                               \
	ERR_VALIDATION, "Must have hash key in ORDER BY clause when more than one hash key "       \
			"condition specified "                                                     \
			"in WHERE clause."
#define MSG_PARTIQL_OVERLAP                                                                        \
	ERR_VALIDATION, "Overlapping conditions with range keys are not supported in where clause"
#define MSG_PARTIQL_NEXT_TOKEN ERR_VALIDATION, "Invalid NextToken"
#define MSG_PARTIQL_NEXT_TOKEN_OTHER ERR_VALIDATION, "NextToken does not match request"

/* batches and transactions */
#define MSG_PARTIQL_BATCH_MIXED                                                                    \
	ERR_VALIDATION, "Read and write requests together in the same batch is not supported."
#define MSG_PARTIQL_BATCH_KEY                                                                      \
	ERR_VALIDATION, "Select statements within BatchExecuteStatement must specify the primary " \
			"key in the where clause."
#define MSG_PARTIQL_TRANSACTION_MIXED                                                              \
	ERR_VALIDATION, "ExecuteTransaction API does not support both read and write operations "  \
			"in the same request."
#define MSG_PARTIQL_TRANSACTION_KEY                                                                \
	ERR_VALIDATION, "Select statements within ExecuteTransaction must specify the primary "    \
			"key in the where clause."
#define MSG_PARTIQL_TRANSACTION_INDEX                                                              \
	ERR_VALIDATION, "Reads on indices are not supported within transactions."
#define MSG_PARTIQL_TRANSACTION_EXISTS_INDEX                                                       \
	ERR_VALIDATION, "Operations on indices are not supported in transactions"
#define MSG_PARTIQL_TRANSACTION_RETURNING                                                          \
	ERR_VALIDATION, "RETURNING clause is not supported in ExecuteTransaction."
#define MSG_PARTIQL_TRANSACTION_EXISTS                                                             \
	ERR_VALIDATION, "EXISTS() must contain a single item read with additional condition"
#define MSG_PARTIQL_TRANSACTION_STATEMENT                                                          \
	ERR_VALIDATION, "Validation failed in TransactStatements[%zu]: " STR_FMT

#endif
