/*
 * Any bytes on a socket to the server's HTTP front end and routes, which run in this process. The
 * first byte says in how many pieces they are sent, and whether the client then goes away without a
 * word. Whatever came, the answers are whole and none of them says that the server failed; the next
 * client is served. All features are on but faults, and somebody watches the requests.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/utf8.h"
#include "server/console/events.h"
#include "server/routes.h"
#include "server/console/masked.h"
#include "tests/fuzz/features.h"

#define PATIENCE_MS 60000 /* a server that does not answer for so long never will */
/* libmicrohttpd can miss the end of what a client says when it comes with its last bytes, and waits
 * until the connection is idle too long */
#define QUIET_MS 3
#define REPLY_MAX (8 * 1024 * 1024)

static struct http *http;
static struct http_stats stats;

/* As a recording and the console do. */
static void watch(void *context, const struct event *event)
{
	struct arena *arena = arena_new(0);
	struct json_out out = json_out_in(arena);

	(void)context;
	json_out_open(&out, '[');
	masked_write(&out, arena, event->request);
	masked_write_answer(&out, arena, event->request, event->response);
	json_out_string(&out, event->caller);
	json_out_close(&out, ']');
	MUST(utf8_is_valid(json_out_str(&out)));
	arena_free(arena);
}

static void start(void)
{
	static struct service_fixture fixture;
	struct clocks *clock = clocks_new(NULL, false);
	static struct routes routes;
	static struct http_options options;
	struct arena *arena = fuzz_arena();
	const char *problem;

	signal(SIGPIPE, SIG_IGN);
	service_fixture_open(&fixture, arena);
	struct upkeep_options upkeep = {.catalog = fixture.service.catalog, .clock = clock};
	fixture.service.now_ms = clock_now_ms;
	fixture.service.clock_context = clock;
	features_choose(features_new(arena), &fixture.service, ~(uint64_t)(2 | 64),
			arena); /* IAM reports */
	routes = (struct routes){.service = &fixture.service,
				 .http = &options,
				 .store = STR("memory"),
				 .sigv4 = sigv4_new(AUTH_OFF, NULL, 0),
				 .metrics = metrics_new(),
				 .auth = AUTH_OFF,
				 .clock = clock,
				 .upkeep = upkeep_new(&upkeep),
				 .online = online_new(catalog_store(fixture.service.catalog)),
				 .cors = "*",
				 .console = {.events = events_new(EVENTS_PAST_ALL)},
				 .root_status = 400};
	routes.control = (struct control){&fixture.service, clock, routes.upkeep};
	events_observe(routes.console.events, watch, NULL);
	options = (struct http_options){.host = "127.0.0.1",
					.threads = 1,
					.connections = {.room = {1024, CONNECTIONS_OVER, 0},
							.idle_s = 60,
							.request_s = 60},
					.body_limit = 1 << 20,
					.memory_limit = 1 << 26,
					.stats = &stats,
					.handler = routes_handle,
					.context = &routes};
	http = http_start(&options, &problem);
	MUST(http != NULL && routes.upkeep != NULL && upkeep_start(routes.upkeep));
}

static int dial(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)http_port(http)),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	MUST(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
	return fd;
}

/* All that comes until the server closes, or for so long says nothing. */
static struct str hear(int fd, struct arena *arena, int patience_ms)
{
	struct buf reply = buf_in(arena);
	struct pollfd ready = {fd, POLLIN, 0};
	ssize_t n;

	do {
		MUST(reply.n < REPLY_MAX);
		if (poll(&ready, 1, patience_ms) != 1)
			break;
		n = recv(fd, buf_reserve(&reply, 65536), 65536, 0);
		reply.n += n > 0 ? (size_t)n : 0;
	} while (n > 0);
	return buf_str(&reply);
}

/* The number behind "NAME: " in a head, -1 where there is none. */
static long head_number(struct str head, struct str name)
{
	for (size_t i = 0; i + name.n < head.n; i++) {
		if (memcmp(head.p + i, name.p, name.n) == 0)
			return strtol(head.p + i + name.n, NULL, 10);
	}
	return -1;
}

static struct str take_head(struct str *reply)
{
	for (size_t i = 0; i + 4 <= reply->n; i++) {
		if (memcmp(reply->p + i, "\r\n\r\n", 4) == 0)
			return fuzz_bytes(reply, i + 4);
	}
	return STR_ABSENT;
}

/* A body that is not in the coding that its head names is answered 500, as AWS does; nothing else
 * may be. */
static bool names_coding(struct str input)
{
	static const char name[] = "content-encoding";

	for (size_t i = 0; i + sizeof(name) - 1 <= input.n; i++) {
		if (strncasecmp(input.p + i, name, sizeof(name) - 1) == 0)
			return true;
	}
	return false;
}

/* One answer behind the other, as long as each says it is; the last may be cut off where we did not
 * wait for it. */
static void check_replies(struct str reply, bool may_fail)
{
	while (reply.n) {
		struct str head = take_head(&reply);

		if (!str_is_set(head))
			return;
		MUST(str_starts_with(head, STR("HTTP/1.")));
		long status = strtol(head.p + sizeof("HTTP/1.1") - 1, NULL, 10),
		     length = head_number(head, STR("Content-Length: "));
		MUST(status >= 100 && status < 600 && (may_fail || status != 500));
		MUST(status == 100 || length >= 0);
		if (status != 100)
			(void)fuzz_bytes(&reply, (size_t)length);
	}
}

/* Bytes that the server does not want any more are as good as sent. */
static void say(int fd, struct str bytes)
{
	while (bytes.n) {
		ssize_t n = send(fd, bytes.p, bytes.n, MSG_NOSIGNAL);

		if (n <= 0)
			return;
		(void)fuzz_bytes(&bytes, (size_t)n);
	}
}

/* The counts end one after the other. */
static bool is_over(void)
{
	return atomic_load(&stats.connections.open) == 0 && atomic_load(&stats.requests) == 0 &&
	       atomic_load(&stats.memory.held) == 0;
}

/* The next client is served, and nothing is left of those before. */
static void is_well(struct arena *arena)
{
	for (int i = 0; i < PATIENCE_MS && !is_over(); i++)
		poll(NULL, 0, 1);
	MUST(is_over());
	int fd = dial();

	say(fd, STR("GET /_dynalith/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
	MUST(str_starts_with(hear(fd, arena, PATIENCE_MS), STR("HTTP/1.1 200 ")));
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct linger at_once = {1, 0};
	static unsigned inputs;
	struct str input = {(const char *)data, size};
	unsigned head = fuzz_byte(&input), pieces = 1 + head % 8;
	/* the answer to HEAD tells a length and has no body */
	bool is_simple = !str_contains(input, STR("HEAD")), may_fail = names_coding(input);

	if (!http)
		start();
	struct arena *arena = fuzz_arena();
	int fd = dial();
	for (unsigned i = pieces; i > 0; i--)
		say(fd, fuzz_bytes(&input, i == 1 ? input.n : input.n / i));
	if (!(head & 0x80)) {
		shutdown(fd, SHUT_WR);
		struct str reply = hear(fd, arena, QUIET_MS);
		if (is_simple)
			check_replies(reply, may_fail);
	}
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(fd);
	if (inputs++ % 64 == 0)
		is_well(arena);
	return 0;
}
