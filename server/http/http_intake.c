#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <string.h>

#include "server/gzip.h"
#include "server/http/framing.h"

#define HEAD_MAX (16 * 1024)     /* bytes of a request's head */
#define RECORD 80 /* bytes that libmicrohttpd keeps of a header line beside its text */
#define BODY_AT_ONCE                                                                               \
	(64 * 1024) /* bytes; a larger body gets its room as it comes, so that a mere claim costs  \
		       nothing */

static enum MHD_Result keep_line(void *context, enum MHD_ValueKind kind, const char *name,
				 size_t name_n, const char *value, size_t value_n)
{
	struct exchange *exchange = context;

	(void)kind;
	headers_add(&exchange->head.headers, exchange->arena, (struct str){name, name_n},
		    value ? (struct str){value, value_n} : STR_ABSENT);
	return MHD_YES;
}

void http_intake_headers(struct exchange *exchange)
{
	exchange->head.headers = (struct headers){0};
	MHD_get_connection_values_n(exchange->mhd, MHD_HEADER_KIND, keep_line, exchange);
}

/* Whether the answer's head may find no room beside the request's. Then the request must not be
 * carried out. */
static bool is_head_too_large(const struct exchange *exchange)
{
	size_t n = MHD_get_connection_info(exchange->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)
			   ->header_size;

	return n > HEAD_MAX || n + exchange->head.headers.n * RECORD > HTTP_HEAD_SHARE;
}

/* Whether the body may come. */
static bool intake_is_admitted(struct exchange *exchange)
{
	const struct http_options *options = &exchange->http->options;

	if (!options->admit)
		return true;
	struct http_request request = http_exchange_request(exchange);
	bool is_admitted = options->admit(options->context, &request);
	exchange->claim = request.claim;
	if (is_admitted)
		arena_use_budget(exchange->arena, &options->stats->unproven);
	return is_admitted;
}

static enum http_problem problem_of(const struct exchange *exchange, const struct framing *framing)
{
	if (is_head_too_large(exchange))
		return HTTP_HEAD_TOO_LARGE;
	if (!framing->is_good)
		return HTTP_BAD_FRAMING;
	if (exchange->is_over)
		return HTTP_OVERLOADED;
	return framing->length > exchange->http->options.body_limit ? HTTP_TOO_LARGE : HTTP_FINE;
}

/* Room for a body of `n` bytes, where the head says so and it is small. */
static void expect_body(struct exchange *exchange, size_t n, bool has_length)
{
	exchange->body.claimed = n;
	if (exchange->problem != HTTP_FINE || !has_length || n >= BODY_AT_ONCE)
		return;
	exchange->body.cap = n + 1;
	exchange->body.p = arena_bytes(exchange->arena, exchange->body.cap);
	if (arena_is_over(exchange->arena))
		http_exchange_give_up(exchange, HTTP_OVERLOADED);
}

void http_intake_head(struct exchange *exchange, const char *version)
{
	http_intake_headers(exchange);
	struct framing framing = framing_of(exchange->head.uri, version, &exchange->head.headers);

	exchange->head.is_from_browser = framing.is_from_browser;
	exchange->head.is_explained = framing.is_explained;
	exchange->problem = problem_of(exchange, &framing);
	bool is_refused =
		exchange->problem == HTTP_FINE && framing.has_body && !intake_is_admitted(exchange);
	/* answered at once; libmicrohttpd closes the connection since the body stays unread */
	exchange->is_early = is_refused || (exchange->problem != HTTP_FINE &&
					    exchange->problem != HTTP_OVERLOADED);
	if (!exchange->is_early)
		expect_body(exchange, (size_t)framing.length, framing.has_length);
}

/* For `n` bytes of body: twice as much as before, or all that was claimed when an eighth of it has
 * come. */
static size_t room_for(const struct exchange *exchange, size_t n)
{
	size_t cap = exchange->body.cap * 2 > n ? exchange->body.cap * 2 : n;

	return exchange->body.claimed >= n && n >= exchange->body.claimed / 8
		       ? exchange->body.claimed
		       : cap;
}

void http_intake_body(struct exchange *exchange, const char *data, size_t n)
{
	connection_touch(exchange->connection);
	if (exchange->problem != HTTP_FINE)
		return;
	if (exchange->body.n + n > exchange->http->options.body_limit) {
		http_exchange_give_up(exchange, HTTP_TOO_LARGE);
		return;
	}
	if (exchange->body.n + n > exchange->body.cap) {
		size_t cap = room_for(exchange, exchange->body.n + n);

		exchange->body.p =
			arena_grow(exchange->arena, exchange->body.p, exchange->body.n, cap);
		exchange->body.cap = cap;
		if (arena_is_over(exchange->arena)) {
			http_exchange_give_up(exchange, HTTP_OVERLOADED);
			return;
		}
	}
	memcpy(exchange->body.p + exchange->body.n, data, n);
	exchange->body.n += n;
}

/* Decompresses the body. AWS: answers 500 to an unknown coding and to a broken or truncated body,
 * and does not carry it out. */
static enum http_problem decode_body(struct exchange *exchange, struct str body, struct str *plain)
{
	struct str codings =
		headers_joined(&exchange->head.headers, exchange->arena, STR("Content-Encoding"));
	enum gzip_coding coding = str_is_set(codings) ? gzip_coding_of(codings) : GZIP_IDENTITY;

	if (coding == GZIP_IDENTITY)
		return HTTP_FINE;
	if (coding == GZIP_UNKNOWN)
		return HTTP_BAD_ENCODING;
	switch (gzip_decode(exchange->arena, coding, body, exchange->http->options.body_limit,
			    plain)) {
	case GZIP_FINE:
		return HTTP_FINE;
	case GZIP_TOO_LARGE:
		return HTTP_TOO_LARGE;
	case GZIP_BROKEN:
		break;
	}
	return HTTP_BAD_ENCODING;
}

void http_intake_finish(struct exchange *exchange, struct http_request *request)
{
	struct str body = {exchange->body.p ? exchange->body.p : "", exchange->body.n},
		   plain = body;

	if (exchange->problem == HTTP_FINE)
		exchange->problem = decode_body(exchange, body, &plain);
	if (arena_is_over(exchange->arena)) {
		http_exchange_give_up(exchange, HTTP_OVERLOADED);
		body = plain = STR("");
	}
	request->problem = exchange->problem;
	request->wire_body = body;
	request->body = plain;
}
