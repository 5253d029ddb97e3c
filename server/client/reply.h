/*
 * reply - one HTTP reply, taken apart from bytes as they come: RFC 9112. The one place that knows
 * whether a reply is whole.
 *
 * A reply is whole at the end that it tells: its Content-Length, its last chunk with the trailer
 * behind it, or the end of the connection where it tells neither. Everything else is broken, and
 * nothing of it counts: lengths told twice, a coding other than chunked, chunks that are none, a
 * body that is larger than it may be, a checksum that does not hold. All that it keeps is bounded;
 * limits of time are the caller's.
 */
#ifndef DYNALITH_SERVER_REPLY_H
#define DYNALITH_SERVER_REPLY_H

#include "core/buf.h"

enum reply_part {
	REPLY_STATUS,
	REPLY_HEAD,
	REPLY_LENGTH,
	REPLY_CLOSE,
	REPLY_SIZE,
	REPLY_CHUNK,
	REPLY_CHUNK_END,
	REPLY_TRAILER,
	REPLY_WHOLE,
	REPLY_BROKEN
};

struct reply {
	struct arena *arena;
	enum reply_part part;    /* under way; the last two are ends */
	size_t most;             /* bytes that the body may have */
	int status;              /* of HTTP, once the head was read */
	struct buf line;         /* that is not whole yet */
	struct buf head;         /* lines NAME:VALUE, without white space around the value */
	struct buf body;
	unsigned interim;        /* replies 1xx before it */
	size_t overhead;         /* bytes of lines since the last byte of a body */
	uint64_t left;           /* bytes of the body, or of the chunk, that are to come */
	bool has_length, is_chunked, is_old; /* is_old: HTTP/1.0 */
	const char *problem;     /* of a broken reply, in one line */
};

/* In the arena. `most`: bytes of its body. */
struct reply reply_in(struct arena *arena, size_t most);

/* What came next. Bytes behind the end are passed over. */
void reply_take(struct reply *reply, struct str bytes);

/* The connection ended. */
void reply_end(struct reply *reply);

static inline bool reply_is_over(const struct reply *reply)
{
	return reply->part >= REPLY_WHOLE;
}

/* The value of a header, or absent. */
struct str reply_header(const struct reply *reply, const char *name);

#endif
