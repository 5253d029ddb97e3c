/*
 * messages - texts about settings of the throughput that are none.
 */
#ifndef DYNALITH_PROTOCOL_THROUGHPUT_MESSAGES_H
#define DYNALITH_PROTOCOL_THROUGHPUT_MESSAGES_H

#include "core/err.h"

#define MSG_THROUGHPUT_BODY                                                                        \
	ERR_VALIDATION, "%s",                                                                      \
		"Throughput wants a JSON object with \"throughput\" or \"tables\", such as "       \
		"{\"throughput\": \"enforce\", \"burst_seconds\": 0}"
#define MSG_THROUGHPUT_UNKNOWN                                                                     \
	ERR_VALIDATION, "There is no '" STR_FMT "'%s" STR_FMT "; there are " STR_FMT
#define MSG_THROUGHPUT_MEMBER ERR_VALIDATION, "'%s'%s" STR_FMT " wants %s"
#define MSG_THROUGHPUT_TABLE                                                                       \
	ERR_VALIDATION,                                                                            \
		"'" STR_FMT                                                                        \
		"' is no name of a table: these have 3 to 255 letters, digits, '_', '-' and '.'"
#define MSG_THROUGHPUT_NAMESPACES                                                                  \
	ERR_LIMIT_EXCEEDED,                                                                        \
		"%d namespaces have settings of their throughput already; clear some with DELETE"
#define MSG_THROUGHPUT_NAMESPACE                                                                   \
	ERR_VALIDATION, "Throughput is enforced for an account of 12 digits and a region of 1 to " \
			"63 characters, not for account '" STR_FMT "' and region '" STR_FMT "'"

/* What members want. */
#define THROUGHPUT_WANTS_MODE "\"enforce\" or \"off\""
#define THROUGHPUT_WANTS_BURST "a whole number of seconds from 0 to 3600"
#define THROUGHPUT_WANTS_BOOLEAN "true or false"
#define THROUGHPUT_WANTS_SERVERS "a whole number from 1 to 1000"
#define THROUGHPUT_WANTS_TABLES "an object with an object for each table"
#define THROUGHPUT_WANTS_LEFT                                                                      \
	"an object such as {\"read\": 0, \"write\": 5}, with whole units from 0 to 1000000000"
#define THROUGHPUT_WANTS_INDEXES                                                                   \
	"an object such as {\"by_date\": {\"write\": 0}}, with what is left for each global index"

#endif
