/* Header lines that go into a head on its way: whole, once, in their place, however little room the socket has. */
#include "server/sockets.h"

#include <errno.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/unit/test.h"

#define MOST 6000

static uint64_t seed = 7;

static size_t dice(size_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % sides;
}

/* What came so far, up to `n` bytes more. */
static size_t take(int fd, char *got, size_t at, size_t n)
{
	ssize_t came = recv(fd, got + at, n, MSG_DONTWAIT);

	return at + (came > 0 ? (size_t)came : 0);
}

static void fill(char *text, size_t n, char first)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (char)(first + (char)(i % 23));
}

/* As libmicrohttpd sends: the head with the body or alone, and later what is left. */
static ssize_t send_some(int fd, struct str head, struct str body, bool is_together)
{
	struct iovec parts[] = {{(void *)(uintptr_t)head.p, head.n}, {(void *)(uintptr_t)body.p, body.n}};
	struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};

	if (head.n == 0)
		return send(fd, body.p, body.n, MSG_NOSIGNAL | MSG_DONTWAIT);
	return is_together ? sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) : send(fd, head.p, head.n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(int fd, int client, struct str head, struct str lines, struct str body)
{
	static char got[4 * MOST], wanted[4 * MOST];
	size_t all = head.n + lines.n + body.n, came = 0, sent = 0;

	memcpy(wanted, head.p, head.n - 2);
	memcpy(wanted + head.n - 2, lines.p, lines.n);
	memcpy(wanted + head.n - 2 + lines.n, "\r\n", 2);
	memcpy(wanted + head.n + lines.n, body.p, body.n);
	sockets_await(fd);
	sockets_answer(fd, false, lines);
	while (sent < head.n + body.n) {
		size_t of_head = sent < head.n ? sent : head.n, of_body = sent - of_head;
		ssize_t n = send_some(fd, (struct str){head.p + of_head, head.n - of_head}, (struct str){body.p + of_body, body.n - of_body}, dice(3) > 0);

		CHECK(n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)));
		sent += n > 0 ? (size_t)n : 0;
		if (n < 0 || dice(4) == 0)
			came = take(client, got, came, 1 + dice(3000));
	}
	while (came < all) {
		size_t before = came;

		came = take(client, got, came, sizeof(got) - came);
		if (came == before)
			break;
	}
	CHECK_INT(came, all);
	CHECK(came == all && memcmp(got, wanted, all) == 0);
}

TEST(lines_go_into_the_head)
{
	static char head[MOST], lines[MOST], body[MOST];
	int fds[2], room = 4096;

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	CHECK_INT(setsockopt(fds[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
	for (int round = 0; round < 2000; round++) {
		size_t head_n = 2 + dice(round % 2 ? MOST - 2 : 40), lines_n = dice(round % 3 ? MOST : 20), body_n = dice(round % 5 ? MOST : 2);

		fill(head, head_n, 'a');
		fill(lines, lines_n, 'A');
		fill(body, body_n, '0');
		memcpy(head + head_n - 2, "\r\n", 2);
		answer(fds[0], fds[1], (struct str){head, head_n}, (struct str){lines, lines_n}, (struct str){body, body_n});
	}
	sockets_forget(fds[0]);
	close(fds[0]);
	close(fds[1]);
}

TEST_MAIN(TEST_CASE(lines_go_into_the_head))
