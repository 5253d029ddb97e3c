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
#include "storage/monotonic.h"

#define REPLY_MAX (1024 * 1024)
#define STEP_MS 100 /* between two looks whether to stop */

bool client_read_target(struct str url, struct client_target *out)
{
	struct str scheme = STR("http://");

	if (!str_starts_with(url, scheme) || url.n == scheme.n)
		return false;
	struct str rest = {url.p + scheme.n, url.n - scheme.n};
	const char *slash = memchr(rest.p, '/', rest.n);
	size_t n = slash ? (size_t)(slash - rest.p) : rest.n;
	const char *colon = memchr(rest.p, ':', n);

	out->path = slash ? (struct str){slash, rest.n - n} : STR("/");
	out->host = (struct str){rest.p, colon ? (size_t)(colon - rest.p) : n};
	out->port = colon ? (struct str){colon + 1, (size_t)(rest.p + n - colon - 1)} : STR("80");
	return out->host.n > 0 && out->port.n > 0;
}

/* Waits until the socket is ready for `events`. */
static bool await(int fd, short events, int64_t until_ms, const atomic_bool *stopping)
{
	struct pollfd poller = {fd, events, 0};

	while (!atomic_load(stopping) && monotonic_ms() < until_ms) {
		if (poll(&poller, 1, STEP_MS) > 0)
			return true;
	}
	return false;
}

static int connect_to(struct arena *arena, const struct client_target *target, int64_t until_ms, const atomic_bool *stopping)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found;
	int fd = -1;

	if (getaddrinfo(str_copy(arena, target->host).p, str_copy(arena, target->port).p, &hints, &found) != 0)
		return -1;
	for (const struct addrinfo *at = found; at && fd < 0; at = at->ai_next) {
		int problem = 0;
		socklen_t n = sizeof(problem);

		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, at->ai_protocol);
		if (fd < 0 || connect(fd, at->ai_addr, at->ai_addrlen) == 0)
			continue;
		if (errno == EINPROGRESS && await(fd, POLLOUT, until_ms, stopping) &&
		    getsockopt(fd, SOL_SOCKET, SO_ERROR, &problem, &n) == 0 && problem == 0)
			continue;
		close(fd);
		fd = -1;
	}
	freeaddrinfo(found);
	return fd;
}

static bool send_all(int fd, struct str bytes, int64_t until_ms, const atomic_bool *stopping)
{
	while (bytes.n > 0) {
		if (!await(fd, POLLOUT, until_ms, stopping))
			return false;
		ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);
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

/* The length that the head tells, or -1. */
static long long length_of(struct str head)
{
	struct str value = header(head, "Content-Length");

	return str_is_set(value) ? strtoll(value.p, NULL, 10) : -1;
}

/* Chunks put together; what is not well-formed ends it. */
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

/* Reads to the end of the reply: its length, its last chunk, or the connection's end. Text is followed by a NUL. */
static struct str read_reply(struct arena *arena, int fd, int64_t until_ms, const atomic_bool *stopping, size_t *head_n)
{
	struct buf in = buf_in(arena);

	while (in.n < REPLY_MAX && await(fd, POLLIN, until_ms, stopping)) {
		ssize_t n = recv(fd, buf_reserve(&in, 4097), 4096, 0);

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

bool client_ask(struct arena *arena, const struct client_target *target, const struct client_request *request, struct client_reply *reply,
		const char **problem)
{
	static const atomic_bool never = false;
	const atomic_bool *stopping = request->stopping ? request->stopping : &never;
	int64_t until_ms = monotonic_ms() + request->wait_ms;
	int fd = connect_to(arena, target, until_ms, stopping);
	size_t head_n = 0;

	*problem = "cannot connect";
	if (fd < 0)
		return false;
	struct str head = str_printf(arena,
				     "%s " STR_FMT " HTTP/1.1\r\nHost: " STR_FMT ":" STR_FMT "\r\nContent-Type: application/json\r\n"
				     "Content-Length: %zu\r\nConnection: close\r\n\r\n",
				     request->method, STR_ARG(target->path), STR_ARG(target->host), STR_ARG(target->port), request->body.n);
	bool is_sent = send_all(fd, head, until_ms, stopping) && send_all(fd, request->body, until_ms, stopping);
	struct str bytes = is_sent ? read_reply(arena, fd, until_ms, stopping, &head_n) : STR("");
	close(fd);
	*problem = "no whole reply";
	if (head_n == 0 || !str_starts_with(bytes, STR("HTTP/1.")))
		return false;
	head = (struct str){bytes.p, head_n};
	reply->status = (int)strtol(bytes.p + 9, NULL, 10);
	reply->is_function_error = str_is_set(header(head, "X-Amz-Function-Error"));
	reply->body = (struct str){bytes.p + head_n, bytes.n - head_n};
	if (str_is_set(header(head, "Transfer-Encoding")))
		reply->body = join_chunks(arena, reply->body);
	return true;
}
