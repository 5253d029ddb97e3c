/*
 * messages - texts of errors about races; see core/err.h for how they are raised.
 */
#ifndef DYNALITH_SERVER_RACES_MESSAGES_H
#define DYNALITH_SERVER_RACES_MESSAGES_H

#define MSG_RACES_SERVER ERR_INTERNAL, STR_FMT
#define MSG_RACES_LISTEN ERR_INTERNAL, "cannot listen on port %ld: %s"
#define MSG_RACES_FILE ERR_INTERNAL, "cannot keep what the command prints: %s"
#define MSG_RACES_ENDED ERR_INTERNAL, "the test has ended: nothing comes from standard input"
#define MSG_RACES_LINE                                                                             \
	ERR_INTERNAL,                                                                              \
		"the test wrote \"" STR_FMT "\"; wanted passed, failed WHY, or with --in-process " \
		"came, answered or asked: server/races/race_run.h"
#define MSG_RACES_READ ERR_VALIDATION, "%s: %s"
#define MSG_RACES_JSON ERR_VALIDATION, "%s: not an order of `dynalith races`: %s"
#define MSG_RACES_TROUBLE ERR_VALIDATION, "%s: \"%s\" is no id of a request"
#define MSG_RACES_INVARIANTS                                                                       \
	ERR_VALIDATION,                                                                            \
		"%s: wanted {\"invariants\": [{\"name\": TEXT, \"statement\": SELECT}, ...]}, "    \
		"or instead of \"statement\" one of: unique; each, in; sum, equals_sum or "        \
		"equals_count; never; rises, of"

#endif
