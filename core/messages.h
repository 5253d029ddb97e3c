/*
 * messages - texts of errors about values; see err.h for how they are raised.
 * Source: recorded answers of AWS.
 */
#ifndef DYNALITH_CORE_MESSAGES_H
#define DYNALITH_CORE_MESSAGES_H

#include "core/err.h"

#define MSG_NUMBER_EMPTY ERR_VALIDATION, "The parameter cannot be converted to a numeric value"
#define MSG_NUMBER_MALFORMED                                                                       \
	ERR_VALIDATION, "The parameter cannot be converted to a numeric value: " STR_FMT
#define MSG_NUMBER_PRECISION                                                                       \
	ERR_VALIDATION, "Attempting to store more than 38 significant digits in a Number"
#define MSG_NUMBER_OVERFLOW                                                                        \
	ERR_VALIDATION, "Number overflow. Attempting to store a number with magnitude larger "     \
			"than supported range"
#define MSG_NUMBER_UNDERFLOW                                                                       \
	ERR_VALIDATION, "Number underflow. Attempting to store a number with magnitude smaller "   \
			"than supported range"

#endif
