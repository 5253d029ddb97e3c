/*
 * messages - errors of the setting.
 */
#ifndef DYNALITH_PROTOCOL_CONFLICT_MESSAGES_H
#define DYNALITH_PROTOCOL_CONFLICT_MESSAGES_H

#define MSG_CONFLICT_NAMESPACES                                                                    \
	ERR_VALIDATION, "More than %d namespaces have a setting of their own"

#endif
