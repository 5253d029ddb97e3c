/* Answers that wait for each other: which are kept, when they go, and that a socket without room gets all of its bytes in their order, once. */
#include "server/outbox.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/sockets.h"
#include "tests/unit/test.h"

struct pair {
	int server, client;
};

static struct pair connect_pair(void)
{
	int fds[2];

	CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	return (struct pair){fds[0], fds[1]};
}

static void close_pair(struct pair pair)
{
	outbox_forget(pair.server);
	close(pair.server);
	close(pair.client);
}

static uint64_t number; /* of the answers that are put */

static bool put(int fd, const char *a, const char *b)
{
	struct iovec parts[] = {{(void *)(uintptr_t)a, strlen(a)}, {(void *)(uintptr_t)b, strlen(b)}};

	return outbox_put(fd, parts, 2, number);
}

/* What the client has got, and nothing else. */
static void receives(struct pair pair, const char *wanted)
{
	char got[1024];
	ssize_t n = recv(pair.client, got, sizeof(got), MSG_DONTWAIT);

	CHECK_STR(((struct str){got, n > 0 ? (size_t)n : 0}), wanted);
}

TEST(answers_of_a_turn_go_at_its_end)
{
	struct pair one = connect_pair(), other = connect_pair();

	CHECK(!put(one.server, "no", " turn"));
	outbox_turn(1);
	CHECK(!put(one.server, "one", " event"));
	outbox_turn(2);
	CHECK(put(one.server, "first ", "answer,"));
	CHECK(put(other.server, "", "another"));
	CHECK(put(one.server, " second", ""));
	receives(one, "");
	receives(other, "");
	outbox_end_turn();
	receives(one, "first answer, second");
	receives(other, "another");
	outbox_turn(-1);
	CHECK(!put(one.server, "interrupted", ""));
	outbox_end_turn();
	receives(one, "");
	close_pair(one);
	close_pair(other);
}

TEST(what_else_is_sent_goes_behind)
{
	struct pair pair = connect_pair();

	outbox_turn(3);
	CHECK(put(pair.server, "first", ""));
	CHECK(outbox_clear(pair.server, number));
	receives(pair, "first");
	CHECK(put(pair.server, "second", ""));
	outbox_send();
	receives(pair, "second");
	CHECK(put(pair.server, "last", ""));
	CHECK_INT(shutdown(pair.server, SHUT_WR), 0);
	receives(pair, "last");
	close_pair(pair);
	pair = connect_pair();
	CHECK(put(pair.server, "closing", ""));
	outbox_forget(pair.server);
	receives(pair, "closing");
	close_pair(pair);
}

TEST(a_request_that_works_for_long_sends_the_answers_before_it)
{
	struct pair pair = connect_pair();
	const uint64_t began = 5000000;

	outbox_turn(2);
	outbox_works(began);
	CHECK(put(pair.server, "first", ""));
	outbox_works(began);
	outbox_works(began + OUTBOX_PATIENCE_NS - 1);
	receives(pair, "");
	outbox_works(began + OUTBOX_PATIENCE_NS);
	receives(pair, "first");
	CHECK(put(pair.server, "second", ""));
	outbox_works(began + 2 * OUTBOX_PATIENCE_NS);
	receives(pair, "");
	outbox_end_turn();
	receives(pair, "second");
	close_pair(pair);
}

TEST(an_outbox_has_room_for_so_many)
{
	static char text[OUTBOX_ANSWER + 1], got[OUTBOX_BYTES];
	char many[OUTBOX_ANSWERS + 1] = "";
	struct pair pair = connect_pair();
	struct iovec part = {text, OUTBOX_ANSWER + 1};

	outbox_turn(100);
	CHECK(!outbox_put(pair.server, &part, 1, 0));
	for (int i = 0; i < OUTBOX_ANSWERS; i++)
		CHECK(put(pair.server, "x", ""));
	receives(pair, "");
	CHECK(put(pair.server, "y", ""));
	memset(many, 'x', OUTBOX_ANSWERS);
	receives(pair, many);
	outbox_send();
	receives(pair, "y");
	part.iov_len = OUTBOX_ANSWER;
	for (int i = 0; i < OUTBOX_BYTES / OUTBOX_ANSWER; i++)
		CHECK(outbox_put(pair.server, &part, 1, 0));
	CHECK_INT(recv(pair.client, got, sizeof(got), MSG_DONTWAIT), -1);
	CHECK(put(pair.server, "z", ""));
	CHECK_INT(recv(pair.client, got, sizeof(got), MSG_DONTWAIT), OUTBOX_BYTES);
	outbox_end_turn();
	receives(pair, "z");
	close_pair(pair);
}

static uint64_t seed = 11;

static size_t dice(size_t sides)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (size_t)(seed >> 33) % sides;
}

#define CLIENTS 3
#define STREAM (1 << 20)

/* Sockets with little room, clients that read now and then: each gets what was put or sent, in that order. */
TEST(a_slow_client_gets_all)
{
	static char wanted[STREAM], got[STREAM];
	struct pair pairs[CLIENTS];
	size_t sent[CLIENTS] = {0}, received[CLIENTS] = {0}, full = 0;
	int room = 4096;

	for (size_t i = 0; i < STREAM; i++)
		wanted[i] = (char)(i * 2654435761u >> 13);
	for (size_t i = 0; i < CLIENTS; i++) {
		pairs[i] = connect_pair();
		CHECK_INT(setsockopt(pairs[i].server, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
	}
	for (int step = 0; step < 6000; step++) {
		size_t i = dice(CLIENTS), n = 1 + dice(dice(8) == 0 ? OUTBOX_ANSWER + 500 : 700), cut = dice(n);
		char *p = wanted + sent[i];
		struct iovec parts[] = {{p, cut}, {p + cut, n - cut}};

		if (step % 7 == 0) {
			outbox_end_turn();
			outbox_turn((int)dice(4));
		}
		if (sent[i] + n <= STREAM && outbox_put(pairs[i].server, parts, 2, 0)) {
			sent[i] += n;
		} else if (sent[i] + n <= STREAM) {
			bool is_clear = outbox_clear(pairs[i].server, 0);
			ssize_t some = is_clear ? send(pairs[i].server, p, n, MSG_NOSIGNAL | MSG_DONTWAIT) : 0;

			sent[i] += some > 0 ? (size_t)some : 0;
			full += !is_clear;
		}
		i = dice(CLIENTS);
		ssize_t came = dice(3) == 0 ? recv(pairs[i].client, got, 1 + dice(6000), MSG_DONTWAIT) : 0;
		if (came > 0)
			CHECK(memcmp(got, wanted + received[i], (size_t)came) == 0);
		received[i] += came > 0 ? (size_t)came : 0;
	}
	CHECK(full > 10);
	for (size_t i = 0; i < CLIENTS; i++) {
		ssize_t came;

		do {
			outbox_end_turn();
			came = recv(pairs[i].client, got, STREAM, MSG_DONTWAIT);
			if (came > 0)
				CHECK(memcmp(got, wanted + received[i], (size_t)came) == 0);
			received[i] += came > 0 ? (size_t)came : 0;
		} while (came > 0);
		CHECK_INT(received[i], sent[i]);
		close_pair(pairs[i]);
	}
}

/* A descriptor is given to the next connection: it must not get what was left of the one before. */
TEST(what_a_closed_socket_did_not_take_is_dropped)
{
	static char text[OUTBOX_ANSWER], got[1 << 20];
	struct pair pair = connect_pair();
	int room = 4096, fd = pair.server;
	struct iovec part = {text, sizeof(text)};

	CHECK_INT(setsockopt(pair.server, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)), 0);
	outbox_turn(2);
	while (outbox_put(pair.server, &part, 1, 0))
		outbox_send();
	CHECK(!outbox_clear(pair.server, number));
	close_pair(pair);
	pair = connect_pair();
	CHECK_INT(pair.server, fd);
	outbox_end_turn();
	CHECK_INT(recv(pair.client, got, sizeof(got), MSG_DONTWAIT), -1);
	CHECK(outbox_clear(pair.server, number));
	outbox_turn(2);
	CHECK(put(pair.server, "new", ""));
	outbox_end_turn();
	receives(pair, "new");
	close_pair(pair);
}

TEST(a_client_that_is_gone_costs_nothing)
{
	struct pair pair = connect_pair();

	close(pair.client);
	outbox_turn(2);
	CHECK(put(pair.server, "nobody reads", ""));
	outbox_end_turn();
	CHECK(outbox_clear(pair.server, number));
	CHECK(put(pair.server, "nobody reads", ""));
	outbox_forget(pair.server);
	close(pair.server);
}

static void *answer_and_end(void *context)
{
	const struct pair *pair = context;

	outbox_turn(2);
	CHECK(put(pair->server, "the last of ", "the thread"));
	return NULL;
}

TEST(a_thread_that_ends_sends)
{
	struct pair pair = connect_pair();
	pthread_t thread;

	CHECK_INT(pthread_create(&thread, NULL, answer_and_end, &pair), 0);
	pthread_join(thread, NULL);
	receives(pair, "the last of the thread");
	close_pair(pair);
}

static uint64_t pending;
static int commits;
static bool commit_fails;

/* Everything but number 7 is committed; what is lost then stays lost. */
static bool commit_all(uint64_t of)
{
	commits += of == pending;
	if (of == pending)
		pending = 0;
	return of == 7 || !commit_fails;
}

static void begin_commits(bool fails)
{
	outbox_commit_by(commit_all);
	commit_fails = fails;
	commits = 0;
	outbox_turn(4);
}

TEST(pending_answers_are_committed_before_they_go)
{
	struct pair pair = connect_pair();

	begin_commits(false);
	CHECK(put(pair.server, "true,", ""));
	outbox_send();
	CHECK_INT(commits, 0);
	number = pending = 1;
	CHECK(put(pair.server, "a,", ""));
	CHECK(put(pair.server, "b,", ""));
	outbox_works(1);
	outbox_works(1 + 2 * OUTBOX_PATIENCE_NS);
	receives(pair, "true,");
	CHECK_INT(commits, 0);
	outbox_send();
	CHECK_INT(commits, 1);
	receives(pair, "a,b,");
	number = pending = 2;
	CHECK(outbox_clear(pair.server, number)); /* for an answer that is not kept */
	CHECK_INT(commits, 2);
	outbox_end_turn();
	CHECK_INT(commits, 2);
	number = 0;
	close_pair(pair);
}

#define LOST_BODY "{\"__type\":\"com.amazonaws.dynamodb.v20120810#InternalServerError\",\"message\":\"Internal server error\"}"
#define LOST_HEAD "Content-Type: application/x-amz-json-1.0\r\nContent-Length: 99\r\nx-amz-crc32: 2971048199\r\n\r\n"

TEST(answers_that_are_lost_become_errors)
{
	struct pair one = connect_pair(), other = connect_pair(), third = connect_pair();

	begin_commits(true);
	CHECK(put(one.server, "true,", ""));
	number = pending = 1;
	CHECK(put(one.server, "HTTP/1.1 200 OK\r\nx-amzn-RequestId: ID\r\nContent-Length: 2\r\n\r\n{}", ""));
	CHECK(put(other.server, "without id", ""));
	number = 7;
	CHECK(put(third.server, "true too", ""));
	outbox_end_turn();
	CHECK_INT(commits, 1);
	receives(one, "true,HTTP/1.1 500 Internal Server Error\r\nx-amzn-RequestId: ID\r\n" LOST_HEAD LOST_BODY);
	receives(other, "HTTP/1.1 500 Internal Server Error\r\nServer: Dynalith\r\n" LOST_HEAD LOST_BODY);
	receives(third, "true too");
	number = 0;
	close_pair(one);
	close_pair(other);
	close_pair(third);
}

/* Each header line that a browser needs to show the error to a page of another origin, in whatever part it comes. */
TEST(an_error_keeps_what_lets_a_page_see_it)
{
	struct pair pair = connect_pair();
	uint64_t before = outbox_losses();

	begin_commits(true);
	number = pending = 1;
	CHECK(put(pair.server, "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: http://a\r\nServer: X\r\nx-amzn-RequestId: ID\r\n"
			       "Access-Control-Expose-Headers: Date\r\n\r\n", "x-amzn-RequestId: of the body\r\n"));
	outbox_end_turn();
	receives(pair, "HTTP/1.1 500 Internal Server Error\r\nAccess-Control-Allow-Origin: http://a\r\nx-amzn-RequestId: ID\r\n"
		       "Access-Control-Expose-Headers: Date\r\n" LOST_HEAD LOST_BODY);
	CHECK_INT(outbox_losses() - before, 1);
	number = 0;
	close_pair(pair);
}

TEST(a_line_too_long_for_an_error_is_left_out)
{
	struct pair pair = connect_pair();
	char head[800];

	begin_commits(true);
	number = pending = 1;
	snprintf(head, sizeof(head), "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: http://%0600d\r\nx-amzn-RequestId: ID\r\n\r\n", 1);
	CHECK(put(pair.server, head, "{}"));
	outbox_end_turn();
	receives(pair, "HTTP/1.1 500 Internal Server Error\r\nx-amzn-RequestId: ID\r\n" LOST_HEAD LOST_BODY);
	number = 0;
	close_pair(pair);
}

/* The others go to make room for it, and what it is of is committed with theirs. */
TEST(an_answer_that_finds_no_room_is_lost_with_the_others)
{
	struct pair pair = connect_pair(), other = connect_pair();

	begin_commits(true);
	number = pending = 1;
	for (int i = 0; i < OUTBOX_ANSWERS; i++)
		CHECK(put(pair.server, "", ""));
	CHECK(put(other.server, "a lie", ""));
	CHECK_INT(commits, 1);
	outbox_end_turn();
	receives(other, "HTTP/1.1 500 Internal Server Error\r\nServer: Dynalith\r\n" LOST_HEAD LOST_BODY);
	number = 0;
	close_pair(pair);
	close_pair(other);
}

TEST(a_lost_answer_that_is_not_kept_becomes_an_error_too)
{
	struct pair pair = connect_pair();

	begin_commits(true);
	outbox_turn(1);
	number = pending = 1;
	CHECK(put(pair.server, "HTTP/1.1 200 OK\r\n", "x-amzn-RequestId: ID\r\n\r\n{}"));
	receives(pair, "HTTP/1.1 500 Internal Server Error\r\nx-amzn-RequestId: ID\r\n" LOST_HEAD LOST_BODY);
	number = 7;
	CHECK(!put(pair.server, "true", ""));
	number = 0;
	close_pair(pair);
}

TEST(a_connection_is_closed_where_an_answer_is_lost_that_was_not_kept)
{
	struct pair pair = connect_pair();
	char byte;

	begin_commits(true);
	CHECK(!outbox_clear(pair.server, 1));
	CHECK_INT(recv(pair.client, &byte, 1, MSG_DONTWAIT), 0);
	close_pair(pair);
}

TEST_MAIN(TEST_CASE(answers_of_a_turn_go_at_its_end), TEST_CASE(what_else_is_sent_goes_behind),
	  TEST_CASE(a_request_that_works_for_long_sends_the_answers_before_it), TEST_CASE(an_outbox_has_room_for_so_many),
	  TEST_CASE(a_slow_client_gets_all), TEST_CASE(what_a_closed_socket_did_not_take_is_dropped), TEST_CASE(a_client_that_is_gone_costs_nothing),
	  TEST_CASE(a_thread_that_ends_sends),
	  TEST_CASE(pending_answers_are_committed_before_they_go), TEST_CASE(answers_that_are_lost_become_errors), TEST_CASE(an_error_keeps_what_lets_a_page_see_it),
	  TEST_CASE(a_line_too_long_for_an_error_is_left_out),
	  TEST_CASE(an_answer_that_finds_no_room_is_lost_with_the_others),
	  TEST_CASE(a_lost_answer_that_is_not_kept_becomes_an_error_too), TEST_CASE(a_connection_is_closed_where_an_answer_is_lost_that_was_not_kept))
