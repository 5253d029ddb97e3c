#include "server/client.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/buf.h"
#include "server/platform/platform.h"
#include "server/tls_client.h"
#include "storage/monotonic.h"

#define REPLY_MAX (1024 * 1024)
#define RECEIVE_BYTES 65536
#define STEP_MS 100 /* between two looks whether to stop */

static bool read_target(struct str url, struct str scheme, struct str port, struct client_target *out)
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

/* A connection, and the time limit for it. */
struct wire {
	int fd;
	struct tls_client *tls; /* or NULL */
	int64_t until_ms;
	const struct client_request *request;
};

/* Waits until the socket is ready for `events`. */
static bool await(const struct wire *wire, short events)
{
	const struct client_request *request = wire->request;
	struct pollfd poller = {wire->fd, events, 0};

	while (!(request->stopping && atomic_load(request->stopping)) && monotonic_ms() < wire->until_ms) {
		if (poll(&poller, 1, STEP_MS) > 0)
			return true;
		if (request->tick)
			request->tick(request->tick_context);
	}
	return false;
}

static bool connect_wire(struct wire *wire, struct arena *arena, const struct client_target *target)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;

	if (getaddrinfo(str_copy(arena, target->host).p, str_copy(arena, target->port).p, &hints, &found) != 0)
		return false;
	for (const struct addrinfo *at = found; at && wire->fd < 0; at = at->ai_next) {
		int problem = 0;
		socklen_t n = sizeof(problem);

		wire->fd = platform_socket(at->ai_family, at->ai_socktype, at->ai_protocol);
		if (wire->fd < 0 || connect(wire->fd, at->ai_addr, at->ai_addrlen) == 0)
			continue;
		if (errno == EINPROGRESS && await(wire, POLLOUT) && getsockopt(wire->fd, SOL_SOCKET, SO_ERROR, &problem, &n) == 0 && problem == 0)
			continue;
		close(wire->fd);
		wire->fd = -1;
	}
	freeaddrinfo(found);
	return wire->fd >= 0;
}

static bool shake_hands(struct wire *wire, struct arena *arena, const struct client_target *target, const char **problem)
{
	struct str reason;
	short events = POLLOUT;
	int result = 0;

	wire->tls = tls_client_new(arena, wire->fd, target->host, target->authorities, &reason);
	while (wire->tls && result == 0 && await(wire, events))
		result = tls_client_shake(wire->tls, arena, &events, &reason);
	*problem = wire->tls && result == 0 ? "the TLS handshake took too long" : str_copy(arena, reason).p;
	return result == 1;
}

static void close_wire(struct wire *wire)
{
	if (wire->tls)
		tls_client_free(wire->tls);
	if (wire->fd >= 0)
		close(wire->fd);
}

static bool send_all(const struct wire *wire, struct str bytes)
{
	short events = POLLOUT;

	while (bytes.n > 0) {
		if (!await(wire, events))
			return false;
		ssize_t n = wire->tls ? tls_client_send(wire->tls, bytes.p, bytes.n, &events) : platform_send(wire->fd, bytes.p, bytes.n);
		if (n < 0 && errno != EAGAIN)
			return false;
		bytes.p += n > 0 ? n : 0;
		bytes.n -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* The value of a header, or absent. */
static struct str header(struct str head, const char *name)
{
	size_t n = strlen(name);

	for (const char *line = head.p; line; line = memchr(line, '\n', (size_t)(head.p + head.n - line))) {
		line += *line == '\n';
		if ((size_t)(head.p + head.n - line) > n && strncasecmp(line, name, n) == 0 && line[n] == ':')
			return (struct str){line + n + 1, (size_t)(head.p + head.n - line) - n - 1};
	}
	return STR_ABSENT;
}

/* The length that the head gives, or -1. */
static long long length_of(struct str head)
{
	struct str value = header(head, "Content-Length");

	return str_is_set(value) ? strtoll(value.p, NULL, 10) : -1;
}

/* The chunks put together, up to the first malformed one. */
static struct str join_chunks(struct arena *arena, struct str body)
{
	struct buf out = buf_in(arena);
	const char *at = body.p, *end = body.p + body.n;

	while (at < end) {
		char *digits_end;
		unsigned long long n = strtoull(at, &digits_end, 16);
		const char *line_end = memchr(at, '\n', (size_t)(end - at));

		if (n == 0 || !line_end || digits_end == at || n > (unsigned long long)(end - line_end - 1))
			break;
		buf_add(&out, line_end + 1, (size_t)n);
		at = line_end + 1 + n + 2;
	}
	return buf_str(&out);
}

static bool is_complete(struct str bytes, size_t *head_n)
{
	const char *end = memmem(bytes.p, bytes.n, "\r\n\r\n", 4);

	if (!end)
		return false;
	*head_n = (size_t)(end - bytes.p) + 4;
	struct str head = {bytes.p, *head_n};
	long long length = length_of(head);

	if (length >= 0)
		return bytes.n - *head_n >= (size_t)length;
	return str_is_set(header(head, "Transfer-Encoding")) && bytes.n >= 5 && memcmp(bytes.p + bytes.n - 5, "0\r\n\r\n", 5) == 0;
}

/* Reads what TLS holds already before it waits for the socket. */
static ssize_t receive(const struct wire *wire, char *bytes, size_t n)
{
	short events = POLLIN;

	if (!wire->tls)
		return await(wire, events) ? recv(wire->fd, bytes, n, 0) : 0;
	ssize_t taken = tls_client_recv(wire->tls, bytes, n, &events);
	return taken >= 0 || errno != EAGAIN || await(wire, events) ? taken : 0;
}

/* Reads to the end of the reply: its length, its last chunk, or the connection's end. Text is followed by a NUL. */
static struct str read_reply(struct arena *arena, const struct wire *wire, size_t *head_n)
{
	struct buf in = buf_in(arena);

	size_t most = wire->request->reply_max ? wire->request->reply_max : REPLY_MAX;

	while (in.n < most) {
		ssize_t n = receive(wire, buf_reserve(&in, RECEIVE_BYTES + 1), RECEIVE_BYTES);

		if (n < 0 && errno == EAGAIN)
			continue;
		if (n <= 0)
			break;
		in.n += (size_t)n;
		in.p[in.n] = '\0';
		if (is_complete(buf_str(&in), head_n))
			return buf_str(&in);
	}
	return buf_str(&in);
}

/* Sends the request; the bytes of the reply, as far as they came. */
static struct str exchange(struct arena *arena, const struct wire *wire, const struct client_target *target, const struct client_request *request,
			   size_t *head_n)
{
	struct str type = str_is_set(request->type) ? request->type : STR("application/json");
	struct str head = str_printf(arena,
				     "%s " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT ":" STR_FMT "\r\nContent-Type: " STR_FMT "\r\n"
				     "Content-Length: %zu\r\nConnection: close\r\n" STR_FMT "\r\n",
				     request->method, STR_ARG(target->path), STR_ARG(target->host), STR_ARG(target->port),
				     STR_ARG(type), request->body.n, STR_ARG(request->head));

	return send_all(wire, head) && send_all(wire, request->body) ? read_reply(arena, wire, head_n) : STR("");
}

bool client_ask(struct arena *arena, const struct client_target *target, const struct client_request *request, struct client_reply *reply,
		const char **problem)
{
	struct wire wire = {-1, NULL, monotonic_ms() + request->wait_ms, request};
	size_t head_n = 0;

	*problem = "cannot connect";
	bool is_connected = connect_wire(&wire, arena, target) && (!target->is_tls || shake_hands(&wire, arena, target, problem));
	struct str bytes = is_connected ? exchange(arena, &wire, target, request, &head_n) : STR("");
	close_wire(&wire);
	if (!is_connected)
		return false;
	*problem = "no whole reply";
	if (head_n == 0 || !str_starts_with(bytes, STR("HTTP/1.")))
		return false;
	struct str head = {bytes.p, head_n};
	reply->status = (int)strtol(bytes.p + 9, NULL, 10);
	reply->is_function_error = str_is_set(header(head, "X-Amz-Function-Error"));
	reply->body = (struct str){bytes.p + head_n, bytes.n - head_n};
	if (str_is_set(header(head, "Transfer-Encoding")))
		reply->body = join_chunks(arena, reply->body);
	return true;
}
