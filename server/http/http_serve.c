#include "server/http/http_internal.h"

#include <microhttpd.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "server/crash.h"
#include "server/platform/platform.h"

#define LONG_BODY (128 * 1024) /* bytes; to parse more takes milliseconds */
#define COSTLY_BODY 4096       /* bytes; some work on a body does not count in a slice */
#define LONG_COMPRESSION (256 * 1024)
#define HELD_MS 5                /* between two looks at a request that is held */
#define PARAMETERS_MAX 64        /* of a query */
#define QUERIED_TARGET_MAX 14336 /* bytes of a target with a query */

/* Makes the reply; or does nothing, where the request does not fit the exchange's haste, or is to
 * wait (exchange->hold). */
static void serve_handle(struct exchange *exchange)
{
	struct http_request request = http_exchange_request(exchange);
	const struct http_options *options = &exchange->http->options;

	exchange->out.reply = (struct http_response){.status = 500};
	crash_request(exchange->id);
	request.id = (struct str){exchange->id, REQUEST_ID_SIZE};
	http_exchange_finish(exchange, &request);
	exchange->out.is_handled =
		options->handler(options->context, &request, &exchange->out.reply);
	exchange->is_long_write = exchange->out.reply.is_long_write;
	exchange->hold = exchange->out.reply.hold;
	crash_request(NULL);
	if (!exchange->out.is_handled)
		http_exchange_start_over(exchange);
}

/* Not by the clock: on a busy machine short requests would count as long ones. */
static uint64_t thread_cpu_ns(void)
{
	struct timespec taken;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &taken);
	return (uint64_t)taken.tv_sec * 1000000000u + (uint64_t)taken.tv_nsec;
}

/* A connection whose request was long is likely to send another one. */
static void learn(struct exchange *exchange, uint64_t taken_ns)
{
	uint64_t most = exchange->http->options.wait_ns;
	bool has_waited = most > 0 && exchange->out.reply.took_ns > most;

	exchange->connection->cost_ns =
		taken_ns > http_lane_slice(exchange->lane) ? taken_ns : has_waited;
}

static void run_aside(struct crew_job *job, bool is_late);

static void take_aside(struct exchange *exchange, uint64_t cost_ns)
{
	exchange->job.run = run_aside;
	crew_take(exchange->http->aside, &exchange->job, cost_ns);
}

/* Called now and then while the request is held; runs it when that is over, or the server ends. */
static void look_at_held(struct crew_job *job, bool is_late)
{
	struct exchange *exchange = (struct exchange *)job;
	struct http *http = exchange->http;
	unsigned look_ms = http->options.held_look_ms ? http->options.held_look_ms : HELD_MS;

	if (!is_late && http->options.is_held(exchange->hold))
		crew_take_in(http->delays, job, look_ms);
	else
		take_aside(exchange, 0);
}

/* The connection is suspended. No thread waits with the request. */
static void wait_held(struct exchange *exchange)
{
	exchange->haste = HTTP_BEHIND;
	exchange->job.run = look_at_held;
	look_at_held(&exchange->job, false);
}

/*
 * Whether the client has ended its side, or closed the connection. It gets no answer then:
 * libmicrohttpd closes the connection when it is resumed. Nor does it when the server ends and the
 * time for requests under way is over.
 */
static bool has_left(void *context)
{
	const struct exchange *exchange = context;

	return atomic_load(&exchange->http->is_drained) ||
	       platform_has_ended(exchange->connection->fd);
}

static void run_aside(struct crew_job *job, bool is_late)
{
	struct exchange *exchange = (struct exchange *)job;

	if (is_late)
		http_exchange_give_up(exchange, HTTP_OVERLOADED);
	uint64_t began_ns = thread_cpu_ns();
	arena_watch(exchange->arena, has_left, exchange);
	if (is_late || !exchange->out.is_handled)
		serve_handle(exchange);
	arena_watch(exchange->arena, NULL, NULL);
	if (exchange->hold) {
		wait_held(exchange);
		return;
	}
	if (!exchange->out.is_handled) { /* it was behind a long request, and is one itself */
		exchange->haste = HTTP_LONG;
		take_aside(exchange, http_lane_slice(exchange->lane));
		return;
	}
	http_reply_prepare(exchange);
	learn(exchange, thread_cpu_ns() - began_ns);
	http_exchange_resume_in(exchange, exchange->out.reply.fault.delay_ms);
}

/* The connection's thread comes back to the request when it is done. */
static void step_aside(struct exchange *exchange)
{
	exchange->stage = STAGE_ASIDE;
	MHD_suspend_connection(exchange->mhd);
	if (exchange->hold) {
		wait_held(exchange);
		return;
	}
	atomic_fetch_add(&exchange->http->options.stats->aside, 1);
	exchange->haste = exchange->out.reply.is_behind ? HTTP_BEHIND : HTTP_LONG;
	take_aside(exchange, exchange->connection->cost_ns);
}

/* When libmicrohttpd resumes a connection whose client has ended its side, it closes it without an
 * answer. So this waits until the request is long. */
static bool is_expected_long(const struct exchange *exchange)
{
	if (exchange->problem != HTTP_FINE || exchange->http->options.slice_ns == 0)
		return false;
	/* a compressed body may become a thousand times as large */
	bool is_long = exchange->body.n >= LONG_BODY || exchange->connection->cost_ns > 0 ||
		       str_is_set(headers_first(&exchange->head.headers, STR("Content-Encoding")));
	return is_long && !platform_has_ended(exchange->connection->fd);
}

static bool is_long_to_compress(const struct exchange *exchange)
{
	if (exchange->out.reply.body.n < LONG_COMPRESSION || exchange->http->options.slice_ns == 0)
		return false;
	return str_is_set(headers_first(&exchange->head.headers, STR("Accept-Encoding")));
}

/* Its body is there, or is not to come. False where the connection is to be closed. */
static bool answer(struct exchange *exchange)
{
	connection_enter(exchange->connection, CONNECTION_WORKING);
	request_id_make(exchange->id);
	if (exchange->is_early) {
		exchange->haste = HTTP_LONG; /* it is refused, which is brief */
	} else if (exchange->connection->kind == CONNECTION_VITAL) {
		exchange->haste = HTTP_FOR_VITAL;
	} else if (is_expected_long(exchange)) {
		step_aside(exchange);
		return true;
	}
	uint64_t began_ns = exchange->body.n >= COSTLY_BODY ? thread_cpu_ns() : 0;
	serve_handle(exchange);
	bool is_done = exchange->out.is_handled && !is_long_to_compress(exchange);
	if (exchange->hold || (!is_done && !exchange->is_early)) {
		step_aside(exchange);
		return true;
	}
	http_reply_prepare(exchange);
	learn(exchange, began_ns > 0 ? thread_cpu_ns() - began_ns : 0);
	if (exchange->out.reply.fault.delay_ms == 0)
		return http_reply_send(exchange);
	http_exchange_pause(exchange, exchange->out.reply.fault.delay_ms);
	return true;
}

static bool begin(struct exchange *exchange, struct MHD_Connection *mhd, const char *method,
		  const char *version)
{
	exchange->stage = STAGE_BODY;
	exchange->mhd = mhd;
	exchange->head.method = method;
	http_exchange_head(exchange, version);
	return !exchange->is_early || answer(exchange);
}

bool http_serve_request(struct exchange *exchange, struct MHD_Connection *mhd, const char *method,
			const char *version, const char *data, size_t *data_size)
{
	size_t n = *data_size;

	if (exchange->stage == STAGE_HEAD)
		return begin(exchange, mhd, method, version);
	*data_size = 0;
	if (n == 0 && exchange->stage == STAGE_BODY)
		return answer(exchange);
	if (n == 0 && exchange->stage == STAGE_REPLIED)
		return http_reply_send(exchange);
	if (exchange->stage == STAGE_BODY)
		http_exchange_body(exchange, data, n);
	return true;
}

/*
 * libmicrohttpd 0.9.75 makes a record of each parameter of a query. Where its memory does not hold
 * them all it neither answers nor ends the request. So a connection with such a target is shut down
 * here; libmicrohttpd sees the end of its socket, and closes it.
 */
static bool has_too_many_parameters(struct str target)
{
	const char *mark = strchr(target.p, '?');
	unsigned count = 0;

	for (const char *at = mark; at; at = strchr(at + 1, '&'))
		count++;
	return count > PARAMETERS_MAX || (mark && target.n > QUERIED_TARGET_MAX);
}

struct exchange *http_serve_begin(struct lane *lane, struct connection *connection,
				  const char *uri)
{
	struct exchange *exchange = http_exchange_new(lane);
	struct str target = str_of(uri ? uri : "");

	exchange->connection = connection;
	connection_enter(connection, CONNECTION_RECEIVING);
	exchange->is_over = !connection_begin_request(connection) || connection->is_over;
	exchange->head.uri = str_copy(exchange->arena, target);
	if (has_too_many_parameters(target))
		shutdown(connection->fd, SHUT_RDWR);
	return exchange;
}

void http_serve_end(struct exchange *exchange)
{
	connection_enter(exchange->connection, CONNECTION_WAITING);
	connection_end_request(exchange->connection);
	http_exchange_done(exchange);
}
