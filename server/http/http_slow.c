#include "server/http/http_internal.h"

#include <microhttpd.h>

#define STREAM_LOOK_MS 50 /* between two looks at a stream that had nothing */
#define STREAM_BLOCK 16384 /* bytes */

bool http_slow_is(const struct exchange *exchange)
{
	return exchange->out.reply.fault.delay_ms > 0;
}

static void resume(struct crew_job *job, bool is_late)
{
	struct exchange *exchange = (struct exchange *)job;

	(void)is_late;
	exchange->out.is_piece_due = true;
	MHD_resume_connection(exchange->mhd);
}

static void wait_for(struct exchange *exchange, uint64_t ms)
{
	exchange->job.run = resume;
	if (!crew_take_in(exchange->http->delays, &exchange->job, ms))
		resume(&exchange->job, false);
}

void http_slow_wait(struct exchange *exchange)
{
	wait_for(exchange, exchange->out.reply.fault.delay_ms);
}

/* Called by libmicrohttpd where the connection takes more. The connection is suspended between two
 * pieces. */
static ssize_t read_slow_piece(void *context, uint64_t at, char *out, size_t room)
{
	struct exchange *exchange = context;
	const struct http_response *reply = &exchange->out.reply;
	size_t n = reply->body.n - (size_t)at;

	if (at > 0 && !exchange->out.is_piece_due) {
		MHD_suspend_connection(exchange->mhd);
		wait_for(exchange, reply->fault.piece_ms);
		return 0;
	}
	exchange->out.is_piece_due = false;
	n = n < reply->fault.piece_bytes ? n : reply->fault.piece_bytes;
	n = n < room ? n : room;
	memcpy(out, reply->body.p + at, n);
	connection_enter(exchange->connection, CONNECTION_SENDING);
	return (ssize_t)n;
}

/* Where nothing is there, the connection is suspended until the next look. A client that reads has
 * all the time it wants. */
static ssize_t read_slow_stream(void *context, uint64_t at, char *out, size_t room)
{
	struct exchange *exchange = context;
	struct http_stream *stream = exchange->out.reply.stream;

	(void)at;
	if (atomic_load(&exchange->http->is_stopping))
		return MHD_CONTENT_READER_END_OF_STREAM;
	size_t n = stream->read(stream, out, room);
	connection_enter(exchange->connection, CONNECTION_SENDING);
	if (n == 0) {
		MHD_suspend_connection(exchange->mhd);
		wait_for(exchange, STREAM_LOOK_MS);
	}
	return (ssize_t)n;
}

struct MHD_Response *http_slow_response(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	exchange->out.is_piece_due = false;
	if (reply->stream)
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
							 read_slow_stream, exchange, NULL);
	return MHD_create_response_from_callback(reply->body.n, reply->fault.piece_bytes,
						 read_slow_piece, exchange, NULL);
}
