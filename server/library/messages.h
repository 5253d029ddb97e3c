/*
 * messages - what dynalith_error() says of calls that are not done.
 */
#ifndef DYNALITH_SERVER_LIBRARY_MESSAGES_H
#define DYNALITH_SERVER_LIBRARY_MESSAGES_H

#define MSG_NO_INSTANCE "the instance is NULL"
#define MSG_FORKED                                                                                 \
	"this process is the child of the one that opened the instance; open another one behind "  \
	"fork()"
#define MSG_CLOSING "the instance is closing"
#define MSG_REQUEST                                                                                \
	"the request is NULL, its size is not that of struct dynalith_request, or it has a NULL "  \
	"where a size or a count says otherwise"
#define MSG_OPERATION "the operation is NULL; it wants a name such as PutItem"
#define MSG_APPLY_REFUSED ERR_INTERNAL, "%s"
#define MSG_PATH "the path is NULL"
#define MSG_CONTROL "the method or the path is NULL"
#define MSG_NO_STREAMS "{\"message\":\"An answer without an end is for HTTP alone\"}"

#endif
