#include "server/http_internal.h"

#include <microhttpd.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "server/framing.h"
#include "server/gzip.h"

#define HEAD_MAX (16 * 1024)     /* bytes of a request's head */
#define ANSWER_HEAD_MAX 1024
#define BODY_AT_ONCE (64 * 1024) /* bytes; a larger body gets its room as it comes, so that a mere claim costs nothing */

static enum MHD_Result keep_line(void *context, enum MHD_ValueKind kind, const char *name, size_t name_n, const char *value, size_t value_n)
{
	struct exchange *exchange = context;

	(void)kind;
	headers_add(&exchange->head.headers, exchange->arena, (struct str){name, name_n}, value ? (struct str){value, value_n} : STR_ABSENT);
	return MHD_YES;
}

/* libmicrohttpd's buffer has a short head in its place. Each value is followed by a NUL, as there. */
void http_intake_usual(struct exchange *exchange, const struct taken_head *taken)
{
	size_t lines = taken->head.line_count * sizeof(taken->head.lines[0]);

	if (!exchange->usual)
		exchange->usual = arena_checked(malloc(sizeof(*exchange->usual)));
	exchange->head.is_usual = true;
	memcpy(&exchange->usual->head, &taken->head, offsetof(struct usual_head, lines) + lines);
	memcpy(exchange->usual->text, taken->text, taken->head.n);
	for (unsigned i = 0; i < taken->head.line_count; i++)
		exchange->usual->text[taken->head.lines[i].value + taken->head.lines[i].value_n] = '\0';
}

void http_intake_headers(struct exchange *exchange)
{
	const struct taken_head *usual = exchange->usual;

	exchange->head.headers = (struct headers){0};
	for (unsigned i = 0; exchange->head.is_usual && i < usual->head.line_count; i++) {
		struct head_line line = usual->head.lines[i];

		headers_add(&exchange->head.headers, exchange->arena, (struct str){usual->text + line.name, line.name_n},
			    (struct str){usual->text + line.value, line.value_n});
	}
	if (exchange->head.is_usual)
		return;
	MHD_get_connection_values_n(exchange->mhd, MHD_HEADER_KIND, keep_line, exchange);
}

/* Whether the answer's head may find no room beside the request's. Then the request must not be carried out. */
static bool is_head_too_large(size_t n, const struct framing *framing)
{
	return n > HEAD_MAX || n + framing->records > HTTP_CONNECTION_MEMORY - ANSWER_HEAD_MAX;
}

/* Whether the body may come. */
static bool is_admitted(struct exchange *exchange)
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

static enum http_problem problem_of(const struct exchange *exchange, bool is_framing_good, unsigned long long body_n)
{
	if (!is_framing_good)
		return HTTP_BAD_FRAMING;
	if (exchange->is_over)
		return HTTP_OVERLOADED;
	return body_n > exchange->http->options.body_limit ? HTTP_TOO_LARGE : HTTP_FINE;
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

/* What a head says of the body. */
struct promise {
	unsigned long long n;
	bool has_length, has_body;
};

/* A head as libmicrohttpd has it. False where it has no room. */
static bool judge_lines(struct exchange *exchange, const char *url, const char *version, struct promise *promise)
{
	const char *method = exchange->head.method;
	struct framing framing = framing_begin(method, url, exchange->head.uri_end, version);
	size_t size = MHD_get_connection_info(exchange->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;

	for (size_t i = 0; i < exchange->head.headers.n; i++)
		framing_add(&framing, exchange->head.headers.v[i].name, exchange->head.headers.v[i].value.p, exchange->head.headers.v[i].value.n);
	if (is_head_too_large(size, &framing))
		return false;
	exchange->head.is_from_browser = framing.is_from_browser;
	exchange->head.is_explained = framing.is_explained;
	promise->n = framing.lengths ? strtoull(framing.length, NULL, 10) : 0;
	promise->has_length = framing.lengths > 0;
	promise->has_body = promise->n > 0 || framing.encodings > 0;
	bool is_good = framing_is_good(&framing, method + size, strcmp(version, "HTTP/1.1") == 0) &&
		       !str_eq(headers_first(&exchange->head.headers, STR("Host")), STR(HEAD_HOST)); /* its lines went to another request */
	exchange->problem = problem_of(exchange, is_good, promise->n);
	sockets_expect(connection_fd(exchange->connection), is_good && framing.encodings == 0 ? size + promise->n : UINT64_MAX);
	return true;
}

bool http_intake_head(struct exchange *exchange, const char *url, const char *version)
{
	struct promise promise;

	http_intake_headers(exchange);
	if (exchange->head.is_usual) {
		promise = (struct promise){exchange->usual->head.body_n, true, exchange->usual->head.body_n > 0};
		exchange->problem = problem_of(exchange, true, promise.n);
	} else if (!judge_lines(exchange, url, version, &promise)) {
		return false;
	}
	bool is_refused = exchange->problem == HTTP_FINE && promise.has_body && !is_admitted(exchange);
	/* answered at once; libmicrohttpd closes the connection since the body stays unread */
	exchange->is_early = exchange->problem == HTTP_BAD_FRAMING || exchange->problem == HTTP_TOO_LARGE || is_refused;
	if (!exchange->is_early)
		expect_body(exchange, (size_t)promise.n, promise.has_length);
	return true;
}

/* For `n` bytes of body: twice as much as before, or all that was claimed when an eighth of it has come. */
static size_t room_for(const struct exchange *exchange, size_t n)
{
	size_t cap = exchange->body.cap * 2 > n ? exchange->body.cap * 2 : n;

	return exchange->body.claimed >= n && n >= exchange->body.claimed / 8 ? exchange->body.claimed : cap;
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

		exchange->body.p = arena_grow(exchange->arena, exchange->body.p, exchange->body.n, cap);
		exchange->body.cap = cap;
		if (arena_is_over(exchange->arena)) {
			http_exchange_give_up(exchange, HTTP_OVERLOADED);
			return;
		}
	}
	memcpy(exchange->body.p + exchange->body.n, data, n);
	exchange->body.n += n;
}

/* Decompresses the body. AWS: answers 500 to an unknown coding and to a broken or truncated body, and does not carry it out. */
static enum http_problem decode(struct exchange *exchange, struct str body, struct str *plain)
{
	struct str codings = headers_joined(&exchange->head.headers, exchange->arena, STR("Content-Encoding"));
	enum gzip_coding coding = str_is_set(codings) ? gzip_coding_of(codings) : GZIP_IDENTITY;

	if (coding == GZIP_IDENTITY)
		return HTTP_FINE;
	if (coding == GZIP_UNKNOWN)
		return HTTP_BAD_ENCODING;
	switch (gzip_decode(exchange->arena, coding, body, exchange->http->options.body_limit, plain)) {
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
	struct str body = {exchange->body.p ? exchange->body.p : "", exchange->body.n}, plain = body;

	if (exchange->problem == HTTP_FINE)
		exchange->problem = decode(exchange, body, &plain);
	if (arena_is_over(exchange->arena)) {
		http_exchange_give_up(exchange, HTTP_OVERLOADED);
		body = plain = STR("");
	}
	request->problem = exchange->problem;
	request->wire_body = body;
	request->body = plain;
}
