#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <stdio.h>
#include <string.h>

#include "core/crc32.h"
#include "server/gzip.h"

#define COMPRESS_FROM                                                                              \
	4096 /* bytes; smaller replies are sent as they are. AWS: recorded by ScyllaDB's           \
		Alternator tests */

#define STREAM_LOOK_MS 50  /* between two looks at a stream that had nothing */
#define STREAM_BLOCK 16384 /* bytes */

/* Whether the connection ends behind the answer. */
static bool is_last(const struct exchange *exchange)
{
	return atomic_load(&exchange->http->is_stopping) || exchange->problem == HTTP_BAD_FRAMING ||
	       exchange->connection->is_over;
}

/* The name of the coding that the body has now, or NULL. AWS: of several lines of Accept-Encoding
 * the first one counts. */
static const char *compress(struct exchange *exchange)
{
	static const char *const names[] = {[GZIP_GZIP] = "gzip", [GZIP_DEFLATE] = "deflate"};
	struct http_response *reply = &exchange->out.reply;

	if (reply->body.n < COMPRESS_FROM || reply->coding)
		return reply->coding;
	enum gzip_coding coding =
		gzip_accepted(headers_first(&exchange->head.headers, STR("Accept-Encoding")));
	struct str compressed = coding == GZIP_IDENTITY
					? STR_ABSENT
					: gzip_encode(exchange->arena, coding, reply->body);
	reply->body = str_is_set(compressed) ? compressed : reply->body;
	return str_is_set(compressed) ? names[coding] : NULL;
}

void http_reply_prepare(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	exchange->out.coding = compress(exchange);
	exchange->out.crc = crc32_of(reply->body.p, reply->body.n) ^ reply->fault.is_crc_wrong;
	http_exchange_keep_reply(exchange);
	exchange->stage = STAGE_REPLIED;
}

/* False where there is no memory. */
static bool add(struct MHD_Response *response, const char *name, const char *value)
{
	return MHD_add_response_header(response, name, value) == MHD_YES;
}

/* `value` may be absent, and need not end with a NUL. What a client sent may be empty or have a
 * tab: libmicrohttpd takes no such value, so it is left out. */
static bool add_str(struct exchange *exchange, struct MHD_Response *response, const char *name,
		    struct str value)
{
	if (!str_is_set(value) || value.n == 0)
		return true;
	const char *text = str_copy(exchange->arena, value).p;
	return strpbrk(text, "\t\r\n") || add(response, name, text);
}

/* libmicrohttpd adds Date and Content-Length. */
static bool add_headers(struct exchange *exchange, struct MHD_Response *response)
{
	const struct http_response *reply = &exchange->out.reply;
	char crc[sizeof("4294967295")];

	snprintf(crc, sizeof(crc), "%u", (unsigned)exchange->out.crc);
	bool is_done = add(response, "Server", "Dynalith") &&
		       add(response, "x-amzn-RequestId", exchange->id) &&
		       add(response, "x-amz-crc32", crc) &&
		       add_str(exchange, response, "Content-Type", reply->content_type) &&
		       (!exchange->out.coding ||
			add(response, "Content-Encoding", exchange->out.coding)) &&
		       (!is_last(exchange) || add(response, "Connection", "close"));

	for (size_t i = 0; is_done && i < reply->header_count; i++)
		is_done = add_str(exchange, response, reply->headers[i].name,
				  reply->headers[i].value);
	return is_done;
}

/* Called by libmicrohttpd where the connection takes more. The connection is suspended between two
 * pieces. */
static ssize_t read_slow_piece(void *context, uint64_t at, char *out, size_t room)
{
	struct exchange *exchange = context;
	const struct http_response *reply = &exchange->out.reply;
	size_t n = reply->body.n - (size_t)at;

	if (at > 0 && !exchange->is_resumed) {
		http_exchange_pause(exchange, reply->fault.piece_ms);
		return 0;
	}
	exchange->is_resumed = false;
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
	if (n == 0)
		http_exchange_pause(exchange, STREAM_LOOK_MS);
	return (ssize_t)n;
}

static struct MHD_Response *make_response(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	exchange->is_resumed = false;
	if (reply->stream)
		return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK,
							 read_slow_stream, exchange, NULL);
	if (reply->fault.piece_bytes > 0)
		return MHD_create_response_from_callback(reply->body.n, reply->fault.piece_bytes,
							 read_slow_piece, exchange, NULL);
	return MHD_create_response_from_buffer(reply->body.n, (void *)(uintptr_t)reply->body.p,
					       MHD_RESPMEM_PERSISTENT);
}

bool http_reply_send(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	if (reply->fault.is_dropped) /* libmicrohttpd closes the connection */
		return false;
	struct MHD_Response *response = arena_checked(make_response(exchange));
	bool is_queued =
		add_headers(exchange, response) &&
		MHD_queue_response(exchange->mhd, (unsigned)reply->status, response) == MHD_YES;
	MHD_destroy_response(response);
	exchange->stage = STAGE_ANSWERED;
	connection_enter(exchange->connection, CONNECTION_SENDING);
	return is_queued;
}
