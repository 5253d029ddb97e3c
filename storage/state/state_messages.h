/*
 * state_messages - texts of errors about the state of a namespace; see core/err.h for how they are raised.
 */
#ifndef DYNALITH_STORAGE_STATE_MESSAGES_H
#define DYNALITH_STORAGE_STATE_MESSAGES_H

#include "core/err.h"

#define MSG_STATE_NO_TABLE ERR_RESOURCE_NOT_FOUND, "There is no table '" STR_FMT "' in this namespace. Nothing was changed."

#endif
