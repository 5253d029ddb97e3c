#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "server/gzip.h"

#define ARENA_KEEP (512 * 1024)     /* bytes an idle exchange keeps */
#define FREE_FROM (8 * 1024 * 1024) /* bytes beside a reply that are freed before it is sent */
#define HEAD_MAX (16 * 1024)        /* bytes of a request's head */
#define RECORD 80 /* bytes that libmicrohttpd keeps of a header line beside its text */
#define BODY_AT_ONCE (64 * 1024) /* bytes */

/* --- memory --- */

struct exchange *http_exchange_new(struct lane *lane)
{
	struct http_stats *stats = lane->http->options.stats;
	struct exchange *exchange = lane->idle;
	struct arena *arena =
		exchange ? exchange->arena : arena_new_within(ARENA_KEEP, &stats->memory);

	lane->idle = NULL;
	if (!exchange)
		exchange = arena_checked(malloc(sizeof(*exchange)));
	*exchange = (struct exchange){.http = lane->http, .lane = lane, .arena = arena};
	atomic_fetch_add(&stats->requests, 1);
	return exchange;
}

void http_exchange_free(struct exchange *exchange)
{
	if (!exchange)
		return;
	arena_free(exchange->arena);
	free(exchange);
}

void http_exchange_done(struct exchange *exchange)
{
	struct http_stats *stats = exchange->http->options.stats;
	struct http_stream *stream = exchange->out.reply.stream;

	if (stream)
		stream->end(stream);
	arena_reset(exchange->arena);
	arena_use_budget(exchange->arena, &stats->memory);
	http_exchange_free(exchange->lane->idle);
	exchange->lane->idle = exchange;
	atomic_fetch_sub(&stats->requests, 1);
}

static enum MHD_Result keep_line(void *context, enum MHD_ValueKind kind, const char *name,
				 size_t name_n, const char *value, size_t value_n)
{
	struct exchange *exchange = context;

	(void)kind;
	headers_add(&exchange->head.headers, exchange->arena, (struct str){name, name_n},
		    value ? (struct str){value, value_n} : STR_ABSENT);
	return MHD_YES;
}

/* Reads the header lines, after the arena was reset too. */
static void read_headers(struct exchange *exchange)
{
	exchange->head.headers = (struct headers){0};
	MHD_get_connection_values_n(exchange->mhd, MHD_HEADER_KIND, keep_line, exchange);
}

/* The target and the body go with the arena. */
static void forget_request(struct exchange *exchange)
{
	exchange->head.uri = STR("/");
	exchange->body.p = NULL;
	exchange->body.n = exchange->body.cap = 0;
}

void http_exchange_give_up(struct exchange *exchange, enum http_problem problem)
{
	exchange->problem = problem;
	forget_request(exchange);
	arena_reset(exchange->arena);
	read_headers(exchange);
}

void http_exchange_start_over(struct exchange *exchange)
{
	struct arena *fresh = arena_new_within(ARENA_KEEP, &exchange->http->options.stats->memory);

	exchange->head.uri = str_copy(fresh, exchange->head.uri);
	if (exchange->body.p)
		exchange->body.p = memcpy(arena_bytes(fresh, exchange->body.n), exchange->body.p,
					  exchange->body.n);
	exchange->body.cap = exchange->body.n;
	arena_free(exchange->arena);
	exchange->arena = fresh;
	exchange->claim = NULL;
	read_headers(exchange);
}

void http_exchange_keep_reply(struct exchange *exchange)
{
	struct http_response *reply = &exchange->out.reply;

	if (arena_held(exchange->arena) < reply->body.n + FREE_FROM)
		return;
	struct arena *rest = arena_new_within(ARENA_KEEP, &exchange->http->options.stats->memory);

	reply->body = str_copy(rest, reply->body);
	reply->content_type = str_copy(rest, reply->content_type);
	for (size_t i = 0; i < reply->header_count; i++)
		reply->headers[i].value = str_copy(rest, reply->headers[i].value);
	forget_request(exchange);
	exchange->head.headers = (struct headers){0};
	arena_free(exchange->arena);
	exchange->arena = rest;
}

static void resume(struct crew_job *job, bool is_late)
{
	struct exchange *exchange = (struct exchange *)job;

	(void)is_late;
	exchange->is_resumed = true;
	MHD_resume_connection(exchange->mhd); /* it is the connection's thread's again */
}

void http_exchange_pause(struct exchange *exchange, uint64_t ms)
{
	MHD_suspend_connection(exchange->mhd);
	http_exchange_resume_in(exchange, ms);
}

void http_exchange_resume_in(struct exchange *exchange, uint64_t ms)
{
	exchange->job.run = resume;
	if (ms == 0)
		resume(&exchange->job, false);
	else
		crew_take_in(exchange->http->delays, &exchange->job, ms);
}

/* The target without http://AUTHORITY, as clients send it to proxies. RFC 9112, 3.2.2: a server
 * must accept this form too. */
static struct str origin_form(struct str uri)
{
	size_t scheme = strcspn(uri.p, ":/?"); /* the text ends with a NUL */

	if (strncmp(uri.p + scheme, "://", 3) != 0)
		return uri;
	const char *path = uri.p + scheme + 3;
	path += strcspn(path, "/?");
	return (struct str){path, uri.n - (size_t)(path - uri.p)};
}

static void split_uri(struct str target, struct http_request *request)
{
	struct str uri = origin_form(target);
	const char *mark = uri.n ? memchr(uri.p, '?', uri.n) : NULL;

	request->path = (struct str){uri.p, mark ? (size_t)(mark - uri.p) : uri.n};
	request->query = mark ? (struct str){mark + 1, uri.n - request->path.n - 1} : STR("");
}

/* Of CPU time; 0: any. A request that was held is not given up again. */
static uint64_t slice_of(const struct exchange *exchange)
{
	bool is_sliced = exchange->haste == HTTP_BRIEFLY ||
			 (exchange->haste == HTTP_BEHIND && !exchange->hold);

	return is_sliced ? http_lane_slice(exchange->lane) : 0;
}

struct http_request http_exchange_request(struct exchange *exchange)
{
	struct http_request request = {
		.hold = exchange->hold,
		.haste = exchange->haste,
		.slice_ns = slice_of(exchange),
		.is_long_write = exchange->is_long_write,
		.arena = exchange->arena,
		.method = str_of(exchange->head.method),
		.is_from_browser = exchange->head.framing.is_from_browser,
		.is_explained = exchange->head.framing.is_explained,
		.headers = &exchange->head.headers,
		.claim = exchange->claim,
	};

	split_uri(exchange->head.uri, &request);
	return request;
}

/* --- the head and the body, as they come --- */

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

static enum http_problem problem_of(const struct exchange *exchange)
{
	const struct framing *framing = &exchange->head.framing;

	if (is_head_too_large(exchange))
		return HTTP_HEAD_TOO_LARGE;
	if (!framing->is_good)
		return HTTP_BAD_FRAMING;
	if (exchange->is_over)
		return HTTP_OVERLOADED;
	return framing->length > exchange->http->options.body_limit ? HTTP_TOO_LARGE : HTTP_FINE;
}

void http_exchange_head(struct exchange *exchange, const char *version)
{
	struct head *head = &exchange->head;

	read_headers(exchange);
	head->framing = framing_of(head->uri, version, &head->headers);
	exchange->problem = problem_of(exchange);
	/* answered at once; libmicrohttpd closes the connection since the body stays unread */
	exchange->is_early = exchange->problem == HTTP_FINE
				     ? head->framing.has_body && !intake_is_admitted(exchange)
				     : exchange->problem != HTTP_OVERLOADED;
}

/* For `n` bytes of body: all that the head claims, where that is little or an eighth of it has
 * come, so that a mere claim costs nothing; else twice as much as before. */
static size_t room_for(const struct exchange *exchange, size_t n)
{
	size_t claimed = (size_t)exchange->head.framing.length, twice = exchange->body.cap * 2;

	if (claimed >= n && (claimed < BODY_AT_ONCE || n >= claimed / 8))
		return claimed;
	return twice > n ? twice : n;
}

void http_exchange_body(struct exchange *exchange, const char *data, size_t n)
{
	struct incoming *body = &exchange->body;
	size_t all = body->n + n;

	connection_touch(exchange->connection);
	if (exchange->problem != HTTP_FINE)
		return;
	if (all > exchange->http->options.body_limit) {
		http_exchange_give_up(exchange, HTTP_TOO_LARGE);
		return;
	}
	if (all > body->cap) {
		body->cap = room_for(exchange, all);
		body->p = arena_grow(exchange->arena, body->p, body->n, body->cap);
	}
	memcpy(body->p + body->n, data, n);
	body->n = all;
	if (arena_is_over(exchange->arena))
		http_exchange_give_up(exchange, HTTP_OVERLOADED);
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

void http_exchange_finish(struct exchange *exchange, struct http_request *request)
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
