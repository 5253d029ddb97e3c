/*
 * gzip - content codings of request and response bodies: gzip and deflate (RFC 9110, 8.4.1). The
 * only door to zlib.
 *
 * AWS: DynamoDB as recorded by ScyllaDB's Alternator tests, which run against it
 * (test_compressed_request, test_compressed_response).
 */
#ifndef DYNALITH_SERVER_GZIP_H
#define DYNALITH_SERVER_GZIP_H

#include <stdbool.h>

#include "core/arena.h"
#include "core/str.h"

enum gzip_coding {
	GZIP_IDENTITY,
	GZIP_GZIP,
	GZIP_DEFLATE, /* zlib's format around a deflate stream; DynamoDB takes no bare stream */
	GZIP_UNKNOWN,
};

enum gzip_result {
	GZIP_FINE,
	GZIP_BROKEN,    /* not of this coding, or cut short; an empty body too */
	GZIP_TOO_LARGE, /* more than `limit` bytes */
};

/* The coding that a Content-Encoding names; absent and empty are IDENTITY, a list of several is
 * UNKNOWN. */
enum gzip_coding gzip_coding_of(struct str content_encoding);

/*
 * The coding for an answer by an Accept-Encoding: the heaviest of gzip and deflate, of equals the
 * one named first, behind them what "*" stands for. IDENTITY where neither is accepted:
 * "identity;q=0" forbids nothing.
 */
enum gzip_coding gzip_accepted(struct str accept_encoding);

/*
 * Decompresses gzip or deflate. Further members of gzip are joined. Other bytes behind the last
 * member are ignored, as are all bytes behind a deflate stream.
 */
enum gzip_result gzip_decode(struct arena *arena, enum gzip_coding coding, struct str body,
			     size_t limit, struct str *out);

/* A gzip stream that comes in pieces; members behind the first are joined. */
struct gzip_reader;

struct gzip_reader *gzip_reader_new(void);
void gzip_reader_free(struct gzip_reader *reader);
/* Decompresses what it can of *in, which is cut, into the `room` bytes at `to`; *n are there. False
 * where it is no gzip. */
bool gzip_reader_read(struct gzip_reader *reader, struct str *in, char *to, size_t room, size_t *n);
/* Whether the stream may end here: behind a whole member. */
bool gzip_reader_is_whole(const struct gzip_reader *reader);

/* Compresses at the fastest level; absent where that fails. */
struct str gzip_encode(struct arena *arena, enum gzip_coding coding, struct str body);

/* The same as small as it gets, for what is compressed once. */
struct str gzip_encode_small(struct arena *arena, enum gzip_coding coding, struct str body);

#endif
