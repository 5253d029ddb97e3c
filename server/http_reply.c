#include "server/http_internal.h"

#include <microhttpd.h>
#include <stdio.h>
#include <time.h>

#include "core/buf.h"
#include "core/crc32.h"
#include "server/gzip.h"
#include "server/sockets.h"

#define COMPRESS_FROM 4096 /* bytes; smaller replies are sent as they are. AWS: recorded by ScyllaDB's Alternator tests */
#define LINES_USUAL 256    /* bytes of header lines */
#define DATE_MAX 80        /* bytes; usual dates have 29 */
#define DECIMAL_MAX 11     /* digits of 32 bits, and the end */

/* Whether the connection ends behind the answer. */
static bool is_last(const struct exchange *exchange)
{
	return atomic_load(&exchange->http->is_stopping) || exchange->problem == HTTP_BAD_FRAMING || connection_is_over(exchange->connection);
}

/* The name of the coding that the body has now, or NULL. AWS: of several lines of Accept-Encoding the last one counts. */
static const char *compress(struct exchange *exchange)
{
	static const char *const names[] = {[GZIP_GZIP] = "gzip", [GZIP_DEFLATE] = "deflate"};
	struct http_response *reply = &exchange->out.reply;

	if (reply->body.n < COMPRESS_FROM || reply->coding)
		return reply->coding;
	enum gzip_coding coding = gzip_accepted(headers_last(&exchange->head.headers, STR("Accept-Encoding")));
	struct str compressed = coding == GZIP_IDENTITY ? STR_ABSENT : gzip_encode(exchange->arena, coding, reply->body);
	reply->body = str_is_set(compressed) ? compressed : reply->body;
	return str_is_set(compressed) ? names[coding] : NULL;
}

void http_reply_prepare(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	connection_learn(exchange->connection, reply->took_ns, reply->kind, reply->read_ns);
	exchange->out.coding = compress(exchange);
	http_exchange_keep_reply(exchange);
	exchange->out.stage = STAGE_REPLIED;
}

/* The number's digits at the end of `text`: each reply has one. */
static const char *decimal(char text[DECIMAL_MAX], uint32_t number)
{
	char *at = text + DECIMAL_MAX - 1;

	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while ((number /= 10) > 0);
	return at;
}

/* The Date of answers that this thread makes now, as in "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7). */
static struct str date(void)
{
	static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	static _Thread_local struct {
		time_t second;
		int n;
		char text[DATE_MAX];
	} latest;
	time_t now = time(NULL);

	if (now != latest.second || latest.n == 0) {
		struct tm tm = {.tm_mday = 1};

		gmtime_r(&now, &tm);
		latest.n = snprintf(latest.text, sizeof(latest.text), "%s, %02d %s %d %02d:%02d:%02d GMT", days[tm.tm_wday], tm.tm_mday, months[tm.tm_mon],
				    tm.tm_year + 1900, tm.tm_hour, tm.tm_min, tm.tm_sec);
		latest.second = now;
	}
	return (struct str){latest.text, (size_t)latest.n};
}

/* The header lines that each answer has. libmicrohttpd leaves the Date to us: it would make it for each answer. */
static struct str common_lines(const struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;
	struct buf lines = buf_in(exchange->arena);
	char crc[DECIMAL_MAX];

	buf_reserve(&lines, LINES_USUAL);
	buf_add_lit(&lines, "Server: Dynalith\r\nDate: ");
	buf_add_str(&lines, date());
	buf_add_lit(&lines, "\r\nx-amzn-RequestId: ");
	buf_add(&lines, exchange->id, REQUEST_ID_SIZE);
	buf_add_lit(&lines, "\r\nx-amz-crc32: ");
	buf_add_str(&lines, str_of(decimal(crc, crc32_of(reply->body.p, reply->body.n) ^ reply->fault.is_crc_wrong)));
	if (str_is_set(reply->content_type)) {
		buf_add_lit(&lines, "\r\nContent-Type: ");
		buf_add_str(&lines, reply->content_type);
	}
	if (exchange->out.coding) {
		buf_add_lit(&lines, "\r\nContent-Encoding: ");
		buf_add_str(&lines, str_of(exchange->out.coding));
	}
	buf_add_lit(&lines, "\r\n");
	return buf_str(&lines);
}

bool http_reply_send(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;
	struct str body = reply->body;

	if (reply->fault.is_dropped) { /* libmicrohttpd closes the connection */
		sockets_forget(connection_fd(exchange->connection));
		return false;
	}
	bool is_slow = reply->fault.piece_bytes > 0 || reply->stream;
	struct MHD_Response *response = is_slow ? http_slow_response(exchange)
						: MHD_create_response_from_buffer(body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return false;
	for (size_t i = 0; i < reply->header_count; i++)
		MHD_add_response_header(response, reply->headers[i].name, str_copy(exchange->arena, reply->headers[i].value).p);
	if (is_last(exchange))
		MHD_add_response_header(response, "Connection", "close");
	sockets_answer(connection_fd(exchange->connection), exchange->is_early, exchange->out.group, common_lines(exchange));
	enum MHD_Result result = MHD_queue_response(exchange->mhd, (unsigned)reply->status, response);
	MHD_destroy_response(response);
	exchange->out.is_answered = true;
	/* behind an early answer the server waits for what the client still sends */
	connection_enter(exchange->connection, exchange->is_early ? CONNECTION_RECEIVING : CONNECTION_SENDING);
	return result == MHD_YES;
}
