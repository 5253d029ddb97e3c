/*
 * head - the head of a request in the form that SDKs send it, read in one pass.
 *
 * libmicrohttpd 0.9.75 reads a head line by line and allocates a record for each, compares names with all that it knows, and framing looks at each line once
 * more. So the module sockets reads the usual head first, and libmicrohttpd gets one of two lines in its place.
 *
 * Usual is: POST / HTTP/1.1; lines that end with CR LF, of a name (RFC 9110, 5.1), a colon and a value without control characters and spaces at its end; one
 * Host of visible characters; one Content-Length of up to nine digits; a Connection of keep-alive or none. No name that asks more of a server than to read
 * and to answer, or that framing knows: Transfer-Encoding, TE, Trailer, Expect, Upgrade, Cookie, Origin, Sec-Fetch-..., Proxy-Connection, x-dynalith-explain.
 * All other heads, and those that come in pieces, are left to libmicrohttpd and framing, which decide in all cases that are not plain.
 */
#ifndef DYNALITH_SERVER_HEAD_H
#define DYNALITH_SERVER_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HEAD_LINES 32 /* SDKs send 8 to 14 */
#define HEAD_TEXT 4096 /* bytes of a usual head */
#define HEAD_SHORT 64 /* bytes that head_shorten() writes, at most */
#define HEAD_HOST "a.invalid" /* the Host of a short head; no server has this name, RFC 2606 */

/* Places in the text. */
struct head_line {
	uint16_t name, name_n, value, value_n;
};

struct usual_head {
	size_t n;        /* its bytes, with the empty line */
	uint32_t body_n; /* of the body, as Content-Length says */
	unsigned line_count;
	struct head_line lines[HEAD_LINES];
};

/* Whether the bytes begin with a whole head of the usual form; then `head` says what it holds. */
bool head_read(const char *bytes, size_t n, struct usual_head *head);

/* Writes the head that libmicrohttpd gets; its length. */
size_t head_shorten(const struct usual_head *head, char out[HEAD_SHORT]);

#endif
