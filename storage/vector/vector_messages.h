/*
 * vector_messages - texts of the errors that vector attributes of items give.
 * Source: recorded answers of AWS, the odd full stops among them.
 */
#ifndef DYNALITH_STORAGE_VECTOR_MESSAGES_H
#define DYNALITH_STORAGE_VECTOR_MESSAGES_H

#include "core/err.h"

#define INVALID_VECTOR "One or more parameter values were invalid. "

#define MSG_VECTOR_NOT_LIST                                                                        \
	ERR_VALIDATION, INVALID_VECTOR "Invalid type for parameter " STR_FMT                       \
				       ", Expected: 32-bit floating point number list "            \
				       "IndexName: " STR_FMT
#define MSG_VECTOR_SIZE                                                                            \
	ERR_VALIDATION, INVALID_VECTOR "Invalid size for parameter " STR_FMT                       \
				       ", Expected: %u, Actual: %u IndexName: " STR_FMT
#define MSG_VECTOR_ELEMENT                                                                         \
	ERR_VALIDATION, INVALID_VECTOR "Invalid type for parameter " STR_FMT                       \
				       "[%u], Expected: 32-bit floating point number, "            \
				       "Actual: %s. IndexName: " STR_FMT
#define MSG_VECTOR_RANGE                                                                           \
	ERR_VALIDATION, INVALID_VECTOR "Invalid value for parameter " STR_FMT                      \
				       "[%u], Value: " STR_FMT " is outside valid "                \
				       "range [-3.4028235E38, 3.4028235E38]. IndexName: " STR_FMT
#define MSG_VECTOR_SCHEMA_TYPE                                                                     \
	ERR_VALIDATION,                                                                            \
		INVALID_VECTOR "Attribute '" STR_FMT                                               \
			       "' type mismatch. Expected: %s, Actual: %s. IndexName: " STR_FMT

#endif
