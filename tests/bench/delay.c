/*
 * delay - a proxy on loopback that holds each byte for some time on its way, as a network does.
 *
 *     delay MICROSECONDS TARGET      TARGET: the path of a Unix socket, or a port of 127.0.0.1
 *
 * Each direction takes MICROSECONDS, so a round trip takes two times that. Prints the port on which
 * it listens, and runs until it is killed. One thread; what a connection has under way is not
 * limited, so bandwidth is no concern of it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define PIECE 65536

/* Bytes on their way to `to`; n 0: the end of them. */
struct piece {
	struct piece *next;
	int64_t due_ns;
	struct end *to;
	size_t n;
	char bytes[];
};

/* One side of a connection. */
struct end {
	int fd;
	bool is_closed; /* nothing more comes from it */
	bool is_over;   /* nothing more goes to it */
	struct end *other;
};

/* All pieces take the same time, so they fall due in the order in which they came. */
static struct {
	int64_t delay_ns;
	int epoll, listener;
	const char *target;
	struct piece *first, **last;
} proxy = {.last = &proxy.first};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void die(const char *what)
{
	fprintf(stderr, "delay: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int connect_to_target(void)
{
	char *rest;
	long port = strtol(proxy.target, &rest, 10);
	int on = 1, fd = socket(*rest ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (*rest) {
		struct sockaddr_un path = {.sun_family = AF_UNIX};

		snprintf(path.sun_path, sizeof(path.sun_path), "%s", proxy.target);
		return connect(fd, (struct sockaddr *)&path, sizeof(path)) == 0 ? fd
										: (close(fd), -1);
	}
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_port = htons((uint16_t)port),
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? fd
									      : (close(fd), -1);
}

static struct end *watch(int fd)
{
	struct end *end = calloc(1, sizeof(*end));
	struct epoll_event event = {.events = EPOLLIN, .data.ptr = end};

	end->fd = fd;
	if (epoll_ctl(proxy.epoll, EPOLL_CTL_ADD, fd, &event) != 0)
		die("epoll_ctl");
	return end;
}

static void take_connection(void)
{
	int on = 1, fd = accept4(proxy.listener, NULL, NULL, SOCK_CLOEXEC);

	if (fd < 0)
		return;
	int target = connect_to_target();
	if (target < 0) {
		close(fd);
		return;
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	struct end *a = watch(fd), *b = watch(target);
	a->other = b;
	b->other = a;
}

static void hold(struct end *from, const char *bytes, size_t n)
{
	struct piece *piece = malloc(sizeof(*piece) + n);

	*piece = (struct piece){.due_ns = now_ns() + proxy.delay_ns, .to = from->other, .n = n};
	if (n > 0)
		memcpy(piece->bytes, bytes, n);
	*proxy.last = piece;
	proxy.last = &piece->next;
}

static void receive(struct end *end)
{
	static char bytes[PIECE];
	ssize_t n = end->is_closed ? -1 : recv(end->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	if (end->is_closed || (n < 0 && errno == EAGAIN))
		return;
	hold(end, bytes, n > 0 ? (size_t)n : 0);
	if (n <= 0) {
		end->is_closed = true;
		epoll_ctl(proxy.epoll, EPOLL_CTL_DEL, end->fd, NULL);
	}
}

/* Ends are few: their memory stays until the process ends, so no event can name one that is freed.
 */
static void pass(struct piece *piece)
{
	struct end *to = piece->to;

	for (size_t done = 0; done < piece->n;) {
		ssize_t n = send(to->fd, piece->bytes + done, piece->n - done, MSG_NOSIGNAL);

		if (n <= 0)
			break;
		done += (size_t)n;
	}
	if (piece->n > 0)
		return;
	to->is_over = true;
	shutdown(to->fd, SHUT_RDWR); /* what comes back then is its end */
	if (to->other->is_over) {
		close(to->fd);
		close(to->other->fd);
	}
}

static void pass_due(void)
{
	while (proxy.first && proxy.first->due_ns <= now_ns()) {
		struct piece *piece = proxy.first;

		proxy.first = piece->next;
		if (!proxy.first)
			proxy.last = &proxy.first;
		pass(piece);
		free(piece);
	}
}

static int listen_somewhere(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&address, n) != 0 || listen(fd, 128) != 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &n) != 0)
		die("listen");
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	return fd;
}

int main(int argc, char **argv)
{
	struct epoll_event events[256], event = {.events = EPOLLIN, .data.ptr = NULL};

	if (argc < 3) {
		fprintf(stderr, "usage: delay MICROSECONDS TARGET\n");
		return 2;
	}
	prctl(PR_SET_TIMERSLACK, 1);
	proxy.delay_ns = strtol(argv[1], NULL, 10) * 1000;
	proxy.target = argv[2];
	proxy.epoll = epoll_create1(EPOLL_CLOEXEC);
	proxy.listener = listen_somewhere();
	epoll_ctl(proxy.epoll, EPOLL_CTL_ADD, proxy.listener, &event);
	for (;;) {
		int64_t left = proxy.first ? proxy.first->due_ns - now_ns() : 1000000000;
		struct timespec wait = {left > 0 ? left / 1000000000 : 0,
					left > 0 ? left % 1000000000 : 0};
		int n = epoll_pwait2(proxy.epoll, events, sizeof(events) / sizeof(events[0]), &wait,
				     NULL);

		for (int i = 0; i < n; i++) {
			if (events[i].data.ptr)
				receive(events[i].data.ptr);
			else
				take_connection();
		}
		pass_due();
	}
}
