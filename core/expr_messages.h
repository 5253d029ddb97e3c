/*
 * expr_messages - texts of the expression language's errors. The first argument names the
 * parameter, "Invalid ConditionExpression: "; it is empty where there is no parameter to name
 * (PartiQL). ERR_REQUEST: the text alone shows the mistake; see protocol/wire/messages.h. Source:
 * recorded answers of AWS; those the record lacks, DynamoDB Local.
 */
#ifndef DYNALITH_CORE_EXPR_MESSAGES_H
#define DYNALITH_CORE_EXPR_MESSAGES_H

#include "core/err.h"

#define MSG_EXPR_EMPTY ERR_REQUEST, "%sThe expression can not be empty;"
#define MSG_EXPR_SIZE ERR_REQUEST, "%sExpression size has exceeded the maximum allowed size;"
#define MSG_EXPR_SIZE_TOLD MSG_EXPR_SIZE " expression size: %zu"
#define MSG_EXPR_SYNTAX ERR_REQUEST, "%sSyntax error; token: \"" STR_FMT "\", near: \"" STR_FMT "\""
#define MSG_EXPR_PARENTHESES ERR_REQUEST, "%sThe expression has redundant parentheses;"
#define MSG_EXPR_OPERATORS                                                                         \
	ERR_REQUEST, "%sThe expression contains too many operators; operator count: %u"
#define MSG_EXPR_IN_OPERANDS \
	ERR_REQUEST, "%sThe IN operator is provided with too many operands; number of operands: %u"
#define MSG_EXPR_RESERVED \
	ERR_REQUEST, "%sAttribute name is a reserved keyword; reserved keyword: " STR_FMT
#define MSG_EXPR_NAME_UNDEFINED                                                                    \
	ERR_REQUEST, "%sAn expression attribute name used in the document path is not defined; "   \
		     "attribute name: " STR_FMT
#define MSG_EXPR_VALUE_UNDEFINED                                                                   \
	ERR_REQUEST, "%sAn expression attribute value used in expression is not defined; "         \
		     "attribute value: " STR_FMT
#define MSG_EXPR_INDEX_RANGE \
	ERR_REQUEST, "%sList index is not within the allowable range; index: [" STR_FMT "]"
#define MSG_EXPR_NESTING \
	ERR_REQUEST, "%sThe document path has too many nesting levels; nesting levels: %zu"
#define MSG_EXPR_FUNCTION_UNKNOWN ERR_REQUEST, "%sInvalid function name; function: " STR_FMT
#define MSG_EXPR_FUNCTION_KIND                                                                     \
	ERR_REQUEST, "%sThe function is not allowed in %s expression; function: %s"
#define MSG_EXPR_FUNCTION_PLACE                                                                    \
	ERR_REQUEST,                                                                               \
		"%sThe function is not allowed to be used this way in an expression; function: %s"
#define MSG_EXPR_OPERAND_COUNT                                                                     \
	ERR_REQUEST, "%sIncorrect number of operands for operator or function; operator or "       \
		     "function: %s, "                                                              \
		     "number of operands: %u"
#define MSG_EXPR_NEEDS_PATH \
	ERR_REQUEST, "%sOperator or function requires a document path; operator or function: %s"
#define MSG_EXPR_OPERAND_TYPE                                                                      \
	ERR_REQUEST, "%sIncorrect operand type for operator or function; operator or function: "   \
		     "%s, operand type: %s"
#define MSG_EXPR_VERB_TYPE                                                                         \
	ERR_REQUEST, "%sIncorrect operand type for operator or function; operator: %s, operand "   \
		     "type: %s, "                                                                  \
		     "typeSet: ALLOWED_FOR_%s_OPERAND"
#define MSG_EXPR_TYPE_NAME                                                                         \
	ERR_REQUEST, "%sInvalid attribute type name found; type: " STR_FMT ", valid types: {%s}"
#define MSG_EXPR_DISTINCT                                                                          \
	ERR_REQUEST, "%sThe first operand must be distinct from the remaining operands for this "  \
		     "operator or function; operator: %s, first operand: " STR_FMT
#define MSG_EXPR_BETWEEN_ORDER                                                                     \
	ERR_REQUEST, "%sThe BETWEEN operator requires upper bound to be greater than or equal to " \
		     "lower "                                                                      \
		     "bound; lower bound operand: AttributeValue: {" STR_FMT                       \
		     "}, upper bound operand: AttributeValue: {" STR_FMT "}"
#define MSG_EXPR_BETWEEN_TYPE                                                                      \
	ERR_REQUEST, "%sThe BETWEEN operator requires same data type for lower and upper bounds; " \
		     "lower bound operand: AttributeValue: {" STR_FMT                              \
		     "}, upper bound operand: AttributeValue: {" STR_FMT "}"
/* A B in the two messages above, where they name a parameter: its length, twice. */
#define MSG_PART_BYTES "java.nio.HeapByteBuffer[pos=0 lim=%u cap=%u]"
#define MSG_EXPR_SECTION_TWICE \
	ERR_REQUEST, "%sThe \"%s\" section can only be used once in an update expression;"
#define MSG_EXPR_OVERLAP                                                                           \
	ERR_REQUEST,                                                                               \
		"%sTwo document paths overlap with each other; must remove or rewrite one of "     \
		"these paths; path one: " STR_FMT ", path two: " STR_FMT
#define MSG_EXPR_CONFLICT                                                                          \
	ERR_REQUEST,                                                                               \
		"%sTwo document paths conflict with each other; must remove or rewrite one of "    \
		"these paths; path one: " STR_FMT ", path two: " STR_FMT
#define MSG_EXPR_NAMES_UNUSED                                                                      \
	ERR_REQUEST, "Value provided in ExpressionAttributeNames unused in expressions: keys: "    \
		     "{" STR_FMT "}"
#define MSG_EXPR_VALUES_UNUSED                                                                     \
	ERR_REQUEST, "Value provided in ExpressionAttributeValues unused in expressions: keys: "   \
		     "{" STR_FMT "}"

#define MSG_UPDATE_MISSING                                                                         \
	ERR_VALIDATION,                                                                            \
		"The provided expression refers to an attribute that does not exist in the item"
#define MSG_UPDATE_OPERAND                                                                         \
	ERR_OPERAND, "An operand in the update expression has an incorrect data type"
#define MSG_UPDATE_PATH                                                                            \
	ERR_VALIDATION, "The document path provided in the update expression is invalid for "      \
			"update"
#define MSG_UPDATE_DEPTH ERR_VALIDATION, "Nesting Levels have exceeded supported limits"
#define MSG_UPDATE_SIZE ERR_VALIDATION, "Item size to update has exceeded the maximum allowed size"

#endif
