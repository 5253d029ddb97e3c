/*
 * framing - where a request's body ends, which host it is for, and whether a browser sent it, by the request's head.
 *
 * libmicrohttpd 0.9.75 accepts heads that other servers read in another way (RFC 9112, 11.2: request smuggling). So this module checks each
 * line too, where it lies in libmicrohttpd's buffer.
 */
#ifndef DYNALITH_SERVER_FRAMING_H
#define DYNALITH_SERVER_FRAMING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/str.h"

struct framing {
	unsigned lengths, encodings, hosts;
	bool is_bad, is_from_browser, is_explained; /* is_explained: there is an x-dynalith-explain */
	size_t records;     /* bytes that libmicrohttpd keeps of the lines beside their text */
	const char *length; /* of the body, in digits, where lengths > 0 */
	const char *end;    /* of the line before, in libmicrohttpd's buffer */
	uintptr_t line_end; /* bytes that ended it; 0: none was seen yet */
};

/* The request line, whose parts lie behind each other; `uri` is the whole target, `uri_end` its end. */
struct framing framing_begin(const char *method, const char *uri, const char *uri_end, const char *version);

/* The next header line. */
void framing_add(struct framing *framing, struct str name, const char *value, size_t value_n);

/* The head ends at `end`, behind its empty line. Whether it can be read in one way only. */
bool framing_is_good(struct framing *framing, const char *end, bool is_1_1);

#endif
