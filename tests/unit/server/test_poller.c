#include "server/platform/poller.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/platform/platform.h"
#include "tests/unit/test.h"

#define LONG_MS 60000 /* for what must come */
#define SHORT_MS 20   /* for what must not */

struct fixture {
	int poller, pair[2];
	struct poller_event events[POLLER_EVENTS];
};

static struct fixture open_fixture(void)
{
	struct fixture f = {.poller = poller_open()};

	CHECK(f.poller >= 0 && platform_socketpair(f.pair));
	return f;
}

static void close_fixture(struct fixture *f)
{
	close(f->poller);
	close(f->pair[0]);
	close(f->pair[1]);
}

/* What the poller says of our end; 0: nothing. Events come together or one by one. */
static unsigned ready(struct fixture *f, int wait_ms)
{
	unsigned all = 0;
	int n = poller_wait(f->poller, f->events, wait_ms);

	for (int i = 0; i < n; i++) {
		CHECK(f->events[i].context == f);
		all |= f->events[i].ready;
	}
	return all;
}

TEST(what_can_be_read_is_reported_until_it_is_read)
{
	struct fixture f = open_fixture();
	char byte;

	CHECK(poller_watch(f.poller, f.pair[0], 0, POLLER_READ, &f));
	CHECK_INT(ready(&f, SHORT_MS), 0);
	CHECK_INT(platform_send(f.pair[1], "a", 1), 1);
	CHECK_INT(ready(&f, LONG_MS), POLLER_READ);
	CHECK_INT(ready(&f, LONG_MS), POLLER_READ);
	CHECK_INT(recv(f.pair[0], &byte, 1, 0), 1);
	CHECK_INT(ready(&f, SHORT_MS), 0);
	close_fixture(&f);
}

TEST(watches_change)
{
	struct fixture f = open_fixture();

	CHECK(poller_watch(f.poller, f.pair[0], 0, POLLER_WRITE, &f));
	CHECK_INT(ready(&f, LONG_MS), POLLER_WRITE);
	CHECK(poller_watch(f.poller, f.pair[0], POLLER_WRITE, POLLER_READ | POLLER_WRITE, &f));
	CHECK_INT(platform_send(f.pair[1], "a", 1), 1);
	CHECK_INT(ready(&f, LONG_MS), POLLER_READ | POLLER_WRITE);
	CHECK(poller_watch(f.poller, f.pair[0], POLLER_READ | POLLER_WRITE, POLLER_READ, &f));
	CHECK_INT(ready(&f, LONG_MS), POLLER_READ);
	CHECK(poller_watch(f.poller, f.pair[0], POLLER_READ, 0, NULL));
	CHECK_INT(ready(&f, SHORT_MS), 0);
	close_fixture(&f);
}

TEST(a_peer_that_is_gone_is_reported)
{
	struct fixture f = open_fixture();

	CHECK(poller_watch(f.poller, f.pair[0], 0, POLLER_READ, &f));
	CHECK_INT(ready(&f, SHORT_MS), 0);
	close(f.pair[1]);
	CHECK(ready(&f, LONG_MS) & POLLER_READ);
	CHECK(poller_watch(f.poller, f.pair[0], POLLER_READ, POLLER_WRITE, &f));
	CHECK(ready(&f, LONG_MS) & POLLER_WRITE);
	CHECK(poller_watch(f.poller, f.pair[0], POLLER_WRITE, 0, NULL));
	CHECK_INT(ready(&f, SHORT_MS), 0);
	CHECK_INT(platform_send(f.pair[0], "a", 1), -1); /* and no SIGPIPE */
	close(f.pair[0]);
	close(f.poller);
}

/* As the door watches the poller of tls. */
TEST(a_poller_can_be_watched)
{
	struct fixture f = open_fixture();
	int outer = poller_open();
	struct poller_event event[POLLER_EVENTS];

	CHECK(outer >= 0 && poller_watch(outer, f.poller, 0, POLLER_READ, &outer));
	CHECK(poller_watch(f.poller, f.pair[0], 0, POLLER_READ, &f));
	CHECK_INT(poller_wait(outer, event, SHORT_MS), 0);
	CHECK_INT(platform_send(f.pair[1], "a", 1), 1);
	CHECK(poller_wait(outer, event, LONG_MS) == 1 && event[0].context == &outer);
	CHECK_INT(ready(&f, 0), POLLER_READ);
	close(outer);
	close_fixture(&f);
}

TEST(the_end_of_what_a_peer_sends_can_be_read)
{
	struct fixture f = open_fixture();
	char byte;

	CHECK(poller_watch(f.poller, f.pair[0], 0, POLLER_READ, &f));
	shutdown(f.pair[1], SHUT_WR);
	CHECK(ready(&f, LONG_MS) & POLLER_READ);
	CHECK_INT(recv(f.pair[0], &byte, 1, 0), 0);
	close_fixture(&f);
}

/* A pipe that nobody writes to: the wait ends by its time, the descriptors are not passed on to
 * other programs, and reading does not block. */
TEST(a_pipe_of_ours)
{
	struct fixture f = open_fixture();
	int ends[2];
	char byte;

	CHECK(platform_pipe(ends));
	CHECK(poller_watch(f.poller, ends[0], 0, POLLER_READ, &f));
	CHECK_INT(ready(&f, 0), 0);
	CHECK_INT(read(ends[0], &byte, 1), -1);
	CHECK_INT(write(ends[1], "", 1), 1);
	CHECK_INT(ready(&f, -1), POLLER_READ);
	const int all[] = {f.poller, f.pair[0], f.pair[1], ends[0], ends[1]};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		CHECK(fcntl(all[i], F_GETFD) & FD_CLOEXEC);
	close(ends[0]);
	close(ends[1]);
	close_fixture(&f);
}

TEST_MAIN(TEST_CASE(what_can_be_read_is_reported_until_it_is_read), TEST_CASE(watches_change),
	  TEST_CASE(a_peer_that_is_gone_is_reported), TEST_CASE(a_poller_can_be_watched),
	  TEST_CASE(the_end_of_what_a_peer_sends_can_be_read), TEST_CASE(a_pipe_of_ours))
