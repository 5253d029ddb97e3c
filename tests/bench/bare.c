/*
 * bare - servers that do nothing: the limits that the server's figures are compared with.
 *
 *     bare PORT [THREADS]            a libmicrohttpd server with the memory, the header lines and
 * the threads of server/http/ bare PORT THREADS epoll        no HTTP library: what the kernel's
 * loopback and one epoll per thread cost
 *
 * Either takes any request, reads its body and answers with 300 bytes. Ends on SIGTERM.
 */
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_SIZE 300
#define REQUEST_MAX (64 * 1024)
#define CONNECTION_MEMORY (32 * 1024) /* as HTTP_CONNECTION_MEMORY */

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *data_size, void **state)
{
	static int started;

	(void)url, (void)method, (void)version, (void)data;
	if (!*state) {
		*state = &started;
		return MHD_YES;
	}
	if (*data_size > 0) {
		*data_size = 0;
		return MHD_YES;
	}
	struct MHD_Response *response =
		MHD_create_response_from_buffer(REPLY_SIZE, context, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Server", "bare");
	MHD_add_response_header(response, "x-amzn-RequestId",
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789ABCDEFGHIJKLMNOP");
	MHD_add_response_header(response, "x-amz-crc32", "1234567890");
	MHD_add_response_header(response, "Content-Type", "application/x-amz-json-1.0");
	enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state,
			  enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	int on = 1;

	(void)context, (void)state;
	if (code == MHD_CONNECTION_NOTIFY_STARTED && info)
		setsockopt(info->connect_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

struct link {
	int fd;
	size_t n;
	char request[REQUEST_MAX + 1];
};

static char whole_reply[REPLY_SIZE + 200];
static size_t whole_reply_size;

static void fail(const char *what)
{
	fprintf(stderr, "bare: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* How long the request is, once its head is in; 0 before. The load generator writes the header in
 * this way. */
static size_t request_size(const struct link *link)
{
	const char *end = strstr(link->request, "\r\n\r\n"),
		   *length = end ? strstr(link->request, "\r\nContent-Length: ") : NULL;

	return !end ? 0
		    : (size_t)(end + 4 - link->request) +
			       (length && length < end ? strtoul(length + 18, NULL, 10) : 0);
}

/* False at the connection's end. */
static bool answer(struct link *link)
{
	ssize_t n = recv(link->fd, link->request + link->n, REQUEST_MAX - link->n, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n <= 0)
		return false;
	link->n += (size_t)n;
	link->request[link->n] = '\0';
	size_t size = request_size(link);
	if (size == 0 || link->n < size)
		return link->n < REQUEST_MAX;
	link->n = 0;
	return send(link->fd, whole_reply, whole_reply_size, MSG_NOSIGNAL) ==
	       (ssize_t)whole_reply_size;
}

static int listen_on(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on)) != 0 ||
	    bind(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 ||
	    listen(fd, 128) != 0)
		fail("listen");
	return fd;
}

static void take(int epoll, int listener)
{
	struct link *link = calloc(1, sizeof(*link));
	int on = 1;

	if (!link)
		fail("memory");
	link->fd = accept(listener, NULL, NULL);
	if (link->fd < 0) {
		free(link);
		return;
	}
	setsockopt(link->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	epoll_ctl(epoll, EPOLL_CTL_ADD, link->fd,
		  &(struct epoll_event){.events = EPOLLIN, .data.ptr = link});
}

/* One thread, with a socket of its own that listens on the port. */
static void *serve(void *context)
{
	int listener = listen_on(context), epoll = epoll_create1(0);
	struct epoll_event events[64];

	epoll_ctl(epoll, EPOLL_CTL_ADD, listener,
		  &(struct epoll_event){.events = EPOLLIN, .data.ptr = NULL});
	for (;;) {
		int n = epoll_wait(epoll, events, 64, -1);

		for (int i = 0; i < n; i++) {
			struct link *link = events[i].data.ptr;

			if (!link) {
				take(epoll, listener);
			} else if (!answer(link)) {
				close(link->fd);
				free(link);
			}
		}
	}
	return NULL;
}

static int serve_by_epoll(struct sockaddr_in *address, const char *body, unsigned threads,
			  const sigset_t *signals)
{
	pthread_t thread;
	int received;

	whole_reply_size =
		(size_t)snprintf(whole_reply, sizeof(whole_reply),
				 "HTTP/1.1 200 OK\r\nContent-Type: "
				 "application/x-amz-json-1.0\r\nContent-Length: %d\r\n\r\n%.*s",
				 REPLY_SIZE, REPLY_SIZE, body);
	for (unsigned i = 0; i < threads; i++) {
		if (pthread_create(&thread, NULL, serve, address) != 0)
			fail("thread");
	}
	sigwait(signals, &received);
	return 0;
}

int main(int argc, char **argv)
{
	static char reply[REPLY_SIZE];
	struct sockaddr_in address = {.sin_family = AF_INET};
	long port = argc > 1 ? strtol(argv[1], NULL, 10) : 0, cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10)
				    : (unsigned)(cores < 1   ? 1
						 : cores > 4 ? 4
							     : cores);
	sigset_t signals;
	int received;

	if (port < 1 || port > 65535) {
		fprintf(stderr, "bare: which port?\n");
		return 2;
	}
	memset(reply, 'x', sizeof(reply));
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	address.sin_port = htons((unsigned short)port);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (argc > 3 && strcmp(argv[3], "epoll") == 0)
		return serve_by_epoll(&address, reply, threads, &signals);
	struct MHD_Daemon *daemon = MHD_start_daemon(
		MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, on_request, reply,
		MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL,
		MHD_OPTION_CONNECTION_LIMIT, 1000u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY,
		threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads,
		MHD_OPTION_END);
	if (!daemon) {
		fprintf(stderr, "bare: cannot listen on port %ld\n", port);
		return 1;
	}
	sigwait(&signals, &received);
	MHD_stop_daemon(daemon);
	return 0;
}
