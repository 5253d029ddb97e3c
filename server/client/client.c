#include "server/client/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/platform/platform.h"
#include "server/client/reply.h"
#include "server/client/tls_client.h"
#include "storage/monotonic.h"

#define REPLY_MAX (1024 * 1024)
#define RECEIVE_BYTES 65536
#define NO_CONNECTION "cannot connect"
#define STEP_MS 100 /* between two looks whether to stop */
#define PROGRESS_BYTES                                                                             \
	65536 /* fewer than these are no progress: a reply that drips is as good as none */

static bool read_target(struct str url, struct str scheme, struct str port,
			struct client_target *out)
{
	if (!str_starts_with(url, scheme) || url.n == scheme.n)
		return false;
	struct str rest = {url.p + scheme.n, url.n - scheme.n};
	const char *slash = memchr(rest.p, '/', rest.n);
	size_t n = slash ? (size_t)(slash - rest.p) : rest.n;
	const char *colon = memchr(rest.p, ':', n);

	*out = (struct client_target){0};
	out->path = slash ? (struct str){slash, rest.n - n} : STR("/");
	out->host = (struct str){rest.p, colon ? (size_t)(colon - rest.p) : n};
	out->port = colon ? (struct str){colon + 1, (size_t)(rest.p + n - colon - 1)} : port;
	return out->host.n > 0 && out->port.n > 0;
}

bool client_read_target(struct str url, struct client_target *out)
{
	return read_target(url, STR("http://"), STR("80"), out);
}

bool client_read_any_target(struct str url, struct client_target *out)
{
	bool is_tls = read_target(url, STR("https://"), STR("443"), out);

	if (!is_tls)
		return client_read_target(url, out);
	out->is_tls = true;
	return true;
}

bool client_is_host_and_port(struct str text)
{
	const char *colon = memchr(text.p, ':', text.n);
	size_t digits = 0;

	if (!colon || colon == text.p)
		return false;
	for (const char *at = colon + 1; at < text.p + text.n && *at >= '0' && *at <= '9'; at++)
		digits++;
	const char *end = colon + 1 + digits;
	return digits > 0 &&
	       (end == text.p + text.n || (*end == '/' && end + 1 == text.p + text.n));
}

bool client_read_endpoint(struct str text, struct client_target *out)
{
	return client_read_any_target(text, out) ||
	       (client_is_host_and_port(text) && read_target(text, STR(""), STR(""), out));
}

static bool is_this_machine(struct str host)
{
	return str_eq(host, STR("localhost")) || str_starts_with(host, STR("127."));
}

const char *client_advice(struct arena *arena, const struct client_target *target,
			  const char *problem)
{
	bool is_usual = str_eq(target->port, STR("8000"));

	if (strcmp(problem, NO_CONNECTION) != 0 || target->is_tls || !is_this_machine(target->host))
		return problem;
	return str_printf(arena,
			  NO_CONNECTION ": no server answers there. Start one: dynalith%s" STR_FMT,
			  is_usual ? "" : " --port ", STR_ARG(is_usual ? STR("") : target->port))
		.p;
}

/* A connection, and the time limit for it. */
struct wire {
	int fd;
	struct tls_client *tls; /* or NULL */
	int64_t until_ms;       /* of the next progress */
	int64_t end_ms;         /* of it all */
	size_t since;           /* bytes since the last progress */
	const struct client_request *request;
};

/* The time for the next progress begins. */
static void renew(struct wire *wire)
{
	int64_t until_ms = monotonic_ms() + wire->request->wait_ms;

	wire->until_ms = until_ms < wire->end_ms ? until_ms : wire->end_ms;
	wire->since = 0;
}

static void count(struct wire *wire, size_t n)
{
	wire->since += n;
	if (wire->since >= PROGRESS_BYTES)
		renew(wire);
}

static bool is_given_up(const struct wire *wire)
{
	return wire->request->stopping && atomic_load(wire->request->stopping);
}

/* Waits until the socket is ready for `events`. */
static bool await(const struct wire *wire, short events)
{
	const struct client_request *request = wire->request;
	struct pollfd poller = {wire->fd, events, 0};

	while (!is_given_up(wire) && monotonic_ms() < wire->until_ms) {
		if (poll(&poller, 1, STEP_MS) > 0)
			return true;
		if (request->tick)
			request->tick(request->tick_context);
	}
	return false;
}

/* Why a wait was in vain: `what` did not happen in time. */
static const char *late(const struct wire *wire, struct arena *arena, const char *what)
{
	bool is_end = wire->until_ms == wire->end_ms;
	int ms = is_end ? wire->request->whole_ms : wire->request->wait_ms;

	return is_given_up(wire) ? "given up"
				 : str_printf(arena, "%s within %g s", what, ms / 1000.0).p;
}

static bool connect_wire(struct wire *wire, struct arena *arena, const struct client_target *target)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;

	if (getaddrinfo(str_copy(arena, target->host).p, str_copy(arena, target->port).p, &hints,
			&found) != 0)
		return false;
	for (const struct addrinfo *at = found; at && wire->fd < 0; at = at->ai_next) {
		int problem = 0;
		socklen_t n = sizeof(problem);

		wire->fd = platform_socket(at->ai_family, at->ai_socktype, at->ai_protocol);
		if (wire->fd < 0 || connect(wire->fd, at->ai_addr, at->ai_addrlen) == 0)
			continue;
		if (errno == EINPROGRESS && await(wire, POLLOUT) &&
		    getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &problem, &n) == 0 && problem == 0)
			continue;
		close(wire->fd);
		wire->fd = -1;
	}
	freeaddrinfo(found);
	return wire->fd >= 0;
}

static bool shake_hands(struct wire *wire, struct arena *arena, const struct client_target *target,
			const char **problem)
{
	struct str reason;
	short events = POLLOUT;
	int result = 0;

	wire->tls = tls_client_new(arena, wire->fd, target->host, target->authorities, &reason);
	while (wire->tls && result == 0 && await(wire, events))
		result = tls_client_shake(wire->tls, arena, &events, &reason);
	*problem = wire->tls && result == 0 ? "the TLS handshake took too long"
					    : str_copy(arena, reason).p;
	return result == 1;
}

static void close_wire(struct wire *wire)
{
	if (wire->tls)
		tls_client_free(wire->tls);
	if (wire->fd >= 0)
		close(wire->fd);
}

/* False where it takes too long. A server that hangs up may have answered before. */
static bool send_all(struct wire *wire, struct str bytes)
{
	short events = POLLOUT;

	while (bytes.n > 0) {
		if (!await(wire, events))
			return false;
		ssize_t n = wire->tls ? tls_client_send(wire->tls, bytes.p, bytes.n, &events)
				      : platform_send(wire->fd, bytes.p, bytes.n);
		if (n < 0 && errno != EAGAIN)
			return true;
		size_t sent = n > 0 ? (size_t)n : 0;
		bytes = (struct str){bytes.p + sent, bytes.n - sent};
		count(wire, sent);
	}
	return true;
}

enum received { RECEIVED, NOTHING_YET, ENDED, BROKEN, LATE };

/* Reads what TLS holds already before it waits for the socket. */
static enum received receive(const struct wire *wire, char *bytes, size_t size, size_t *n)
{
	short events = POLLIN;
	ssize_t taken;

	if (!wire->tls && !await(wire, events))
		return LATE;
	taken = wire->tls ? tls_client_recv(wire->tls, bytes, size, &events)
			  : recv(wire->fd, bytes, size, 0);
	*n = taken > 0 ? (size_t)taken : 0;
	if (taken >= 0)
		return taken > 0 ? RECEIVED : ENDED;
	if (errno == EINTR || errno == EAGAIN)
		return !wire->tls || await(wire, events) ? NOTHING_YET : LATE;
	return BROKEN;
}

/* The head is progress, and then each so many bytes of the body. False: *problem says why the reply
 * is not whole. */
static bool read_reply(struct wire *wire, struct reply *reply, const char **problem)
{
	char *bytes = arena_bytes(reply->arena, RECEIVE_BYTES);
	bool has_head = false;
	size_t n;

	while (!reply_is_over(reply)) {
		switch (receive(wire, bytes, RECEIVE_BYTES, &n)) {
		case RECEIVED:
			reply_take(reply, (struct str){bytes, n});
			if (!has_head && reply->part > REPLY_HEAD)
				renew(wire);
			else if (has_head)
				count(wire, n);
			has_head = reply->part > REPLY_HEAD;
			break;
		case NOTHING_YET:
			if (monotonic_ms() < wire->until_ms)
				break;
			*problem = late(wire, reply->arena, "no answer");
			return false;
		case ENDED:
			reply_end(reply);
			break;
		case BROKEN:
			*problem = has_head ? "the answer was cut off" : "the connection broke";
			return false;
		case LATE:
			*problem = late(wire, reply->arena,
					has_head ? "the answer does not go on" : "no answer");
			return false;
		}
	}
	*problem = reply->problem;
	return reply->part == REPLY_WHOLE;
}

/* Sends the request and reads the reply. */
static bool exchange(struct wire *wire, const struct client_target *target, struct reply *reply,
		     const char **problem)
{
	const struct client_request *request = wire->request;
	struct str type = str_is_set(request->type) ? request->type : STR("application/json");
	struct str head = str_printf(reply->arena,
				     "%s " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT ":" STR_FMT
				     "\r\nContent-Type: " STR_FMT "\r\n"
				     "Content-Length: %zu\r\nConnection: close\r\n" STR_FMT "\r\n",
				     request->method, STR_ARG(target->path), STR_ARG(target->host),
				     STR_ARG(target->port), STR_ARG(type), request->body.n,
				     STR_ARG(request->head));

	renew(wire);
	if (!send_all(wire, head) || !send_all(wire, request->body)) {
		*problem = late(wire, reply->arena, "the request is not taken");
		return false;
	}
	renew(wire);
	return read_reply(wire, reply, problem);
}

bool client_ask(struct arena *arena, const struct client_target *target,
		const struct client_request *request, struct client_reply *out,
		const char **problem)
{
	int64_t now_ms = monotonic_ms();
	struct wire wire = {.fd = -1,
			    .end_ms = request->whole_ms ? now_ms + request->whole_ms : INT64_MAX,
			    .request = request};
	struct reply reply = reply_in(arena, request->reply_max ? request->reply_max : REPLY_MAX);

	renew(&wire);
	*problem = NO_CONNECTION;
	bool is_connected = connect_wire(&wire, arena, target) &&
			    (!target->is_tls || shake_hands(&wire, arena, target, problem));
	bool is_whole = is_connected && exchange(&wire, target, &reply, problem);
	close_wire(&wire);
	if (!is_whole)
		return false;
	out->status = reply.status;
	out->is_function_error = str_is_set(reply_header(&reply, "X-Amz-Function-Error"));
	out->range = reply_header(&reply, "Content-Range");
	out->body = buf_str(&reply.body);
	return true;
}
