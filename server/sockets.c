#include "server/sockets.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "core/crc32.h"
#include "core/str.h"
#include "server/messages.h"

#define SOCKETS_MAX (1 << 17) /* above what connections_make_room() asks for; none beyond is entered */
#define STATUS_AT 9           /* in "HTTP/1.1 431" */
#define WASTE_MAX (16 * 1024 * 1024) /* bytes of a refused client that are thrown away at once */

enum socket_state {
	SOCKET_OTHER, /* not ours, or in the midst of an answer */
	SOCKET_AWAITED,
	SOCKET_QUEUED,
	SOCKET_REFUSED, /* and above: how often it was emptied since */
	SOCKET_EMPTIED_MAX = 250,
};

static _Atomic unsigned char states[SOCKETS_MAX];

static enum socket_state state_of(int fd)
{
	return fd >= 0 && fd < SOCKETS_MAX ? (enum socket_state)atomic_load_explicit(&states[fd], memory_order_relaxed) : SOCKET_OTHER;
}

static void enter(int fd, enum socket_state state)
{
	if (fd >= 0 && fd < SOCKETS_MAX)
		atomic_store_explicit(&states[fd], (unsigned char)state, memory_order_relaxed);
}

void sockets_await(int fd)
{
	if (state_of(fd) < SOCKET_REFUSED)
		enter(fd, SOCKET_AWAITED);
}

void sockets_answer(int fd)
{
	enter(fd, SOCKET_QUEUED);
}

void sockets_forget(int fd)
{
	enter(fd, SOCKET_OTHER);
}

/* The client may be gone, or take nothing: then it hears nothing. */
void sockets_refuse(int fd)
{
	static const char body[] = HEAD_REFUSAL;
	char text[1024];

	if (state_of(fd) != SOCKET_AWAITED && state_of(fd) != SOCKET_QUEUED)
		return;
	int n = snprintf(text, sizeof(text),
			 "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: %zu\r\n"
			 "x-amz-crc32: %u\r\n\r\n%s",
			 sizeof(body) - 1, crc32_of(body, sizeof(body) - 1), body);
	enter(fd, SOCKET_REFUSED);
	(void)!sendto(fd, text, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT, NULL, 0);
	shutdown(fd, SHUT_WR);
}

/* Whether these bytes begin a page of libmicrohttpd about a head that was too much for it. */
static bool is_page_about_head(struct str bytes)
{
	static const struct str statuses[] = {STR_INIT("414"), STR_INIT("431"), STR_INIT("500")};
	struct str status = {bytes.p + STATUS_AT, bytes.n - STATUS_AT};

	for (size_t i = 0; bytes.n > STATUS_AT && i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		if (str_starts_with(status, statuses[i]))
			return true;
	}
	return false;
}

/*
 * Throws away what came. True where no more will, or the client sent more than it may: then libmicrohttpd is told that it has sent its page, and
 * closes.
 */
static bool is_emptied(int fd)
{
	enum socket_state state = state_of(fd);
	char waste[16384];
	size_t all = 0;
	ssize_t n;

	enter(fd, state + 1);
	do {
		n = recv(fd, waste, sizeof(waste), MSG_DONTWAIT);
		all += n > 0 ? (size_t)n : 0;
	} while (n > 0 && all < WASTE_MAX);
	return n >= 0 || state >= SOCKET_EMPTIED_MAX || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

/*
 * Called before bytes are sent. Whether they are swallowed; then *result and errno are what the call returns. While a refused client still
 * sends, the socket seems full: libmicrohttpd comes back when something happens on it.
 */
static bool is_swallowed(int fd, struct str bytes, size_t all, ssize_t *result)
{
	enum socket_state state = state_of(fd);

	if (state == SOCKET_OTHER)
		return false;
	if (state == SOCKET_AWAITED && is_page_about_head(bytes))
		sockets_refuse(fd);
	else if (state == SOCKET_QUEUED || (state == SOCKET_AWAITED && !str_starts_with(bytes, STR("HTTP/1.1 100"))))
		enter(fd, SOCKET_OTHER);
	if (state_of(fd) < SOCKET_REFUSED)
		return false;
	*result = (ssize_t)all;
	if (!is_emptied(fd)) {
		*result = -1;
		errno = EAGAIN;
	}
	return true;
}

ssize_t send(int fd, const void *bytes, size_t n, int flags)
{
	ssize_t result;

	return is_swallowed(fd, (struct str){bytes, n}, n, &result) ? result : sendto(fd, bytes, n, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct str first = message->msg_iovlen > 0 ? (struct str){message->msg_iov[0].iov_base, message->msg_iov[0].iov_len} : STR("");
	size_t all = 0;
	ssize_t result;

	for (size_t i = 0; i < (size_t)message->msg_iovlen; i++)
		all += message->msg_iov[i].iov_len;
	return is_swallowed(fd, first, all, &result) ? result : (ssize_t)syscall(SYS_sendmsg, fd, message, flags);
}

/*
 * For libmicrohttpd 0.9.75. Where it gets as many events as it asked for, 128, it asks for more, and for as long as it takes,
 * before it looks at those it has: so many clients that came at once and wait for their answers would wait for ever. It never gets them all.
 */
int epoll_wait(int fd, struct epoll_event *events, int max, int timeout)
{
	return epoll_pwait(fd, events, max > 1 ? max - 1 : max, timeout, NULL);
}
