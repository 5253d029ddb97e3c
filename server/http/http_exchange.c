#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_KEEP (512 * 1024)       /* bytes an idle exchange keeps */
#define FREE_FROM (8 * 1024 * 1024)   /* bytes beside a reply that are freed before it is sent */

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
	http_intake_headers(exchange);
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
	http_intake_headers(exchange);
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
	static const struct str schemes[] = {STR_INIT("http://"), STR_INIT("https://")};

	for (size_t i = 0; i < sizeof(schemes) / sizeof(schemes[0]); i++) {
		struct str scheme = schemes[i], rest = {uri.p + scheme.n, uri.n - scheme.n};

		if (uri.n <= scheme.n || !str_eq_nocase((struct str){uri.p, scheme.n}, scheme))
			continue;
		size_t authority = strcspn(rest.p, "/?"); /* the text ends with a NUL */
		return (struct str){rest.p + authority, rest.n - authority};
	}
	return uri;
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
		.is_from_browser = exchange->head.is_from_browser,
		.is_explained = exchange->head.is_explained,
		.headers = &exchange->head.headers,
		.claim = exchange->claim,
	};

	split_uri(exchange->head.uri, &request);
	return request;
}
