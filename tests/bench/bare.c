/*
 * bare - a libmicrohttpd server that does nothing: the limit that the server's figures are compared with.
 *
 *     bare PORT [THREADS]
 *
 * Takes any request as server/http.c does - same flags, same thread pool, same options of connections - reads its body and answers with
 * 300 bytes. Ends on SIGTERM.
 */
#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REPLY_SIZE 300
#define CONNECTION_MEMORY (32 * 1024)

static enum MHD_Result on_request(void *context, struct MHD_Connection *connection, const char *url, const char *method, const char *version,
				  const char *data, size_t *data_size, void **state)
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
	struct MHD_Response *response = MHD_create_response_from_buffer(REPLY_SIZE, context, MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, "Content-Type", "application/x-amz-json-1.0");
	enum MHD_Result result = MHD_queue_response(connection, MHD_HTTP_OK, response);
	MHD_destroy_response(response);
	return result;
}

static void on_connection(void *context, struct MHD_Connection *connection, void **state, enum MHD_ConnectionNotificationCode code)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	int on = 1;

	(void)context, (void)state;
	if (code == MHD_CONNECTION_NOTIFY_STARTED && info)
		setsockopt(info->connect_fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int main(int argc, char **argv)
{
	static char reply[REPLY_SIZE];
	struct sockaddr_in address = {.sin_family = AF_INET};
	long port = argc > 1 ? strtol(argv[1], NULL, 10) : 0, cores = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned threads = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : (unsigned)(cores < 1 ? 1 : cores > 4 ? 4 : cores);
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
	struct MHD_Daemon *daemon = MHD_start_daemon(
	    MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, on_request, reply, MHD_OPTION_SOCK_ADDR, &address,
	    MHD_OPTION_NOTIFY_CONNECTION, on_connection, NULL, MHD_OPTION_CONNECTION_LIMIT, 1000u,
	    MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, threads,
	    MHD_OPTION_END);
	if (!daemon) {
		fprintf(stderr, "bare: cannot listen on port %ld\n", port);
		return 1;
	}
	sigwait(&signals, &received);
	MHD_stop_daemon(daemon);
	return 0;
}
