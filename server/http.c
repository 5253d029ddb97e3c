#include "server/http.h"

#include <microhttpd.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/crc32.h"
#include "server/aside.h"
#include "server/connections.h"
#include "server/crash.h"
#include "server/door.h"
#include "server/framing.h"
#include "server/gzip.h"
#include "server/request_id.h"
#include "server/sockets.h"
#include "server/tls.h"
#include "storage/monotonic.h"

#define ARENA_KEEP (512 * 1024)      /* bytes an idle exchange keeps */
#define EXCHANGES_KEPT 64            /* idle exchanges kept */
#define CONNECTION_MEMORY (18 * 1024) /* of libmicrohttpd, which clears it for each request: heads of request and answer must fit */
#define HEAD_MAX (16 * 1024)          /* bytes of a request's head */
#define ANSWER_HEAD_MAX 1024
#define THREAD_STACK (2 * 1024 * 1024)
#define BODY_AT_ONCE (64 * 1024)     /* bytes; a larger body gets its room as it comes, so that a mere claim costs nothing */
#define LET_GO_FROM (8 * 1024 * 1024) /* bytes beside an answer that are not held until it is sent */
#define COMPRESS_FROM 4096           /* bytes; smaller replies are sent as they are. AWS: recorded by ScyllaDB's Alternator tests */
#define TLS_DRAIN_MS 2000 /* for clients to take the answers that are sent when the server ends */
#define LONG_BODY (128 * 1024)        /* bytes; to parse more takes milliseconds */
#define LONG_CODED_BODY (4 * 1024)    /* the same of what may become a thousand times as much */
#define LONG_COMPRESSION (256 * 1024)

/* Where a request is handled. */
enum stage {
	STAGE_WORKER,  /* by the thread of its connection */
	STAGE_ASIDE,   /* the connection is suspended */
	STAGE_REPLIED, /* the reply waits for the connection's thread */
};

/* The body as it comes. */
struct incoming {
	char *p;
	size_t n, cap;
	size_t claimed; /* its length by the head; 0: not told */
};

struct outgoing {
	enum stage stage;
	struct http_response reply;
	const char *coding; /* or NULL */
	bool is_handled, is_answered;
};

/* One request and its reply. */
struct exchange {
	struct aside_job job; /* first: a job is its exchange */
	struct exchange *next;
	struct http *http;
	struct arena *arena;
	struct connection *connection;
	struct MHD_Connection *mhd;
	const char *method;
	struct str uri;
	const char *uri_end; /* in libmicrohttpd's buffer */
	bool is_started, is_early, is_over, is_from_browser, is_long_write; /* over: beyond a limit of connections or requests */
	enum http_problem problem;
	enum http_haste haste;
	void *claim; /* see http_admit */
	struct incoming body;
	struct outgoing out;
	char id[REQUEST_ID_SIZE + 1];
};

struct http {
	struct http_options options;
	struct MHD_Daemon *daemons[CONNECTION_KINDS];
	struct door *door;
	struct aside *aside;
	unsigned port;
	struct connections *connections;
	atomic_bool is_stopping;
	pthread_mutex_t mutex; /* of the idle exchanges */
	struct exchange *idle;
	unsigned idle_count;
};

static struct exchange *exchange_new(struct http *http)
{
	struct exchange *exchange = NULL;
	struct arena *arena;

	pthread_mutex_lock(&http->mutex);
	if (http->idle) {
		exchange = http->idle;
		http->idle = exchange->next;
		http->idle_count--;
	}
	pthread_mutex_unlock(&http->mutex);
	arena = exchange ? exchange->arena : arena_new_within(ARENA_KEEP, &http->options.stats->memory);
	if (!exchange)
		exchange = arena_checked(malloc(sizeof(*exchange)));
	*exchange = (struct exchange){.http = http, .arena = arena};
	atomic_fetch_add(&http->options.stats->requests, 1);
	return exchange;
}

static void exchange_free(struct exchange *exchange)
{
	arena_free(exchange->arena);
	free(exchange);
}

static void exchange_done(struct exchange *exchange)
{
	struct http *http = exchange->http;

	arena_reset(exchange->arena);
	arena_use_budget(exchange->arena, &http->options.stats->memory);
	pthread_mutex_lock(&http->mutex);
	bool is_kept = http->idle_count < EXCHANGES_KEPT;
	if (is_kept) {
		exchange->next = http->idle;
		http->idle = exchange;
		http->idle_count++;
	}
	pthread_mutex_unlock(&http->mutex);
	if (!is_kept)
		exchange_free(exchange);
	atomic_fetch_sub(&http->options.stats->requests, 1);
}

struct str http_header(const void *connection, const char *name)
{
	return str_of(MHD_lookup_connection_value((struct MHD_Connection *)(uintptr_t)connection, MHD_HEADER_KIND, name));
}

/* The values of all lines of that name, joined by commas; those that are sought are few, so most requests never get here. */
struct join {
	const char *name;
	struct buf value;
	size_t lines;
	struct str last;
};

static enum MHD_Result join_line(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct join *join = context;

	(void)kind;
	if (strcasecmp(name, join->name) != 0)
		return MHD_YES;
	join->last = str_of(value ? value : "");
	if (join->lines++ > 0)
		buf_add_byte(&join->value, ',');
	buf_add_str(&join->value, str_trim(join->last));
	return MHD_YES;
}

static struct join join_lines(struct arena *arena, const void *connection, const char *name)
{
	struct join join = {.name = name, .value = buf_in(arena)};

	MHD_get_connection_values((struct MHD_Connection *)(uintptr_t)connection, MHD_HEADER_KIND, join_line, &join);
	return join;
}

struct str http_headers(struct arena *arena, const void *connection, const char *name)
{
	struct join join = join_lines(arena, connection, name);

	return join.lines == 0 ? STR_ABSENT : join.lines == 1 ? join.last : buf_str(&join.value);
}

/* Called with each line. */
struct visitor {
	void (*visit)(void *context, struct str name);
	void *context;
};

static enum MHD_Result visit_line(void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct visitor *visitor = context;

	(void)kind, (void)value;
	visitor->visit(visitor->context, str_of(name));
	return MHD_YES;
}

void http_each_header(const void *connection, void (*visit)(void *context, struct str name), void *context)
{
	struct visitor visitor = {visit, context};

	MHD_get_connection_values((struct MHD_Connection *)(uintptr_t)connection, MHD_HEADER_KIND, visit_line, &visitor);
}

/* Behind some answers the connection ends. */
static bool is_last(const struct exchange *exchange)
{
	return atomic_load(&exchange->http->is_stopping) || exchange->problem == HTTP_BAD_FRAMING || connection_is_over(exchange->connection);
}

/* The name of the coding that the body has now, or NULL. AWS: of several lines of Accept-Encoding the last one counts. */
static const char *compress(struct exchange *exchange, struct MHD_Connection *connection, struct http_response *reply)
{
	static const char *const names[] = {[GZIP_GZIP] = "gzip", [GZIP_DEFLATE] = "deflate"};

	if (reply->body.n < COMPRESS_FROM)
		return NULL;
	enum gzip_coding coding = gzip_accepted(join_lines(exchange->arena, connection, "Accept-Encoding").last);
	struct str compressed = coding == GZIP_IDENTITY ? STR_ABSENT : gzip_encode(exchange->arena, coding, reply->body);
	reply->body = str_is_set(compressed) ? compressed : reply->body;
	return str_is_set(compressed) ? names[coding] : NULL;
}

/* What the request said goes with its arena. */
static void forget_request(struct exchange *exchange)
{
	exchange->uri = STR("/");
	exchange->body.p = NULL;
	exchange->body.n = exchange->body.cap = 0;
}

/* Where the request held much, all goes but the answer. */
static void let_go(struct exchange *exchange, struct http_response *reply)
{
	if (arena_held(exchange->arena) < reply->body.n + LET_GO_FROM)
		return;
	struct arena *rest = arena_new_within(ARENA_KEEP, &exchange->http->options.stats->memory);

	reply->body = str_copy(rest, reply->body);
	reply->content_type = str_copy(rest, reply->content_type);
	for (size_t i = 0; i < reply->header_count; i++)
		reply->headers[i].value = str_copy(rest, reply->headers[i].value);
	forget_request(exchange);
	arena_free(exchange->arena);
	exchange->arena = rest;
}

/* All that can be done without the connection's thread. */
static void finish(struct exchange *exchange)
{
	connection_learn(exchange->connection, exchange->out.reply.took_ns);
	exchange->out.coding = compress(exchange, exchange->mhd, &exchange->out.reply);
	let_go(exchange, &exchange->out.reply);
	exchange->out.stage = STAGE_REPLIED;
}

#define DECIMAL_MAX 11 /* digits of 32 bits, and the end */

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

static enum MHD_Result send_reply(struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;
	struct str body = reply->body;
	struct MHD_Response *response = MHD_create_response_from_buffer(body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_PERSISTENT);
	char crc[DECIMAL_MAX];

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Server", "Dynalith");
	MHD_add_response_header(response, "x-amzn-RequestId", exchange->id);
	MHD_add_response_header(response, "x-amz-crc32", decimal(crc, crc32_of(body.p, body.n)));
	if (str_is_set(reply->content_type))
		MHD_add_response_header(response, "Content-Type", str_copy(exchange->arena, reply->content_type).p);
	if (exchange->out.coding)
		MHD_add_response_header(response, "Content-Encoding", exchange->out.coding);
	for (size_t i = 0; i < reply->header_count; i++)
		MHD_add_response_header(response, reply->headers[i].name, str_copy(exchange->arena, reply->headers[i].value).p);
	if (is_last(exchange))
		MHD_add_response_header(response, "Connection", "close");
	sockets_answer(connection_fd(exchange->connection), exchange->is_early);
	enum MHD_Result result = MHD_queue_response(exchange->mhd, (unsigned)reply->status, response);
	MHD_destroy_response(response);
	exchange->out.is_answered = true;
	/* behind an early answer what counts is whether the client still says something */
	connection_enter(exchange->connection, exchange->is_early ? CONNECTION_RECEIVING : CONNECTION_SENDING);
	return result;
}

/* The target without http://AUTHORITY, as proxies are asked (RFC 9112, 3.2.2: a server must take it so too). */
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

/* The rest of the body is read and thrown away; what there is of it is let go. */
static void give_up(struct exchange *exchange, enum http_problem problem)
{
	exchange->problem = problem;
	forget_request(exchange);
	arena_reset(exchange->arena);
}

/* Takes a body's coding away. AWS: what is in an unknown one, broken or cut short is answered 500, and never carried out. */
static enum http_problem decode(struct exchange *exchange, const void *connection, struct str body, struct str *plain)
{
	struct str header = http_header(connection, "Content-Encoding");

	if (!str_is_set(header))
		return HTTP_FINE;
	enum gzip_coding coding = gzip_coding_of(http_headers(exchange->arena, connection, "Content-Encoding"));
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

/* Fills in the body, as sent and decompressed; or the problem, where that cannot be. */
static void take_body(struct exchange *exchange, struct http_request *request)
{
	struct str body = {exchange->body.p ? exchange->body.p : "", exchange->body.n}, plain = body;

	if (exchange->problem == HTTP_FINE)
		exchange->problem = decode(exchange, request->connection, body, &plain);
	if (arena_is_over(exchange->arena)) {
		give_up(exchange, HTTP_OVERLOADED);
		body = plain = STR("");
	}
	request->problem = exchange->problem;
	request->wire_body = body;
	request->body = plain;
}

static struct http_request request_of(struct exchange *exchange)
{
	struct http_request request = {
		.haste = exchange->haste, .is_long_write = exchange->is_long_write, .arena = exchange->arena, .method = str_of(exchange->method),
		.is_from_browser = exchange->is_from_browser, .connection = exchange->mhd, .claim = exchange->claim,
	};

	split_uri(exchange->uri, &request);
	return request;
}

void http_trust(const struct http_options *options, const struct http_request *request)
{
	arena_use_budget(request->arena, &options->stats->memory);
}

/* Makes the reply; or does nothing, where that cannot be done in this haste. */
static void handle(struct exchange *exchange)
{
	struct http_request request = request_of(exchange);
	const struct http_options *options = &exchange->http->options;

	exchange->out.reply = (struct http_response){.status = 500};
	crash_request(exchange->id);
	request.id = (struct str){exchange->id, REQUEST_ID_SIZE};
	take_body(exchange, &request);
	exchange->out.is_handled = options->handler(options->context, &request, &exchange->out.reply);
	exchange->is_long_write = exchange->out.reply.is_long_write;
	crash_request(NULL);
}

static void run_aside(struct aside_job *job, bool is_late)
{
	struct exchange *exchange = (struct exchange *)job;
	struct MHD_Connection *mhd = exchange->mhd;

	if (is_late)
		give_up(exchange, HTTP_OVERLOADED);
	if (is_late || !exchange->out.is_handled)
		handle(exchange);
	finish(exchange);
	MHD_resume_connection(mhd); /* the exchange is the connection's thread's again */
}

/* What the handler made before it gave the request up goes; the request stays. */
static void start_over(struct exchange *exchange)
{
	struct arena *fresh = arena_new_within(ARENA_KEEP, &exchange->http->options.stats->memory);

	exchange->uri = str_copy(fresh, exchange->uri);
	if (exchange->body.p)
		exchange->body.p = memcpy(arena_bytes(fresh, exchange->body.n), exchange->body.p, exchange->body.n);
	exchange->body.cap = exchange->body.n;
	arena_free(exchange->arena);
	exchange->arena = fresh;
	exchange->claim = NULL;
}

/* The connection's thread comes back to the request when it is done. */
static enum MHD_Result step_aside(struct exchange *exchange)
{
	atomic_fetch_add(&exchange->http->options.stats->aside, 1);
	exchange->out.stage = STAGE_ASIDE;
	exchange->haste = exchange->out.reply.is_behind ? HTTP_BEHIND : HTTP_LONG;
	exchange->job.run = run_aside;
	MHD_suspend_connection(exchange->mhd);
	if (!aside_take(exchange->http->aside, &exchange->job))
		run_aside(&exchange->job, false);
	return MHD_YES;
}

static bool is_expected_long(const struct exchange *exchange)
{
	if (exchange->problem != HTTP_FINE || exchange->http->options.slice_ns == 0)
		return false;
	return exchange->body.n >= LONG_BODY || connection_is_slow(exchange->connection) ||
	       (exchange->body.n >= LONG_CODED_BODY && str_is_set(http_header(exchange->mhd, "Content-Encoding")));
}

static bool is_long_to_compress(struct exchange *exchange)
{
	return exchange->out.reply.body.n >= LONG_COMPRESSION && exchange->http->options.slice_ns > 0 && str_is_set(http_header(exchange->mhd, "Accept-Encoding"));
}

static enum MHD_Result answer(struct exchange *exchange, struct MHD_Connection *connection, const char *method)
{
	exchange->mhd = connection;
	exchange->method = method;
	connection_enter(exchange->connection, CONNECTION_WORKING);
	request_id_make(exchange->id);
	if (exchange->is_early)
		exchange->haste = HTTP_LONG; /* it is refused, which is brief */
	else if (connection_kind(exchange->connection) == CONNECTION_VITAL)
		exchange->haste = HTTP_FOR_VITAL;
	else if (is_expected_long(exchange))
		return step_aside(exchange);
	handle(exchange);
	if (!exchange->out.is_handled)
		start_over(exchange);
	if (!exchange->is_early && (!exchange->out.is_handled || is_long_to_compress(exchange)))
		return step_aside(exchange);
	finish(exchange);
	return send_reply(exchange);
}

static enum MHD_Result read_framing(void *context, enum MHD_ValueKind kind, const char *name, size_t name_n, const char *value, size_t value_n)
{
	(void)kind;
	framing_add(context, (struct str){name, name_n}, value, value_n);
	return MHD_YES;
}

/* Whether the answer's head may find no room beside the request's: then nothing may be carried out. */
static bool is_head_too_large(size_t n, const struct framing *framing)
{
	return n > HEAD_MAX || n + framing->records > CONNECTION_MEMORY - ANSWER_HEAD_MAX;
}

/* Whether the body may come. */
static bool is_admitted(struct exchange *exchange, struct MHD_Connection *connection, const char *method)
{
	const struct http_options *options = &exchange->http->options;

	if (!options->admit)
		return true;
	exchange->mhd = connection;
	exchange->method = method;
	struct http_request request = request_of(exchange);
	bool is_admitted = options->admit(options->context, &request);
	exchange->claim = request.claim;
	if (is_admitted)
		arena_use_budget(exchange->arena, &options->stats->unproven);
	return is_admitted;
}

/* The first call of a request: its head is there. What refuses it as too large is on_completed(). */
static enum MHD_Result begin(struct exchange *exchange, struct MHD_Connection *connection, const char *url, const char *method, const char *version)
{
	struct framing framing = framing_begin(method, url, exchange->uri_end, version);
	size_t size = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;

	exchange->is_started = true;
	MHD_get_connection_values_n(connection, MHD_HEADER_KIND, read_framing, &framing);
	if (is_head_too_large(size, &framing))
		return MHD_NO;
	exchange->is_from_browser = framing.is_from_browser;
	if (!framing_is_good(&framing, method + size, strcmp(version, "HTTP/1.1") == 0))
		exchange->problem = HTTP_BAD_FRAMING;
	else if (exchange->is_over)
		exchange->problem = HTTP_OVERLOADED;
	unsigned long long n = framing.lengths ? strtoull(framing.length, NULL, 10) : 0;
	if (exchange->problem == HTTP_FINE && n > exchange->http->options.body_limit)
		exchange->problem = HTTP_TOO_LARGE;
	bool is_refused = exchange->problem == HTTP_FINE && (n > 0 || framing.encodings > 0) && !is_admitted(exchange, connection, method);
	/* answered at once; libmicrohttpd closes the connection since the body stays unread */
	exchange->is_early = exchange->problem == HTTP_BAD_FRAMING || exchange->problem == HTTP_TOO_LARGE || is_refused;
	if (exchange->is_early)
		return answer(exchange, connection, method);
	exchange->body.claimed = (size_t)n;
	if (exchange->problem != HTTP_FINE || !framing.lengths || n >= BODY_AT_ONCE)
		return MHD_YES;
	exchange->body.cap = (size_t)n + 1;
	exchange->body.p = arena_bytes(exchange->arena, exchange->body.cap);
	if (arena_is_over(exchange->arena))
		give_up(exchange, HTTP_OVERLOADED);
	return MHD_YES;
}

/* For `n` bytes of body: twice as much as before, or all that was claimed when an eighth of it has come. */
static size_t room_for(const struct exchange *exchange, size_t n)
{
	size_t cap = exchange->body.cap * 2 > n ? exchange->body.cap * 2 : n;

	return exchange->body.claimed >= n && n >= exchange->body.claimed / 8 ? exchange->body.claimed : cap;
}

static void collect(struct exchange *exchange, const char *data, size_t n)
{
	connection_touch(exchange->connection);
	if (exchange->problem != HTTP_FINE)
		return;
	if (exchange->body.n + n > exchange->http->options.body_limit) {
		give_up(exchange, HTTP_TOO_LARGE);
		return;
	}
	if (exchange->body.n + n > exchange->body.cap) {
		size_t cap = room_for(exchange, exchange->body.n + n);

		exchange->body.p = arena_grow(exchange->arena, exchange->body.p, exchange->body.n, cap);
		exchange->body.cap = cap;
		if (arena_is_over(exchange->arena)) {
			give_up(exchange, HTTP_OVERLOADED);
			return;
		}
	}
	memcpy(exchange->body.p + exchange->body.n, data, n);
	exchange->body.n += n;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
				  const char *data, size_t *data_size, void **state)
{
	struct exchange *exchange = *state;

	(void)context;
	if (!exchange)
		return MHD_NO;
	if (!exchange->is_started)
		return begin(exchange, connection, url, method, version);
	if (*data_size > 0) {
		if (!exchange->out.is_answered)
			collect(exchange, data, *data_size);
		*data_size = 0;
		return MHD_YES;
	}
	if (exchange->out.is_answered || exchange->out.stage == STAGE_ASIDE)
		return MHD_YES;
	return exchange->out.stage == STAGE_REPLIED ? send_reply(exchange) : answer(exchange, connection, method);
}

/*
 * libmicrohttpd 0.9.75 takes the parameters of the query apart, which nobody asks it for, and where its memory does not hold them all it
 * forgets the request: neither answered nor completed. So the query ends for it where it begins; the text is in its own buffer.
 */
static void hide_query(const char *uri)
{
	char *mark = strchr((char *)(uintptr_t)uri, '?');

	if (mark && mark[1])
		mark[1] = '\0';
}

/* Called as soon as the request line is there; what it returns is the request's state. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *exchange = exchange_new(context);

	exchange->connection = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	connection_enter(exchange->connection, CONNECTION_RECEIVING);
	exchange->is_over = !connection_begin_request(exchange->connection) || connection_is_over(exchange->connection);
	exchange->uri = str_copy(exchange->arena, str_of(uri));
	exchange->uri_end = uri + exchange->uri.n;
	hide_query(uri);
	return exchange;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	struct exchange *exchange = *state;

	(void)context, (void)connection;
	if (!exchange)
		return;
	if (code == MHD_REQUEST_TERMINATED_WITH_ERROR)
		sockets_refuse(connection_fd(exchange->connection));
	else
		sockets_await(connection_fd(exchange->connection));
	connection_enter(exchange->connection, CONNECTION_WAITING);
	connection_end_request(exchange->connection);
	exchange_done(exchange);
	*state = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code)
{
	struct http *http = context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		sockets_forget(connection_fd(*state));
		connections_remove(*state);
		return;
	}
	int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	*state = connections_find(http->connections, fd);
	sockets_await(fd);
}

/* Signatures cover the path as it was sent. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context, (void)connection;
	return strlen(text);
}

/* libmicrohttpd closes what it cannot take. */
static void enter(void *context, int fd, enum connection_kind kind)
{
	struct http *http = context;
	struct connection *connection = connections_find(http->connections, fd);
	socklen_t n;
	const struct sockaddr *peer = connection_peer(connection, &n);

	if (MHD_add_connection(http->daemons[kind], fd, peer, n) != MHD_YES)
		connections_remove(connection);
}

/* A pool of one is not a pool to libmicrohttpd; it divides its limit among the threads, one of which may get all connections. */
static struct MHD_Daemon *start_daemon(struct http *http, unsigned threads)
{
	enum MHD_OPTION pool = threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END;
	unsigned limit = (http->options.connection_limit + CONNECTIONS_OVER) * threads;

	return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, on_request, http,
				MHD_OPTION_URI_LOG_CALLBACK, on_uri, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
				MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
				MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK, pool, threads, MHD_OPTION_END);
}

static void http_free(struct http *http)
{
	for (int kind = 0; kind < CONNECTION_KINDS; kind++) {
		if (http->daemons[kind])
			MHD_stop_daemon(http->daemons[kind]);
	}
	while (http->idle) {
		struct exchange *exchange = http->idle;

		http->idle = exchange->next;
		exchange_free(exchange);
	}
	if (http->connections)
		connections_free(http->connections);
	aside_free(http->aside);
	pthread_mutex_destroy(&http->mutex);
	free(http);
}

/* The plain end of a connection by TLS. */
static void take_plain(void *context, int fd, const struct sockaddr *peer)
{
	const struct http *http = context;

	door_take(http->door, fd, peer);
}

static bool start_tls(struct http *http, int fd)
{
	const struct http_options *options = &http->options;
	const struct tls_options tls = {
		.listener = fd, .threads = options->threads, .limit = options->connection_limit + CONNECTIONS_OVER, .request_s = options->request_timeout_s,
		.deliver = take_plain, .context = http,
	};

	if (tls_start(options->tls, &tls))
		return true;
	door_close(http->door);
	return false;
}

static bool start(struct http *http, int fd)
{
	const struct http_options *options = &http->options;
	const struct connections_options limits = {
		.limit = options->connection_limit, .idle_s = options->idle_timeout_s, .request_s = options->request_timeout_s,
		.remote = options->remote, .loopback = options->loopback, .stats = &options->stats->connections,
	};
	struct door_options door = {options->tls ? -1 : fd, NULL, enter, http};

	http->connections = connections_new(&limits);
	http->daemons[CONNECTION_ORDINARY] = start_daemon(http, options->threads);
	http->daemons[CONNECTION_VITAL] = start_daemon(http, 1);
	if (!http->connections || !http->daemons[CONNECTION_ORDINARY] || !http->daemons[CONNECTION_VITAL]) {
		close(fd);
		return false;
	}
	door.connections = http->connections;
	http->door = door_open(&door);
	if (!http->door && options->tls)
		close(fd);
	return http->door && (!options->tls || start_tls(http, fd));
}

/* An eighth of the memory; but two of the largest bodies fit. */
static size_t unproven_limit(const struct http_options *options)
{
	size_t share = options->memory_limit / 8, least = 2 * options->body_limit;

	return share > least ? share : least;
}

struct http *http_start(const struct http_options *options, const char **problem)
{
	int fd = door_listen(options->host, options->port, problem);

	if (fd < 0)
		return NULL;
	struct http *http = arena_checked(calloc(1, sizeof(*http)));
	http->options = *options;
	options->stats->memory.limit = options->memory_limit;
	options->stats->unproven.limit = unproven_limit(options);
	pthread_mutex_init(&http->mutex, NULL);
	request_id_seed();
	http->port = door_port(fd);
	http->aside = aside_new();
	if (start(http, fd))
		return http;
	*problem = "no threads or files are left";
	http_free(http);
	return NULL;
}

unsigned http_port(const struct http *http)
{
	return http->port;
}

void http_stop(struct http *http, unsigned wait_ms)
{
	const struct timespec moment = {0, 1000000};
	struct tls *tls = http->options.tls;
	int64_t end_ms = monotonic_ms() + wait_ms; /* by the clock: on a busy machine a moment can be many */

	atomic_store(&http->is_stopping, true);
	while (atomic_load(&http->options.stats->requests) > 0 && monotonic_ms() < end_ms)
		nanosleep(&moment, NULL);
	if (tls)
		tls_quiesce(tls);
	door_close(http->door);
	aside_stop(http->aside); /* libmicrohttpd must have no suspended connection */
	http_free(http);
	if (tls)
		tls_stop(tls, TLS_DRAIN_MS);
}
