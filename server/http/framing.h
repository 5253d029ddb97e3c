/*
 * framing - where a request's body ends, which host it is for, and whether a browser sent it, by
 * its header lines as libmicrohttpd hands them out.
 *
 * libmicrohttpd 0.9.75 accepts heads that other servers read in another way (RFC 9112, 11.2:
 * request smuggling). So this module judges each line too.
 */
#ifndef DYNALITH_SERVER_HTTP_FRAMING_H
#define DYNALITH_SERVER_HTTP_FRAMING_H

#include <stdbool.h>
#include <stdint.h>

#include "server/http/headers.h"

struct framing {
	bool is_good;       /* the head can be read in one way only */
	bool has_body;
	uint64_t length;    /* of the body, as Content-Length says; UINT64_MAX where it is larger */
	bool is_from_browser, is_explained; /* is_explained: there is an x-dynalith-explain */
};

/* `target` is as it was sent, `version` as in "HTTP/1.1". Each value ends with a NUL. */
struct framing framing_of(struct str target, const char *version, const struct headers *headers);

#endif
