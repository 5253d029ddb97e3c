#include "server/health.h"

#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define WAIT_S 5

static int connect_to(const char *host, unsigned port)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found, *at;
	struct timeval wait = {WAIT_S, 0};
	char service[8];
	int fd = -1;

	snprintf(service, sizeof(service), "%u", port);
	if (getaddrinfo(host, service, &hints, &found) != 0)
		return -1;
	for (at = found; at && fd < 0; at = at->ai_next) {
		fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);
		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
		if (connect(fd, at->ai_addr, at->ai_addrlen) != 0) {
			close(fd);
			fd = -1;
		}
	}
	freeaddrinfo(found);
	return fd;
}

bool health_ask(const char *host, unsigned port)
{
	static const char request[] = "GET /_dynalith/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	static const char wanted[] = "HTTP/1.1 200";
	bool is_any = strcmp(host, "0.0.0.0") == 0 || strcmp(host, "::") == 0;
	char answer[sizeof(wanted) - 1];
	size_t n = 0;
	int fd = connect_to(is_any ? "127.0.0.1" : host, port);

	if (fd < 0 && host[0] == ':' && is_any)
		fd = connect_to("::1", port);
	if (fd < 0) {
		fprintf(stderr, "dynalith: nothing listens on %s:%u\n", host, port);
		return false;
	}
	ssize_t got = send(fd, request, sizeof(request) - 1, MSG_NOSIGNAL);
	while (got > 0 && n < sizeof(answer)) {
		got = recv(fd, answer + n, sizeof(answer) - n, 0);
		n += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	return n == sizeof(answer) && memcmp(answer, wanted, n) == 0;
}
