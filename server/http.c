#include "server/http_internal.h"

#include <fcntl.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "server/connections.h"
#include "server/crash.h"
#include "server/door.h"
#include "server/ending.h"
#include "server/outbox.h"
#include "server/platform/poller.h"
#include "server/sockets.h"
#include "server/tls.h"
#include "server/write_turn.h"
#include "storage/monotonic.h"

#define THREAD_STACK (2 * 1024 * 1024)
#define TLS_DRAIN_MS 2000 /* for clients to take answers at the server's end */
#define LONG_BODY (128 * 1024)        /* bytes; to parse more takes milliseconds */
#define LONG_CODED_BODY (4 * 1024)    /* the same for a compressed body, which may become a thousand times as large */
#define LONG_COMPRESSION (256 * 1024)
#define HEAD_MOST 2048 /* bytes that the head of an answer usually has at most */
#define HELD_MS 5 /* between two looks at a request that is held */

/* The kind of request to hand on; NULL where none takes long on this connection, or the worker has no brief requests. */
static const void *costly_here(const struct exchange *exchange)
{
	const void *kind = connection_costly(exchange->connection);

	return kind && workers_hand_on() ? kind : NULL;
}

/* A short page of a scan whose pages are long does not count. */
static bool is_brief(const struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	return reply->took_ns < CONNECTION_COSTLY_NS && (!reply->kind || reply->kind != connection_costly(exchange->connection));
}

/* Makes the reply; or does nothing, where the request does not fit the exchange's haste. */
static void handle(struct exchange *exchange)
{
	struct http_request request = http_exchange_request(exchange);
	const struct http_options *options = &exchange->http->options;

	exchange->out.reply = (struct http_response){.status = 500};
	crash_request(exchange->id);
	request.id = (struct str){exchange->id, REQUEST_ID_SIZE};
	request.costly = exchange->haste == HTTP_BRIEFLY ? costly_here(exchange) : NULL;
	http_intake_finish(exchange, &request);
	exchange->out.is_handled = options->handler(options->context, &request, &exchange->out.reply);
	if (exchange->out.is_handled)
		workers_took(exchange->out.reply.took_ns, is_brief(exchange));
	exchange->is_long_write = exchange->out.reply.is_long_write;
	exchange->hold = exchange->out.reply.hold;
	crash_request(NULL);
}

/* Whether the answer, which is made, is sent with those of the turn. */
static bool is_kept(const struct exchange *exchange)
{
	const struct http_response *reply = &exchange->out.reply;

	return !reply->stream && reply->fault.delay_ms == 0 && reply->fault.piece_bytes == 0 &&
	       outbox_takes(connection_fd(exchange->connection), reply->body.n + HEAD_MOST);
}

/*
 * handle(), and the commit of the group of writes that the answer depends on. The group is committed with the turn's answers where this one may wait for them
 * and is sent with them, else at once. Where it is lost then, the answer is made once more.
 */
static void handle_surely(struct exchange *exchange, bool may_wait)
{
	handle(exchange);
	uint64_t group = write_turn_seen();
	if (group == 0 || !exchange->out.is_handled)
		return;
	if (may_wait && is_kept(exchange)) {
		exchange->out.group = group;
	} else if (!write_turn_commit(group)) {
		http_exchange_start_over(exchange);
		handle(exchange); /* now it has no part in a group */
	}
}

static void run_aside(struct aside_job *job, bool is_late);

/* Called now and then while the request is held; runs it when that is over, or the server ends. */
static void look_at_held(struct delay_job *job)
{
	struct exchange *exchange = ((struct waiting *)job)->exchange;
	struct http *http = exchange->http;

	if (http->options.is_held(exchange->hold) && delay_take(http->delay, job, HELD_MS))
		return;
	if (!aside_take(http->aside, &exchange->job))
		run_aside(&exchange->job, false);
}

/* The connection is suspended. No thread waits with the request. */
static void wait_held(struct exchange *exchange)
{
	exchange->out.stage = STAGE_ASIDE;
	exchange->haste = HTTP_BEHIND;
	exchange->job.run = run_aside;
	exchange->wait = (struct waiting){{.run = look_at_held}, exchange};
	look_at_held(&exchange->wait.job);
}

static void run_aside(struct aside_job *job, bool is_late)
{
	struct exchange *exchange = (struct exchange *)job;
	struct MHD_Connection *mhd = exchange->mhd;

	if (is_late)
		http_exchange_give_up(exchange, HTTP_OVERLOADED);
	if (is_late || !exchange->out.is_handled)
		handle_surely(exchange, false);
	if (exchange->hold) {
		http_exchange_start_over(exchange);
		wait_held(exchange);
		return;
	}
	http_reply_prepare(exchange);
	if (http_slow_is(exchange))
		http_slow_wait(exchange);
	else
		MHD_resume_connection(mhd); /* the exchange is the connection's thread's again */
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
	       (exchange->body.n >= LONG_CODED_BODY && str_is_set(headers_first(&exchange->head.headers, STR("Content-Encoding"))));
}

static bool is_long_to_compress(const struct exchange *exchange)
{
	if (exchange->out.reply.body.n < LONG_COMPRESSION || exchange->http->options.slice_ns == 0)
		return false;
	return str_is_set(headers_first(&exchange->head.headers, STR("Accept-Encoding")));
}

static enum MHD_Result send_reply(struct exchange *exchange)
{
	return http_reply_send(exchange) ? MHD_YES : MHD_NO;
}

static enum MHD_Result answer(struct exchange *exchange)
{
	connection_enter(exchange->connection, CONNECTION_WORKING);
	request_id_make(exchange->id);
	sockets_hold(connection_fd(exchange->connection));
	if (exchange->is_early)
		exchange->haste = HTTP_LONG; /* it is refused, which is brief */
	else if (connection_kind(exchange->connection) == CONNECTION_VITAL)
		exchange->haste = HTTP_FOR_VITAL;
	else if (is_expected_long(exchange))
		return step_aside(exchange);
	handle_surely(exchange, true);
	if (!exchange->out.is_handled)
		http_exchange_start_over(exchange);
	if (exchange->hold) {
		MHD_suspend_connection(exchange->mhd);
		wait_held(exchange);
		return MHD_YES;
	}
	if (!exchange->is_early && (!exchange->out.is_handled || is_long_to_compress(exchange)))
		return step_aside(exchange);
	http_reply_prepare(exchange);
	if (!http_slow_is(exchange))
		return send_reply(exchange);
	MHD_suspend_connection(exchange->mhd);
	http_slow_wait(exchange);
	return MHD_YES;
}

/* The first call of a request: its head is there. on_completed() refuses a head that is too large. */
static enum MHD_Result begin(struct exchange *exchange, struct MHD_Connection *connection, const char *url, const char *method, const char *version)
{
	exchange->is_started = true;
	exchange->mhd = connection;
	exchange->head.method = method;
	if (!http_intake_head(exchange, url, version))
		return MHD_NO;
	return exchange->is_early ? answer(exchange) : MHD_YES;
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
			http_intake_body(exchange, data, *data_size);
		*data_size = 0;
		return MHD_YES;
	}
	if (exchange->out.is_answered || exchange->out.stage == STAGE_ASIDE)
		return MHD_YES;
	return exchange->out.stage == STAGE_REPLIED ? send_reply(exchange) : answer(exchange);
}

/*
 * libmicrohttpd 0.9.75 parses the parameters of the query, which nobody needs. Where its memory does not hold them all it forgets the
 * request: no answer, no completion. So it sees an empty query; the text lies in its own buffer.
 */
static void hide_query(const char *uri)
{
	char *mark = strchr((char *)(uintptr_t)uri, '?');

	if (mark && mark[1])
		mark[1] = '\0';
}

/* libmicrohttpd calls it once the request line is there, and keeps the result as the request's state. */
static void *on_uri(void *context, const char *uri, struct MHD_Connection *connection)
{
	struct exchange *exchange = http_exchange_new(context);

	exchange->connection = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	connection_enter(exchange->connection, CONNECTION_RECEIVING);
	exchange->is_over = !connection_begin_request(exchange->connection) || connection_is_over(exchange->connection);
	const struct taken_head *taken = sockets_take_head(connection_fd(exchange->connection));
	if (taken)
		http_intake_usual(exchange, taken);
	exchange->head.uri = taken ? STR("/") : str_copy(exchange->arena, str_of(uri));
	exchange->head.uri_end = uri + exchange->head.uri.n;
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
	http_exchange_done(exchange);
	*state = NULL;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code)
{
	struct http *http = context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		sockets_forget(connection_fd(*state));
		workers_forget(connection_fd(*state));
		connections_remove(*state);
		return;
	}
	int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	*state = connections_find(http->connections, fd);
	sockets_begin(fd);
}

/* Signatures cover the path as it was sent. */
static size_t keep_escapes(void *context, struct MHD_Connection *connection, char *text)
{
	(void)context, (void)connection;
	return strlen(text);
}

/* libmicrohttpd closes a socket that it cannot take. */
static void hand_to(struct MHD_Daemon *daemon, struct connection *connection)
{
	socklen_t n;
	const struct sockaddr *peer = connection_peer(connection, &n);
	int fd = connection_fd(connection);

	if (MHD_add_connection(daemon, fd, peer, n) == MHD_YES)
		return;
	workers_forget(fd);
	connections_remove(connection);
}

/* The thread for health and metrics; the first worker until that thread has started. */
static struct MHD_Daemon *vital_of(struct http *http)
{
	struct MHD_Daemon *vital = atomic_load(&http->vital);

	return vital ? vital : http->workers[0];
}

static void enter(void *context, int fd, enum connection_kind kind)
{
	struct http *http = context;
	struct connection *connection = connections_find(http->connections, fd);

	hand_to(kind == CONNECTION_VITAL ? vital_of(http) : http->workers[workers_place(fd)], connection);
}

static struct http *only; /* for callbacks without a context: of sockets_move_by() and workers_begin() */

/* For sockets_move_by(). Sends earlier answers first, so that the other thread's answers cannot overtake them. */
static bool move_connection(int fd)
{
	int worker = workers_next(fd), to = -1;

	if (worker < 0)
		return false;
	if (outbox_clear(fd, 0))
		to = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (to >= CONNECTIONS_FILES_MAX) {
		close(to);
		to = -1;
	}
	workers_put(fd, to, (unsigned)worker);
	if (to >= 0)
		hand_to(only->workers[worker], connections_hand_over(connections_find(only->connections, fd), to));
	workers_moved();
	return to >= 0;
}

/* With one thread, which may get all connections. */
static struct MHD_Daemon *start_daemon(struct http *http)
{
	const unsigned flags = MHD_USE_AUTO_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_SUPPRESS_DATE_NO_CLOCK;
	unsigned limit = http->options.room.within + http->options.room.beyond;

	return MHD_start_daemon(flags, 0, NULL, NULL, on_request, http,
				MHD_OPTION_URI_LOG_CALLBACK, on_uri, http, MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
				MHD_OPTION_NOTIFY_CONNECTION, on_connection, http, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
				MHD_OPTION_CONNECTION_LIMIT, limit, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_CONNECTION_MEMORY,
				MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK, MHD_OPTION_END);
}

static void http_free(struct http *http)
{
	workers_freeze();
	for (unsigned i = 0; i < WORKERS_MAX && http->workers[i]; i++)
		MHD_stop_daemon(http->workers[i]);
	if (http->vital)
		MHD_stop_daemon(http->vital);
	http_exchange_free_idle(http);
	if (http->connections)
		connections_free(http->connections);
	aside_free(http->aside);
	delay_free(http->delay);
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
		.listener = fd, .threads = options->threads, .limit = options->room.within + options->room.beyond, .request_s = options->request_timeout_s,
		.deliver = take_plain, .context = http,
	};

	return tls_start(options->tls, &tls);
}

static void end_turn(void)
{
	uint64_t locked_ns = write_turn_end();

	outbox_end_turn();
	workers_end_turn(monotonic_ns(), locked_ns);
}

static void begin_turn(int events)
{
	outbox_turn(events);
	write_turn_begin(events);
	workers_begin_turn(events, monotonic_ns());
}

static bool start_worker(unsigned i)
{
	only->workers[i] = start_daemon(only);
	return only->workers[i] != NULL;
}

/* All workers; with `adapts` only the first one, since workers.h starts the others. */
static bool start_workers(struct http *http, bool adapts)
{
	unsigned wanted = adapts ? 1 : http->options.threads < WORKERS_MAX ? http->options.threads : WORKERS_MAX, n = 0;

	while (n < wanted && start_worker(n))
		n++;
	return n == wanted;
}

static bool start_vital(struct http *http)
{
	struct MHD_Daemon *vital = start_daemon(http);

	atomic_store(&http->vital, vital);
	return vital != NULL;
}

static bool start(struct http *http, int fd)
{
	const struct http_options *options = &http->options;
	const struct connections_options limits = {
		.limit = options->room.within, .over = options->room.beyond, .idle_s = options->idle_timeout_s, .request_s = options->request_timeout_s,
		.slow_ns = options->slow_ns, .remote = options->remote, .loopback = options->loopback, .stats = &options->stats->connections,
	};
	struct door_options door = {options->tls ? -1 : fd, NULL, options->room.beyond / 2, enter, http};
	bool adapts = false;

	if (options->sends_together) {
		outbox_commit_by(write_turn_commit);
		adapts = poller_on_turns(end_turn, begin_turn) && options->adapts && options->slice_ns > 0; /* else a single request may take any time */
	}
	only = http;
	sockets_move_by(adapts ? move_connection : NULL);
	workers_begin(options->threads, adapts ? start_worker : NULL, platform_core_times);
	http->connections = connections_new(&limits);
	if (!http->connections || !start_workers(http, adapts)) {
		close(fd);
		return false;
	}
	door.connections = http->connections;
	http->door = door_open(&door);
	if (!http->door) {
		if (options->tls)
			close(fd);
		return false;
	}
	/* these threads start now: a client that waits for the server needs none of them */
	if (start_vital(http) && connections_watch(http->connections) && (!options->tls || start_tls(http, fd)))
		return true;
	door_close(http->door);
	return false;
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
	http->delay = delay_new();
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
	ending_part("requests under way");
	delay_stop(http->delay); /* answers that wait go at once */
	while (atomic_load(&http->options.stats->requests) > 0 && monotonic_ms() < end_ms)
		nanosleep(&moment, NULL);
	if (tls)
		tls_quiesce(tls);
	ending_part("connections and the threads of requests");
	door_close(http->door);
	aside_stop(http->aside); /* libmicrohttpd must have no suspended connection */
	http_free(http);
	if (tls)
		tls_stop(tls, TLS_DRAIN_MS);
}
