/*
 * load - a load generator for servers that speak the DynamoDB API on loopback.
 *
 *     load --port 8000 --workload GetItem --connections 16 --requests 50000 [--pid SERVER] [--first
 * N] [--collections N]
 *          [--seconds N] [--idle N] [--rate N] [--plain BYTES]
 *
 * One thread, epoll, one request under way per connection, keep-alive. Request i of a workload is a
 * function of i, so every server gets the same requests. Prints one JSON line: requests/s, p50 and
 * p99 in microseconds, CPU of the server's process per request in microseconds (with --pid),
 * errors. Ends with status 1 when any request failed.
 *
 * --rate N is an open loop: requests are due N times a second whether or not earlier ones are
 * answered, and the latency of each counts from the time when it was due, so that it has the time
 * in which all connections were waiting. Without it the loop is closed: the next request of a
 * connection goes when the one before is answered, and a server that stalls is asked less.
 *
 * --seconds ends the run after so long, even where requests are left. --idle opens so many
 * connections more, which ask once before the run and once after it, and are silent during it; what
 * the last of them waited after the run is idle_max_us.
 *
 * The data: collections of 20 items in table "bench" (PK, SK, and GSI1 with all attributes on
 * GSI1PK, GSI1SK). CreateTableTwo makes the table with a second such index, GSI2, on the table's
 * sort key. Items have 14 attributes and about 535 bytes by DynamoDB's rules; with --plain BYTES
 * they have 5 attributes, one of them of so many bytes: 500 make 595 in all.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define PER_COLLECTION 20
#define BODY_MAX (64 * 1024)
#define CONNECTIONS_MAX 4096
#define PLAIN_MAX 2000 /* bytes: 25 items fit into a body */

/* New items of the writing workloads go to regions of their own, far behind those of the set-up. */
#define REGION_PUT 100000000L
#define REGION_BATCH 300000000L
#define REGION_TRANSACT 600000000L

struct options {
	int port;
	const char *workload;
	long connections, requests, first, collections, pid, seconds, idle, rate, plain;
};

struct text {
	char *p;
	size_t n;
};

__attribute__((format(printf, 2, 3))) static void add(struct text *text, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	int n = vsnprintf(text->p + text->n, BODY_MAX - text->n, format, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= BODY_MAX - text->n) {
		fprintf(stderr, "load: a request is longer than %d bytes\n", BODY_MAX);
		exit(2);
	}
	text->n += (size_t)n;
}

/* A spread of 0..n-1 that looks random and is the same on every run. */
static long scatter(long i, long n)
{
	uint64_t x = (uint64_t)i * 0x9E3779B97F4A7C15u;

	x ^= x >> 29;
	x *= 0xBF58476D1CE4E5B9u;
	x ^= x >> 32;
	return (long)(x % (uint64_t)n);
}

static void add_key(struct text *t, long collection, long order)
{
	add(t, "{\"PK\":{\"S\":\"CUSTOMER#%08ld\"},\"SK\":{\"S\":\"ORDER#%06ld\"}}", collection,
	    order);
}

static long plain_bytes; /* 0: items have 14 attributes */

static void add_plain_item(struct text *t, long collection, long order)
{
	add(t,
	    "{\"PK\":{\"S\":\"CUSTOMER#%08ld\"},\"SK\":{\"S\":\"ORDER#%06ld\"},\"GSI1PK\":{\"S\":"
	    "\"STATUS#%08ld\"},"
	    "\"GSI1SK\":{\"S\":\"2026-01-%02ldT00:00:00Z#%010ld\"},\"data\":{\"S\":\"%0*ld\"}}",
	    collection, order, collection, 1 + order % 28, collection * PER_COLLECTION + order,
	    (int)plain_bytes, collection);
}

/* About 535 bytes by DynamoDB's rules, with 14 attributes. */
static void add_item(struct text *t, long collection, long order)
{
	long id = collection * PER_COLLECTION + order;

	if (plain_bytes > 0) {
		add_plain_item(t, collection, order);
		return;
	}
	add(t,
	    "{\"PK\":{\"S\":\"CUSTOMER#%08ld\"},\"SK\":{\"S\":\"ORDER#%06ld\"},"
	    "\"GSI1PK\":{\"S\":\"STATUS#%08ld\"},\"GSI1SK\":{\"S\":\"2026-01-%02ldT00:00:00Z#%"
	    "010ld\"},"
	    "\"type\":{\"S\":\"order\"},\"id\":{\"N\":\"%ld\"},\"total\":{\"N\":\"%ld.%02ld\"},"
	    "\"paid\":{\"BOOL\":true},",
	    collection, order, collection, 1 + order % 28, id, id, 10 + id % 1000, id % 100);
	add(t,
	    "\"customer\":{\"M\":{\"name\":{\"S\":\"Customer number "
	    "%ld\"},\"email\":{\"S\":\"customer%ld@example.com\"},"
	    "\"city\":{\"S\":\"San Francisco\"},\"zip\":{\"S\":\"94110\"}}},"
	    "\"tags\":{\"SS\":[\"alpha\",\"beta\",\"gamma\"]},\"lines\":{\"L\":[{\"N\":\"1\"},{"
	    "\"N\":\"2\"},{\"S\":\"third\"}]},",
	    collection, collection);
	add(t, "\"version\":{\"N\":\"1\"},\"note\":{\"S\":\"The quick brown fox jumps over the "
	       "lazy dog, again and again and again.\"},"
	       "\"description\":{\"S\":\"Lorem ipsum dolor sit amet, consectetur adipiscing elit, "
	       "sed do eiusmod tempor incididunt ut labore "
	       "et dolore magna aliqua. Ut enim ad minim veniam, quis nostrud exercitation ullamco "
	       "laboris.\"}}");
}

#define INDEX(name, hash, range)                                                                   \
	"{\"IndexName\":\"" name "\",\"Projection\":{\"ProjectionType\":\"ALL\"},\"KeySchema\":["  \
	"{\"AttributeName\":\"" hash "\",\"KeyType\":\"HASH\"},{\"AttributeName\":\"" range        \
	"\",\"KeyType\":\"RANGE\"}]}"
#define INDEX_ONE INDEX("GSI1", "GSI1PK", "GSI1SK")
#define INDEX_TWO "," INDEX("GSI2", "SK", "GSI1SK")

static void add_table(struct text *t, const char *indexes, const char *more)
{
	add(t,
	    "{\"TableName\":\"bench\",\"BillingMode\":\"PAY_PER_REQUEST\",\"AttributeDefinitions\":"
	    "["
	    "{\"AttributeName\":\"PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"SK\","
	    "\"AttributeType\":\"S\"},"
	    "{\"AttributeName\":\"GSI1PK\",\"AttributeType\":\"S\"},{\"AttributeName\":\"GSI1SK\","
	    "\"AttributeType\":\"S\"}],"
	    "\"KeySchema\":[{\"AttributeName\":\"PK\",\"KeyType\":\"HASH\"},{\"AttributeName\":"
	    "\"SK\",\"KeyType\":\"RANGE\"}],"
	    "\"GlobalSecondaryIndexes\":[%s]%s}",
	    indexes, more);
}

static void make_create_table(struct text *t, long i, const struct options *o)
{
	(void)i, (void)o;
	add_table(t, INDEX_ONE, "");
}

static void make_create_table_two(struct text *t, long i, const struct options *o)
{
	(void)i, (void)o;
	add_table(t, INDEX_ONE INDEX_TWO, "");
}

static void make_create_table_with_stream(struct text *t, long i, const struct options *o)
{
	(void)i, (void)o;
	add_table(t, INDEX_ONE,
		  ",\"StreamSpecification\":{\"StreamEnabled\":true,\"StreamViewType\":\"NEW_AND_"
		  "OLD_IMAGES\"}");
}

static void make_get_item(struct text *t, long i, const struct options *o)
{
	long x = scatter(i, o->collections * PER_COLLECTION);

	add(t, "{\"TableName\":\"bench\",\"Key\":");
	add_key(t, x / PER_COLLECTION, x % PER_COLLECTION);
	add(t, "}");
}

static void make_put_item(struct text *t, long i, const struct options *o)
{
	long x = REGION_PUT + o->first + i;

	add(t, "{\"TableName\":\"bench\",\"Item\":");
	add_item(t, x / PER_COLLECTION, x % PER_COLLECTION);
	add(t, "}");
}

static void make_update_item(struct text *t, long i, const struct options *o)
{
	long x = scatter(i, o->collections * PER_COLLECTION);

	add(t, "{\"TableName\":\"bench\",\"Key\":");
	add_key(t, x / PER_COLLECTION, x % PER_COLLECTION);
	add(t,
	    ",\"UpdateExpression\":\"SET #v = #v + :one, note = "
	    ":n\",\"ConditionExpression\":\"attribute_exists(PK)\","
	    "\"ExpressionAttributeNames\":{\"#v\":\"version\"},"
	    "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"},\":n\":{\"S\":\"changed by "
	    "request number %ld\"}}}",
	    i);
}

/* With the same --first after PutItem it deletes what that put. */
static void make_delete_item(struct text *t, long i, const struct options *o)
{
	long x = REGION_PUT + o->first + i;

	add(t, "{\"TableName\":\"bench\",\"Key\":");
	add_key(t, x / PER_COLLECTION, x % PER_COLLECTION);
	add(t, "}");
}

static void make_select(struct text *t, long i, const struct options *o)
{
	long x = scatter(i, o->collections * PER_COLLECTION);

	add(t,
	    "{\"Statement\":\"SELECT * FROM bench WHERE PK = ? AND SK = "
	    "?\",\"Parameters\":[{\"S\":\"CUSTOMER#%08ld\"},{\"S\":\"ORDER#%06ld\"}]}",
	    x / PER_COLLECTION, x % PER_COLLECTION);
}

static void make_query(struct text *t, long i, const struct options *o)
{
	add(t,
	    "{\"TableName\":\"bench\",\"KeyConditionExpression\":\"PK = :p AND begins_with(SK, "
	    ":s)\","
	    "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"CUSTOMER#%08ld\"},\":s\":{\"S\":"
	    "\"ORDER#\"}}}",
	    scatter(i, o->collections));
}

static void make_query_index(struct text *t, long i, const struct options *o)
{
	add(t,
	    "{\"TableName\":\"bench\",\"IndexName\":\"GSI1\",\"KeyConditionExpression\":\"GSI1PK = "
	    ":p\","
	    "\"ExpressionAttributeValues\":{\":p\":{\"S\":\"STATUS#%08ld\"}}}",
	    scatter(i, o->collections));
}

static void add_put_requests(struct text *t, long first, long n)
{
	add(t, "{\"RequestItems\":{\"bench\":[");
	for (long k = 0; k < n; k++) {
		add(t, "%s{\"PutRequest\":{\"Item\":", k ? "," : "");
		add_item(t, (first + k) / PER_COLLECTION, (first + k) % PER_COLLECTION);
		add(t, "}}");
	}
	add(t, "]}}");
}

static void make_batch_write(struct text *t, long i, const struct options *o)
{
	add_put_requests(t, REGION_BATCH + (o->first + i) * 25, 25);
}

/* Fills the collections 0..collections-1, 20 items a request. */
static void make_setup(struct text *t, long i, const struct options *o)
{
	(void)o;
	add_put_requests(t, i * PER_COLLECTION, PER_COLLECTION);
}

static void make_batch_get(struct text *t, long i, const struct options *o)
{
	long start = scatter(i, o->collections * PER_COLLECTION);

	add(t, "{\"RequestItems\":{\"bench\":{\"Keys\":[");
	for (long k = 0; k < 100; k++) {
		long x = (start + k) % (o->collections * PER_COLLECTION);

		add(t, "%s", k ? "," : "");
		add_key(t, x / PER_COLLECTION, x % PER_COLLECTION);
	}
	add(t, "]}}}");
}

/* An order: two new items, one update of a counter, one check. */
static void make_transact_write(struct text *t, long i, const struct options *o)
{
	long x = REGION_TRANSACT + (o->first + i) * 2;
	long y = scatter(i, o->collections);

	add(t, "{\"TransactItems\":[");
	for (long k = 0; k < 2; k++) {
		add(t, "{\"Put\":{\"TableName\":\"bench\",\"ConditionExpression\":\"attribute_not_"
		       "exists(PK)\",\"Item\":");
		add_item(t, (x + k) / PER_COLLECTION, (x + k) % PER_COLLECTION);
		add(t, "}},");
	}
	add(t, "{\"Update\":{\"TableName\":\"bench\",\"UpdateExpression\":\"SET version = version "
	       "+ :one\","
	       "\"ExpressionAttributeValues\":{\":one\":{\"N\":\"1\"}},\"Key\":");
	add_key(t, y, i % 10);
	add(t, "}},{\"ConditionCheck\":{\"TableName\":\"bench\",\"ConditionExpression\":"
	       "\"attribute_exists(PK)\",\"Key\":");
	add_key(t, y, 10 + i % 10);
	add(t, "}}]}");
}

static void make_scan(struct text *t, long i, const struct options *o)
{
	long x = scatter(i, o->collections * PER_COLLECTION / 2);

	add(t, "{\"TableName\":\"bench\",\"ExclusiveStartKey\":");
	add_key(t, x / PER_COLLECTION, x % PER_COLLECTION);
	add(t, "}");
}

static const struct workload {
	const char *name;
	const char *operation;
	void (*make)(struct text *, long, const struct options *);
} workloads[] = {
	{"CreateTable", "CreateTable", make_create_table},
	{"CreateTableTwo", "CreateTable", make_create_table_two},
	{"CreateTableWithStream", "CreateTable", make_create_table_with_stream},
	{"Setup", "BatchWriteItem", make_setup},
	{"GetItem", "GetItem", make_get_item},
	{"PutItem", "PutItem", make_put_item},
	{"UpdateItem", "UpdateItem", make_update_item},
	{"DeleteItem", "DeleteItem", make_delete_item},
	{"Select", "ExecuteStatement", make_select},
	{"Query20", "Query", make_query},
	{"QueryGSI20", "Query", make_query_index},
	{"BatchWriteItem25", "BatchWriteItem", make_batch_write},
	{"BatchGetItem100", "BatchGetItem", make_batch_get},
	{"TransactWriteItems4", "TransactWriteItems", make_transact_write},
	{"Scan1MB", "Scan", make_scan},
};

struct connection {
	int fd;
	char *out;
	size_t out_n, out_done;
	char *in;
	size_t in_n, in_cap,
		need; /* need: bytes of the whole response, 0 while the head is not complete */
	int64_t started_ns;
	bool is_waiting; /* for an answer */
};

struct run {
	const struct options *options;
	const struct workload *workload;
	int epoll;
	long limit, sent, done, errors;
	int64_t until_ns; /* no request is sent after it; 0: no such limit */
	int64_t start_ns; /* of an open loop */
	bool is_open;
	struct connection **free; /* of an open loop: those that wait for no answer */
	long free_n;
	uint32_t *latency_us;
	char *scratch;
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* CPU seconds of a process so far, all its threads, those that ended too; by the scheduler's
 * nanoseconds. */
static double cpu_seconds(long pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid((pid_t)pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void prepare(struct run *run, struct connection *c)
{
	struct text body = {run->scratch, 0};

	run->workload->make(&body, run->sent, run->options);
	c->out_n = (size_t)snprintf(
		c->out, BODY_MAX + 1024,
		"POST / HTTP/1.1\r\nHost: localhost:%d\r\nContent-Type: "
		"application/x-amz-json-1.0\r\n"
		"X-Amz-Target: DynamoDB_20120810.%s\r\nX-Amz-Date: 20260101T000000Z\r\n"
		"Authorization: AWS4-HMAC-SHA256 "
		"Credential=bench/20260101/us-east-1/dynamodb/aws4_request, "
		"SignedHeaders=host;x-amz-date;x-amz-target, "
		"Signature=0000000000000000000000000000000000000000000000000000000000000000\r\n"
		"Content-Length: %zu\r\n\r\n%.*s",
		run->options->port, run->workload->operation, body.n, (int)body.n, body.p);
	c->out_done = 0;
	c->in_n = c->need = 0;
	c->is_waiting = true;
	run->sent++;
	c->started_ns = now_ns();
}

static void send_some(struct run *run, struct connection *c)
{
	while (c->out_done < c->out_n) {
		ssize_t n = send(c->fd, c->out + c->out_done, c->out_n - c->out_done, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			die("send");
		c->out_done += (size_t)n;
	}
	struct epoll_event event = {.events = EPOLLIN |
					      (c->out_done < c->out_n ? (uint32_t)EPOLLOUT : 0),
				    .data.ptr = c};
	epoll_ctl(run->epoll, EPOLL_CTL_MOD, c->fd, &event);
}

/* The length of the whole response once its head is in; 0 before. */
static size_t response_length(struct connection *c)
{
	c->in[c->in_n] = '\0';
	char *end = strstr(c->in, "\r\n\r\n");
	if (!end)
		return 0;
	char *length = strcasestr(c->in, "\r\ncontent-length:");
	if (!length || length > end) {
		fprintf(stderr, "load: a response without Content-Length\n");
		exit(2);
	}
	return (size_t)(end + 4 - c->in) + strtoul(length + 17, NULL, 10);
}

/* When request `i` of an open loop is due. */
static int64_t due_ns(const struct run *run, long i)
{
	return run->start_ns + (int64_t)((double)i * 1e9 / (double)run->options->rate);
}

static bool has_next(const struct run *run)
{
	return run->sent < run->limit && (!run->until_ns || now_ns() < run->until_ns);
}

/* Sends what is due, as far as connections are free. */
static void send_due(struct run *run)
{
	while (run->free_n > 0 && has_next(run) && due_ns(run, run->sent) <= now_ns()) {
		struct connection *c = run->free[--run->free_n];
		int64_t due = due_ns(run, run->sent);

		prepare(run, c);
		c->started_ns = due;
		send_some(run, c);
	}
}

static void finish(struct run *run, struct connection *c)
{
	run->latency_us[run->done++] = (uint32_t)((now_ns() - c->started_ns) / 1000);
	c->is_waiting = false;
	bool is_partial = run->workload->make == make_batch_write &&
			  strstr(c->in, "\"UnprocessedItems\":{\"");

	if (strncmp(c->in, "HTTP/1.1 200", 12) != 0 || is_partial) {
		if (run->errors++ == 0)
			fprintf(stderr, "load: %s failed: %.600s\n", run->workload->name, c->in);
	}
	if (run->is_open) {
		run->free[run->free_n++] = c;
	} else if (has_next(run)) {
		prepare(run, c);
		send_some(run, c);
	}
}

static void receive(struct run *run, struct connection *c)
{
	for (;;) {
		if (c->in_cap - c->in_n < 65536) {
			c->in_cap = c->in_cap * 2 + 131072;
			c->in = realloc(c->in, c->in_cap);
		}
		ssize_t n = recv(c->fd, c->in + c->in_n, c->in_cap - c->in_n - 1, 0);
		if (n < 0 && errno == EAGAIN)
			return;
		if (n <= 0 && c->is_waiting)
			die("the server closed a connection that waited for an answer");
		if (n <= 0) { /* it was idle for longer than the server's idle timeout */
			epoll_ctl(run->epoll, EPOLL_CTL_DEL, c->fd, NULL);
			return;
		}
		c->in_n += (size_t)n;
		if (!c->need)
			c->need = response_length(c);
		if (c->need && c->in_n >= c->need) {
			finish(run, c);
			return;
		}
	}
}

static void connect_to(const struct run *run, struct connection *c)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)run->options->port)};
	int on = 1;

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	c->fd = socket(AF_INET, SOCK_STREAM, 0);
	if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		die("connect");
	setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	c->out = malloc(BODY_MAX + 2048);
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
	epoll_ctl(run->epoll, EPOLL_CTL_ADD, c->fd, &event);
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static struct connection *connect_all(const struct run *run, long n)
{
	struct connection *connections = calloc((size_t)n + 1, sizeof(*connections));

	for (long i = 0; i < n; i++)
		connect_to(run, &connections[i]);
	return connections;
}

/* Takes what the connections have, which may be waited for for so long; false where nothing came.
 */
static bool turn(struct run *run, int64_t wait_ns)
{
	struct pollfd ready = {.fd = run->epoll, .events = POLLIN};
	struct timespec wait = {wait_ns / 1000000000, wait_ns % 1000000000};
	struct epoll_event events[64];

	if (ppoll(&ready, 1, &wait, NULL) < 0)
		die("ppoll");
	int count = epoll_wait(run->epoll, events, 64, 0);
	for (int k = 0; k < count; k++) {
		if (events[k].events & EPOLLOUT)
			send_some(run, events[k].data.ptr);
		if (events[k].events & (EPOLLIN | EPOLLHUP | EPOLLERR))
			receive(run, events[k].data.ptr);
	}
	return count > 0;
}

static void turn_or_die(struct run *run)
{
	if (!turn(run, 60 * (int64_t)1000000000)) {
		fprintf(stderr, "load: no answer within a minute\n");
		exit(2);
	}
}

/* `limit` requests over `n` connections. */
static void run_closed(struct run *run, struct connection *connections, long n)
{
	for (long i = 0; i < n && run->sent < run->limit; i++) {
		prepare(run, &connections[i]);
		send_some(run, &connections[i]);
	}
	while (run->done < run->sent)
		turn_or_die(run);
}

/* The same, as they are due. */
static void run_open(struct run *run, struct connection *connections, long n)
{
	run->free = calloc((size_t)n + 1, sizeof(*run->free));
	for (long i = 0; i < n; i++)
		run->free[run->free_n++] = &connections[i];
	run->start_ns = now_ns();
	while (has_next(run) || run->done < run->sent) {
		send_due(run);
		int64_t wait_ns = due_ns(run, run->sent) - now_ns();
		if (has_next(run) && run->free_n > 0)
			(void)turn(run, wait_ns > 0 ? wait_ns : 0);
		else if (run->done < run->sent)
			turn_or_die(run);
	}
}

/* The latencies come out sorted. */
static void run_round(struct run *run, struct connection *connections, long n, long limit)
{
	run->limit = limit;
	run->sent = run->done = 0;
	if (run->is_open)
		run_open(run, connections, n);
	else
		run_closed(run, connections, n);
	qsort(run->latency_us, (size_t)run->done, sizeof(uint32_t), by_value);
}

static void run_all(struct run *run)
{
	const struct options *o = run->options;

	run->epoll = epoll_create1(0);
	struct connection *silent = connect_all(run, o->idle),
			  *busy = connect_all(run, o->connections);
	run_round(run, silent, o->idle, o->idle);
	double cpu = o->pid ? cpu_seconds(o->pid) : 0;
	int64_t start = now_ns();
	run->until_ns = o->seconds ? start + o->seconds * 1000000000 : 0;
	run->is_open = o->rate > 0;
	run_round(run, busy, o->connections, o->requests);
	run->is_open = false;
	double seconds = (double)(now_ns() - start) / 1e9;
	cpu = o->pid ? cpu_seconds(o->pid) - cpu : 0;
	printf("{\"workload\":\"%s\",\"connections\":%ld,\"requests\":%ld,\"rps\":%.1f,\"p50_us\":%"
	       "u,\"p99_us\":%u,\"max_us\":%u,"
	       "\"p999_us\":%u,\"rate\":%ld,\"cpu_us\":%.2f,",
	       run->workload->name, o->connections, run->done, (double)run->done / seconds,
	       run->latency_us[run->done / 2], run->latency_us[run->done * 99 / 100],
	       run->latency_us[run->done - 1], run->latency_us[run->done * 999 / 1000], o->rate,
	       cpu * 1e6 / (double)run->done);
	run->until_ns = 0;
	run_round(run, silent, o->idle, o->idle);
	printf("\"idle\":%ld,\"idle_max_us\":%u,\"errors\":%ld}\n", o->idle,
	       o->idle ? run->latency_us[o->idle - 1] : 0, run->errors);
}

static long number_option(int argc, char **argv, const char *name, long otherwise)
{
	for (int i = 1; i + 1 < argc; i++) {
		if (strcmp(argv[i], name) == 0)
			return strtol(argv[i + 1], NULL, 10);
	}
	return otherwise;
}

int main(int argc, char **argv)
{
	struct options o = {
		.port = (int)number_option(argc, argv, "--port", 8000),
		.connections = number_option(argc, argv, "--connections", 16),
		.requests = number_option(argc, argv, "--requests", 10000),
		.first = number_option(argc, argv, "--first", 0),
		.collections = number_option(argc, argv, "--collections", 1000),
		.pid = number_option(argc, argv, "--pid", 0),
		.seconds = number_option(argc, argv, "--seconds", 0),
		.idle = number_option(argc, argv, "--idle", 0),
		.rate = number_option(argc, argv, "--rate", 0),
		.plain = number_option(argc, argv, "--plain", 0),
		.workload = "GetItem",
	};
	struct run run = {.options = &o};

	for (int i = 1; i + 1 < argc; i++) {
		if (strcmp(argv[i], "--workload") == 0)
			o.workload = argv[i + 1];
	}
	for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++) {
		if (strcmp(workloads[i].name, o.workload) == 0)
			run.workload = &workloads[i];
	}
	if (!run.workload || o.connections < 1 || o.connections > CONNECTIONS_MAX ||
	    o.requests < 1 || o.collections < 1 || o.idle < 0 || o.idle > CONNECTIONS_MAX ||
	    o.seconds < 0 || o.rate < 0 || o.plain < 0 || o.plain > PLAIN_MAX) {
		fprintf(stderr, "load: unknown workload or a number out of range\n");
		return 2;
	}
	plain_bytes = o.plain;
	run.latency_us =
		calloc((size_t)(o.requests > o.idle ? o.requests : o.idle), sizeof(uint32_t));
	run.scratch = malloc(BODY_MAX);
	run_all(&run);
	return run.errors ? 1 : 0;
}
