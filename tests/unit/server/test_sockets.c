/*
 * Header lines that go into a head on its way: whole, once, in their place, however little room the socket has. Usual heads that become short ones: only
 * where a request begins, and in no other bytes.
 */
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
	sockets_answer(fd, false, 0, lines);
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

#define USUAL "POST / HTTP/1.1\r\nHost: localhost\r\nX-Amz-Target: DynamoDB_20120810.GetItem\r\nContent-Length: 4\r\n\r\n"
#define SHORT "POST / HTTP/1.1\r\nHost: " HEAD_HOST "\r\nContent-Length: 4\r\n\r\n"
#define OTHER "POST / HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"

struct pair {
	int server, client;
};

static struct pair connect_pair(void)
{
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	sockets_begin(fds[0]);
	return (struct pair){fds[0], fds[1]};
}

static void close_pair(struct pair pair)
{
	sockets_forget(pair.server);
	close(pair.server);
	close(pair.client);
}

/* What libmicrohttpd, with room for so many bytes, gets of these. */
static void sends(struct pair pair, const char *sent, size_t room, const char *received, bool is_taken)
{
	char got[1024];

	CHECK_INT(send(pair.client, sent, strlen(sent), MSG_NOSIGNAL), (ssize_t)strlen(sent));
	ssize_t n = recv(pair.server, got, room, 0);
	CHECK_STR(((struct str){got, n > 0 ? (size_t)n : 0}), received);
	const struct taken_head *taken = sockets_take_head(pair.server);
	CHECK_INT(taken != NULL, is_taken);
	if (taken)
		CHECK_STR(((struct str){taken->text, taken->head.n}), USUAL);
	CHECK(!sockets_take_head(pair.server));
}

/* Answers, so that the next request may begin. */
static void answers(struct pair pair)
{
	char got[64];

	sockets_answer(pair.server, false, 0, STR(""));
	CHECK_INT(send(pair.server, "x", 1, MSG_NOSIGNAL), 1);
	CHECK_INT(recv(pair.client, got, sizeof(got), 0), 1);
	sockets_await(pair.server);
}

TEST(usual_heads_become_short_ones)
{
	struct pair pair = connect_pair();

	sends(pair, USUAL "body", 1024, SHORT "body", true);
	answers(pair);
	sends(pair, USUAL, 1024, SHORT, true);
	sends(pair, "bo", 1024, "bo", false);
	sends(pair, "dy", 1024, "dy", false);
	answers(pair);
	sends(pair, USUAL "body", 1024, SHORT "body", true);
	close_pair(pair);
}

TEST(heads_that_libmicrohttpd_reads_stay_as_they_are)
{
	struct pair pair = connect_pair();

	sends(pair, "POST / HTT", 1024, "POST / HTT", false); /* a piece */
	sends(pair, USUAL + 10, 1024, USUAL + 10, false);
	sockets_expect(pair.server, strlen(USUAL "body"));
	sends(pair, USUAL, 1024, USUAL, false); /* would be body but for four bytes */
	close_pair(pair);
	pair = connect_pair();
	sends(pair, USUAL "body" USUAL, 1024, USUAL "body" USUAL, false); /* a pipeline */
	sockets_expect(pair.server, strlen(USUAL "body"));
	answers(pair);
	sends(pair, "body", 1024, "body", false);
	sockets_expect(pair.server, strlen(USUAL "body"));
	answers(pair);
	sends(pair, USUAL "body", 1024, SHORT "body", true); /* where a request begins is known again */
	answers(pair);
	sends(pair, OTHER "body", 1024, OTHER "body", false);
	sockets_expect(pair.server, UINT64_MAX);
	answers(pair);
	sends(pair, USUAL "body", 1024, USUAL "body", false); /* never known again */
	sockets_expect(pair.server, strlen(USUAL "body"));
	answers(pair);
	sends(pair, USUAL "body", 1024, USUAL "body", false);
	close_pair(pair);
}

/* libmicrohttpd would wait for more of a socket that gave less than it was asked for. */
TEST(a_full_buffer_stays_full)
{
	struct pair pair = connect_pair();

	sends(pair, USUAL "body", strlen(USUAL "body"), USUAL "body", false);
	sockets_expect(pair.server, strlen(USUAL "body"));
	answers(pair);
	sends(pair, USUAL "body", 1024, SHORT "body", true);
	close_pair(pair);
}

TEST(requests_that_come_before_the_answer_stay_as_they_are)
{
	struct pair pair = connect_pair();

	sends(pair, USUAL "body", 1024, SHORT "body", true);
	sockets_answer(pair.server, false, 0, STR(""));
	sends(pair, USUAL "body", 1024, USUAL "body", false);
	close_pair(pair);
}

/* Neither further requests nor the client's end are seen before the answer. */
TEST(nothing_is_read_while_a_request_is_handled)
{
	struct pair pair = connect_pair();
	char got[1024];

	sends(pair, USUAL "body", 1024, SHORT "body", true);
	sockets_hold(pair.server);
	CHECK_INT(recv(pair.server, got, sizeof(got), 0), -1);
	CHECK_INT(errno, EAGAIN);
	CHECK_INT(send(pair.client, USUAL "body", strlen(USUAL "body"), MSG_NOSIGNAL), (ssize_t)strlen(USUAL "body"));
	CHECK_INT(shutdown(pair.client, SHUT_WR), 0);
	CHECK_INT(recv(pair.server, got, sizeof(got), 0), -1);
	answers(pair);
	CHECK_INT(recv(pair.server, got, sizeof(got), 0), (ssize_t)strlen(SHORT "body"));
	sockets_hold(pair.server);
	CHECK_INT(recv(pair.server, got, sizeof(got), 0), -1);
	answers(pair);
	CHECK_INT(recv(pair.server, got, sizeof(got), 0), 0);
	close_pair(pair);
}

TEST(sockets_of_others_are_left_alone)
{
	int fds[2];
	char got[1024];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	CHECK_INT(send(fds[1], USUAL, strlen(USUAL), MSG_NOSIGNAL), (ssize_t)strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), 0), (ssize_t)strlen(USUAL));
	sockets_begin(fds[0]);
	CHECK_INT(send(fds[1], USUAL, strlen(USUAL), MSG_NOSIGNAL), (ssize_t)strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), MSG_PEEK), (ssize_t)strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), 0), (ssize_t)strlen(SHORT));
	CHECK(!sockets_take_head(fds[1]));
	sockets_forget(fds[0]);
	close(fds[0]);
	close(fds[1]);
}

static int moves_to = -1;

static bool move_next(int fd)
{
	bool moves = moves_to >= 0;

	if (moves)
		CHECK_INT(dup2(fd, moves_to), moves_to);
	moves_to = -1;
	return moves;
}

/* To libmicrohttpd the client seems to have closed; it shuts the socket down and closes it, and the client notices nothing. */
TEST(a_connection_goes_on_by_another_descriptor)
{
	char got[2048];
	int fds[2], other = dup(0);

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	sockets_move_by(move_next);
	sockets_begin(fds[0]);
	CHECK_INT(send(fds[1], USUAL, 10, MSG_NOSIGNAL), 10);
	CHECK_INT(recv(fds[0], got, sizeof(got), 0), 10);
	moves_to = other;
	CHECK_INT(send(fds[1], USUAL + 10, strlen(USUAL) - 10, MSG_NOSIGNAL), (ssize_t)strlen(USUAL) - 10);
	CHECK_INT(recv(fds[0], got, sizeof(got), 0), (ssize_t)strlen(USUAL) - 10); /* not amid a request */
	CHECK_INT(moves_to, other);
	sockets_expect(fds[0], strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), MSG_DONTWAIT), -1); /* nor while one that came whole is handled */
	CHECK_INT(moves_to, other);
	CHECK_INT(send(fds[1], USUAL, strlen(USUAL), MSG_NOSIGNAL), (ssize_t)strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), 0), (ssize_t)strlen(USUAL)); /* looked at later, when other sockets have been read */
	sockets_expect(fds[0], strlen(USUAL));
	CHECK_INT(moves_to, other);
	sockets_await(fds[0]);
	CHECK_INT(send(fds[1], USUAL, strlen(USUAL), MSG_NOSIGNAL), (ssize_t)strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), MSG_PEEK), (ssize_t)strlen(USUAL));
	CHECK_INT(recv(fds[0], got, sizeof(got), 0), 0);
	CHECK_INT(shutdown(fds[0], SHUT_WR), 0);
	CHECK_INT(send(fds[0], "x", 1, MSG_NOSIGNAL), 1);
	sockets_forget(fds[0]);
	close(fds[0]);

	sockets_begin(other);
	CHECK_INT(recv(other, got, sizeof(got), 0), (ssize_t)strlen(SHORT));
	sockets_answer(other, false, 0, STR_ABSENT);
	CHECK_INT(send(other, "yz", 2, MSG_NOSIGNAL), 2);
	CHECK_INT(recv(fds[1], got, sizeof(got), 0), 2);
	CHECK(memcmp(got, "yz", 2) == 0);
	sockets_forget(other);
	sockets_move_by(NULL);
	close(other);
	close(fds[1]);
}

TEST_MAIN(TEST_CASE(lines_go_into_the_head), TEST_CASE(usual_heads_become_short_ones), TEST_CASE(heads_that_libmicrohttpd_reads_stay_as_they_are),
	  TEST_CASE(a_full_buffer_stays_full), TEST_CASE(requests_that_come_before_the_answer_stay_as_they_are), TEST_CASE(nothing_is_read_while_a_request_is_handled),
	  TEST_CASE(sockets_of_others_are_left_alone),
	  TEST_CASE(a_connection_goes_on_by_another_descriptor))
