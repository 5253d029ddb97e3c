/*
 * refusal - a whole answer with an error, for those who send beneath libmicrohttpd.
 */
#ifndef DYNALITH_SERVER_HTTP_REFUSAL_H
#define DYNALITH_SERVER_HTTP_REFUSAL_H

#include "core/str.h"

#define REFUSAL_MOST 1024 /* bytes of any of them */

/* `status` is as in "400 Bad Request", `line` a header line without its end, `body` one of
 * server/messages.h. */
struct str refusal_write(char text[REFUSAL_MOST], const char *status, struct str line,
			 struct str body);

#endif
