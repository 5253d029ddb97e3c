/*
 * state_messages - texts of errors about the state of a namespace; see core/err.h for how they are
 * raised.
 */
#ifndef DYNALITH_STORAGE_STATE_MESSAGES_H
#define DYNALITH_STORAGE_STATE_MESSAGES_H

#include "core/err.h"

#define MSG_STATE_NO_TABLE                                                                         \
	ERR_RESOURCE_NOT_FOUND,                                                                    \
		"There is no table '" STR_FMT "' in this namespace. Nothing was changed."
#define MSG_CHECKPOINT_THERE                                                                       \
	ERR_RESOURCE_IN_USE, "There is a checkpoint '" STR_FMT "' in this namespace already"
#define MSG_CHECKPOINT_NONE                                                                        \
	ERR_RESOURCE_NOT_FOUND, "There is no checkpoint '" STR_FMT "' in this namespace"
#define MSG_SNAPSHOT_THERE                                                                         \
	ERR_RESOURCE_IN_USE, "There is a snapshot '" STR_FMT "' of this namespace already"
#define MSG_SNAPSHOT_NONE                                                                          \
	ERR_RESOURCE_NOT_FOUND, "There is no snapshot '" STR_FMT "' of this namespace"
#define MSG_CLONE_FULL                                                                             \
	ERR_RESOURCE_IN_USE,                                                                       \
		"Account " STR_FMT " has tables in this region already; \"replace\": true "        \
				   "deletes them first. Nothing was changed."
#define MSG_SNAPSHOT_CURSOR ERR_VALIDATION, "The cursor is not one of an answer before"
#define MSG_SNAPSHOT_BLOCK ERR_VALIDATION, "The block is malformed, or not the next one of the file"
#define MSG_SNAPSHOT_NEWER                                                                         \
	ERR_VALIDATION, "The file has format %u; this version reads formats up to %d"

#endif
