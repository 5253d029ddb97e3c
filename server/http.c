#include "server/http.h"

#include <errno.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/crc32.h"
#include "server/gzip.h"

#define ARENA_KEEP (512 * 1024)      /* bytes an idle exchange keeps */
#define EXCHANGES_KEPT 64            /* idle exchanges kept */
#define CONNECTION_MEMORY (16 * 1024) /* of libmicrohttpd, which clears it for each request: all headers must fit */
#define THREAD_STACK (2 * 1024 * 1024)
#define LISTEN_BACKLOG 511
#define COMPRESS_FROM 1024           /* bytes; smaller replies are sent as they are */
#define REQUEST_ID_SIZE 52

/* One request and its reply. */
struct exchange {
	struct exchange *next;
	struct http *http;
	struct arena *arena;
	struct str uri;
	bool is_started, is_answered;
	enum http_problem problem;
	char *body;
	size_t body_n, body_cap;
};

struct http {
	struct http_options options;
	struct MHD_Daemon *daemon;
	atomic_bool is_stopping;
	atomic_uint active;
	atomic_ullong request_ids;
	uint64_t id_seed;
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
	arena = exchange ? exchange->arena : arena_new(ARENA_KEEP);
	if (!exchange)
		exchange = malloc(sizeof(*exchange));
	if (!exchange)
		abort();
	*exchange = (struct exchange){.http = http, .arena = arena};
	atomic_fetch_add(&http->active, 1);
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
	atomic_fetch_sub(&http->active, 1);
}

struct str http_header(const void *connection, const char *name)
{
	return str_of(MHD_lookup_connection_value((struct MHD_Connection *)(uintptr_t)connection, MHD_HEADER_KIND, name));
}

static uint64_t mix(uint64_t x)
{
	x += 0x9E3779B97F4A7C15u;
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
	x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
	return x ^ (x >> 31);
}

/* 52 characters A-Z and 0-9, as AWS's. */
static void make_request_id(struct http *http, char *out)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	uint64_t number = atomic_fetch_add(&http->request_ids, 1), bits = 0;

	for (int i = 0; i < REQUEST_ID_SIZE; i++) {
		bits = i % 10 ? bits / 36 : mix(http->id_seed ^ mix(number * 8 + (uint64_t)i / 10));
		out[i] = alphabet[bits % 36];
	}
	out[REQUEST_ID_SIZE] = '\0';
}

static bool accepts_gzip(struct MHD_Connection *connection)
{
	return str_contains(http_header(connection, "Accept-Encoding"), STR("gzip"));
}

static enum MHD_Result send_response(struct exchange *exchange, struct MHD_Connection *connection, const struct http_response *reply)
{
	struct str body = reply->body;
	char id[REQUEST_ID_SIZE + 1], crc[16];
	bool is_compressed = body.n >= COMPRESS_FROM && accepts_gzip(connection);

	if (is_compressed) {
		struct str compressed = gzip_encode(exchange->arena, body);

		is_compressed = str_is_set(compressed);
		body = is_compressed ? compressed : body;
	}
	struct MHD_Response *response = MHD_create_response_from_buffer(body.n, (void *)(uintptr_t)body.p, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	make_request_id(exchange->http, id);
	snprintf(crc, sizeof(crc), "%u", crc32_of(body.p, body.n));
	MHD_add_response_header(response, "Server", "Dynalith");
	MHD_add_response_header(response, "x-amzn-RequestId", id);
	MHD_add_response_header(response, "x-amz-crc32", crc);
	if (str_is_set(reply->content_type))
		MHD_add_response_header(response, "Content-Type", str_copy(exchange->arena, reply->content_type).p);
	if (is_compressed)
		MHD_add_response_header(response, "Content-Encoding", "gzip");
	for (size_t i = 0; i < reply->header_count; i++)
		MHD_add_response_header(response, reply->headers[i].name, str_copy(exchange->arena, reply->headers[i].value).p);
	if (atomic_load(&exchange->http->is_stopping))
		MHD_add_response_header(response, "Connection", "close");
	enum MHD_Result result = MHD_queue_response(connection, (unsigned)reply->status, response);
	MHD_destroy_response(response);
	exchange->is_answered = true;
	return result;
}

static void split_uri(struct str uri, struct http_request *request)
{
	const char *mark = uri.n ? memchr(uri.p, '?', uri.n) : NULL;

	request->path = (struct str){uri.p, mark ? (size_t)(mark - uri.p) : uri.n};
	request->query = mark ? (struct str){mark + 1, uri.n - request->path.n - 1} : STR("");
}

static enum MHD_Result answer(struct exchange *exchange, struct MHD_Connection *connection, const char *method)
{
	struct http_request request = {.arena = exchange->arena, .method = str_of(method), .connection = connection, .problem = exchange->problem};
	struct http_response reply = {.status = 500};
	struct str encoding = http_header(connection, "Content-Encoding");

	split_uri(exchange->uri, &request);
	request.wire_body = (struct str){exchange->body ? exchange->body : "", exchange->body_n};
	request.body = request.wire_body;
	if (request.problem == HTTP_FINE && str_eq(encoding, STR("gzip")) &&
	    !gzip_decode(exchange->arena, request.wire_body, HTTP_BODY_MAX, &request.body))
		request.problem = HTTP_BAD_ENCODING;
	exchange->http->options.handler(exchange->http->options.context, &request, &reply);
	return send_response(exchange, connection, &reply);
}

/* The first call of a request: its head is there. */
static enum MHD_Result begin(struct exchange *exchange, struct MHD_Connection *connection, const char *method)
{
	struct str length = http_header(connection, "Content-Length");

	exchange->is_started = true;
	if (!str_is_set(length))
		return MHD_YES;
	unsigned long long n = strtoull(length.p, NULL, 10);
	if (n > HTTP_BODY_MAX) { /* answered at once; libmicrohttpd closes the connection since the body stays unread */
		exchange->problem = HTTP_TOO_LARGE;
		return answer(exchange, connection, method);
	}
	/* a small body gets its room in one piece; a large one grows as it comes, so that a mere claim costs nothing */
	exchange->body_cap = n < 64 * 1024 ? (size_t)n + 1 : 0;
	if (exchange->body_cap)
		exchange->body = arena_bytes(exchange->arena, exchange->body_cap);
	return MHD_YES;
}

static void collect(struct exchange *exchange, const char *data, size_t n)
{
	if (exchange->body_n + n > HTTP_BODY_MAX) {
		exchange->problem = HTTP_TOO_LARGE;
		return;
	}
	if (exchange->body_n + n > exchange->body_cap) {
		size_t cap = exchange->body_cap * 2 > exchange->body_n + n ? exchange->body_cap * 2 : exchange->body_n + n;

		exchange->body = arena_grow(exchange->arena, exchange->body, exchange->body_n, cap);
		exchange->body_cap = cap;
	}
	memcpy(exchange->body + exchange->body_n, data, n);
	exchange->body_n += n;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
				  const char *data, size_t *data_size, void **state)
{
	struct exchange *exchange = *state;

	(void)context, (void)url, (void)version;
	if (!exchange)
		return MHD_NO;
	if (!exchange->is_started)
		return begin(exchange, connection, method);
	if (*data_size > 0) {
		if (!exchange->is_answered)
			collect(exchange, data, *data_size);
		*data_size = 0;
		return MHD_YES;
	}
	return exchange->is_answered ? MHD_YES : answer(exchange, connection, method);
}

/* Called as soon as the request line is there; what it returns is the request's state. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *exchange = exchange_new(context);

	(void)connection;
	exchange->uri = str_copy(exchange->arena, str_of(uri));
	return exchange;
}

static void on_completed(void *context, struct MHD_Connection *connection, void **state, enum MHD_RequestTerminationCode code)
{
	(void)context, (void)connection, (void)code;
	if (*state)
		exchange_done(*state);
	*state = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info;
	int on = 1;

	(void)context, (void)state;
	if (code != MHD_CONNECTION_NOTIFY_STARTED)
		return;
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (info)
		setsockopt(info->connect_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

/* Signatures cover the path as it was sent. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context, (void)connection;
	return strlen(text);
}

/* A socket that listens there, or -1 with errno set. "::" stands for every address, of IPv4 too. */
static int listen_at(const struct addrinfo *address)
{
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), on = 1, off = 0;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (address->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off));
	if (bind(fd, address->ai_addr, address->ai_addrlen) == 0 && listen(fd, LISTEN_BACKLOG) == 0)
		return fd;
	int error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* A listening socket, or -1 with *problem set. */
static int listen_on(const char *host, unsigned short number, const char **problem)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
	char port[8];

	snprintf(port, sizeof(port), "%u", number);
	int result = getaddrinfo(host, port, &hints, &found);
	if (result != 0) {
		*problem = gai_strerror(result);
		return -1;
	}
	int fd = -1;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next)
		fd = listen_at(at);
	if (fd < 0)
		*problem = strerror(errno);
	freeaddrinfo(found);
	return fd;
}

struct http *http_start(const struct http_options *options, const char **problem)
{
	struct http *http = calloc(1, sizeof(*http));
	int fd = listen_on(options->host, options->port, problem);

	if (fd < 0 && strcmp(options->host, "::") == 0) /* a machine without IPv6 */
		fd = listen_on("0.0.0.0", options->port, problem);
	if (fd < 0 || !http) {
		free(http);
		return NULL;
	}
	http->options = *options;
	pthread_mutex_init(&http->mutex, NULL);
	if (getrandom(&http->id_seed, sizeof(http->id_seed), 0) != sizeof(http->id_seed))
		http->id_seed = (uint64_t)time(NULL);
	/* a pool of one is not a pool to libmicrohttpd */
	enum MHD_OPTION pool = options->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END;
	http->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, on_request, http, MHD_OPTION_LISTEN_SOCKET, fd,
					MHD_OPTION_URI_LOG_CALLBACK, on_uri, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
					MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
					MHD_OPTION_CONNECTION_LIMIT, options->connection_limit, MHD_OPTION_CONNECTION_TIMEOUT,
					options->idle_timeout_s, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY,
					MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK, pool, options->threads, MHD_OPTION_END);
	if (!http->daemon) {
		*problem = "libmicrohttpd did not start";
		close(fd);
		free(http);
		return NULL;
	}
	return http;
}

unsigned http_port(const struct http *http)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_BIND_PORT);
	const union MHD_DaemonInfo *listen = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_LISTEN_FD);
	struct sockaddr_storage address;
	socklen_t n = sizeof(address);
	char port[8] = "0";

	if (listen && getsockname(listen->listen_fd, (struct sockaddr *)&address, &n) == 0 &&
	    getnameinfo((struct sockaddr *)&address, n, NULL, 0, port, sizeof(port), NI_NUMERICSERV) == 0)
		return (unsigned)strtoul(port, NULL, 10);
	return info ? info->port : http->options.port;
}

void http_stop(struct http *http, unsigned wait_ms)
{
	const struct timespec moment = {0, 1000000};

	/* not by MHD_quiesce_daemon(): it removes the listening socket from the workers' epoll sets beneath them, and a worker
	   that was about to remove it itself ends the process (libmicrohttpd 0.9.75) */
	atomic_store(&http->is_stopping, true);
	for (unsigned i = 0; i < wait_ms && atomic_load(&http->active) > 0; i++)
		nanosleep(&moment, NULL);
	MHD_stop_daemon(http->daemon);
	while (http->idle) {
		struct exchange *exchange = http->idle;

		http->idle = exchange->next;
		exchange_free(exchange);
	}
	pthread_mutex_destroy(&http->mutex);
	free(http);
}
